#!/usr/bin/env bash
# Builds a preset (default: release) after installing what is missing. scripts/build.sh [PRESET [TARGET ...]]
set -euo pipefail
cd "$(dirname "$0")/.."
preset=${1:-release}
shift || true
scripts/install_packages.sh
cmake --preset "$preset" >"/tmp/tessera-configure-$$.log" 2>&1 || { cat "/tmp/tessera-configure-$$.log" >&2; exit 1; }
rm -f "/tmp/tessera-configure-$$.log"
cmake --build --preset "$preset" -- ${@:+"$@"}
