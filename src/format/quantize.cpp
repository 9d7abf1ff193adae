#include "format/quantize.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numeric>

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

// Loops over a block, or over kLanes running sums, have no branches and no chain from one element to the next: that is
// what lets the compiler use vector instructions. Every sum has one fixed order all the same.
constexpr size_t kBlockMax = 32;
constexpr size_t kLanes = 8;
static_assert(group_size(WeightFormat::nvfp4) % kLanes == 0 && group_size(WeightFormat::nvfp4) <= kBlockMax);
static_assert(group_size(WeightFormat::mxfp4) % kLanes == 0 && group_size(WeightFormat::mxfp4) <= kBlockMax);

float max_abs(std::span<const float> block) {
  std::array<float, kLanes> largest{};
  for (size_t i = 0; i < block.size(); i += kLanes) {
    for (size_t j = 0; j < kLanes; ++j) largest[j] = std::max(largest[j], std::fabs(block[i + j]));
  }
  return *std::max_element(largest.begin(), largest.end());
}

/// The value of encode_e2m1(ratio) without its sign, as a sum of steps, and how many of these: the code.
struct Rounded {
  float value;
  int32_t code;
};

Rounded round_magnitude(float ratio) {
  const float x = std::fabs(ratio);
  const auto value = [](bool reached, float step) { return reached ? step : 0.0F; };
  return {value(x > 0.25F, 0.5F) + value(x >= 0.75F, 0.5F) + value(x > 1.25F, 0.5F) + value(x >= 1.75F, 0.5F) +
              value(x > 2.5F, 1.0F) + value(x >= 3.5F, 1.0F) + value(x > 5.0F, 2.0F),
          static_cast<int32_t>(x > 0.25F) + static_cast<int32_t>(x >= 0.75F) + static_cast<int32_t>(x > 1.25F) +
              static_cast<int32_t>(x >= 1.75F) + static_cast<int32_t>(x > 2.5F) + static_cast<int32_t>(x >= 3.5F) +
              static_cast<int32_t>(x > 5.0F)};
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
    std::array<float, kLanes> sums{};
    for (size_t i = 0; i < block.size(); i += kLanes) {
      for (size_t j = 0; j < kLanes; ++j) {
        const float ratio = std::fabs(block[i + j]) / step;
        const float e = (ratio - round_magnitude(ratio).value) * relative;
        sums[j] += e * e;
      }
    }
    const float sum = std::accumulate(sums.begin(), sums.end(), 0.0F);
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
  return best_code<decode_ue8m0>(block, floor, floor + 1, 1.0F);
}

/// Adds what rounding `values` to `decoded` did.
void record(std::span<const float> values, const float* decoded, QuantizationError& error) {
  std::array<double, kLanes> squared_errors{};
  std::array<double, kLanes> squares{};
  std::array<double, kLanes> largest{};
  for (size_t i = 0; i < values.size(); i += kLanes) {
    for (size_t j = 0; j < std::min(kLanes, values.size() - i); ++j) {
      const double value = values[i + j];
      const double e = std::fabs(value - decoded[i + j]);
      squared_errors[j] += e * e;
      squares[j] += value * value;
      largest[j] = std::max(largest[j], e);
    }
  }
  error.count += static_cast<int64_t>(values.size());
  error.sum_of_squared_error += std::accumulate(squared_errors.begin(), squared_errors.end(), 0.0);
  error.sum_of_squares += std::accumulate(squares.begin(), squares.end(), 0.0);
  error.max_abs_error = std::max(error.max_abs_error, *std::max_element(largest.begin(), largest.end()));
}

void encode_fp4_block(std::span<const float> block, float block_scale, float scale, std::byte* codes,
                      QuantizationError& error) {
  const float step = block_scale * scale;
  std::array<int32_t, kBlockMax> code;
  std::array<float, kBlockMax> decoded;
  int32_t saturated = 0;
  for (size_t i = 0; i < block.size(); ++i) {
    const float ratio = block[i] / step;
    const Rounded rounded = round_magnitude(ratio);
    code[i] = rounded.code | (std::signbit(ratio) ? 8 : 0);
    decoded[i] = std::copysign(rounded.value, ratio) * block_scale * scale;
    saturated += std::fabs(ratio) >= kE2m1Reach ? 1 : 0;
  }
  for (size_t i = 0; i < block.size(); i += 2) {
    codes[i / 2] = static_cast<std::byte>(code[i] | code[i + 1] << 4);
  }
  error.saturated += saturated;
  record(block, decoded.data(), error);
}

void encode_fp8(std::span<const float> row, float scale, std::byte* codes, QuantizationError& error) {
  std::array<float, kBlockMax> decoded;
  for (size_t first = 0; first < row.size(); first += kBlockMax) {
    const auto part = row.subspan(first, std::min(kBlockMax, row.size() - first));
    for (size_t i = 0; i < part.size(); ++i) {
      const float ratio = part[i] / scale;
      const uint8_t code = encode_e4m3(ratio);
      codes[first + i] = static_cast<std::byte>(code);
      decoded[i] = decode_e4m3(code) * scale;
      error.saturated += std::fabs(ratio) >= kE4m3Reach ? 1 : 0;
    }
    record(part, decoded.data(), error);
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
