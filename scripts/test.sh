#!/usr/bin/env bash
# Installs what is missing, builds and runs the fast tests, those with real clients (openai, curl, a browser) included.
# With nvcc on the PATH it also compiles all CUDA code for sm_90a and sm_120f, with the GPU tests, and checks what the
# compiler made of the kernels and what steps would launch; the tests that need a GPU are run by scripts/gpu_check.sh.
set -euo pipefail
cd "$(dirname "$0")/.."
# Most files are compiled alike for both presets: the second finds them where the first has left them, if it does not look
# at the folder that a preset is built in.
scripts/install_packages.sh tests
export CMAKE_CXX_COMPILER_LAUNCHER=${CMAKE_CXX_COMPILER_LAUNCHER-ccache} CCACHE_DIR=${CCACHE_DIR-$PWD/build/ccache}
export CCACHE_BASEDIR=${CCACHE_BASEDIR-$PWD} CCACHE_NOHASHDIR=${CCACHE_NOHASHDIR-1}
export CCACHE_SLOPPINESS=${CCACHE_SLOPPINESS-pch_defines,time_macros}  # without, it does not take files that begin with compiled headers
scripts/build.sh release
if command -v nvcc >/dev/null; then
  scripts/build.sh cuda gpu_tests cubin_test planning_backend_test step_plan_test
  ctest --preset cuda -R '^(Cubin|KernelTable|PlanningBackend|Gpus/StepPlanTest)\.'
else
  echo "tessera: no nvcc on the PATH; the CUDA code was not compiled"
fi
scripts/client_venv.sh || echo "tessera: no build/venv (is PyPI out of reach?); tests with real clients will be skipped"
exec ctest --preset release -j "$(nproc)" -LE 'slow|gpu' "$@"
