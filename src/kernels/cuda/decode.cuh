#pragma once

#include <cstdint>

#include "kernels/atom.h"
#include "kernels/ptx/lop3.cuh"
#include "kernels/ptx/mma_bf16.cuh"

// A slice of a strip (kernels/atom.h) to the A fragments of four BF16 MMAs.
namespace tessera::kernels::cuda {

/// pairs[i]: elements 2i and 2i + 1 of a word of codes as BF16, each 2^-126 times its value. A code's exponent and
/// mantissa go to bits 8..6 of a half and its sign to bit 15; as BF16 has the same subnormals, no code is special.
///
/// Nine bits lie between them there and three in a nibble. So the signs of nibbles 0 and 1 of a half are raised by six,
/// and what is below the signs of nibbles 2 and 3 is lowered by six; then one shift and one mask make a pair. Shifts to
/// the left run as multiplications beside the logic unit, which is the busiest of the kernel.
__device__ inline void decode_e2m1(uint32_t word, uint32_t (&pairs)[4]) {
  constexpr uint32_t kBits = 0x81c081c0U;
  constexpr uint32_t kLowSigns = 0x22002200U;   // of nibbles 0 and 1, raised
  constexpr uint32_t kHighCodes = 0x01dc01dcU;  // of nibbles 2 and 3, lowered
  const uint32_t low = ptx::select_bits<kLowSigns>(word << 6, word);
  const uint32_t high = ptx::select_bits<kHighCodes>(word >> 6, word);
  pairs[0] = (low << 6) & kBits;
  pairs[1] = (low << 2) & kBits;
  pairs[2] = (high << 4) & kBits;
  pairs[3] = high & kBits;
}

/// A row's two scales for a lane, those of k 8q.. (low half) and of k 32 + 8q.. (high half): as BF16, times
/// 2^(126 - weight_shift), so that a product with a decoded code is the weight times 2^-weight_shift.
///
/// NVFP4: an E4M3 byte moved to bits 10..4 of a half is BF16 2^-120 times its value, subnormals included. One BF16
/// factor cannot make up for 2^238, so there are two.
__device__ inline uint32_t scales_e4m3(uint32_t four_bytes, int q) {
  const uint32_t moved = __byte_perm(four_bytes, 0, q < 2 ? 0x4240 : 0x4341) << 4;
  constexpr uint32_t kTwoTo127 = 0x7f007f00U, kTwoTo111 = 0x77007700U;
  return ptx::mul_bf16x2(ptx::mul_bf16x2(moved, kTwoTo127), kTwoTo111);
}
/// MXFP4: byte b is 2^(b - 127); BF16's exponent field becomes b + 62.
__device__ inline uint32_t scales_ue8m0(uint32_t two_bytes_apart) { return two_bytes_apart * 128U + 0x1f001f00U; }

/// pairs[0]: bytes 0 and 2 of a word of E4M3 as BF16, pairs[1]: bytes 1 and 3. Moved to bits 10..4 of a half, exponent
/// and mantissa are BF16 2^-120 times the value, subnormals included; the product takes that back, and is exact.
__device__ inline void decode_e4m3(uint32_t word, uint32_t (&pairs)[2]) {
  constexpr uint32_t kSigns = 0x80008000U, kBits = 0x87f087f0U, kTwoTo120 = 0x7b807b80U;
  pairs[0] = ptx::mul_bf16x2(ptx::select_bits<kSigns>(word << 8, word << 4) & kBits, kTwoTo120);
  pairs[1] = ptx::mul_bf16x2(ptx::select_bits<kSigns>(word, word >> 4) & kBits, kTwoTo120);
}

/// The fragments of BF16 weights lie as the MMA takes them.
__device__ inline void load_slice_bf16(const std::byte* slice, int lane, uint32_t (&a)[4][4]) {
#pragma unroll
  for (int j = 0; j < 4; ++j) {
    const uint4 words = *reinterpret_cast<const uint4*>(slice + j * 512 + lane * 16);
    a[j][0] = words.x, a[j][1] = words.y, a[j][2] = words.z, a[j][3] = words.w;
  }
}

__device__ inline void decode_slice_fp8(const std::byte* slice, int lane, uint32_t (&a)[4][4]) {
#pragma unroll
  for (int half = 0; half < 2; ++half) {
    const uint4 words = *reinterpret_cast<const uint4*>(slice + half * 512 + lane * 16);
    const uint32_t word[4] = {words.x, words.y, words.z, words.w};
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      uint32_t pairs[2];
      decode_e4m3(word[i], pairs);
      a[2 * half + i / 2][i % 2] = pairs[0];
      a[2 * half + i / 2][2 + i % 2] = pairs[1];
    }
  }
}

template <WeightFormat format>
__device__ inline void decode_slice_fp4(const std::byte* slice, int lane, uint32_t (&a)[4][4]) {
  const int g = lane / 4, q = lane % 4;
  const uint4 words = *reinterpret_cast<const uint4*>(slice + lane * 16);
  uint32_t scale[2];  // of rows g and g + 8
  if constexpr (format == WeightFormat::nvfp4) {
    const uint2 bytes = *reinterpret_cast<const uint2*>(slice + kSliceCodeBytes + g * 8);
    scale[0] = scales_e4m3(bytes.x, q);
    scale[1] = scales_e4m3(bytes.y, q);
  } else {
    const uint32_t bytes = *reinterpret_cast<const uint32_t*>(slice + kSliceCodeBytes + g * 4);
    scale[0] = scales_ue8m0(__byte_perm(bytes, 0, 0x4140));
    scale[1] = scales_ue8m0(__byte_perm(bytes, 0, 0x4342));
  }
  const uint32_t word[4] = {words.x, words.y, words.z, words.w};
#pragma unroll
  for (int row = 0; row < 2; ++row) {
    uint32_t low[4], high[4];  // k 8q.. and k 32 + 8q..
    decode_e2m1(word[row], low);
    decode_e2m1(word[2 + row], high);
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      a[i / 2][row + 2 * (i % 2)] = ptx::mul_bf16x2_by<0>(low[i], scale[row]);
      a[2 + i / 2][row + 2 * (i % 2)] = ptx::mul_bf16x2_by<1>(high[i], scale[row]);
    }
  }
}

/// a[j]: the A fragment of MMA j. `slice` is in shared memory.
template <WeightFormat format>
__device__ inline void decode_slice(const std::byte* slice, int lane, uint32_t (&a)[4][4]) {
  if constexpr (format == WeightFormat::bf16) {
    load_slice_bf16(slice, lane, a);
  } else if constexpr (format == WeightFormat::fp8_e4m3) {
    decode_slice_fp8(slice, lane, a);
  } else {
    decode_slice_fp4<format>(slice, lane, a);
  }
}

}  // namespace tessera::kernels::cuda
