#!/usr/bin/env bash
# Makes build/venv with the clients that tests/server/clients uses, from PyPI at pinned versions. Does nothing when it
# is there already.
set -euo pipefail
cd "$(dirname "$0")/.."
wanted=tests/server/clients/requirements.txt
cmp -s "$wanted" build/venv/requirements.txt && exit 0
scripts/install_packages.sh tests
echo "tessera: making build/venv"
rm -rf build/venv
python3 -m venv build/venv
build/venv/bin/pip install -q --disable-pip-version-check -r "$wanted"
cp "$wanted" build/venv/requirements.txt  # last: its presence says that the rest is there
