#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/dtype.h"
#include "hwy/highway.h"
#include "kernels/cpu/simd_target.h"

// How kernel tests compare: bits against ourselves, a tolerance against another implementation.
namespace tessera::kernels {

inline void expect_same_bits(std::span<const float> got, std::span<const float> want, const std::string& what) {
  ASSERT_EQ(got.size(), want.size()) << what;
  for (size_t i = 0; i < got.size(); ++i) {
    ASSERT_EQ(std::bit_cast<uint32_t>(got[i]), std::bit_cast<uint32_t>(want[i]))
        << what << ": element " << i << " is " << got[i] << ", want " << want[i];
  }
}

/// |got - want| <= absolute + relative |want|; reports the worst element.
inline void expect_near(std::span<const float> got, std::span<const double> want, double absolute, double relative,
                        const std::string& what) {
  ASSERT_EQ(got.size(), want.size()) << what;
  double worst = 0;
  size_t at = 0;
  for (size_t i = 0; i < got.size(); ++i) {
    const double excess = std::abs(got[i] - want[i]) / (absolute + relative * std::abs(want[i]));
    if (!(excess <= worst)) {
      worst = excess;
      at = i;
    }
  }
  EXPECT_LE(worst, 1.0) << what << ": worst element " << at << " is " << got[at] << ", want " << want[at];
}

/// The documented rounding points, in a reference that computes in double.
struct Rounding {
  bool bf16 = false;
  double operator()(double x) const { return bf16 ? round_to_bf16(static_cast<float>(x)) : x; }
};

/// Makes kernels run one Highway target while it lives.
class ForcedTarget {
 public:
  explicit ForcedTarget(int64_t target) {
    hwy::SetSupportedTargetsForTest(target);
    // Highway spells AVX-512 "AVX3".
    EXPECT_THAT(hwy::TargetName(target),
                testing::StrCaseEq(cpu::simd_target() == "avx512" ? "AVX3" : cpu::simd_target()));
  }
  ~ForcedTarget() { hwy::SetSupportedTargetsForTest(0); }
  ForcedTarget(const ForcedTarget&) = delete;
  ForcedTarget& operator=(const ForcedTarget&) = delete;
};

/// The targets that are compiled and that this CPU has: equal bits on all of them.
inline std::vector<int64_t> simd_targets() {
  std::vector<int64_t> targets;
#if HWY_ARCH_X86
  for (const int64_t target : {HWY_SSSE3, HWY_AVX2, HWY_AVX3}) {
    if ((hwy::SupportedTargets() & target) != 0) targets.push_back(target);
  }
#else
  targets = hwy::SupportedAndGeneratedTargets();
#endif
  return targets;
}

}  // namespace tessera::kernels
