#pragma once

#include <cmath>
#include <cstdint>
#include <cstring>
#include <random>
#include <vector>

#include "base/dtype.h"
#include "format/decode.h"
#include "format/e2m1.h"
#include "format/e4m3.h"
#include "format/f16.h"
#include "format/matrix.h"
#include "format/ue8m0.h"
#include "kernels/context.h"

// Random weight matrices in every format, and the plain scalar product that the contract of kernels/linear.h defines.
namespace tessera::kernels {

inline constexpr format::WeightFormat kAllFormats[] = {format::WeightFormat::f32,   format::WeightFormat::f16,
                                                       format::WeightFormat::bf16,  format::WeightFormat::fp8_e4m3,
                                                       format::WeightFormat::nvfp4, format::WeightFormat::mxfp4};

/// A matrix as a checkpoint stores it, with its bytes.
struct RandomMatrix {
  format::WeightFormat format;
  int64_t rows, cols;
  std::vector<std::byte> data, block_scales;
  std::vector<float> row_scales;
  float scale = 1.0F;

  RandomMatrix(format::WeightFormat f, int64_t r, int64_t c, uint32_t seed) : format(f), rows(r), cols(c) {
    std::mt19937 random(seed);
    data.resize(static_cast<size_t>(rows) * format::row_bytes(format, cols) + 1);  // + 1: views may be misaligned
    const int64_t group = format::group_size(format);
    if (group > 0) block_scales.resize(static_cast<size_t>(rows * (cols / group)));
    std::normal_distribution<float> normal;
    for (int64_t i = 0; i < rows * cols; ++i) put(static_cast<size_t>(i), normal(random), random());
    for (auto& s : block_scales) {
      // Half of them around 1, half any finite code: subnormal, zero and negative scales too.
      const auto any = static_cast<uint8_t>(random());
      const bool near_one = random() % 2 == 0;
      if (format == format::WeightFormat::mxfp4) {
        s = static_cast<std::byte>(near_one ? 120 + any % 16 : 70 + any % 120);
      } else {
        s = static_cast<std::byte>(near_one ? 0x30 + any % 16 : (any & 0x7fU) == 0x7f ? 0 : any);
      }
    }
    if (format == format::WeightFormat::fp8_e4m3 || format == format::WeightFormat::nvfp4) scale = 0.0123F;
  }

  [[nodiscard]] format::MatrixView view() const {
    return {.format = format,
            .rows = rows,
            .cols = cols,
            .data = data.data(),
            .block_scales = block_scales.empty() ? nullptr : block_scales.data(),
            .scale = scale,
            .row_scales = row_scales};
  }

  /// decode(W[row, col]), its block scale, and the multiplier of the row's sum.
  [[nodiscard]] float code(int64_t row, int64_t col) const {
    const auto i = static_cast<size_t>(row * cols + col);
    const auto half = [&] {
      uint16_t bits;
      std::memcpy(&bits, data.data() + 2 * i, 2);
      return bits;
    };
    switch (format) {
      case format::WeightFormat::f32: {
        float w;
        std::memcpy(&w, data.data() + 4 * i, 4);
        return w;
      }
      case format::WeightFormat::f16: return format::f16_to_float(half());
      case format::WeightFormat::bf16: return bf16_to_float(half());
      case format::WeightFormat::fp8_e4m3: return format::decode_e4m3(static_cast<uint8_t>(data[i]));
      default: return format::decode_e2m1(format::e2m1_at(data.data() + row * (cols / 2), col));
    }
  }
  [[nodiscard]] float block_scale(int64_t row, int64_t col) const {
    const int64_t group = format::group_size(format);
    if (group == 0) return 1.0F;
    const auto s = static_cast<uint8_t>(block_scales[static_cast<size_t>(row * (cols / group) + col / group)]);
    return format == format::WeightFormat::mxfp4 ? format::decode_ue8m0(s) : format::decode_e4m3(s);
  }
  [[nodiscard]] float alpha(int64_t row) const {
    return row_scales.empty() ? scale : row_scales[static_cast<size_t>(row)] * scale;
  }

  void put(size_t i, float value, uint32_t bits) {
    const auto store = [&](auto v) { std::memcpy(data.data() + i * sizeof v, &v, sizeof v); };
    switch (format) {
      case format::WeightFormat::f32: return store(value);
      case format::WeightFormat::f16: return store(format::float_to_f16(bits % 8 == 0 ? value * 0x1p-20F : value));
      case format::WeightFormat::bf16: return store(float_to_bf16(value));
      case format::WeightFormat::fp8_e4m3:
        return store(static_cast<uint8_t>((bits & 0x7fU) == 0x7f ? 0x80 : bits));  // every finite code
      default: data[i / 2] = static_cast<std::byte>(bits >> 8);
    }
  }
};

/// y[row] of the contract, before rounding.
inline float reference_dot(const RandomMatrix& w, int64_t row, const float* x) {
  float total = 0;
  for (int64_t group = 0; group < w.cols; group += 16) {
    float sum = w.code(row, group) * x[group];
    for (int64_t k = group + 1; k < group + 16 && k < w.cols; ++k) sum = std::fma(w.code(row, k), x[k], sum);
    total = std::fma(sum, w.block_scale(row, group), total);
  }
  return w.alpha(row) * total;
}

inline std::vector<float> random_floats(size_t count, uint32_t seed) {
  std::mt19937 random(seed);
  std::normal_distribution<float> normal;
  std::vector<float> x(count);
  for (auto& v : x) v = round_to_bf16(normal(random));
  return x;
}

/// The same as BF16, times `scale`.
inline std::vector<uint16_t> random_bf16(size_t count, uint32_t seed, float scale = 1.0F) {
  std::mt19937 random(seed);
  std::normal_distribution<float> normal;
  std::vector<uint16_t> x(count);
  for (auto& v : x) v = float_to_bf16(scale * normal(random));
  return x;
}

/// Pool, workspace and context of a test.
struct TestContext {
  explicit TestContext(int threads, Compute compute = Compute::bf16)
      : pool(threads), context{compute, &pool, &workspace} {}
  ThreadPool pool;
  Workspace workspace;
  Context context;
};

}  // namespace tessera::kernels
