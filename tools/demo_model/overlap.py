#!/usr/bin/env python3
"""Word sequences that the prompts of heldout/ share with generated training text.

    python3 tools/demo_model/overlap.py [--dialogues 40000] [--length 7]

The prompts are there to tell whether people are understood, so no generator may hold their sentences. What any two people
would say alike (a greeting, "what is the capital of France") is short; a long common sequence is a copy. Texts made of
templates overlap by chance in short sequences, so the length is that of a copied clause.
"""

import argparse
import pathlib
import re
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parent.parent))
from demo_model import generate, judge  # noqa: E402

LENGTH = 7


def words(text):
    return re.findall(r"[\w'+*/=]+", text.lower())


def sequences(text, length):
    w = words(text)
    return {" ".join(w[i:i + length]) for i in range(len(w) - length + 1)}


def texts(dialogue):
    """What is said in a dialogue, without the definitions of tools."""
    return [dialogue["text"]] if "text" in dialogue else [m["content"] for m in dialogue["messages"] if m["content"]]


def shared(dialogues, length=LENGTH, seed="overlap"):
    """{sequence: the category of the prompt} that occurs in so many training dialogues. Long histories are put together
    of short talk and are left out."""
    mine = {}
    for d in judge.prompts():
        if d["kind"] != "long histories":
            for text in texts(d):
                mine.update(dict.fromkeys(sequences(text, length), d["kind"]))
    found = {}
    for i in range(dialogues):
        for text in texts(generate.dialogue(f"{seed} {i}")):
            for s in sequences(text, length) & mine.keys():
                found[s] = mine[s]
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--dialogues", type=int, default=40000)
    parser.add_argument("--length", type=int, default=LENGTH)
    arguments = parser.parse_args()
    found = shared(arguments.dialogues, arguments.length)
    for sequence, kind in sorted(found.items(), key=lambda x: x[1]):
        print(f"{kind}: {sequence}")
    print(f"{len(found)} sequences of {arguments.length} words")


if __name__ == "__main__":
    main()
