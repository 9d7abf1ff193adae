"""What is written by hand: text files, a folder for each kind, whose reader has their form; the rest are Python's own tables."""

from pathlib import Path


def lines(kind, comment="# "):
    """The lines of all files of a kind, in the order of their names, without empty ones and those that begin a comment
    (None: there are none)."""
    files = sorted(Path(__file__).parent.joinpath(kind).glob("*.txt"))
    return [line for f in files for line in f.read_text(encoding="utf-8").split("\n") if line and not (comment and line.startswith(comment))]
