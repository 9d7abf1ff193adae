#include <gtest/gtest.h>

#include "selftest/moe_timer.h"
#include "selftest/selftest.h"

namespace tessera::kernels {
namespace {

TEST(Selftest, ABuildWithoutCudaSaysSo) {
  const Status status = selftest(0, [](const SelftestCheck&) { ADD_FAILURE() << "nothing can be checked"; });
  EXPECT_EQ(status.code(), StatusCode::unsupported);
  EXPECT_NE(status.message().find("built without CUDA"), std::string::npos);
  EXPECT_EQ(selftest_environment(0).status().code(), StatusCode::unsupported);
}

TEST(MoeTimer, ABuildWithoutCudaSaysSo) {
  const auto timer = MoeTimer::make(0, {}, {});
  EXPECT_EQ(timer.status().code(), StatusCode::unsupported);
  EXPECT_NE(timer.status().message().find("built without CUDA"), std::string::npos);
}

}  // namespace
}  // namespace tessera::kernels
