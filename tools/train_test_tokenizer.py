"""Trains the small tokenizer that Tessera ships: src/text/data/tokenizer.json and tokenizer_config.json.

It has exactly the form of Qwen3.5's (NFC, its expression, byte-level BPE, its added tokens with their flags), so that a
random checkpoint has a working tokenizer and the tests exercise the real thing. The text it learns from is generated
here from word lists and a fixed seed; the same version of `tokenizers` writes the same bytes.

    python3 tools/train_test_tokenizer.py        (needs tools/requirements.txt)
"""

import json
import pathlib
import random

from tokenizers import Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers, trainers

OUTPUT = pathlib.Path(__file__).parent.parent / "src" / "text" / "data"
VOCAB_SIZE = 3072  # with the added tokens

PATTERN = (r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?[\p{L}\p{M}]+|\p{N}| ?[^\s\p{L}\p{M}\p{N}]+[\r\n]*"
           r"|\s*[\r\n]+|\s+(?!\S)|\s+")

# In the order of Qwen3.5's ids. The second half is not special: decoding keeps it.
SPECIAL = ["<|endoftext|>", "<|im_start|>", "<|im_end|>", "<|object_ref_start|>", "<|object_ref_end|>", "<|box_start|>",
           "<|box_end|>", "<|quad_start|>", "<|quad_end|>", "<|vision_start|>", "<|vision_end|>", "<|vision_pad|>",
           "<|image_pad|>", "<|video_pad|>"]
NOT_SPECIAL = ["<tool_call>", "</tool_call>", "<|fim_prefix|>", "<|fim_middle|>", "<|fim_suffix|>", "<|fim_pad|>",
               "<|repo_name|>", "<|file_sep|>", "<tool_response>", "</tool_response>", "<think>", "</think>"]

ENGLISH = """the of and to in a is that for it as was with be by on not he his but at are this have from or had an they
which one you were all her she there would their we him been has when who will no more if out so up said what its about
than into them can only other time new some could these two may first then do any like my now over such our man me even
most made after also did many before must through back years where much your way well down should because each just
those people how too little state good very make world still see own work long here get both between life being under
never day same another know while last might us great old year off come since against go came right used take three
states himself few house use during without again place around however home small found thought went say part once
general high upon school every don does got united left number course war until always away something fact water less
public put thing almost hand enough far took head yet government system better set told nothing night end why called
didn eyes find going look asked later knew point next city business case group problem word language model number
question answer write read line file data code list value function return table name order open close start stop
because although whether against either neither several themselves different important example morning evening window
light paper letter story reason simple strong young early late large country money company music river mountain
garden winter summer spring autumn yellow green black white orange purple silver golden north south east west
moving walking running thinking speaking writing reading learning building teaching finding making taking giving
quickly slowly carefully perhaps certainly probably usually sometimes together another everyone someone anything
information development government university community experience knowledge education organization relationship
mathematics computer network engine memory processor machine kernel matrix vector tensor token layer attention weight
expert router prompt message assistant user tool call result error warning request response server client stream""".split()

OTHERS = {
    "de": "der die das und ist nicht ein eine mit für auf von zu im den dem wir sie ich über können müssen größe straße "
          "schön Wörter Zeit Jahr Mensch Arbeit heute morgen gestern zwischen während Möglichkeit Geschwindigkeit",
    "fr": "le la les un une des et est pas que qui dans pour sur avec être avoir été très français où ça déjà élève "
          "après même façon être naïve cœur garçon aujourd'hui qu'il l'homme c'est n'est peut-être",
    "es": "el la los las un una y es no que en por para con más año niño también está corazón mañana español ¿qué? ¡sí!",
    "pt": "o a os as um uma e é não que em por para com mais você são coração amanhã também informação",
    "it": "il lo la i gli le un una e è non che di per con più perché città così anche lavoro parola domani",
    "pl": "i w na z do nie się jest że to jak ale już można między źródło żółty łódka ćma świat książka",
    "vi": "và của là không có người được trong một những đã với cho này tôi chúng việt nam tiếng học sinh đường",
    "tr": "ve bir bu için ile çok daha değil gibi olarak güzel şehir ığdır İstanbul öğrenci dünya çocuk",
    "ru": "и в не на я быть он с что а по это она этот к но они мы весь который из у год человек время слово работа "
          "сегодня завтра вопрос ответ язык модель число быстро медленно хорошо",
    "uk": "і в не на що він як це та її їх є ґанок мова слово людина час робота сьогодні завтра",
    "el": "και το να του η της με που την από για είναι θα σε ότι δεν λόγος χρόνος άνθρωπος κόσμος μοντέλο",
    "he": "של את על לא הוא זה עם כי אם היא אני מה יש בית ספר שלום עולם מילה זמן אדם שאלה תשובה",
    "ar": "في من على إلى أن هذا التي كان لا ما هو مع كل بين عن سلام عالم كلمة وقت سؤال جواب مُحَمَّد كِتَابٌ لُغَة",
    "fa": "و در به از که این را با است برای آن یک می‌شود خود تا کرد کتاب زبان جهان زمان پرسش پاسخ",
    "hi": "और के है में की यह से को नहीं एक पर भी हो था कि हिन्दी भाषा शब्द समय मनुष्य प्रश्न उत्तर ज़रूरत",
    "bn": "এবং এই যে না করে থেকে একটি হয় ছিল বাংলা ভাষা শব্দ সময় মানুষ প্রশ্ন উত্তর কোথায়",
    "ta": "மற்றும் இந்த ஒரு என்று அது தமிழ் மொழி சொல் நேரம் மனிதன் கேள்வி பதில்",
    "te": "మరియు ఈ ఒక అని తెలుగు భాష పదం సమయం మనిషి ప్రశ్న జవాబు",
    "th": "และ ที่ เป็น ใน ของ มี ไม่ ได้ ว่า จะ ภาษาไทย คำ เวลา คน คำถาม คำตอบ น้ำ",
    "zh": "的 一 是 不 了 在 人 有 我 他 这 个 们 中 来 上 大 为 和 国 地 到 以 说 时 要 就 出 会 可 也 你 对 生 能 模型 语言 "
          "问题 回答 今天 明天 时间 世界 工作 数字 函数 代码 文件",
    "ja": "の に は を た が で て と し れ さ ある いる も する から な こと として 日本語 言葉 時間 世界 質問 答え コンピュータ "
          "プログラム データ モデル ありがとう",
    "ko": "이 그 저 것 수 등 및 를 을 은 는 가 에 의 로 한국어 단어 시간 사람 세계 질문 대답 안녕하세요 감사합니다 모델 데이터",
    "ka": "და რომ არ ეს მე ის ქართული ენა სიტყვა დრო", "hy": "և է որ այս չի հայերեն լեզու բառ ժամանակ",
    "am": "እና ነው ይህ ላይ አማርኛ ቋንቋ ቃል ጊዜ",
}

