"""docs/server.md, deploy/ and the program agree on limits and metrics."""

import json
import re
import subprocess

from served import BINARY, DEVICE, ROOT


def test_limits_are_those_of_the_program():
    help_text = subprocess.run([BINARY, "serve", "--help"], capture_output=True, text=True, check=True).stdout
    table = re.findall(r"^\| `(--[\w-]+)` \|", (ROOT / "docs/server.md").read_text(), re.MULTILINE)
    assert table == re.findall(r"^  (--[\w-]+)", help_text.split("Limits:")[1].split("Engine:")[0], re.MULTILINE)


def test_metrics_are_those_of_the_program(server):
    exported = set(re.findall(r"^# TYPE (\S+)", server.http.get("/metrics").text, re.MULTILINE))
    documented = (ROOT / "docs/server.md").read_text().split("## Metrics")[1].split("## Clients")[0]
    panels = json.loads((ROOT / "deploy/grafana-dashboard.json").read_text())["panels"]
    drawn = " ".join(target["expr"] for panel in panels for target in panel["targets"])
    for name in set(re.findall(r"\b(?:vllm|tessera):\w+", documented + drawn)):
        if re.match(r"tessera:(gpu|decode|step)_", name) and not DEVICE.startswith("cuda"):
            continue
        if not re.search("prefix_cache|kv_offload|spec_decode", name):  # these come with the engine's features
            assert re.sub("_(bucket|sum|count)$", "", name) in exported, name
