#include "model/lone_sequence.h"

#include <gtest/gtest.h>

#include <vector>

#include "model/loaded_model.h"

namespace tessera::model {
namespace {

using kernels::RowClass;

constexpr size_t kTokens = 64;  // one block

/// What comes next has the bits and the room that it has in a new one.
TEST(LoneSequence, ATrialStepLeavesNothing) {
  LoadedModel loaded(TESSERA_SOURCE_DIR "/tests/golden/qwen3_5_moe", kernels::Compute::bf16);
  const auto logits = [&](bool tried) {
    auto sequence = LoneSequence::create(*loaded, DType::bf16, kTokens, kTokens);
    EXPECT_TRUE(sequence.ok()) << sequence.status().message();
    if (tried) {
      const Status status = sequence->try_step();
      EXPECT_TRUE(status.ok()) << status.message();
    }
    EXPECT_EQ(sequence->position(), 0);
    std::vector<int32_t> tokens(kTokens);
    for (size_t i = 0; i < kTokens; ++i) tokens[i] = static_cast<int32_t>(3 + 7 * i % loaded.vocab());
    std::vector<float> logits(kTokens * loaded.vocab());
    const Status status = sequence->run(tokens, RowClass::prefill, logits);
    EXPECT_TRUE(status.ok()) << status.message();
    EXPECT_EQ(sequence->position(), static_cast<int64_t>(kTokens));
    return logits;
  };
  EXPECT_EQ(logits(true), logits(false));
}

}  // namespace
}  // namespace tessera::model
