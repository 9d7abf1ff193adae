#!/usr/bin/env bash
# Writes docs/kernels.md anew, of the kernels that the cuda preset has compiled (scripts/build.sh cuda cubin_test). No GPU
# is needed.
set -euo pipefail
cd "$(dirname "$0")/.."
TESSERA_UPDATE_DOCS=1 build/cuda/tests/kernels/cuda/cubin_test --gtest_filter='KernelTable.*'
git diff --stat -- docs/kernels.md
