#include "kernels/reference/moe_reference.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <random>

#include "base/dtype.h"
#include "format/e2m1.h"
#include "format/e4m3.h"
#include "format/quantize.h"
#include "format/ue8m0.h"
#include "kernels/atom.h"
#include "kernels/fp4_activation.h"
#include "kernels/matrix_fixture.h"
#include "kernels/reference/fp4_mma.h"
#include "kernels/spelt_math.h"

namespace tessera::kernels::cpu {
namespace {

constexpr WeightFormat kFormats[] = {WeightFormat::nvfp4, WeightFormat::mxfp4};
constexpr float kInputScale = 0x1.3p-9F;

uint32_t word_at(const std::byte* p) {
  uint32_t word;
  std::memcpy(&word, p, 4);
  return word;
}

/// The registers of one MMA as the kernel loads them: a slice of a strip of atoms, a slice of activations.
std::array<Fp4Lane, 32> lanes_of(WeightFormat format, const std::byte* weights, const std::byte* activations) {
  std::array<Fp4Lane, 32> lanes{};
  const int scale_bytes = kSliceDepth / plan::scale_group(format);
  const auto scales = [&](const std::byte* p) {
    uint32_t word = 0;
    std::memcpy(&word, p, static_cast<size_t>(scale_bytes));
    return word;
  };
  for (int lane = 0; lane < 32; ++lane) {
    Fp4Lane& to = lanes[static_cast<size_t>(lane)];
    for (size_t i = 0; i < 4; ++i) to.a[i] = word_at(weights + lane * 16 + 4 * i);
    for (size_t i = 0; i < 2; ++i) to.b[i] = word_at(activations + lane * 8 + 4 * i);
    to.scale_a = scales(weights + kSliceCodeBytes + (lane / 4 * 2 + lane % 2) * scale_bytes);
    to.scale_b = scales(activations + kSliceCols * kSliceDepth / 2 + lane / 4 * scale_bytes);
  }
  return lanes;
}

TEST(MoeReference, AtomsAndActivationSlicesMeetInTheMma) {
  for (const WeightFormat format : kFormats) {
    const int64_t rows = 40, cols = 320, tokens = 8;
    RandomMatrix m(format, rows, cols, 3);
    const std::vector<float> x = random_floats(static_cast<size_t>(tokens * cols), 4);
    const format::MatrixView view = m.view();
    const auto shape = atom_shape({&view, 1});
    ASSERT_TRUE(shape.ok()) << shape.status().message();
    std::vector<std::byte> atoms(atom_matrix_bytes(*shape));
    ASSERT_TRUE(pack_atoms({&view, 1}, atoms.data()).ok());
    const std::vector<int32_t> source = {0, 1, 2, 3, 4, 5, 6, 7};
    std::vector<std::byte> slices(static_cast<size_t>(fp4_activation_bytes(format, tokens, cols)));
    quantize_activations(format, kInputScale, x.data(), cols, source, slices.data());

    std::vector<std::vector<float>> want;
    for (size_t t = 0; t < 8; ++t) {
      want.emplace_back(static_cast<size_t>(rows));
      reference_product(plan::Path::w4a4, view, kInputScale, std::span(x).subspan(t * 320, 320), want.back());
    }
    for (int64_t strip = 0; strip < strips(*shape); ++strip) {
      std::array<std::array<float, 4>, 32> d{};
      for (int64_t s = 0; s < fp4_slices(cols); ++s) {
        auto lanes = lanes_of(format,
                              atoms.data() + static_cast<size_t>(strip) * strip_bytes(*shape) +
                                  static_cast<size_t>(s * plan::weight_slice_bytes(format)),
                              slices.data() + s * fp4_slice_bytes(format));
        for (size_t i = 0; i < 32; ++i) lanes[i].c = d[i];
        d = mma_fp4(format, lanes, {});
      }
      for (size_t lane = 0; lane < 32; ++lane) {
        for (size_t i = 0; i < 4; ++i) {
          const size_t row = static_cast<size_t>(strip) * 16 + lane / 4 + 8 * (i / 2), token = lane % 4 * 2 + i % 2;
          if (row >= static_cast<size_t>(rows)) continue;
          ASSERT_EQ(std::bit_cast<uint32_t>(d[lane][i] * (view.scale * kInputScale)),
                    std::bit_cast<uint32_t>(want[token][row]))
              << format::name(format) << ", row " << row << ", token " << token;
        }
      }
    }
  }
}

TEST(MoeReference, W4a4IsTheProductOfWhatWasRounded) {
  for (const WeightFormat format : kFormats) {
    const auto group = static_cast<size_t>(format::group_size(format));
    RandomMatrix m(format, 16, 256, 5);
    for (auto& s : m.block_scales) s = std::byte{format == WeightFormat::mxfp4 ? uint8_t{127} : uint8_t{0x38}};
    const std::vector<float> x = random_floats(256, 6);
    std::vector<float> got(16), exact(16), rounded(256);
    for (size_t g = 0; g < 256 / group; ++g) {
      std::vector<std::byte> codes(group / 2);
      const auto scale = static_cast<uint8_t>(
          quantize_fp4_group(format, kInputScale, std::span(x).subspan(g * group, group), codes.data()));
      const float step =
          format == WeightFormat::mxfp4 ? format::decode_ue8m0(scale) : format::decode_e4m3(scale) * kInputScale;
      for (size_t i = 0; i < group; ++i) {
        rounded[g * group + i] = format::decode_e2m1(format::e2m1_at(codes.data(), static_cast<int64_t>(i))) * step;
      }
    }
    reference_product(plan::Path::w4a4, m.view(), format == WeightFormat::mxfp4 ? 1.0F : kInputScale, x, got);
    reference_product(plan::Path::w4a16, m.view(), 1.0F, rounded, exact);
    for (size_t i = 0; i < 16; ++i) EXPECT_NEAR(got[i], exact[i], 1e-5 * (1 + std::abs(exact[i])));
  }
}

TEST(MoeReference, W4a16SumsTheCheckpointsValues) {
  for (const WeightFormat format : kFormats) {
    RandomMatrix m(format, 8, 96, 7);
    const std::vector<float> x = random_floats(96, 8);
    std::vector<float> got(8);
    reference_product(plan::Path::w4a16, m.view(), 1.0F, x, got);
    for (int64_t row = 0; row < 8; ++row) {
      double sum = 0;
      for (int64_t k = 0; k < 96; ++k) {
        sum += static_cast<double>(m.code(row, k)) * m.block_scale(row, k) * x[static_cast<size_t>(k)];
      }
      EXPECT_EQ(got[static_cast<size_t>(row)], static_cast<float>(sum * m.scale));
    }
  }
}

TEST(Fp4Activation, EveryCodeAndScaleIsInItsPlace) {
  for (const WeightFormat format : kFormats) {
    const int64_t depth = 208, rows = 3;  // 3 slices and a quarter
    const auto group = static_cast<size_t>(format::group_size(format));
    const std::vector<float> x = random_floats(static_cast<size_t>(rows * depth), 9);
    const std::vector<int32_t> source = {2, 0, -1, 1, 1, 2, 0, 0, 1, -1, 2};
    std::vector<std::byte> out(static_cast<size_t>(fp4_activation_bytes(format, 11, depth)), std::byte{0xaa});
    quantize_activations(format, kInputScale, x.data(), depth, source, out.data());
    for (size_t column = 0; column < 16; ++column) {
      for (size_t k = 0; k < 256; k += group) {
        std::vector<float> values(group);
        const int row = column < source.size() ? source[column] : -1;
        for (size_t i = 0; i < group && row >= 0 && k + i < 208; ++i) {
          values[i] = x[static_cast<size_t>(row) * 208 + k + i];
        }
        std::vector<std::byte> codes(group / 2);
        const std::byte scale = quantize_fp4_group(format, kInputScale, values, codes.data());
        const std::byte* slice = out.data() + (column / 8 * 4 + k / 64) * static_cast<size_t>(fp4_slice_bytes(format));
        ASSERT_EQ(slice[256 + column % 8 * (64 / group) + k % 64 / group], scale);
        for (size_t i = 0; i < group; ++i) {
          const CodePlace place = fp4_activation_place(static_cast<int>(column % 8), static_cast<int>(k % 64 + i));
          ASSERT_EQ(static_cast<uint8_t>(slice[place.byte]) >> place.shift & 0xf,
                    format::e2m1_at(codes.data(), static_cast<int64_t>(i)));
        }
      }
    }
  }
}

TEST(Fp4Activation, AValueThatIsNotFinitePoisonsItsGroupAlone) {
  for (const WeightFormat format : kFormats) {
    for (const float bad : {std::numeric_limits<float>::quiet_NaN(), -std::numeric_limits<float>::infinity()}) {
      std::vector<float> x(64, 1.0F);
      x[33] = bad;
      RandomMatrix m(format, 4, 64, 10);
      std::vector<float> out(4);
      reference_product(plan::Path::w4a4, m.view(), kInputScale, x, out);
      for (const float y : out) EXPECT_TRUE(std::isnan(y));
      std::vector<std::byte> codes(16);
      const auto group = static_cast<size_t>(format::group_size(format));
      EXPECT_EQ(
          static_cast<uint8_t>(quantize_fp4_group(format, kInputScale, std::span(x).subspan(32, group), codes.data())),
          format == WeightFormat::mxfp4 ? 0xff : 0x7f);
      EXPECT_NE(static_cast<uint8_t>(quantize_fp4_group(format, kInputScale, std::span(x).first(group), codes.data())),
                format == WeightFormat::mxfp4 ? 0xff : 0x7f);
    }
  }
}

TEST(Swiglu, EveryBf16GateIsWithinAnUlpOfTheExactValue) {
  for (uint32_t bits = 0; bits < 0x10000; ++bits) {
    const float gate = bf16_to_float(static_cast<uint16_t>(bits));
    const float got = bf16_to_float(swiglu(gate, 1.0F));
    if (std::isnan(gate) || gate == -std::numeric_limits<float>::infinity()) {
      EXPECT_TRUE(std::isnan(got) || got == 0) << gate;
      continue;
    }
    if (std::isinf(gate)) {
      EXPECT_EQ(got, gate);
      continue;
    }
    const double want = gate / (1 + std::exp(-static_cast<double>(gate)));
    EXPECT_LE(std::abs(got - want), 0x1p-8 * std::abs(want) + 1e-20) << gate;
  }
  EXPECT_EQ(bf16_to_float(swiglu(2.0F, -3.0F)), round_to_bf16(round_to_bf16(2 / (1 + std::exp(-2.0F))) * -3));
}

TEST(MoeReference, TokensAreSumsOfTheirSlots) {
  RandomMatrix gate(WeightFormat::nvfp4, 32, 64, 11), up(WeightFormat::nvfp4, 32, 64, 12);
  RandomMatrix down(WeightFormat::nvfp4, 64, 32, 13);
  for (RandomMatrix* m : {&gate, &up, &down}) {
    for (auto& s : m->block_scales) s = std::byte{0x38};
  }
  const ReferenceExpert expert{gate.view(), up.view(), down.view(), {0x1p-6F, 0x1p-9F}};
  const std::vector<float> x = random_floats(64, 14);
  for (const plan::Path path : {plan::Path::w4a16, plan::Path::w4a4}) {
    const ReferenceSlot slots[] = {{&expert, 0.25F}, {&expert, 0.75F}};
    const std::vector<float> once = reference_down(path, expert, reference_gate_up(path, expert, x));
    const std::vector<float> both = reference_moe(path, slots, {}, x);
    const std::vector<float> shared = reference_moe(path, slots, {x, 0.375F}, x);
    for (size_t i = 0; i < 64; ++i) {
      const float sum = std::fma(0.75F, once[i], 0.25F * once[i]);
      EXPECT_EQ(both[i], round_to_bf16(sum));
      EXPECT_EQ(shared[i], round_to_bf16(std::fma(0.375F, x[i], sum)));
    }
    // In their order, the shared one last: what is added before the two that cancel is lost.
    const ReferenceSlot before[] = {{&expert, 0.25F}, {&expert, 0x1p30F}, {&expert, -0x1p30F}};
    const ReferenceSlot behind[] = {{&expert, 0x1p30F}, {&expert, -0x1p30F}, {&expert, 0.25F}};
    const std::vector<float> lost = reference_moe(path, before, {x, 0.375F}, x);
    const std::vector<float> kept = reference_moe(path, behind, {x, 0.375F}, x);
    for (size_t i = 0; i < 64; ++i) {
      EXPECT_EQ(lost[i], round_to_bf16(0.375F * x[i]));
      EXPECT_EQ(kept[i], round_to_bf16(std::fma(0.375F, x[i], 0.25F * once[i])));
    }
  }
}

}  // namespace
}  // namespace tessera::kernels::cpu
