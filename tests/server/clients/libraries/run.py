#!/usr/bin/env python3
"""Client libraries against `tessera serve` with the bundled model, each in its default form and in a virtual
environment of its own, build/clients/NAME, which is made if it is not there (pip, a few GB in all):

    tests/server/clients/libraries/run.py              # all of them
    tests/server/clients/libraries/run.py llm aider    # these

requirements.txt has the versions, one line a library. A library whose script fails is named at the end.
"""

import pathlib
import re
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))

from served import NAME, ROOT, TALKING_MODEL, Served  # noqa: E402

SECONDS_MAX = 600


def wanted() -> dict[str, str]:
    """What pip installs, by the library's name."""
    lines = [line for line in (HERE / "requirements.txt").read_text().splitlines() if line and line[0] != "#"]
    return {re.match(r"[\w-]+", line)[0]: line for line in lines}


def interpreter(library: str, line: str) -> pathlib.Path:
    folder = ROOT / "build/clients" / library
    python, done = folder / "bin/python", folder / "requirement"
    if not done.exists() or done.read_text() != line:
        subprocess.run([sys.executable, "-m", "venv", "--clear", folder], check=True)
        subprocess.run([python, "-m", "pip", "install", "-q", "--disable-pip-version-check", *line.split()], check=True)
        done.write_text(line)
    return python


def main() -> int:
    libraries = wanted()
    failed = []
    with tempfile.TemporaryDirectory() as folder:
        served = Served(str(TALKING_MODEL), pathlib.Path(folder))
        try:
            for library in sys.argv[1:] or libraries:
                python = interpreter(library, libraries[library])
                begin = time.monotonic()
                script = HERE / f"{library.replace('-', '_')}_client.py"
                done = subprocess.run([python, script, served.url, NAME], timeout=SECONDS_MAX, check=False)
                verdict = "ok" if done.returncode == 0 else "FAILED"
                print(f"{libraries[library]}: {verdict}, {time.monotonic() - begin:.0f} s", flush=True)
                if done.returncode != 0:
                    failed.append(library)
        finally:
            served.stop()
    if failed:
        print("failed:", *failed)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
