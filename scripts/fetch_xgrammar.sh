#!/usr/bin/env bash
# fetch_xgrammar.sh FOLDER: the C++ sources of xgrammar (cmake/xgrammar.txt: version and hash) into FOLDER, with our
# changes (cmake/xgrammar_changes.py). pip finds and checks the package, so its configuration (index, proxy,
# certificates) holds; nothing of the package is run. Does nothing when it is there already.
set -euo pipefail
here=$(cd "$(dirname "$0")/.." && pwd)
folder=${1:?usage: fetch_xgrammar.sh FOLDER}
stamp=$(cat "$here/cmake/xgrammar.txt" "$here/cmake/xgrammar_changes.py" | sha256sum | cut -d' ' -f1)
[ "$(cat "$folder/stamp" 2>/dev/null)" = "$stamp" ] && exit 0

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python=python3
if ! python3 -m pip --version >/dev/null 2>&1; then
  python3 -m venv "$work/venv"
  python=$work/venv/bin/python
fi
# pip asks a source package for its metadata even if it only downloads it. This stands in for the package's build
# backend, which would itself have to be installed.
mkdir -p "$work/backend/scikit_build_core" "$work/sdist"
touch "$work/backend/scikit_build_core/__init__.py"
cat >"$work/backend/scikit_build_core/build.py" <<'BACKEND'
import os
import re

def build_wheel(*_):
    raise NotImplementedError

def prepare_metadata_for_build_wheel(folder, config_settings=None):
    version = re.search(r"^Version: (.+)$", open("PKG-INFO").read(), re.M)[1]
    name = f"xgrammar-{version}.dist-info"
    os.makedirs(os.path.join(folder, name))
    with open(os.path.join(folder, name, "METADATA"), "w") as file:
        file.write(f"Metadata-Version: 2.1\nName: xgrammar\nVersion: {version}\n")
    return name
BACKEND
PYTHONPATH="$work/backend" "$python" -m pip download -q --disable-pip-version-check --no-deps --no-binary xgrammar \
  --no-build-isolation --require-hashes -r "$here/cmake/xgrammar.txt" -d "$work/sdist"
mkdir "$work/tree"
tar -xzf "$work"/sdist/xgrammar-*.tar.gz -C "$work/tree" --strip-components=1
python3 "$here/cmake/xgrammar_changes.py" "$work/tree"
mkdir -p "$(dirname "$folder")"
rm -rf "$folder"
mkdir "$folder"
cp -r "$work"/tree/{cpp,include,LICENSE,NOTICE} "$folder"
mkdir "$folder/3rdparty"
cp -r "$work"/tree/3rdparty/{picojson,dlpack} "$folder/3rdparty"
echo "$stamp" >"$folder/stamp"  # last: its presence says that the rest is there
