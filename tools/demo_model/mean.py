#!/usr/bin/env python3
"""A BF16 checkpoint whose weights lie between those of two others: mean.py A B SHARE_OF_B OUTPUT

All are directories as export.py writes them; what is not a weight is copied from B."""

import pathlib
import shutil
import sys

from safetensors.torch import load_file, save_file

FILE = "model.safetensors"


def main(a, b, share, out):
    share = float(share)
    first, second = load_file(pathlib.Path(a) / FILE), load_file(pathlib.Path(b) / FILE)
    if {k: v.shape for k, v in first.items()} != {k: v.shape for k, v in second.items()}:
        sys.exit(f"{a} and {b} have other tensors: weights between them mean nothing")
    shutil.copytree(b, out, ignore=shutil.ignore_patterns(FILE))
    mean = {k: ((1 - share) * first[k].float() + share * second[k].float()).to(first[k].dtype) for k in first}
    save_file(mean, pathlib.Path(out) / FILE, metadata={"format": "pt"})


if __name__ == "__main__":
    if len(sys.argv) != 5:
        sys.exit(__doc__)
    main(*sys.argv[1:])
