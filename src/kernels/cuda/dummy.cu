#include "kernels/cuda/dummy.h"

#include <algorithm>

#include "plan/budget.h"

namespace tessera::kernels::cuda {
namespace {

using format::WeightFormat;

constexpr int kThreads = 256;

/// Spreads every input bit over all output bits (the 32-bit finaliser of MurmurHash3).
__device__ uint32_t mixed(uint32_t x) {
  x = (x ^ (x >> 16)) * 0x85ebca6bU;
  x = (x ^ (x >> 13)) * 0xc2b2ae35U;
  return x ^ (x >> 16);
}

/// Four bytes of a slice, at byte `in_slice` of it.
__device__ uint32_t dummy_word(WeightFormat format, uint32_t random, int in_slice, int code_bytes) {
  switch (format) {
    case WeightFormat::nvfp4:  // scales from 1 to 2
      return in_slice < code_bytes ? random : 0x38383838U | (random & 0x07070707U);
    case WeightFormat::mxfp4:  // scales 1/2 and 1
      return in_slice < code_bytes ? random : 0x7e7e7e7eU | (random & 0x01010101U);
    case WeightFormat::fp8_e4m3:  // 1/2 to 1, both signs
      return 0x30303030U | (random & 0x87878787U);
    default:  // BF16, 1/2 to 1, both signs
      return 0x3f003f00U | (random & 0x807f807fU);
  }
}

__global__ void __launch_bounds__(kThreads)
    fill_words(WeightFormat format, uint32_t seed, uint32_t* out, size_t words, int slice_bytes, int code_bytes) {
  const size_t step = static_cast<size_t>(gridDim.x) * kThreads;
  for (size_t i = static_cast<size_t>(blockIdx.x) * kThreads + threadIdx.x; i < words; i += step) {
    const uint32_t random = mixed(static_cast<uint32_t>(i) ^ mixed(seed + static_cast<uint32_t>(i >> 32)));
    out[i] = dummy_word(format, random, static_cast<int>(i * 4 % static_cast<size_t>(slice_bytes)), code_bytes);
  }
}

}  // namespace

Status fill_dummy_atoms(WeightFormat format, uint32_t seed, std::byte* out, size_t bytes, cudaStream_t stream) {
  constexpr size_t kBlocksMax = 2048;
  const size_t words = bytes / 4;
  const auto blocks = static_cast<unsigned>(std::min((words + kThreads - 1) / kThreads, kBlocksMax));
  return device::launch(fill_words, {.grid = blocks, .block = kThreads, .stream = stream}, format, seed,
                        reinterpret_cast<uint32_t*>(out), words, plan::weight_slice_bytes(format),
                        plan::kMmaRows * plan::kMmaDepth / 2);
}

}  // namespace tessera::kernels::cuda
