#!/usr/bin/env bash
# Installs what is missing, builds, makes a small random model if there is none, and answers one chat prompt on the CPU.
set -euo pipefail
cd "$(dirname "$0")/.."
prompt=${*:-Hello! Who are you?}
scripts/build.sh release tessera
tessera=build/release/bin/tessera
model=models/synth-tiny
if [ ! -e "$model/config.json" ]; then
  rm -rf "$model"
  "$tessera" synth "$model" --preset tiny --format nvfp4
fi
echo "tessera: $model has random weights, so its words are noise; everything else is real"
"$tessera" run "$model" --max-tokens 48 "$prompt"
echo "tessera: chat with it: $tessera run $model"
