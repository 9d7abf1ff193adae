#!/usr/bin/env python3
"""Writes files/manual.json, what `tessera --help` says: the demo model's own manual is generated from it.

    python3 tools/demo_model/manual.py build/release/bin/tessera
"""

import json
import pathlib
import re
import subprocess
import sys

FILE = pathlib.Path(__file__).parent / "files" / "manual.json"


def entries(text):
    """[(names, explanation)] of the two-column lines of a help text."""
    out = []
    for line in text.split("\n"):
        found = re.match(r"  (\S.*?)(?:  +(\S.*))?$", line)
        if found and not line.startswith("   "):
            out.append([found[1], found[2] or ""])
        elif line.startswith(" " * 20) and out:
            out[-1][1] = f"{out[-1][1]} {line.strip()}".strip()
    return out


def read(program):
    def help_of(*command):
        return subprocess.run([program, *command, "--help"], check=True, capture_output=True, text=True).stdout

    top = entries(help_of().split("Commands:")[1].split("Other:")[0])
    manual = {}
    for name, about in top:
        flags = [[re.findall(r"--[a-z][a-z0-9-]*", names), text] for names, text in entries(help_of(name)) if "--" in names and not names.startswith("tessera")]
        manual[name] = {"about": about, "flags": {flag: text for flags_, text in flags for flag in flags_}}
    return manual


def main():
    FILE.write_text(json.dumps(read(sys.argv[1]), indent=1, ensure_ascii=False) + "\n")


if __name__ == "__main__":
    main()
