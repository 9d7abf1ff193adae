"""The llm command: a prompt, a stream, a schema, a tool; its model is told of in extra-openai-models.yaml."""
import json
import os
import pathlib
import subprocess
import sys
import tempfile

URL, MODEL = sys.argv[1:]
LLM = str(pathlib.Path(sys.executable).parent / "llm")
with tempfile.TemporaryDirectory() as folder:
    pathlib.Path(folder, "extra-openai-models.yaml").write_text(
        f"- model_id: tessera\n  model_name: {MODEL}\n  api_base: {URL}/v1\n  supports_schema: true\n"
        "  supports_tools: true\n")
    environment = {**os.environ, "LLM_USER_PATH": folder, "OPENAI_API_KEY": "none"}

    def ask(*arguments):
        done = subprocess.run([LLM, "-m", "tessera", "-o", "temperature", "0", *arguments], env=environment,
                              capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        return done.stdout

    assert "42" in ask("What is 17 + 25?")
    assert "42" in ask("--no-stream", "What is 17 + 25?")
    person = json.loads(ask("--schema", "name, age int", "Anna is 31 years old. Give name and age as JSON."))
    assert set(person) == {"name", "age"} and isinstance(person["age"], int), person
    code = "def get_weather(city: str) -> str:\n    'The weather in a city.'\n    return 'It is 21 degrees.'\n"
    assert "21" in ask("--functions", code, "What is the weather in Berlin?")
