#!/usr/bin/env bash
# The demo model's whole run, from the repository's root. OUT keeps all of it, a folder a step.
#
#   tools/demo_model/whole.sh 1 OUT [flags]     the first piece, on a machine with a GPU, from the bundled checkpoint
#   tools/demo_model/whole.sh 2 OUT [flags]     the second, from OUT/1
#   tools/demo_model/whole.sh 3 OUT [flags]     the last one, from OUT/2: the rate falls to zero, the weights are rounded
#   tools/demo_model/whole.sh make OUT          OUT/3 as BF16 (OUT/bf16), and quantised by $TESSERA (OUT/nvfp4)
#   tools/demo_model/whole.sh score OUT         the held-out scores: of OUT/nvfp4 through $TESSERA, else of OUT/3 through torch
#
# A piece takes at most PIECE_SECONDS (385) from its start to the end of training, and some ten to save: OUT/PIECE gets the
# weights, the state, the log and the compiler's cache, in files of at most 15 MiB. Another piece may run on another machine:
# FROM=DIRECTORY names what to begin from, a directory of a piece or a quantised checkpoint, where OUT lacks it. On the same
# machine the optimiser's state is found in TMPDIR (/tmp; two runs side by side need one each). GPUS (1) of a host share a
# step. Flags go to train.py, which writes its data beside the training.
set -euo pipefail
usage() { sed -n 's/^#   //p' "$0" >&2; exit 2; }
[ $# -ge 2 ] || usage
step=$1 out=$2
shift 2
tools=tools/demo_model
tessera=${TESSERA:-build/release/bin/tessera}
export PYTHONUNBUFFERED=1
case $step in
1 | 2 | 3)
    if [ "$step" = 1 ]; then from=${FROM:-models/demo}; else from=${FROM:-$out/$((step - 1))}; fi
    [ -d "$from" ] || { echo "$from is not there: run piece $((step - 1)) first, or name where it lies with FROM=DIRECTORY" >&2; exit 1; }
    last=()
    [ "$step" != 3 ] || last=(--last)
    mkdir -p "$out/$step"
    minutes=$(python3 -c "print(${PIECE_SECONDS:-385} / 60)")
    start=(python3)
    [ "${GPUS:-1}" = 1 ] || start=(python3 -m torch.distributed.run --standalone --nproc-per-node "$GPUS")
    "${start[@]}" $tools/train.py run --resume "$from" --out "$out/$step" --minutes "$minutes" --total-minutes "${TOTAL_MINUTES:-17}" \
        --wall-minutes "$minutes" --evaluate 0 --rate "${RATE:-0.6}" "${last[@]}" "$@" 2>&1 | tee "$out/$step/log.txt"
    ;;
make)
    rm -rf "$out/bf16" "$out/nvfp4"
    python3 $tools/export.py "$out/3" "$out/bf16" | tee "$out/export.txt"
    read -ra flags < <(sed -n 's/^to be quantised with //p' "$out/export.txt")
    "$tessera" quantize "$out/bf16" "$out/nvfp4" "${flags[@]}" --shard-size 4
    ;;
score)
    if [ -d "$out/nvfp4" ] && [ -x "$tessera" ]; then how=(run "$tessera" "$out/nvfp4"); else how=(torch "$out/3" --rounded); fi
    {
        python3 $tools/freeform.py "${how[@]}" --wrong 5
        python3 $tools/evaluate.py "${how[@]}" --count "${COUNT:-200}" "$@"
    } 2>&1 | tee "$out/scores.txt"
    ;;
*) usage ;;
esac
