#!/usr/bin/env bash
# Makes build/venv with the clients that tests/server/clients uses, from PyPI at pinned versions. Does nothing when it
# is there already. --check: only tells, by its exit status, whether it is there, whole and of these versions.
set -euo pipefail
cd "$(dirname "$0")/.."
wanted=tests/server/clients/requirements.txt
stamp=build/venv/whole  # written last, at once: an environment whose making broke off has none
made_of() { python3 --version && cat "$wanted"; }
if [ "$(cat "$stamp" 2>/dev/null)" = "$(made_of)" ] && [ -x build/venv/bin/python ]; then exit 0; fi
[ "${1:-}" != --check ] || exit 1
scripts/install_packages.sh tests
echo "tessera: making build/venv"
rm -rf build/venv
python3 -m venv build/venv
build/venv/bin/pip install -q --disable-pip-version-check -r "$wanted"
made_of >"$stamp.new"
mv "$stamp.new" "$stamp"
