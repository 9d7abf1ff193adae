#include "kernels/cpu/backend.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <vector>

#include "matrix_fixture.h"

namespace tessera::kernels {
namespace {

constexpr int64_t kHidden = 32, kVocab = 24;
constexpr int32_t kRows = 20;
constexpr float kEps = 1e-6F;
constexpr float kHuge = 1e30F;  // an epsilon that leaves nothing of a normed row
constexpr AttentionShape kShape{.heads = 2, .kv_heads = 1, .head_dim = 16, .rotary_dim = 8, .norm_eps = kEps};

/// Views last as long as the expression that loads them.
MatrixSource matrix(const RandomMatrix& stored) { return {"a matrix", {stored.view()}}; }
RandomMatrix random(int64_t rows, int64_t cols, uint32_t seed) {
  return {format::WeightFormat::bf16, rows, cols, seed};
}

/// Blocks of a small model, and what a pass over 20 rows leaves.
struct CpuBackend : testing::Test {
  TestContext test{2};
  std::unique_ptr<Backend> backend = cpu::make_backend(test.context);
  std::unique_ptr<Cache> cache = *backend->make_cache(
      {.attention = kShape, .attention_layers = 1, .k_scales = {}, .v_scales = {}, .delta_net = {}, .blocks = 1});
  std::unique_ptr<Pass> pass = *backend->make_pass({.rows_max = kRows,
                                                    .sequences_max = 1,
                                                    .logit_rows_max = 2,
                                                    .sequence_blocks_max = 1,
                                                    .hidden = kHidden,
                                                    .vocab = kVocab,
                                                    .keeps_hidden = true});
  std::vector<float> zeros = std::vector<float>(kHidden);
  std::unique_ptr<Embedding> embedding =
      *backend->load(EmbeddingSource{.table = matrix(random(kVocab, kHidden, 5)), .lm_head = {}});
  std::unique_ptr<Head> head = make_head(kEps);

  std::unique_ptr<Head> make_head(float eps) {
    return *backend->load(HeadSource{.norm_eps = eps, .norm = zeros, .lm_head = {}});
  }
  std::unique_ptr<AttentionBlock> make_attention(float rope_scale, float rotary_norm) {
    std::vector<float> q_norm(16);
    std::fill_n(q_norm.begin(), kShape.rotary_dim, rotary_norm);
    return *backend->load(AttentionSource{.shape = kShape,
                                          .hidden = kHidden,
                                          .inv_freq = {1, 0.5F, 0.25F, 0.125F},
                                          .rope_scale = rope_scale,
                                          .input_norm = zeros,
                                          .q_norm = q_norm,
                                          .k_norm = std::vector<float>(16),
                                          .q_gate = matrix(random(64, kHidden, 1)),
                                          .k = matrix(random(16, kHidden, 2)),
                                          .v = matrix(random(16, kHidden, 3)),
                                          .o = matrix(random(kHidden, 32, 4))});
  }

