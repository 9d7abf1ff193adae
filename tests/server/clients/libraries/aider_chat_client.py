"""aider: one message about a file, in its default form, and its list of models."""
import os
import pathlib
import subprocess
import sys
import tempfile

URL, MODEL = sys.argv[1:]
AIDER = str(pathlib.Path(sys.executable).parent / "aider")
with tempfile.TemporaryDirectory() as folder:
    pathlib.Path(folder, "a.txt").write_text("Hello\n")
    environment = {**os.environ, "OPENAI_API_BASE": f"{URL}/v1", "OPENAI_API_KEY": "none", "HOME": folder,
                   "LITELLM_LOCAL_MODEL_COST_MAP": "True"}
    for stream in ["--stream", "--no-stream"]:
        done = subprocess.run(
            [AIDER, "--model", f"openai/{MODEL}", "--yes-always", "--no-git", "--no-check-update", "--analytics-disable",
             "--no-show-model-warnings", "--no-show-release-notes", stream, "--message", "What is 17 + 25?", "a.txt"],
            cwd=folder, env=environment, capture_output=True, text=True, timeout=300, check=False)
        said = done.stdout + done.stderr
        # "Tokens:" comes once there is an answer. Without a network, aider also tells of a list of prices.
        assert done.returncode == 0 and "Tokens:" in said and "litellm." not in said, said
