"""Compares our token ids with those of Hugging Face `tokenizers`, which define them.

    python3 tests/text/tokenizer_parity.py --binary build/release/tests/text/tokenize_lines [--count 1000000]

Needs tools/requirements.txt. Strings are random and seeded: words of many scripts, arbitrary code points, combining
marks in any order, Hangul in pieces, emoji sequences, digits, every kind of white space, code, added tokens in the
midst of text, and slices of the files of this repository. A few variants of the tokenizer file are compared on fewer
strings: old spelling of merges, GPT-2's pre-tokenizer, several expressions, added tokens that strip or are normalized,
missing bytes, ignore_merges. Exit status 1 and the first differences if any id differs.
"""

import argparse
import copy
import json
import pathlib
import random
import subprocess
import sys
import tempfile

from tokenizers import Tokenizer

ROOT = pathlib.Path(__file__).parent.parent.parent
BUNDLED = ROOT / "src" / "text" / "data" / "tokenizer.json"

SPACES = [*"\t\n\v\f\r \x1c\x1d\x1e\x1f\x85\xa0\u1680\u2028\u2029\u202f\u205f\u3000\u180e\u200b\u200c\u200d\u2060\ufeff",
          *map(chr, range(0x2000, 0x200B)), "\r\n", "\n\n", "  ", "    ", " \n", "\n ", "\t\t"]
BLOCKS = [(0x20, 0x7F), (0x20, 0x7F), (0xA0, 0x250), (0x250, 0x370), (0x370, 0x400), (0x400, 0x530), (0x531, 0x600),
          (0x600, 0x900), (0x900, 0xE00), (0xE00, 0x1100), (0x1100, 0x1200), (0x1200, 0x1E00), (0x1E00, 0x2000),
          (0x2000, 0x2C00), (0x2C00, 0x3000), (0x3000, 0x3400), (0x3400, 0xA000), (0xA000, 0xAC00), (0xAC00, 0xD7B0),
          (0xD7B0, 0xD800), (0xE000, 0xF900), (0xF900, 0x10000), (0x10000, 0x11000), (0x11000, 0x12000),
          (0x12000, 0x1D000), (0x1D000, 0x1F000), (0x1F000, 0x20000), (0x20000, 0x32400), (0xE0000, 0xE01F0)]
MARKS = [*range(0x300, 0x370), *range(0x483, 0x488), *range(0x591, 0x5BE), *range(0x610, 0x61B), *range(0x64B, 0x660),
         0x93C, 0x94D, 0x9BC, 0x9BE, 0x9D7, 0xBBE, 0xC56, 0xCC2, 0xD3E, 0xDCA, 0xDCF, *range(0xE38, 0xE3B),
         *range(0xE48, 0xE4C), 0xF71, 0xF72, 0xF74, 0x102E, *range(0x1AB0, 0x1ABE), *range(0x1DC0, 0x1E00),
         *range(0x20D0, 0x20F1), 0x302A, 0x3099, 0x309A, 0xFE20, 0xFE0F, 0x110BA, 0x11127, 0x1D165, 0x1D16D, 0x7FD,
         0x8D3, 0x1ABF, 0x1ACE, 0x11930, 0x1E4EC]
EMOJI = ["😀", "👍🏽", "👩‍💻", "👨‍👩‍👧‍👦", "🏳️‍🌈", "🇩🇪", "🇯🇵", "❤️", "1️⃣", "#️⃣", "☎︎", "🫠", "🪿", "🧑🏿‍🚀", "‍", "️"]
PIECES = ["'s", "'S", "'ſ", "'t", "'RE", "'re", "'Ve", "'ll", "'LL", "'d", "'m", "’s", "'", "''", "n't", "I'm", "'K", "'\u212a"]
HANGUL_L, HANGUL_V, HANGUL_T = range(0x1100, 0x1113), range(0x1161, 0x1176), range(0x11A7, 0x11C3)


def any_code_point(rng):
    while True:
        c = rng.randrange(0x110000) if rng.random() < 0.2 else rng.randrange(*rng.choice(BLOCKS))
        if not 0xD800 <= c < 0xE000:
            return chr(c)


