#include "kernels/skewed_router.h"

#include <gtest/gtest.h>

#include <cmath>

#include "kernels/atom.h"

namespace tessera::kernels {
namespace {

MatrixSource router(int64_t experts) {
  format::MatrixView view;
  view.format = format::WeightFormat::bf16;
  view.rows = experts;
  view.cols = 64;
  view.scale = 0.125F;
  return {.name = "router", .parts = {view}};
}

TEST(SkewedRouter, EachEighthSpreadsLessThanTheOneBefore) {
  for (const int64_t experts : {1, 5, 8, 100, 256, 512}) {
    MatrixSource source = router(experts);
    skew_dummy_router(source);
    const auto shape = atom_shape(source.parts, RowOrder::stacked);
    ASSERT_TRUE(shape.ok()) << shape.status().message();
    EXPECT_EQ(shape->rows, experts);
    std::vector<float> factors(static_cast<size_t>(strips(*shape)) * kAtomRows);
    row_alphas(source.parts, *shape, factors);
    for (int64_t e = 0; e < experts; ++e) {
      const auto eighth = static_cast<float>(((e + 1) * 8 + experts - 1) / experts - 1);
      EXPECT_NEAR(factors[static_cast<size_t>(e)], 0.125F * std::pow(0.9F, eighth), 1e-6) << e << " of " << experts;
    }
  }
}

TEST(SkewedRouter, WeightsWithBytesStay) {
  const std::byte bytes[128] = {};
  MatrixSource source = router(8);
  source.parts[0].data = bytes;
  skew_dummy_router(source);
  EXPECT_EQ(source.parts.size(), 1U);
}

}  // namespace
}  // namespace tessera::kernels
