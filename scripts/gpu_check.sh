#!/usr/bin/env bash
# Everything of the CUDA kernels that needs a GPU.
#   scripts/gpu_check.sh build <build directory>             builds what is run
#   scripts/gpu_check.sh bundle <build directory> <folder>   its binaries with their libraries, for another machine
#   scripts/gpu_check.sh run <build directory or bundle> [output directory]
# Output: small.log, moe.log bits and accuracy; memcheck.log, racecheck.log, synccheck.log; moe_bench.txt the table.
set -uo pipefail
cd "$(dirname "$0")/.."
tests=(tests/device/device_test tests/kernels/cuda/moe_gpu_test bench/moe_bench)
mode=${1:?build, bundle or run}
from=${2:?a folder}

if [ "$mode" = build ]; then
  cmake --preset cuda -B "$from" -DTESSERA_BENCH=ON -DTESSERA_CUDA_KERNELS=ON && ninja -C "$from" device_test moe_gpu_test cubin_test moe_bench
  exit
fi
if [ "$mode" = bundle ]; then
  to=${3:?where to put the bundle}
  mkdir -p "$to/lib"
  for test in "${tests[@]}"; do
    mkdir -p "$to/$(dirname "$test")" && cp "$from/$test" "$to/$test" && strip "$to/$test" || exit 1
    # The C library and its kin stay those of the other machine.
    ldd "$from/$test" | awk '$3 ~ /^\// {print $3}' | grep -Ev '/(libc|libm|libdl|librt|libpthread|ld-linux[^/]*)\.so' |
      xargs -r cp -Lt "$to/lib"
  done
  du -sh "$to"
  exit
fi

out=${3:-$from/gpu_check}
mkdir -p "$out"
[ -d "$from/lib" ] && export LD_LIBRARY_PATH="$from/lib${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}"
status=0
run() {  # file, command...
  local file=$1
  shift
  echo "== $*"
  "$@" >"$out/$file" 2>&1
  local code=$?
  tail -n 15 "$out/$file"
  [ $code -eq 0 ] || { echo "== FAILED ($code)" && status=1; }
}
moe_test=$from/tests/kernels/cuda/moe_gpu_test
run device.log "$from/tests/device/device_test"
run small.log timeout 60 "$moe_test" --gtest_filter='*Small*:*Decoded*:*Router*'
for tool in memcheck racecheck synccheck; do
  run $tool.log timeout 90 compute-sanitizer --tool $tool --error-exitcode 1 "$moe_test" --gtest_filter='*Small*'
done
run moe_bench.txt timeout 120 "$from/bench/moe_bench"
run moe.log timeout 300 "$moe_test"
exit $status
