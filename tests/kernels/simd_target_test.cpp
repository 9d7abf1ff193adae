#include "kernels/cpu/simd_target.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>

#include "kernels/compare.h"

namespace tessera::kernels::cpu {
namespace {

using ::testing::HasSubstr;

TEST(SimdTarget, AWrongNameSaysWhichThereAre) {
  const std::string before = simd_target();
  for (const char* name : {"AVX2", "avx", "neon ", "sse4", ""}) {
    const Status status = use_simd_target(name);
    EXPECT_EQ(status.code(), StatusCode::invalid_argument) << name;
    EXPECT_THAT(status.message(), HasSubstr(std::string("TESSERA_SIMD is \"") + name + "\"; expected one of "));
    EXPECT_THAT(status.message(), HasSubstr(before));
  }
  EXPECT_EQ(simd_target(), before);
}

TEST(SimdTarget, AnEmptyVariableChoosesNothing) {
  const std::string before = simd_target();
  const char* const variable = std::getenv(kSimdVariable);
  const std::string old = variable == nullptr ? "" : variable;
  ::setenv(kSimdVariable, "", 1);
  EXPECT_TRUE(use_simd_target_of_environment().ok());
  EXPECT_EQ(simd_target(), before);
  variable == nullptr ? ::unsetenv(kSimdVariable) : ::setenv(kSimdVariable, old.c_str(), 1);
}

#if HWY_ARCH_X86
TEST(SimdTarget, WhatTheCpuLacksIsRefusedByName) {
  hwy::SetSupportedTargetsForTest(HWY_SSSE3 | HWY_AVX2);
  const Status status = use_simd_target("avx512");
  hwy::SetSupportedTargetsForTest(0);
  EXPECT_EQ(status.message(), "TESSERA_SIMD is avx512, which this CPU lacks; it has ssse3, avx2");
}

// Last: the choice is for good.
TEST(SimdTarget, ZWhatIsNamedRuns) {
  for (const char* name : {"avx2", "ssse3"}) {
    if (!use_simd_target(name).ok()) continue;
    EXPECT_EQ(simd_target(), name);
  }
  EXPECT_EQ(simd_target(), "ssse3");
  EXPECT_THAT(use_simd_target("avx2").message(), HasSubstr("it has ssse3"));
}
#endif

}  // namespace
}  // namespace tessera::kernels::cpu
