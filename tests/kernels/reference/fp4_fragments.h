#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <random>

#include "format/e2m1.h"
#include "kernels/reference/fp4_mma.h"

// Operands of the FP4 MMA as plain matrices, and the fragments that hold them.
namespace tessera::kernels::cpu {

struct Fp4Operands {
  std::array<std::array<uint8_t, plan::kMmaDepth>, plan::kMmaRows> a{};  // codes
  std::array<std::array<uint8_t, plan::kMmaDepth>, plan::kMmaCols> b{};
  std::array<std::array<uint8_t, 4>, plan::kMmaRows> scales_a{};  // 2 of them for mxfp4
  std::array<std::array<uint8_t, 4>, plan::kMmaCols> scales_b{};
  std::array<std::array<float, plan::kMmaCols>, plan::kMmaRows> c{};
};

/// Scale bytes that the selectors do not name hold `unread`: whoever reads them gets a NaN.
inline std::array<Fp4Lane, 32> fragments(format::WeightFormat format, const Fp4Operands& m, const Fp4Selectors& s = {},
                                         uint32_t unread = 0xffffffffU) {
  const auto eight = [](const uint8_t* codes) {
    uint32_t word = 0;
    for (size_t i = 0; i < 8; ++i) word |= static_cast<uint32_t>(codes[i] & 0xfU) << (4 * i);
    return word;
  };
  const auto scales = [&](const std::array<uint8_t, 4>& bytes, uint16_t byte) {
    uint32_t word = unread;
    const size_t count = format == format::WeightFormat::mxfp4 ? 2 : 4;
    for (size_t i = 0; i < count; ++i) {
      const size_t shift = 8 * (byte + i);
      word = (word & ~(0xffU << shift)) | static_cast<uint32_t>(bytes[i]) << shift;
    }
    return word;
  };
  std::array<Fp4Lane, 32> lanes{};
  for (size_t lane = 0; lane < 32; ++lane) {
    const size_t g = lane / 4, q = lane % 4;
    Fp4Lane& to = lanes[lane];
    to.scale_a = q / 2 == s.thread_a ? scales(m.scales_a[g + 8 * (q % 2)], s.byte_a) : unread;
    to.scale_b = q == s.thread_b ? scales(m.scales_b[g], s.byte_b) : unread;
    for (size_t i = 0; i < 4; ++i) {
      to.a[i] = eight(&m.a[g + 8 * (i % 2)][8 * q + 32 * (i / 2)]);
      to.c[i] = m.c[g + 8 * (i / 2)][2 * q + i % 2];
    }
    for (size_t i = 0; i < 2; ++i) to.b[i] = eight(&m.b[g][8 * q + 32 * i]);
  }
  return lanes;
}

/// Codes from `codes`, scales from [scale_low, scale_high], any accumulators of around 2^exponent.
inline Fp4Operands random_operands(std::mt19937& random, uint32_t code_mask, uint8_t scale_low, uint8_t scale_high,
                                   int exponent) {
  Fp4Operands m;
  std::uniform_int_distribution<int> scale(scale_low, scale_high);
  std::normal_distribution<float> normal;
  for (auto& row : m.a)
    for (auto& code : row) code = static_cast<uint8_t>(random() & code_mask);
  for (auto& row : m.b)
    for (auto& code : row) code = static_cast<uint8_t>(random() & code_mask);
  for (auto& row : m.scales_a)
    for (auto& s : row) s = static_cast<uint8_t>(scale(random));
  for (auto& row : m.scales_b)
    for (auto& s : row) s = static_cast<uint8_t>(scale(random));
  for (auto& row : m.c)
    for (auto& c : row) c = std::ldexp(normal(random), exponent);
  return m;
}

/// Every combination that PTX allows.
inline std::vector<Fp4Selectors> all_selectors(format::WeightFormat f) {
  std::vector<Fp4Selectors> all;
  const std::vector<uint16_t> bytes =
      f == format::WeightFormat::mxfp4 ? std::vector<uint16_t>{0, 2} : std::vector<uint16_t>{0};
  for (const uint16_t ba : bytes) {
    for (const uint16_t bb : bytes) {
      for (uint16_t ta = 0; ta < 2; ++ta) {
        for (uint16_t tb = 0; tb < 4; ++tb) all.push_back({ba, ta, bb, tb});
      }
    }
  }
  return all;
}

}  // namespace tessera::kernels::cpu
