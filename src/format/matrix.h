#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace tessera::format {

/// How the elements of a weight matrix are stored.
enum class WeightFormat {
  f32,
  f16,
  bf16,
  fp8_e4m3,  // one byte an element; scale per tensor (or per row)
  nvfp4,     // E2M1 codes, one E4M3 scale per 16 along K, one fp32 scale per tensor
  mxfp4,     // E2M1 codes, one UE8M0 scale per 32 along K
};

constexpr std::string_view name(WeightFormat f) {
  switch (f) {
    case WeightFormat::f32: return "F32";
    case WeightFormat::f16: return "F16";
    case WeightFormat::bf16: return "BF16";
    case WeightFormat::fp8_e4m3: return "FP8";
    case WeightFormat::nvfp4: return "NVFP4";
    case WeightFormat::mxfp4: return "MXFP4";
  }
  return "?";
}

/// Elements along K that share a block scale; 0 where there is none.
constexpr int64_t group_size(WeightFormat f) {
  return f == WeightFormat::nvfp4 ? 16 : f == WeightFormat::mxfp4 ? 32 : 0;
}

/// Bytes of `cols` elements of one row, without scales. cols is even for the 4-bit formats.
constexpr size_t row_bytes(WeightFormat f, int64_t cols) {
  const auto n = static_cast<size_t>(cols);
  switch (f) {
    case WeightFormat::f32: return n * 4;
    case WeightFormat::f16:
    case WeightFormat::bf16: return n * 2;
    case WeightFormat::fp8_e4m3: return n;
    case WeightFormat::nvfp4:
    case WeightFormat::mxfp4: return n / 2;
  }
  return 0;
}

class MappedFile;

/// A read-only view of one weight matrix W[rows, cols] as a checkpoint stores it (y = x W^T), whatever the
/// dialect: element = decode(data) * decode(block_scales) * scale. The bytes belong to somebody else, usually a
/// mapped file, and need not be aligned; who loads a matrix copies its rows (row_copy.h).
struct MatrixView {
  WeightFormat format = WeightFormat::f32;
  int64_t rows = 0;
  int64_t cols = 0;
  const std::byte* data = nullptr;          // [rows, row_bytes(format, cols)]; low nibble = even column
  const std::byte* block_scales = nullptr;  // [rows, cols / group_size], linear row-major; null without groups
  /// Multiplier of the whole matrix: ModelOpt weight_scale_2, 1 / compressed-tensors weight_global_scale
  /// (IEEE division), FP8 weight_scale; 1 for the others.
  float scale = 1.0F;
  std::span<const float> row_scales;  // [rows], FP8 per channel, besides `scale`; empty: that alone
  // The files that data and block_scales lie in; null: in memory.
  const MappedFile* file = nullptr;
  const MappedFile* scales_file = nullptr;
};

}  // namespace tessera::format