CODE = """def {a}({b}, {c}=0):
    if {b} is None:
        return {c} + 1
    for i in range({n}):
        {b}.append(i * {c})
    return {b}

int main(int argc, char** argv) {{
  std::vector<float> {a}({n});
  for (size_t i = 0; i < {a}.size(); ++i) {{
    {a}[i] = static_cast<float>(i) * 0.5f;  // {b}
  }}
  return 0;
}}

#include <cstdint>
const {a} = async ({b}) => {{ await fetch(`/v1/{c}`); console.log("{b}", {n}); }};
SELECT {a}, COUNT(*) FROM {b} WHERE {c} >= {n} GROUP BY {a};
{{"{a}": [{n}, true, null], "{b}": {{"{c}": "{n}"}}}}
<div class="{a}"><p>{b}</p></div>
# {a}

- **{b}**: `{c}`
| {a} | {b} |
|-----|-----|
"""

EMOJI = "😀 😂 🤔 👍 🎉 ❤️ 🚀 👩‍💻 👨‍👩‍👧‍👦 🇩🇪 🇯🇵 ✅ ⚠️ → ← ≤ ≥ ≠ × ÷ ∑ √ ∞ π α β € £ ¥ © …".split()


def sentence(rng: random.Random, words: list[str]) -> str:
    weights = [1 / (rank + 4) for rank in range(len(words))]
    picked = rng.choices(words, weights, k=rng.randint(4, 16))
    if rng.random() < 0.3:
        picked.insert(rng.randrange(len(picked)), str(rng.randint(0, 10 ** rng.randint(1, 6))))
    if rng.random() < 0.15:
        picked[rng.randrange(len(picked))] += ","
    if rng.random() < 0.08:
        picked.append(rng.choice(EMOJI))
    text = " ".join(picked) + rng.choice([".", ".", ".", "?", "!", ":", "...", " -", '."', "'s.", ")"])
    return text[0].upper() + text[1:]


def corpus():
    rng = random.Random(20260101)
    languages = list(OTHERS.values())
    for _ in range(6000):
        kind = rng.random()
        if kind < 0.55:
            yield " ".join(sentence(rng, ENGLISH) for _ in range(rng.randint(1, 6))) + "\n" * rng.randint(0, 2)
        elif kind < 0.85:
            text = sentence(rng, rng.choice(languages).split())
            yield text.replace(" ", "") if rng.random() < 0.1 else text
        else:
            names = rng.sample(ENGLISH, 6)
            yield CODE.format(a="_".join(names[:2]), b=names[2], c=names[3] + names[4].title(), n=rng.randint(0, 999))


def main() -> None:
    tokenizer = Tokenizer(models.BPE())
    tokenizer.normalizer = normalizers.NFC()
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence(
        [pre_tokenizers.Split(Regex(PATTERN), behavior="isolated", invert=False),
         pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)])
    tokenizer.decoder = decoders.ByteLevel(add_prefix_space=False, use_regex=False)
    base_size = VOCAB_SIZE - len(SPECIAL) - len(NOT_SPECIAL)
    trainer = trainers.BpeTrainer(vocab_size=base_size, min_frequency=2, show_progress=False,
                                  initial_alphabet=pre_tokenizers.ByteLevel.alphabet())
    tokenizer.train_from_iterator(corpus(), trainer)
    assert tokenizer.get_vocab_size() == base_size, tokenizer.get_vocab_size()

    document = json.loads(tokenizer.to_str())
    document["added_tokens"] = [
        {"id": base_size + i, "content": content, "single_word": False, "lstrip": False, "rstrip": False,
         "normalized": False, "special": content in SPECIAL} for i, content in enumerate(SPECIAL + NOT_SPECIAL)]
    text = json.dumps(document, ensure_ascii=False, separators=(",", ":")) + "\n"
    assert Tokenizer.from_str(text).get_vocab_size() == VOCAB_SIZE
    OUTPUT.mkdir(parents=True, exist_ok=True)
    (OUTPUT / "tokenizer.json").write_text(text, encoding="utf-8")
    config = {
        "add_bos_token": False, "add_prefix_space": False, "bos_token": None, "clean_up_tokenization_spaces": False,
        "eos_token": "<|im_end|>", "model_max_length": 262144, "pad_token": "<|endoftext|>",
        "tokenizer_class": "Qwen2Tokenizer", "unk_token": None,
    }
    (OUTPUT / "tokenizer_config.json").write_text(json.dumps(config, indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
