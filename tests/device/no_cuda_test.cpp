#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "device/device.h"
#include "device/peer_copy.h"

namespace tessera::device {
namespace {

TEST(NoCuda, AnswersThatItWasBuiltWithoutCuda) {
  const auto gpus = list_gpus();
  ASSERT_FALSE(gpus.ok());
  EXPECT_EQ(gpus.status().code(), StatusCode::unsupported);
  EXPECT_THAT(gpus.status().message(), testing::HasSubstr("built without CUDA"));
  EXPECT_EQ(has_kernels(0).code(), StatusCode::unsupported);
  EXPECT_EQ(measure_read_rate(0, 1 << 20).status().code(), StatusCode::unsupported);
  EXPECT_EQ(try_peer_copies(1 << 20).status().code(), StatusCode::unsupported);
}

}  // namespace
}  // namespace tessera::device
