#!/usr/bin/env python3
"""Turns a training state into a BF16 checkpoint in transformers' form, ready for `tessera quantize`.

    python3 tools/demo_model/export.py STATE_DIRECTORY OUTPUT_DIRECTORY
"""

import json
import pathlib
import shutil
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parent.parent))
from demo_model import checkpoint, quantise  # noqa: E402

HERE = pathlib.Path(__file__).parent


def main():
    source, directory = map(pathlib.Path, sys.argv[1:])
    c, params, state = checkpoint.load_pieces(source)
    generation = json.loads((HERE / "files" / "generation_config.json").read_text())
    checkpoint.save_hf(directory, c, params, generation["eos_token_id"])
    for name in ("tokenizer.json", "tokenizer_config.json", "generation_config.json"):
        shutil.copy(HERE / "files" / name, directory / name)
    shutil.copy(HERE / "chat_template.jinja", directory / "chat_template.jinja")
    size = sum(f.stat().st_size for f in directory.iterdir())
    print(f"{directory}: {sum(p.numel() for p in params.values()) / 1e6:.2f} M parameters, {size / 1e6:.1f} MB, after {state['step']} steps in {state['minutes']:.1f} minutes")
    print(f"to be quantised with {quantise.RECIPES[state.get('recipe', 'balanced')]}")


if __name__ == "__main__":
    main()
