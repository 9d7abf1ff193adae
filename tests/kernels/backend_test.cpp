#include "kernels/cpu/backend.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "matrix_fixture.h"

namespace tessera::kernels {
namespace {

constexpr int64_t kHidden = 32, kVocab = 24;
constexpr int32_t kRows = 20;

MatrixSource matrix(const RandomMatrix& stored) { return {"a matrix", {stored.view()}}; }

/// A model of one layer: what a pass over `tokens` leaves as final hidden rows.
class OneLayer {
 public:
  explicit OneLayer(float rope_scale = 1.0F, float rotary_norm = 0) {
    std::vector<float> q_norm(16);
    std::fill_n(q_norm.begin(), kShape.rotary_dim, rotary_norm);
    attention_ = *backend_->load(AttentionSource{.shape = kShape,
                                                 .hidden = kHidden,
                                                 .inv_freq = {1, 0.5F, 0.25F, 0.125F},
                                                 .rope_scale = rope_scale,
                                                 .input_norm = std::vector<float>(kHidden),
                                                 .q_norm = q_norm,
                                                 .k_norm = std::vector<float>(16),
                                                 .q_gate = matrix({format::WeightFormat::bf16, 64, kHidden, 1}),
                                                 .k = matrix({format::WeightFormat::bf16, 16, kHidden, 2}),
                                                 .v = matrix({format::WeightFormat::bf16, 16, kHidden, 3}),
                                                 .o = matrix({format::WeightFormat::bf16, kHidden, 32, 4})});
    embedding_ = *backend_->load(
        EmbeddingSource{.table = matrix({format::WeightFormat::bf16, kVocab, kHidden, 5}), .lm_head = {}});
    head_ = *backend_->load(HeadSource{.norm_eps = 1e-6F, .norm = std::vector<float>(kHidden), .lm_head = {}});
    cache_ = *backend_->make_cache(
        {.attention = kShape, .attention_layers = 1, .k_scales = {}, .v_scales = {}, .delta_net = {}, .blocks = 1});
    pass_ = *backend_->make_pass({.rows_max = kRows,
                                  .sequences_max = 1,
                                  .logit_rows_max = 1,
                                  .sequence_blocks_max = 1,
                                  .hidden = kHidden,
                                  .vocab = kVocab,
                                  .keeps_hidden = true});
  }

  std::vector<float> hidden_rows(const std::vector<int32_t>& tokens, const std::vector<int32_t>& logit_rows) {
    const std::vector<int32_t> table = {0};
    const std::vector<SequenceRows> sequences = {{.rows = kRows, .block_table = table}};
    std::vector<float> hidden(static_cast<size_t>(kRows * kHidden));
    EXPECT_TRUE(backend_->begin(*pass_, *cache_, {tokens, sequences}, logit_rows).ok());
    EXPECT_TRUE(backend_->embed(*pass_, *embedding_).ok());
    EXPECT_TRUE(backend_->attention(*pass_, *attention_, 0).ok());
    EXPECT_TRUE(backend_->head(*pass_, *head_, *embedding_).ok());
    EXPECT_TRUE(backend_->read_hidden(*pass_, hidden).ok());
    return hidden;
  }

 private:
  static constexpr AttentionShape kShape{.heads = 2, .kv_heads = 1, .head_dim = 16, .rotary_dim = 8, .norm_eps = 1e-6F};

  TestContext test_{2};
  std::unique_ptr<Backend> backend_ = cpu::make_backend(test_.context);
  std::unique_ptr<AttentionBlock> attention_;
  std::unique_ptr<Embedding> embedding_;
  std::unique_ptr<Head> head_;
  std::unique_ptr<Cache> cache_;
  std::unique_ptr<Pass> pass_;
};

std::vector<int32_t> tokens_from(int32_t first) {
  std::vector<int32_t> tokens(kRows);
  for (int32_t i = 0; i < kRows; ++i) tokens[static_cast<size_t>(i)] = (first + 7 * i) % kVocab;
  return tokens;
}

/// Twice on queries and twice on keys is four times on queries, to the bit.
TEST(CpuBackend, TheRopeScaleIsOfQueriesAndKeys) {
  const auto scaled = OneLayer(/*rope_scale=*/2).hidden_rows(tokens_from(0), {});
  EXPECT_EQ(scaled, OneLayer(1, /*rotary_norm=*/3).hidden_rows(tokens_from(0), {}));
  EXPECT_NE(scaled, OneLayer().hidden_rows(tokens_from(0), {}));
}

/// As in a chunk of a long prompt, whose rows the MTP layer reads all the same.
TEST(CpuBackend, HiddenRowsStayWhereNoLogitsAreWanted) {
  OneLayer model;
  const auto want = model.hidden_rows(tokens_from(1), {kRows - 1});
  EXPECT_NE(model.hidden_rows(tokens_from(2), {kRows - 1}), want);
  EXPECT_EQ(model.hidden_rows(tokens_from(1), {}), want);
}

}  // namespace
}  // namespace tessera::kernels
