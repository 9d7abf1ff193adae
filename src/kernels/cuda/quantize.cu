#include "kernels/cuda/quantize.h"

#include <cuda_fp8.h>

#include "kernels/ptx/griddepcontrol.cuh"

namespace tessera::kernels::cuda {
namespace {

constexpr int kWarp = 32;

/// E4M3 without sign, as fp32.
__device__ inline float decode_e4m3(uint32_t code) {
  const uint32_t field = code >> 3, fraction = code & 7U;
  return field == 0 ? __fmul_rn(static_cast<float>(fraction), 0x1p-9F)
                    : __uint_as_float((field + 120U) << 23 | fraction << 20);
}

/// A group's scale code and step from its largest magnitude, as BF16 bits. As quantize_fp4_group.
template <WeightFormat format>
__device__ inline void group_scale(uint32_t largest, float input_scale, uint32_t& code, float& step) {
  const float amax = __uint_as_float(largest << 16);
  if constexpr (format == WeightFormat::mxfp4) {
    code = static_cast<uint32_t>(max(static_cast<int>(largest >> 7) - 2, 0));
    step = __uint_as_float(code == 0 ? 0x00400000U : code << 23);
    if (largest >= 0x7f80U) code = 0xffU;
  } else {
    const float ratio = __fdiv_rn(__fdiv_rn(amax, 6.0F), input_scale);
    code = max(static_cast<uint32_t>(__nv_cvt_float_to_fp8(ratio, __NV_SATFINITE, __NV_E4M3)), 1U);
    step = __fmul_rn(decode_e4m3(code), input_scale);
    if (largest >= 0x7f80U) code = 0x7fU;
  }
}

/// encode_e2m1 of format/e2m1.h for a ratio that is not NaN.
__device__ inline uint32_t encode_e2m1(float ratio) {
  const float x = fabsf(ratio);
  const uint32_t magnitude = (x > 0.25F ? 1U : 0U) + (x >= 0.75F ? 1U : 0U) + (x > 1.25F ? 1U : 0U) +
                             (x >= 1.75F ? 1U : 0U) + (x > 2.5F ? 1U : 0U) + (x >= 3.5F ? 1U : 0U) +
                             (x > 5.0F ? 1U : 0U);
  return magnitude | (__float_as_uint(ratio) >> 31) << 3;
}

/// Eight BF16 in four words to a word of codes in the order 0 2 4 6 1 3 5 7.
__device__ inline uint32_t encode_eight(uint4 values, float step) {
  const uint32_t words[4] = {values.x, values.y, values.z, values.w};
  uint32_t codes = 0;
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    codes |= encode_e2m1(__fdiv_rn(__uint_as_float(words[i] << 16), step)) << (4 * i);
    codes |= encode_e2m1(__fdiv_rn(__uint_as_float(words[i] & 0xffff0000U), step)) << (4 * i + 16);
  }
  return codes;
}

/// The largest magnitude of eight BF16, as bits: they sort like integers.
__device__ inline uint32_t largest_of(uint4 v) {
  const uint32_t all[4] = {v.x, v.y, v.z, v.w};
  uint32_t largest = 0;
#pragma unroll
  for (int i = 0; i < 4; ++i) largest = max(largest, max(all[i] & 0x7fffU, all[i] >> 16 & 0x7fffU));
  return largest;
}

constexpr int kQuantizeWarps = 8;

// Outside of device code, where nvcc calls no host function.
template <WeightFormat format>
constexpr int kSliceBytes = plan::activation_slice_bytes(plan::Path::w4a4, format);

/// Grid: x over column tiles, y over runs of kQuantizeWarps slices; a warp makes its slice of the tile's columns. Lane
/// 4 g + q has the elements that it will have as the MMA's B: column g, 8q .. and 32 + 8q ...
template <WeightFormat format>
__global__ void __launch_bounds__(kQuantizeWarps* kWarp) quantize(const QuantizeArgs args) {
  constexpr int kCodeBytes = plan::kMmaCols * plan::kMmaDepth / 2;
  ptx::griddepcontrol_wait();
  ptx::griddepcontrol_launch_dependents();
  const int slice = static_cast<int>(blockIdx.y) * kQuantizeWarps + static_cast<int>(threadIdx.x) / kWarp;
  const int slices = (args.depth + kSliceDepth - 1) / kSliceDepth;
  if (static_cast<int>(blockIdx.x) >= *args.tile_count || slice >= slices) return;
  const SlotTile tile = args.tiles[blockIdx.x];
  const float input_scale = args.input_scales != nullptr ? args.input_scales[tile.group] : 1.0F;
  const int lane = static_cast<int>(threadIdx.x) % kWarp, g = lane / 4, q = lane % 4;
  const int64_t k = static_cast<int64_t>(slice) * plan::kMmaDepth + 8 * q;
  for (int column = 0; column < tile.columns; column += plan::kMmaCols) {
    uint4 low{0, 0, 0, 0}, high{0, 0, 0, 0};
    if (column + g < tile.columns) {
      const int slot = tile.first_slot + column + g;
      const int64_t row = args.x_rows != nullptr ? args.x_rows[slot] : slot;
      const uint16_t* x = args.x + row * args.depth + k;
      if (k < args.depth) low = *reinterpret_cast<const uint4*>(x);
      if (k + 32 < args.depth) high = *reinterpret_cast<const uint4*>(x + 32);
    }
    uint32_t largest[2] = {largest_of(low), largest_of(high)}, code[2];
    float step[2];
#pragma unroll
    for (int i = 0; i < 2; ++i) {
      largest[i] = max(largest[i], __shfl_xor_sync(0xffffffffU, largest[i], 1));
      if (format == WeightFormat::mxfp4) largest[i] = max(largest[i], __shfl_xor_sync(0xffffffffU, largest[i], 2));
      group_scale<format>(largest[i], input_scale, code[i], step[i]);
    }
    const int64_t block = column_block(tile.first_slot + column, tile.group);
    std::byte* to = args.out + (block * slices + slice) * kSliceBytes<format>;
    *reinterpret_cast<uint2*>(to + lane * 8) = {largest[0] >= 0x7f80U ? 0U : encode_eight(low, step[0]),
                                                largest[1] >= 0x7f80U ? 0U : encode_eight(high, step[1])};
    if constexpr (format == WeightFormat::mxfp4) {
      if (q == 0) *reinterpret_cast<uint16_t*>(to + kCodeBytes + g * 2) = static_cast<uint16_t>(code[0] | code[1] << 8);
    } else {
      const uint32_t next0 = __shfl_down_sync(0xffffffffU, code[0], 2),
                     next1 = __shfl_down_sync(0xffffffffU, code[1], 2);
      if (q == 0) {
        *reinterpret_cast<uint32_t*>(to + kCodeBytes + g * 4) = code[0] | next0 << 8 | code[1] << 16 | next1 << 24;
      }
    }
  }
}

}  // namespace

Status quantize_activations(const QuantizeArgs& args, int64_t tiles_max, const device::Queue& queue) {
  if (tiles_max == 0) return {};
  const int slices = (args.depth + kSliceDepth - 1) / kSliceDepth;
  const dim3 grid(static_cast<unsigned>(tiles_max),
                  static_cast<unsigned>((slices + kQuantizeWarps - 1) / kQuantizeWarps));
  return device::launch(
      args.format == WeightFormat::mxfp4 ? quantize<WeightFormat::mxfp4> : quantize<WeightFormat::nvfp4>, queue, grid,
      kQuantizeWarps * kWarp, 0, args);
}

}  // namespace tessera::kernels::cuda