class Strings:
    def __init__(self, seed, added):
        self.rng = random.Random(seed)
        self.added = added
        self.files = []
        for suffix in ("*.py", "*.h", "*.cpp", "*.md", "*.txt", "*.json", "*.jinja"):
            for path in sorted(ROOT.glob("src/**/" + suffix)) + sorted(ROOT.glob("t*/**/" + suffix)):
                self.files.append(path.read_text(encoding="utf-8", errors="replace"))
        self.words = sorted({w for text in self.files for w in text.split()})

    def block_run(self):
        low, high = self.rng.choice(BLOCKS)
        return "".join(chr(self.rng.randrange(low, high)) for _ in range(self.rng.randint(1, 12)))

    def marked(self):
        return "".join(any_code_point(self.rng) + "".join(chr(self.rng.choice(MARKS)) for _ in range(self.rng.randint(0, 5)))
                       for _ in range(self.rng.randint(1, 5)))

    def hangul(self):
        rng = self.rng
        return "".join(chr(rng.choice(rng.choice((HANGUL_L, HANGUL_V, HANGUL_T, range(0xAC00, 0xAD00)))))
                       for _ in range(rng.randint(1, 10)))

    def decomposed(self):
        import unicodedata
        form = self.rng.choice(("NFD", "NFKD", "NFC"))
        return unicodedata.normalize(form, self.block_run() + self.marked())

    def digits(self):
        rng = self.rng
        zero = rng.choice((0x30, 0x30, 0x30, 0x660, 0x966, 0xE50, 0xFF10, 0x1D7CE, 0x2160, 0xB2))
        return "".join(chr(zero + rng.randrange(10)) for _ in range(rng.randint(1, 9)))

    def token_mutilated(self):
        rng, token = self.rng, self.rng.choice(self.added)
        kind = rng.randrange(5)
        if kind == 0:
            return token[:rng.randrange(len(token) + 1)]
        if kind == 1:
            return token + token
        if kind == 2:
            return token[:-1] + self.rng.choice(self.added)
        return token

    def slice(self):
        text = self.rng.choice(self.files)
        start = self.rng.randrange(max(1, len(text)))
        return text[start:start + self.rng.randint(1, 60)]

    def ascii_soup(self):
        return "".join(chr(self.rng.randrange(128)) for _ in range(self.rng.randint(1, 16)))

    def next(self):
        rng = self.rng
        makers = (self.block_run, self.marked, self.hangul, self.decomposed, self.digits, self.token_mutilated,
                  self.slice, self.ascii_soup, lambda: rng.choice(self.words), lambda: " " + rng.choice(self.words),
                  lambda: rng.choice(SPACES), lambda: rng.choice(SPACES) * rng.randint(1, 5), lambda: rng.choice(EMOJI),
                  lambda: rng.choice(PIECES), lambda: any_code_point(rng))
        text = "".join(rng.choice(makers)() for _ in range(rng.randint(1, 10)))
        return text * 40 if rng.random() < 0.002 else text


def added_token(token_id, content, **flags):
    return {"id": token_id, "content": content, "single_word": False, "lstrip": False, "rstrip": False,
            "normalized": False, "special": False} | flags


