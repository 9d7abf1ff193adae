#!/usr/bin/env python3
"""Trains the demo model's tokenizer on text of the generators: tokenizer.json and tokenizer_config.json.

The form is Qwen3.5's: NFC, its expression, byte-level BPE, its added tokens with their flags (only smaller ids).

    python3 tools/demo_model/tokenizer.py OUTPUT_DIRECTORY
"""

import json
import pathlib
import re
import sys

import collections

from tokenizers import Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers, trainers

sys.path.insert(0, str(pathlib.Path(__file__).parent.parent))
from demo_model import generate, render  # noqa: E402

VOCAB_SIZE = 4096  # with the added tokens
DIALOGUES = 16000
# The merges are learnt on finer pieces than the expression cuts, so that none joins a space, a sign or a capital with
# letters: a word is cut alike after a space, a quote, a newline or an underscore, and copying stays one token for one.
# The most frequent joints of common words with a space or a capital are merged last of all, where they move no other cut.
LEARNING = r"\p{Lu}|[\p{Ll}\p{Lo}\p{Lm}\p{Lt}\p{M}]+|\p{N}| ?[^\s\p{L}\p{M}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
CAPITALS, SPACES = 200, 900

PATTERN = (r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?[\p{L}\p{M}]+|\p{N}| ?[^\s\p{L}\p{M}\p{N}]+[\r\n]*"
           r"|\s*[\r\n]+|\s+(?!\S)|\s+")
# In the order of Qwen3.5's ids. The second part is not special: decoding keeps it.
SPECIAL = ["<|endoftext|>", "<|im_start|>", "<|im_end|>", "<|object_ref_start|>", "<|object_ref_end|>", "<|box_start|>", "<|box_end|>",
           "<|quad_start|>", "<|quad_end|>", "<|vision_start|>", "<|vision_end|>", "<|vision_pad|>", "<|image_pad|>", "<|video_pad|>"]
NOT_SPECIAL = ["<tool_call>", "</tool_call>", "<|fim_prefix|>", "<|fim_middle|>", "<|fim_suffix|>", "<|fim_pad|>", "<|repo_name|>", "<|file_sep|>",
               "<tool_response>", "</tool_response>", "<think>", "</think>"]
ADDED = SPECIAL + NOT_SPECIAL


def corpus():
    cut = re.compile("|".join(map(re.escape, sorted(ADDED, key=len, reverse=True))))
    for seed in range(DIALOGUES):
        d = generate.dialogue(f"tokenizer {seed}")
        for piece in cut.split(d["text"] if "text" in d else render.render(d)):
            yield piece


def pre_tokenizer(pattern):
    return pre_tokenizers.Sequence(
        [pre_tokenizers.Split(Regex(pattern), behavior="isolated", invert=False), pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)])


def add_joints(document, texts, wanted, count):
    """Appends the `count` most frequent merges of two tokens that stand side by side in a piece and are `wanted`."""
    tokenizer = Tokenizer.from_str(json.dumps(document))
    vocabulary, found = document["model"]["vocab"], collections.Counter()
    for encoding in tokenizer.encode_batch(texts):
        for (a, b), (_, end), (begin, _) in zip(zip(encoding.tokens, encoding.tokens[1:]), encoding.offsets, encoding.offsets[1:]):
            if end == begin and wanted(a, b):
                found[a, b] += 1
    for (a, b), _ in found.most_common():
        if count and a + b not in vocabulary:
            vocabulary[a + b] = len(vocabulary)
            document["model"]["merges"].append([a, b])
            count -= 1


def train():
    tokenizer = Tokenizer(models.BPE())
    tokenizer.normalizer = normalizers.NFC()
    tokenizer.pre_tokenizer = pre_tokenizer(LEARNING)
    tokenizer.decoder = decoders.ByteLevel(add_prefix_space=False, use_regex=False)
    base = VOCAB_SIZE - len(ADDED)
    texts = list(corpus())
    tokenizer.train_from_iterator(texts, trainers.BpeTrainer(
        vocab_size=base - CAPITALS - SPACES, min_frequency=2, show_progress=False, initial_alphabet=pre_tokenizers.ByteLevel.alphabet()))
    tokenizer.pre_tokenizer = pre_tokenizer(PATTERN)
    document = json.loads(tokenizer.to_str())
    texts = texts[:len(texts) // 4]
    add_joints(document, texts, lambda a, b: len(a) == 1 and a.isupper() and b.islower() and b.isascii(), CAPITALS)
    add_joints(document, texts, lambda a, b: a == "Ġ" and b.isalpha() and b.isascii(), SPACES)
    assert len(document["model"]["vocab"]) == base, len(document["model"]["vocab"])
    document["added_tokens"] = [{"id": base + i, "content": content, "single_word": False, "lstrip": False, "rstrip": False, "normalized": False,
                                 "special": content in SPECIAL} for i, content in enumerate(ADDED)]
    return json.dumps(document, ensure_ascii=False, separators=(",", ":")) + "\n"


def main():
    directory = pathlib.Path(sys.argv[1])
    directory.mkdir(parents=True, exist_ok=True)
    text = train()
    tokenizer = Tokenizer.from_str(text)
    assert tokenizer.get_vocab_size() == VOCAB_SIZE
    (directory / "tokenizer.json").write_text(text, encoding="utf-8")
    config = {"add_bos_token": False, "add_prefix_space": False, "bos_token": None, "clean_up_tokenization_spaces": False, "eos_token": "<|im_end|>",
              "model_max_length": 8192, "pad_token": "<|endoftext|>", "tokenizer_class": "Qwen2Tokenizer", "unk_token": None}
    (directory / "tokenizer_config.json").write_text(json.dumps(config, indent=2) + "\n", encoding="utf-8")
    end, text_end = tokenizer.token_to_id("<|im_end|>"), tokenizer.token_to_id("<|endoftext|>")
    generation = {"do_sample": True, "temperature": 0.3, "top_k": 20, "top_p": 0.95, "eos_token_id": [end, text_end],
                  "pad_token_id": text_end, "max_new_tokens": 1024}
    (directory / "generation_config.json").write_text(json.dumps(generation, indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
