#!/usr/bin/env bash
# One piece of the demo model's run on a machine with a GPU, from the repository's root.
#
#   tools/demo_model/piece.sh 1 SECONDS OUT [flags]             the first piece, from the bundled checkpoint
#   tools/demo_model/piece.sh 2 SECONDS OUT [flags]             a later one, from what piece 1 left in build/demo
#   tools/demo_model/piece.sh 3 SECONDS OUT --last [flags]      the last one: the rate falls to zero in it
#
# SECONDS bounds the piece from its start to the end of training; saving takes some ten more. OUT gets the weights (mean of
# the last steps, or the final ones), the state, the log and the compiler's cache, in files of at most 15 MiB. Where
# build/demo is lost, FROM=DIRECTORY names what to begin from: a directory with weights.*.bin and state.json, or a quantised
# checkpoint with the state.json (and compile_cache.bin) of its weights beside it.
set -euo pipefail
piece=$1 seconds=$2 out=$3
shift 3
if [ "$piece" = 1 ]; then from=models/demo; else from=build/demo/$((piece - 1)); fi
mkdir -p build/demo "$out"
export PYTHONUNBUFFERED=1
python3 tools/demo_model/train.py run --resume "${FROM:-$from}" --out "build/demo/$piece" --minutes 60 --total-minutes "${TOTAL:-9.5}" \
    --wall-minutes "$(python3 -c "print($seconds / 60)")" --evaluate 0 --rate "${RATE:-0.6}" "$@" 2>&1 | tee "$out/log.txt"
cp build/demo/"$piece"/* "$out/"
