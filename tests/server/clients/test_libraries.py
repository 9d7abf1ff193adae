"""Those scripts of libraries/ whose package is installed here; run.py there runs all of them."""

import pathlib
import subprocess
import sys

import pytest
from served import NAME


@pytest.mark.parametrize("library", ["openai", "anthropic"])
def test_default_form(talking, library):
    script = pathlib.Path(__file__).parent / f"libraries/{library}_client.py"
    subprocess.run([sys.executable, script, talking.url, NAME], check=True, timeout=240)
