#include "format/quantize.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/check.h"
#include "format/e2m1.h"
#include "format/e4m3.h"
#include "format/ue8m0.h"

namespace tessera::format {
namespace {

// An element is saturated when a format without an upper end would have rounded it to the next value (8 after 6; 480
// after 448).
constexpr float kE2m1Reach = 7.0F;
constexpr float kE4m3Reach = 464.0F;

float max_abs(std::span<const float> values) {
  float largest = 0;
  for (const float v : values) largest = std::max(largest, std::fabs(v));
  return largest;
}

/// The scale code in [first, last] of least squared error; the lowest of equals. `scale` multiplies decoded scales.
template <float (*decode_scale)(uint8_t)>
uint8_t best_code(std::span<const float> block, int first, int last, float scale) {
  auto best = static_cast<uint8_t>(first);
  float least = std::numeric_limits<float>::infinity();
  for (int code = first; code <= last; ++code) {
    const float step = decode_scale(static_cast<uint8_t>(code)) * scale;
    // Errors are compared in units of the first candidate's step: the square of a weight could overflow.
    const float relative = decode_scale(static_cast<uint8_t>(code)) / decode_scale(static_cast<uint8_t>(first));
    float sum = 0;
    for (const float v : block) {
      const float e = (v / step - decode_e2m1(encode_e2m1(v / step))) * relative;
      sum += e * e;
    }
    if (sum < least) {
      least = sum;
      best = static_cast<uint8_t>(code);
    }
  }
  return best;
}

uint8_t nvfp4_block_scale(ScaleChoice choice, std::span<const float> block, float scale) {
  const float amax = max_abs(block);
  // Zero blocks and blocks below the smallest scale get that scale rather than 0, which would lose them wholly.
  const uint8_t full = std::max<uint8_t>(encode_e4m3(amax / kE2m1Max / scale), 1);
  if (choice == ScaleChoice::amax || amax == 0) return full;
  const uint8_t widest = encode_e4m3(amax / 4.0F / scale);
  return best_code<decode_e4m3>(block, std::max(full - 2, 1), std::max(widest, full), scale);
}

uint8_t mxfp4_block_scale(ScaleChoice choice, std::span<const float> block) {
  const float amax = max_abs(block);
  const auto floor = static_cast<uint8_t>(std::max(encode_ue8m0(amax) - 2, 0));
  if (choice == ScaleChoice::amax || amax == 0) return floor;
  return best_code<decode_ue8m0>(block, floor, std::min(floor + 1, 254), 1.0F);
}

void record(float value, float decoded, bool saturated, QuantizationError& error) {
  const double e = static_cast<double>(value) - decoded;
  error.sum_of_squared_error += e * e;
  error.sum_of_squares += static_cast<double>(value) * value;
  error.max_abs_error = std::max(error.max_abs_error, std::fabs(e));
  error.saturated += saturated ? 1 : 0;
  ++error.count;
}

void encode_fp4_block(std::span<const float> block, float block_scale, float scale, std::byte* codes,
                      QuantizationError& error) {
  const float step = block_scale * scale;
  for (size_t i = 0; i < block.size(); i += 2) {
    uint8_t pair[2];
    for (size_t j = 0; j < 2; ++j) {
      const float ratio = block[i + j] / step;
      pair[j] = encode_e2m1(ratio);
      record(block[i + j], decode_e2m1(pair[j]) * block_scale * scale, std::fabs(ratio) >= kE2m1Reach, error);
    }
    codes[i / 2] = pack_e2m1(pair[0], pair[1]);
  }
}

void encode_fp8(std::span<const float> row, float scale, std::byte* codes, QuantizationError& error) {
  for (size_t i = 0; i < row.size(); ++i) {
    const float ratio = row[i] / scale;
    const uint8_t code = encode_e4m3(ratio);
    codes[i] = static_cast<std::byte>(code);
    record(row[i], decode_e4m3(code) * scale, std::fabs(ratio) >= kE4m3Reach, error);
  }
}

}  // namespace

TensorScale nvfp4_tensor_scale(float amax) {
  if (amax == 0) return {};
  // Capped so that the divisor of a tensor of tiny values stays finite and its inverse normal.
  const float divisor = std::min(kE4m3Max * kE2m1Max / amax, 0x1p126F);
  return {1.0F / divisor, divisor};
}

float fp8_tensor_scale(float amax) {
  // Not below the smallest normal number: a scale of 0 would divide by zero.
  return amax == 0 ? 1.0F : std::max(amax / kE4m3Max, std::numeric_limits<float>::min());
}

void QuantizationError::add(const QuantizationError& other) {
  count += other.count;
  saturated += other.saturated;
  sum_of_squared_error += other.sum_of_squared_error;
  sum_of_squares += other.sum_of_squares;
  max_abs_error = std::max(max_abs_error, other.max_abs_error);
}

double QuantizationError::relative_l2() const {
  return sum_of_squares == 0 ? 0 : std::sqrt(sum_of_squared_error / sum_of_squares);
}

void quantize_row(WeightFormat format, ScaleChoice choice, float scale, std::span<const float> row, std::byte* codes,
                  std::byte* block_scales, QuantizationError& error) {
  if (format == WeightFormat::fp8_e4m3) return encode_fp8(row, scale, codes, error);
  TESSERA_CHECK(format == WeightFormat::nvfp4 || format == WeightFormat::mxfp4);
  const auto group = static_cast<size_t>(group_size(format));
  TESSERA_CHECK_EQ(row.size() % group, 0U);
  for (size_t i = 0; i < row.size(); i += group) {
    const auto block = row.subspan(i, group);
    const bool nvfp4 = format == WeightFormat::nvfp4;
    const uint8_t code = nvfp4 ? nvfp4_block_scale(choice, block, scale) : mxfp4_block_scale(choice, block);
    block_scales[i / group] = static_cast<std::byte>(code);
    encode_fp4_block(block, nvfp4 ? decode_e4m3(code) : decode_ue8m0(code), nvfp4 ? scale : 1.0F, codes + i / 2, error);
  }
}

}  // namespace tessera::format
