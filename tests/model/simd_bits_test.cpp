// A forward of a whole model gives the same bits on every instruction set, and those that are written down here.

#include <gtest/gtest.h>

#include <array>
#include <numeric>

#include "base/hash.h"
#include "kernels/compare.h"
#include "model/loaded_model.h"

namespace tessera::model {
namespace {

using kernels::RowClass;

uint64_t digest(std::span<const float> values) {
  return fnv1a({reinterpret_cast<const char*>(values.data()), values.size_bytes()});
}

/// Logits of a prompt over two chunks, then of decode steps.
std::vector<float> logits(const std::string& directory, kernels::Compute compute, DType kv_dtype) {
  LoadedModel model(directory, compute, 2, kv_dtype);
  std::vector<int32_t> tokens(70);
  std::iota(tokens.begin(), tokens.end(), 3);
  std::vector<float> all = model.step(tokens, 0, RowClass::prefill);
  for (int32_t position = 70; position < 74; ++position) {
    const auto row = model.step(std::array{position * 7 % 50}, position, RowClass::decode);
    all.insert(all.end(), row.begin(), row.end());
  }
  return all;
}

struct Case {
  const char* model;
  kernels::Compute compute;
  DType kv_dtype;
  uint64_t digest;
};

constexpr Case kCases[] = {
    {"tests/golden/qwen3_5_moe", kernels::Compute::bf16, DType::bf16, 0xe708005cd750e628U},
    {"tests/golden/qwen3_5_moe", kernels::Compute::f32, DType::f32, 0xdd181a6c9b908231U},
    {"tests/golden/qwen3_5_dense", kernels::Compute::bf16, DType::f8_e4m3, 0xe06ec44b592ac406U},
    {"models/demo", kernels::Compute::bf16, DType::bf16, 0xfcb0ada2cda90e40U},
};

TEST(SimdBits, OfAForwardAreTheSameEverywhere) {
  for (const Case& c : kCases) {
    for (const int64_t target : kernels::simd_targets()) {
      const kernels::ForcedTarget forced(target);
      const auto got = logits(std::string(TESSERA_SOURCE_DIR "/") + c.model, c.compute, c.kv_dtype);
      EXPECT_EQ(digest(got), c.digest) << c.model << " on " << hwy::TargetName(target);
    }
  }
}

}  // namespace
}  // namespace tessera::model
