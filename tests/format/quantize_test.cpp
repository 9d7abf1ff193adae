#include "format/quantize.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cmath>
#include <limits>
#include <random>

#include "base/dtype.h"
#include "format/decode.h"
#include "format/decode_floats.h"
#include "format/e2m1.h"
#include "format/e4m3.h"
#include "format/f16.h"
#include "format/ue8m0.h"

namespace tessera::format {
namespace {

struct Quantized {
  std::vector<std::byte> codes;
  std::vector<std::byte> block_scales;
  std::vector<float> decoded;
  QuantizationError error;
};

Quantized quantize(WeightFormat format, ScaleChoice choice, float scale, const std::vector<float>& row) {
  Quantized q;
  const auto cols = static_cast<int64_t>(row.size());
  q.codes.resize(row_bytes(format, cols));
  if (group_size(format) != 0) q.block_scales.resize(row.size() / static_cast<size_t>(group_size(format)));
  quantize_row(format, choice, scale, row, q.codes.data(), q.block_scales.data(), q.error);
  MatrixView view{format, 1, cols, q.codes.data(), q.block_scales.data(), format == WeightFormat::mxfp4 ? 1 : scale,
                  {}};
  q.decoded.resize(row.size());
  decode_row(view, 0, q.decoded);
  return q;
}

std::vector<float> gaussian_row(size_t cols, float sigma, uint32_t seed) {
  std::mt19937 random(seed);
  std::normal_distribution<float> normal(0, sigma);
  std::vector<float> row(cols);
  for (float& v : row) v = normal(random);
  return row;
}

float max_abs(const std::vector<float>& row) {
  float largest = 0;
  for (const float v : row) largest = std::max(largest, std::fabs(v));
  return largest;
}

TEST(Quantize, TensorScalesArePairs) {
  for (float amax = 1e-30F; amax < 1e30F; amax *= 3.7F) {
    const TensorScale s = nvfp4_tensor_scale(amax);
    EXPECT_EQ(s.multiplier, 1.0F / s.divisor);
    EXPECT_NEAR(s.divisor * amax, 448 * 6, 1e-3);
  }
  EXPECT_EQ(nvfp4_tensor_scale(0).divisor, 1.0F);
  for (const float amax : {std::numeric_limits<float>::denorm_min(), 3e-38F, std::numeric_limits<float>::max()}) {
    const TensorScale s = nvfp4_tensor_scale(amax);
    EXPECT_TRUE(std::isnormal(s.divisor) && std::isnormal(s.multiplier)) << amax;
    EXPECT_TRUE(std::isnormal(fp8_tensor_scale(amax))) << amax;
  }
  EXPECT_EQ(fp8_tensor_scale(0), 1.0F);
  EXPECT_EQ(fp8_tensor_scale(896.0F), 2.0F);
}

TEST(Quantize, Nvfp4KeepsRepresentableRows) {
  // Each block's largest code is 6, so that the scale is found exactly, and every value is a code times the scale.
  std::vector<float> row;
  for (const float scale : {448.0F, 1.0F, 0x1p-9F, 0.40625F}) {
    for (uint8_t code = 0; code < 16; ++code) row.push_back(decode_e2m1(code) * scale * 0.25F);
  }
  const Quantized q = quantize(WeightFormat::nvfp4, ScaleChoice::amax, 0.25F, row);
  EXPECT_EQ(q.decoded, row);
  EXPECT_EQ(q.error.sum_of_squared_error, 0);
  EXPECT_EQ(q.error.saturated, 0);
  EXPECT_EQ(q.error.count, 64);
  for (size_t i = 0; i < row.size(); ++i) EXPECT_EQ(e2m1_at(q.codes.data(), static_cast<int64_t>(i)), i % 16);
}

TEST(Quantize, Nvfp4ZeroAndTinyBlocksGetTheSmallestScale) {
  std::vector<float> row(32, 0.0F);
  row[20] = 1e-12F;
  for (const ScaleChoice choice : {ScaleChoice::amax, ScaleChoice::mse}) {
    const Quantized q = quantize(WeightFormat::nvfp4, choice, 1.0F, row);
    EXPECT_EQ(q.block_scales[0], std::byte{1});
    EXPECT_EQ(q.block_scales[1], std::byte{1});
    EXPECT_EQ(q.decoded, std::vector<float>(32, 0.0F));
  }
}

TEST(Quantize, Nvfp4CountsSaturation) {
  // A tensor scale that is too small by far: the block scale stops at 448.
  std::vector<float> row(16, 1.0F);
  row[3] = 448.0F * 6.0F * 4.0F;
  row[5] = -row[3];
  const Quantized q = quantize(WeightFormat::nvfp4, ScaleChoice::amax, 1.0F, row);
  EXPECT_EQ(q.block_scales[0], std::byte{kE4m3MaxCode});
  EXPECT_EQ(q.error.saturated, 2);
  EXPECT_EQ(q.decoded[3], 448.0F * 6.0F);
  EXPECT_EQ(q.error.max_abs_error, 448.0 * 6.0 * 3.0);
}

RC_GTEST_PROP(Quantize, Nvfp4ErrorIsWithinHalfAStep, (uint32_t seed)) {
  const float sigma = std::exp2(static_cast<float>(*rc::gen::inRange(-20, 20)));
  const std::vector<float> row = gaussian_row(128, sigma, seed);
  const TensorScale tensor = nvfp4_tensor_scale(max_abs(row));
  const Quantized q = quantize(WeightFormat::nvfp4, ScaleChoice::amax, tensor.multiplier, row);
  for (size_t i = 0; i < row.size(); ++i) {
    const float step = decode_e4m3(static_cast<uint8_t>(q.block_scales[i / 16])) * tensor.multiplier;
    const float x = std::fabs(row[i]) / step;
    // Beyond 6 there is up to a sixteenth of 6, where the block scale was rounded down.
    const float allowed = x < 2 ? 0.25F : x < 4 ? 0.5F : x < 6 ? 1.0F : x - 6.0F + 1e-3F;
    RC_ASSERT(std::fabs(q.decoded[i] - row[i]) <= allowed * step * 1.00001F);
  }
  RC_ASSERT(q.error.saturated == 0);
}

TEST(Quantize, CodesAreThoseOfEncodeE2m1) {
  // A column of 6 fixes the block scale at 1; the rest walks over every code, every midpoint and their neighbours.
  std::vector<float> ratios;
  for (float midpoint :
       {0.0F, 0.25F, 0.5F, 0.75F, 1.0F, 1.25F, 1.5F, 1.75F, 2.0F, 2.5F, 3.0F, 3.5F, 4.0F, 5.0F, 6.0F}) {
    for (const float v : {midpoint, std::nextafter(midpoint, 0.0F), std::nextafter(midpoint, 6.0F)}) {
      ratios.push_back(v);
      ratios.push_back(-v);
    }
  }
  for (const WeightFormat format : {WeightFormat::nvfp4, WeightFormat::mxfp4}) {
    std::vector<float> row;
    for (const float ratio : ratios) {
      if (row.size() % static_cast<size_t>(group_size(format)) == 0) row.push_back(6);
      row.push_back(ratio);
    }
    while (row.size() % 32 != 0) row.push_back(0);
    const Quantized q = quantize(format, ScaleChoice::amax, 1.0F, row);
    for (size_t i = 0; i < row.size(); ++i) {
      EXPECT_EQ(e2m1_at(q.codes.data(), static_cast<int64_t>(i)), encode_e2m1(row[i])) << name(format) << " " << row[i];
    }
  }
}

RC_GTEST_PROP(Quantize, MseIsNeverWorseThanAmax, (uint32_t seed)) {
  const std::vector<float> row = gaussian_row(256, 0.02F, seed);
  const float scale = nvfp4_tensor_scale(max_abs(row)).multiplier;
  for (const WeightFormat format : {WeightFormat::nvfp4, WeightFormat::mxfp4}) {
    const Quantized amax = quantize(format, ScaleChoice::amax, scale, row);
    const Quantized mse = quantize(format, ScaleChoice::mse, scale, row);
    RC_ASSERT(mse.error.sum_of_squared_error <= amax.error.sum_of_squared_error * 1.000001);
  }
}

TEST(Quantize, MseFindsTheScaleThatFitsExactly) {
  // Multiples of 4 with amax 4: scale amax / 4 is exact, scale amax / 6 is not.
  const std::vector<float> row = {4, 2, 1, -4, 3, 2, 1.5, 0.5, 4, 2, 1, -4, 3, 2, 1.5, 0.5};
  const Quantized mse = quantize(WeightFormat::nvfp4, ScaleChoice::mse, 1.0F, row);
  EXPECT_EQ(mse.decoded, row);
  EXPECT_EQ(decode_e4m3(static_cast<uint8_t>(mse.block_scales[0])), 1.0F);
  EXPECT_GT(quantize(WeightFormat::nvfp4, ScaleChoice::amax, 1.0F, row).error.sum_of_squared_error, 0);
  // The same with values whose squares overflow fp32.
  std::vector<float> large = row;
  for (float& v : large) v *= 0x1p100F;
  EXPECT_EQ(quantize(WeightFormat::nvfp4, ScaleChoice::mse, 0x1p100F, large).decoded, large);
}

TEST(Quantize, TheLowestOfScalesThatFitAlikeIsTaken) {
  // Exact with a scale of 1 and with one of 2.
  std::vector<float> row(32, 2.0F);
  row[3] = -4.0F;
  const Quantized mse = quantize(WeightFormat::mxfp4, ScaleChoice::mse, 1.0F, row);
  EXPECT_EQ(mse.decoded, row);
  EXPECT_EQ(decode_ue8m0(static_cast<uint8_t>(mse.block_scales[0])), 1.0F);
}

/// Of the block scales from two below that of the largest magnitude on: none fits better than the one that is taken.
RC_GTEST_PROP(Quantize, MseIsTheBestOfItsRange, (uint32_t seed)) {
  const std::vector<float> row = gaussian_row(256, 1.0F, seed);
  const Quantized mse = quantize(WeightFormat::nvfp4, ScaleChoice::mse, 1.0F, row);
  for (size_t first = 0; first < row.size(); first += 16) {
    const std::span block(row.data() + first, 16);
    float amax = 0;
    for (const float v : block) amax = std::max(amax, std::fabs(v));
    const auto error_of = [&](int code) {
      const float step = decode_e4m3(static_cast<uint8_t>(code));
      double sum = 0;
      for (const float v : block) sum += std::pow(decode_e2m1(encode_e2m1(v / step)) * step - v, 2);
      return sum;
    };
    const double taken = error_of(static_cast<int>(mse.block_scales[first / 16]));
    const int full = encode_e4m3(amax / 6);
    for (int code = full - 2; code <= encode_e4m3(amax / 4); ++code) RC_ASSERT(taken <= error_of(code) * 1.00001);
  }
}

TEST(Quantize, Mxfp4FollowsTheOcpRule) {
  for (int exponent = -126; exponent <= 127; ++exponent) {
    std::vector<float> row(32, 0.0F);
    row[7] = -std::ldexp(1.5F, exponent);
    const Quantized q = quantize(WeightFormat::mxfp4, ScaleChoice::amax, 1.0F, row);
    EXPECT_EQ(static_cast<int>(q.block_scales[0]), std::max(exponent - 2 + 127, 0)) << exponent;
    if (exponent >= -125) {
      EXPECT_EQ(q.decoded[7], row[7]) << exponent;
    }
  }
  const Quantized zero = quantize(WeightFormat::mxfp4, ScaleChoice::amax, 1.0F, std::vector<float>(32, 0.0F));
  EXPECT_EQ(zero.block_scales[0], std::byte{0});
}

TEST(Quantize, Mxfp4RoundsSevenDownAndCountsIt) {
  std::vector<float> row(32, 1.0F);
  row[0] = 7.5F;  // scale 1: beyond the reach of 6
  const Quantized amax = quantize(WeightFormat::mxfp4, ScaleChoice::amax, 1.0F, row);
  EXPECT_EQ(amax.decoded[0], 6.0F);
  EXPECT_EQ(amax.error.saturated, 1);
  row[1] = -7.0F;  // to the even one of 6 and 8
  row[2] = std::nextafter(7.0F, 0.0F);
  EXPECT_EQ(quantize(WeightFormat::mxfp4, ScaleChoice::amax, 1.0F, row).error.saturated, 2);
  const Quantized mse = quantize(WeightFormat::mxfp4, ScaleChoice::mse, 1.0F, row);
  EXPECT_EQ(mse.decoded[0], 8.0F);
}

TEST(Quantize, Fp8PerTensor) {
  const std::vector<float> row = {448.0F, -448.0F, 1.0F, 0x1p-9F, 0.0F, 447.0F};
  const Quantized q = quantize(WeightFormat::fp8_e4m3, ScaleChoice::amax, 1.0F, row);
  EXPECT_EQ(q.decoded, (std::vector<float>{448.0F, -448.0F, 1.0F, 0x1p-9F, 0.0F, 448.0F}));
  EXPECT_EQ(q.error.max_abs_error, 1.0);
  EXPECT_EQ(q.error.count, 6);
  EXPECT_EQ(q.error.sum_of_squared_error, 1.0);
  EXPECT_EQ(q.error.sum_of_squares, 2 * 448.0 * 448.0 + 1.0 + 0x1p-18 + 447.0 * 447.0);
}

TEST(Quantize, Fp8CountsWhatRoundsBeyondItsLargestAsSaturated) {
  // The next value, if there were one, would be 480: 464 lies between, and goes to the even one.
  const Quantized q =
      quantize(WeightFormat::fp8_e4m3, ScaleChoice::amax, 1.0F, {448.0F, 463.0F, -463.0F, 464.0F, -470.0F, 1.0F});
  EXPECT_EQ(q.error.saturated, 2);
  EXPECT_EQ(q.decoded, (std::vector<float>{448, 448, -448, 448, -448, 1}));
}

/// A row is encoded piece by piece, and the largest error may be in any of them.
TEST(Quantize, TheLargestErrorIsThatOfTheRow) {
  for (const size_t at : {0UL, 40UL, 90UL}) {
    std::vector<float> row(96, 1.0F);
    row[at] = 447.0F;
    EXPECT_EQ(quantize(WeightFormat::fp8_e4m3, ScaleChoice::amax, 1.0F, row).error.max_abs_error, 1.0) << at;
  }
}

TEST(Quantize, ErrorsAddUp) {
  QuantizationError a{2, 1, 3.0, 12.0, 0.5};
  a.add({3, 2, 0.5, 3.0, 0.75});
  a.add({1, 1, 0.5, 1.0, 0.25});
  EXPECT_EQ(a.count, 6);
  EXPECT_EQ(a.saturated, 4);
  EXPECT_EQ(a.max_abs_error, 0.75);
  EXPECT_EQ(a.relative_l2(), 0.5);
  EXPECT_EQ(QuantizationError{}.relative_l2(), 0);
}

TEST(Decode, PlainFormatsAndRowScales) {
  const std::vector<float> f32 = {1.5F, -2.0F};
  const std::vector<uint16_t> bf16 = {float_to_bf16(1.5F), float_to_bf16(-2.0F)};
  const std::vector<uint16_t> f16 = {float_to_f16(1.5F), float_to_f16(-2.0F)};
  std::vector<float> out(2);
  const auto check = [&](WeightFormat format, const void* data) {
    decode_row({format, 1, 2, static_cast<const std::byte*>(data), nullptr, 1.0F, {}}, 0, out);
    EXPECT_EQ(out, f32) << name(format);
  };
  check(WeightFormat::f32, f32.data());
  check(WeightFormat::bf16, bf16.data());
  check(WeightFormat::f16, f16.data());
  const std::vector<uint8_t> fp8 = {encode_e4m3(1.0F), encode_e4m3(2.0F)};
  const std::vector<float> row_scales = {3.0F, 5.0F};
  decode_row({WeightFormat::fp8_e4m3, 2, 1, reinterpret_cast<const std::byte*>(fp8.data()), nullptr, 0.5F, row_scales},
             1, std::span(out).first(1));
  EXPECT_EQ(out[0], 5.0F) << "the row's scale and the matrix's, as kernels have it";
}

TEST(Decode, FloatsAreOfThreeTypesAndAsManyAsWanted) {
  std::vector<float> out(2);
  const auto status_of = [&](DType dtype, size_t bytes) {
    const std::vector<std::byte> stored(bytes);
    return decode_floats({.dtype = dtype, .shape = {}, .bytes = stored}, out).message();
  };
  EXPECT_EQ(status_of(DType::f32, 8) + status_of(DType::bf16, 4) + status_of(DType::f16, 4), "");
  EXPECT_EQ(status_of(DType::u8, 2), "dtype is U8, expected F32, BF16 or F16");
  EXPECT_EQ(status_of(DType::f32, 4), "1 elements, expected 2");
  EXPECT_EQ(status_of(DType::f16, 6), "3 elements, expected 2");
}

TEST(Decode, MaxMagnitudeNamesWhatIsNotFinite) {
  std::vector<float> values = {1.0F, -7.0F, 2.0F, 3.0F};
  const MatrixView view{WeightFormat::f32, 2, 2, reinterpret_cast<const std::byte*>(values.data()), nullptr, 1.0F, {}};
  EXPECT_EQ(*max_magnitude(view), 7.0F);
  values[3] = std::numeric_limits<float>::quiet_NaN();
  const auto found = max_magnitude(view);
  EXPECT_EQ(found.status().code(), StatusCode::corrupt_data);
  EXPECT_NE(found.status().message().find("row 1, column 1 is nan"), std::string::npos) << found.status().message();

  std::vector<float> wide(size_t{3} * 40'000);  // more than is looked at in one piece
  wide[size_t{2} * 40'000 + 39'999] = -std::numeric_limits<float>::infinity();
  const auto in_wide =
      max_magnitude({WeightFormat::f32, 3, 40'000, reinterpret_cast<const std::byte*>(wide.data()), nullptr, 1.0F, {}});
  EXPECT_NE(in_wide.status().message().find("row 2, column 39999 is -inf"), std::string::npos)
      << in_wide.status().message();
}

}  // namespace
}  // namespace tessera::format
