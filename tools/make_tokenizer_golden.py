"""Writes tests/golden/tokenizer/ids.json: texts and the ids that Hugging Face `tokenizers` gives them with the bundled
tokenizer. Run after train_test_tokenizer.py; needs tools/requirements.txt.
"""

import json
import pathlib

from tokenizers import Tokenizer

ROOT = pathlib.Path(__file__).parent.parent
LANGUAGES = """The quick brown fox jumps over the lazy dog.
It's 7:30 a.m.; we'll meet John's friends -- aren't they late?
Zwölf große Boxkämpfer jagen Viktor quer über den Sylter Deich.
Voix ambiguë d'un cœur qui, au zéphyr, préfère les jattes de kiwis.
El pingüino Wenceslao hizo kilómetros bajo exhaustiva lluvia y frío.
Pchnąć w tę łódź jeża lub ośm skrzyń fig.
Pijamalı hasta yağız şoföre çabucak güvendi. İIıi
Chúng tôi học tiếng Việt; đường đến trường rất đẹp.
Съешь же ещё этих мягких французских булок, да выпей чаю.
Ξεσκεπάζω τὴν ψυχοφθόρα βδελυγμία.
דג סקרן שט בים מאוכזב ולפתע מצא חברה
نص حكيم له سر قاطع وذو شأن عظيم مكتوب على ثوب أخضر
برای نمونه می‌خواهم یک جملهٔ فارسی بنویسم.
ऋषियों को सताने वाले दुष्ट राक्षसों के राजा रावण का सर्वनाश।
আমি বাংলায় গান গাই, আমি বাংলার গান গাই।
தமிழ் மொழி மிகவும் பழமையானது.
అందరికీ నమస్కారం, బాగున్నారా?
เป็นมนุษย์สุดประเสริฐเลิศคุณค่า น้ำ
いろはにほへと ちりぬるを。カタカナも、漢字もある。ﾊﾝｶｸ
视野无限广，窗外有蓝天。你好，世界！１２３
다람쥐 헌 쳇바퀴에 타고파 한국어
ქართული ენა, Հայերեն լեզու, አማርኛ ቋንቋ, ᠮᠣᠩᠭᠣᠯ, བོད་སྐད།
😀 👍🏽 👩‍💻 👨‍👩‍👧‍👦 🇩🇪🇯🇵 ❤️ 1️⃣ ☎︎
π ≈ 3.14159, e^{iπ} + 1 = 0, √2 × ½ ≠ ∞, x² − y³ ≤ ∑ᵢ αᵢ
1234567890 ١٢٣ १२३ Ⅻ ² ¾ 𝟙𝟚𝟛 0x1F""".splitlines()
OTHERS = [
    "", " ", "  ", "\n", "\r\n", " \n \n", "\t\tif (x) {\n\t\t}\n", "a\u00a0b\u2003c\u3000d\u2028e\u0085f\u200bg\u180eh",
    "def f(x):\n    return x**2  # comment\n\n\nclass A:\n    pass\n",
    "<div class=\"x\">&amp;</div>", "SELECT * FROM t WHERE a>=10;", '{"key": [1, 2.5e-3, null, "\\u00e9"]}',
    "I'M, i'm, I'Ll, 'S 'ſ 'K '\u212a don't DON'T ''s", "cafe\u0301 cafe\u0327\u0301 a\u0302\u0323 \u1112\u1161\u11ab \u212b",
    "\u0958 \u09c7\u09be \u0b95\u0bca \u1b05\u1b35 \u30ab\u3099", "x\u1df6\u0316y\u08d3\u0334z \U00011935\U00011930",
    "\u0301\u0316\u0300 only marks", "\U00031350\U00020000 \u1c89\u1c8a \U00010d40 \u0897x", "\x00\x01\x1f\x7f",
    "\ufeffBOM \ufffd \ue000 \U0010ffff \U000e0041", "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
    " " * 70 + "x", "\n" * 33, "!" * 40 + "\n\n", "the" * 40, "ab" * 64 + "c",
    "<|im_start|>user\nhi<|im_end|>\n<|im_start|>assistant\n<think>\n", "<think>\n\n</think>\n\n", "</think><tool_call>",
    "<tool_call>\n<function=f>\n<parameter=a>\n1\n</parameter>\n</function>\n</tool_call><|im_end|>",
    "<|im_start|><|im_start|>", "<|im_start", "<|im_end|", "<|im_end|>>", "<<|im_end|>", "e<|im_end|>\u0301", "<|IM_END|>",
    "x <|endoftext|> y", "<tool_response>\n{}\n</tool_response>", "< think>", "<think >", "a<think>b</think>c",
]


def main() -> None:
    tokenizer = Tokenizer.from_file(str(ROOT / "src" / "text" / "data" / "tokenizer.json"))
    texts = LANGUAGES + OTHERS
    texts += [a + b for a in ("'", " ", "\n", "é") for b in LANGUAGES[::3]] + [t.upper() for t in LANGUAGES[:10]]
    texts += ["\n".join(LANGUAGES)]
    entries = []
    for text in texts:
        tokenizer.encode_special_tokens = False
        ids = tokenizer.encode(text, add_special_tokens=False).ids
        tokenizer.encode_special_tokens = True
        as_text = tokenizer.encode(text, add_special_tokens=False).ids
        entries.append({"text": text, "ids": ids, "ids_special_as_text": as_text,
                        "decoded": tokenizer.decode(ids, skip_special_tokens=False),
                        "decoded_skip_special": tokenizer.decode(ids, skip_special_tokens=True)})
    path = ROOT / "tests" / "golden" / "tokenizer" / "ids.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    lines = ",\n".join(json.dumps(entry, separators=(",", ":")) for entry in entries)
    path.write_text(f"[\n{lines}\n]\n", encoding="utf-8")


if __name__ == "__main__":
    main()