  /// A pass that begins with embedded tokens, up to its head.
  template <typename Layers>
  void run(int32_t first_token, std::span<const int32_t> logit_rows, const Layers& layers) {
    std::vector<int32_t> tokens(kRows);
    for (int32_t i = 0; i < kRows; ++i) tokens[static_cast<size_t>(i)] = (first_token + 7 * i) % kVocab;
    const std::vector<int32_t> table = {0};
    const std::vector<SequenceRows> sequences = {{.rows = kRows, .block_table = table}};
    EXPECT_TRUE(backend->begin(*pass, *cache, {tokens, sequences}, logit_rows).ok());
    EXPECT_TRUE(backend->embed(*pass, *embedding).ok());
    layers();
    EXPECT_TRUE(backend->head(*pass, *head, *embedding).ok());
  }
  /// Its final hidden rows.
  std::vector<float> hidden_rows() {
    std::vector<float> rows(static_cast<size_t>(kRows * kHidden));
    EXPECT_TRUE(backend->read_hidden(*pass, rows).ok());
    return rows;
  }
};

/// Twice on queries and twice on keys is four times on queries, to the bit.
TEST_F(CpuBackend, TheRopeScaleIsOfQueriesAndKeys) {
  const auto rows_of = [&](float rope_scale, float rotary_norm) {
    const auto attention = make_attention(rope_scale, rotary_norm);
    run(0, {}, [&] { EXPECT_TRUE(backend->attention(*pass, *attention, 0).ok()); });
    return hidden_rows();
  };
  const auto scaled = rows_of(2, 0);
  EXPECT_EQ(scaled, rows_of(1, 3));
  EXPECT_NE(scaled, rows_of(1, 0));
}

/// As in a chunk of a long prompt, whose rows the MTP layer reads all the same.
TEST_F(CpuBackend, HiddenRowsStayWhereNoLogitsAreWanted) {
  const std::vector<int32_t> last = {kRows - 1};
  const auto rows_of = [&](int32_t first_token, std::span<const int32_t> logit_rows) {
    run(first_token, logit_rows, [] {});
    return hidden_rows();
  };
  const auto want = rows_of(1, last);
  EXPECT_NE(rows_of(2, last), want);
  EXPECT_EQ(rows_of(1, {}), want);
}

TEST_F(CpuBackend, LogitsAreNotRounded) {
  const std::vector<int32_t> last = {kRows - 1};
  run(1, last, [] {});
  std::vector<float> logits(kVocab);
  EXPECT_TRUE(backend->read_logits(*pass, logits).ok());
  EXPECT_THAT(logits, testing::Contains(testing::Truly([](float x) { return x != round_to_bf16(x); })));
}

TEST_F(CpuBackend, EveryNormHasItsOwnEpsilon) {
  const auto small = testing::Each(testing::AllOf(testing::Gt(-1e-6F), testing::Lt(1e-6F)));
  run(0, {}, [] {});
  const auto bare = hidden_rows();
  for (const float eps : {kEps, kHuge}) {
    const auto mlp = *backend->load(MlpSource{
        .hidden = kHidden,
        .norm_eps = eps,
        .norm = zeros,
        .mlp = {.inner = 16, .gate_up = matrix(random(32, kHidden, 6)), .down = matrix(random(kHidden, 16, 7))}});
    run(0, {}, [&] { EXPECT_TRUE(backend->mlp(*pass, *mlp).ok()); });
    EXPECT_EQ(hidden_rows() == bare, eps == kHuge);
    const auto input = *backend->load(MtpInputSource{
        .norm_eps = eps, .embedding_norm = zeros, .hidden_norm = zeros, .fc = matrix(random(kHidden, 2 * kHidden, 8))});
    run(0, {}, [&] { EXPECT_TRUE(backend->mtp_input(*pass, *input, *embedding).ok()); });
    EXPECT_EQ(testing::Matches(small)(hidden_rows()), eps == kHuge);
    head = make_head(eps);
    run(0, {}, [] {});
    EXPECT_EQ(testing::Matches(small)(hidden_rows()), eps == kHuge);
    head = make_head(kEps);
  }
}

TEST_F(CpuBackend, AMatrixThatCannotBeLoadedIsNamed) {
  const auto message_of = [&](const format::MatrixView& view) {
    return backend->load(EmbeddingSource{.table = {"model.embed_tokens", {view}}, .lm_head = {}}).status().message();
  };
  RandomMatrix stored = random(kVocab, kHidden, 5);
  stored.put(7, std::numeric_limits<float>::infinity(), 0);
  EXPECT_THAT(message_of(stored.view()), testing::AllOf(testing::StartsWith("model.embed_tokens"),
                                                        testing::HasSubstr("infinite at row 0, column 7")));
  format::MatrixView dummy = stored.view();
  dummy.data = nullptr;
  EXPECT_THAT(message_of(dummy), testing::AllOf(testing::StartsWith("model.embed_tokens has no bytes"),
                                                testing::HasSubstr("tessera synth")));
}

/// As that of an MTP layer may have.
TEST_F(CpuBackend, AHeadsOwnMatrixStandsForTheEmbeddings) {
  const std::vector<int32_t> first_and_last = {0, kRows - 1};
  const auto logits = [&] {
    run(0, first_and_last, [] {});
    std::vector<float> rows(2 * kVocab);
    EXPECT_TRUE(backend->read_logits(*pass, rows).ok());
    return rows;
  };
  const auto of_table = logits();
  head = *backend->load(HeadSource{.norm_eps = kEps, .norm = zeros, .lm_head = matrix(random(kVocab, kHidden, 9))});
  const auto of_head = logits();
  EXPECT_NE(of_head, of_table);
  head = make_head(kEps);
  embedding = *backend->load(
      EmbeddingSource{.table = matrix(random(kVocab, kHidden, 5)), .lm_head = matrix(random(kVocab, kHidden, 9))});
  EXPECT_EQ(logits(), of_head);
}

}  // namespace
}  // namespace tessera::kernels
