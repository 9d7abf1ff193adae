#!/usr/bin/env bash
# Everything that needs a GPU.
#   scripts/gpu_check.sh build <build directory>             builds what is run
#   scripts/gpu_check.sh bundle <build directory> <folder>   its binaries with their libraries, for another machine
#   scripts/gpu_check.sh run <build directory or bundle> [output directory [part ...]]
# Parts, all of them unless named: quick (small cases of kernels, models and the engine, times with the plan's tiles),
# tune (tuning, selftest, times with tuned tiles and of tiles), profile (Nsight Compute on the two products of a MoE
# layer), torch (PyTorch's BF16 grouped product), sanitize (compute-sanitizer), large (large cases, a thousand repeats),
# serve (the tests of server and program on the GPU, five minutes of mixed load, 64 streams over HTTP).
# A bundle has no tests of models and the engine, which read files of this repository. Output: a log for each step;
# bench_*.txt are the tables. Ends with a line for each step.
set -uo pipefail
cd "$(dirname "$0")/.."
tests=(device/device_test kernels/cuda/{moe,w4a4,dense,attention,delta_net,sample}_gpu_test selftest/selftest_gpu_test)
# Those of the server and of the program, with TESSERA_TEST_DEVICE.
served_tests=(server/server_test server/server_slow_test cli/cli_program_test)
binaries=(bin/tessera "${tests[@]/#/tests/}" "${served_tests[@]/#/tests/}")
mode=${1:?build, bundle or run}
from=${2:?a folder}

if [ "$mode" = build ]; then
  cmake --preset cuda -B "$from" && ninja -C "$from" tessera gpu_tests server_test server_slow_test step_plan_test cli_program_test
  exit
fi
if [ "$mode" = bundle ]; then
  to=${3:?where to put the bundle}
  mkdir -p "$to/lib"
  for binary in "${binaries[@]}"; do
    mkdir -p "$to/$(dirname "$binary")" && cp "$from/$binary" "$to/$binary" && strip "$to/$binary" || exit 1
    # The C library and its kin stay those of the other machine.
    ldd "$from/$binary" | awk '$3 ~ /^\// {print $3}' | grep -Ev '/(libc|libm|libdl|librt|libpthread|ld-linux[^/]*)\.so' |
      xargs -r cp -Lt "$to/lib"
  done
  du -sh "$to"
  exit
fi

out=${3:-$from/gpu_check}
mkdir -p "$out"
[ -d "$from/lib" ] && export LD_LIBRARY_PATH="$from/lib${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}"
export XDG_CACHE_HOME=$out/cache
steps=()
run() {  # seconds, log, command...
  local limit=$1 log=$2
  shift 2
  local begin=$SECONDS
  timeout "$limit" "$@" >"$out/$log" 2>&1
  local code=$?
  steps+=("$(printf '%-4s %4d s  %s' "$([ $code -eq 0 ] && echo ok || echo "$code")" $((SECONDS - begin)) "$log: $*")")
}
[ -d "$from/lib" ] || tests+=(model/model_gpu_test engine/engine_gpu_test cli/score_gpu_test cli/step_plan_test)
moe_test=$from/tests/kernels/cuda/moe_gpu_test
model_test=$from/tests/model/model_gpu_test
tessera=$from/bin/tessera
for part in "${@:4}"; do
  case $part in quick | tune | profile | torch | sanitize | large | serve) ;; *)
    echo "no part $part: quick, tune, profile, torch, sanitize, large, serve" >&2
    exit 2
    ;;
  esac
done
wanted() { [ -z "$parts" ] || [[ " $parts " == *" $1 "* ]]; }
parts="${*:4}"
if wanted quick; then
  for test in "${tests[@]}"; do
    run 120 "${test##*/}.log" "$from/tests/$test" --gtest_filter='-*Large*:*Depths*'
  done
  run 120 doctor.txt "$tessera" doctor --full
  run 120 bench_untuned.txt "$tessera" bench moe --read-tb-s 4.5
  run 120 bench_engine.txt "$tessera" bench engine --preset 35b
  run 60 plan.txt "$tessera" plan --preset 397b
  for device in cpu cuda; do
    for kv in bfloat16 fp8; do
      [ -d "$from/lib" ] && continue
      run 60 score_${device}_$kv.txt "$tessera" score models/demo --text docs/architecture.md --max-model-len 2k \
        --device $device --kv-cache-dtype $kv
    done
  done
fi
if wanted tune; then
  run 240 tune.log "$tessera" tune 397b 397b-tp4 35b --quiet
  run 120 bench_tuned.txt "$tessera" bench moe --read-tb-s 4.5
  run 120 bench_mxfp4.txt "$tessera" bench moe 397b --format mxfp4 --read-tb-s 4.5
  run 120 bench_tiles.txt "$tessera" bench moe 397b --tiles --tokens 512,4096
  run 120 selftest.log "$tessera" selftest
fi
if wanted profile; then
  for tokens in 1 8 64 512 4096; do
    run 60 profile_$tokens.txt ncu --clock-control none --set full -k regex:w4a16_gemm -c 2 \
      "$tessera" bench moe 397b --tokens "$tokens" --read-tb-s 4.5
  done
fi
if wanted torch; then
  run 180 bench_torch.txt python3 tools/torch_moe_bench.py
fi
if wanted sanitize; then
  for tool in memcheck racecheck synccheck; do
    run 400 $tool.log compute-sanitizer --tool $tool --error-exitcode 1 "$moe_test" --gtest_filter='*Small*'
  done
  for tool in memcheck racecheck synccheck initcheck; do
    [ -x "$model_test" ] || continue
    run 400 model_$tool.log compute-sanitizer --tool $tool --error-exitcode 1 "$model_test" \
      --gtest_filter='CudaRunner.StatesAreCopied:CudaModel.BitsDoNotDependOnPrefillSplit'
  done
fi
if wanted large; then
  for test in "${tests[@]}"; do
    run 300 "large_${test##*/}.log" "$from/tests/$test" --gtest_filter='*Large*:*Depths*'
  done
fi
if wanted serve; then
  export TESSERA_TEST_DEVICE=cuda TESSERA_BINARY=$tessera
  for test in "${served_tests[@]}"; do
    run 600 "${test##*/}.log" "$from/tests/$test"
  done
  run 900 soak.log python3 tests/server/clients/soak.py 5 --device cuda
  run 120 bench_http_engine.txt "$tessera" bench engine models/demo --batch 64 --context 1024 --output 512
  run 120 bench_http.txt python3 tests/server/clients/throughput.py models/demo --prompt 1024 --output 512
fi
tail -n 30 "$out"/bench_*.txt 2>/dev/null
printf '%s\n' "${steps[@]}" | tee "$out/steps.txt"
! printf '%s\n' "${steps[@]}" | grep -qv '^ok'
