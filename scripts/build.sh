#!/usr/bin/env bash
# Builds a preset (default: release) after installing what is missing. scripts/build.sh [PRESET [TARGET ...]]
set -euo pipefail
cd "$(dirname "$0")/.."
preset=${1:-release}
shift || true
scripts/install_packages.sh
compiler=()
# The newest clang that is there: 14, which bookworm calls clang, does not compile xgrammar.
[ "$preset" != fuzz ] || compiler=("-DCMAKE_CXX_COMPILER=$(compgen -c clang++ | grep -xE 'clang\+\+(-[0-9]+)?' | sort -uV | tail -1)")
cmake --preset "$preset" ${compiler[@]+"${compiler[@]}"} >"/tmp/tessera-configure-$$.log" 2>&1 || { cat "/tmp/tessera-configure-$$.log" >&2; exit 1; }
rm -f "/tmp/tessera-configure-$$.log"
cmake --build --preset "$preset" -- ${@:+"$@"}