def variants(document):
    """(name, document, parse_special)"""
    yield "bundled", document, True
    yield "special tokens as text", document, False
    old = copy.deepcopy(document)
    old["model"]["merges"] = ["#version: 0.2"] + [" ".join(pair) for pair in old["model"]["merges"]]
    yield "merges as strings", old, True
    gpt2 = copy.deepcopy(document)
    gpt2["normalizer"] = None
    gpt2["pre_tokenizer"] = {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": True}
    gpt2["post_processor"] = {"type": "ByteLevel", "add_prefix_space": True, "trim_offsets": False, "use_regex": True}
    yield "GPT-2 expression, no normalizer", gpt2, True
    several = copy.deepcopy(document)
    split = lambda regex: {"type": "Split", "pattern": {"Regex": regex}, "behavior": "Isolated", "invert": False}
    several["pre_tokenizer"]["pretokenizers"] = [
        split(r"\p{N}{1,3}"), split("[一-龥぀-ゟ゠-ヿ]+"),
        split(r"""[!"#$%&'()*+,\-./:;<=>?@\[\\\]^_`{|}~][A-Za-z]+|[^\r\n\p{L}\p{P}\p{S}]?[\p{L}\p{M}]+"""
              r"""| ?[\p{P}\p{S}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"""),
        {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": False}]
    yield "several expressions", several, True
    cased = copy.deepcopy(document)
    cased["pre_tokenizer"]["pretokenizers"][0] = split(
        r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?"
        r"|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?"
        r"|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+")
    yield "expression with letter cases", cased, True
    whole = copy.deepcopy(document)
    whole["model"]["ignore_merges"] = True
    whole["model"]["merges"] = whole["model"]["merges"][::2]
    yield "ignore_merges, half of the merges", whole, True
    odd = copy.deepcopy(document)
    size = len(odd["model"]["vocab"]) + len(odd["added_tokens"])
    odd["added_tokens"] += [
        added_token(size, "e\u0301\u0323", normalized=True), added_token(odd["model"]["vocab"]["the"], "the", normalized=True),
        added_token(size + 1, "<strip>", lstrip=True, rstrip=True, special=True), added_token(size + 2, " <", rstrip=True),
        added_token(size + 3, "the <", lstrip=True), added_token(size + 4, "\u1100\u1161", normalized=True)]
    yield "added tokens that strip or are normalized", odd, True
    yield "the same, special tokens as text", odd, False
    holes = copy.deepcopy(document)
    missing = {"a", "z", "Ġ", "Ã", "©", "Ċ"}
    holes["model"]["vocab"] = {k: v for k, v in holes["model"]["vocab"].items() if not missing & set(k)}
    holes["model"]["merges"] = [m for m in holes["model"]["merges"] if not missing & set("".join(m))]
    holes["added_tokens"] = []
    yield "bytes without a token", holes, True


def compare(binary, name, document, parse_special, strings):
    reference = Tokenizer.from_str(json.dumps(document))
    reference.encode_special_tokens = not parse_special
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "tokenizer.json"
        path.write_text(json.dumps(document), encoding="utf-8")
        command = [binary, str(path)] + ([] if parse_special else ["--no-special"])
        lines = "".join(json.dumps(s) + "\n" for s in strings)
        ours = subprocess.run(command, input=lines, capture_output=True, text=True)
    if ours.returncode != 0:
        sys.exit(f"{name}: {ours.stderr}")
    ours = [json.loads(line) for line in ours.stdout.splitlines()]
    theirs = [e.ids for e in reference.encode_batch_fast(strings, add_special_tokens=False)]
    assert len(ours) == len(theirs)
    wrong = [(s, a, b) for s, a, b in zip(strings, ours, theirs) if a != b]
    for s, a, b in sorted(wrong, key=lambda w: len(w[0]))[:5]:
        print(f"  {s!a}\n    ours      {a}\n    reference {b}")
    return len(wrong)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--binary", required=True)
    parser.add_argument("--tokenizer", default=str(BUNDLED), help="a tokenizer.json")
    parser.add_argument("--count", type=int, default=1_000_000, help="strings for the file as it is")
    parser.add_argument("--variant-count", type=int, default=50_000, help="strings for each variant of it")
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()

    document = json.loads(pathlib.Path(arguments.tokenizer).read_text(encoding="utf-8"))
    failed = 0
    for number, (name, variant, parse_special) in enumerate(variants(document)):
        total = arguments.count if number == 0 else arguments.variant_count
        added = [t["content"] for t in variant["added_tokens"]] or ["<none>"]
        source = Strings(arguments.seed * 100 + number, added)
        wrong = characters = done = 0
        if number == 0:  # every code point in four contexts
            points = [chr(c) for c in range(0x110000) if not 0xD800 <= c < 0xE000]
            step = max(1, len(points) * 4 // max(1, total // 4))
            every = [form.format(c) for c in points[::step] for form in ("{}", "a{}b", " {}1", "e\u0316{}\u0301")]
            wrong += compare(arguments.binary, name, variant, parse_special, every)
            done += len(every)
        while done < total:
            strings = [source.next() for _ in range(min(50_000, total - done))]
            wrong += compare(arguments.binary, name, variant, parse_special, strings)
            done += len(strings)
            characters += sum(map(len, strings))
        print(f"{name}: {done} strings, {characters} characters, {wrong} differ", flush=True)
        failed += wrong
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
