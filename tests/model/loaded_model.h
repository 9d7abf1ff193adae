#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <numeric>
#include <string>
#include <vector>

#include "format/checkpoint.h"
#include "model/model.h"

namespace tessera::model {

/// A model with its threads, workspace and cache, for tests: one sequence in state slot 0, KV blocks in order.
class LoadedModel {
 public:
  LoadedModel(const std::string& directory, kernels::Compute compute, int threads = 2, DType kv_dtype = DType::f32)
      : pool_(threads) {
    auto checkpoint = format::Checkpoint::open(directory);
    EXPECT_TRUE(checkpoint.ok()) << checkpoint.status().message();
    auto text = checkpoint->read_text("config.json");
    EXPECT_TRUE(text.ok() && *text) << "config.json";
    auto config = parse_config(**text, "config.json");
    EXPECT_TRUE(config.ok()) << config.status().message();
    auto loaded = Model::load(*checkpoint, *config, {compute, &pool_, &workspace_});
    EXPECT_TRUE(loaded.ok()) << loaded.status().message();
    model_ = std::move(*loaded);
    if (compute == kernels::Compute::bf16 && kv_dtype == DType::f32) kv_dtype = DType::bf16;
    cache_ = std::make_unique<Cache>(*config, kv_dtype, kBlocks, kSlots, model_->has_mtp(), model_->k_scales(),
                                     model_->v_scales());
    for (int i = 0; i < kBlocks; ++i) blocks_.push_back(i);
  }

  Model& operator*() { return *model_; }
  Model* operator->() { return model_.get(); }
  Cache& cache() { return *cache_; }
  [[nodiscard]] size_t vocab() const { return static_cast<size_t>(model_->config().vocab_size); }

  /// Runs tokens at positions [first, first + size) as one step; logits of every row, [size, vocab].
  std::vector<float> step(std::span<const int32_t> tokens, int32_t first, kernels::RowClass row_class,
                          float* hidden = nullptr) {
    return run(tokens, first, row_class,
               [&](const kernels::Batch& batch, std::span<const int32_t> rows, float* logits) {
                 model_->forward(batch, *cache_, rows, logits, hidden);
               });
  }

  std::vector<float> mtp_step(std::span<const int32_t> next_tokens, int32_t first, const float* hidden) {
    return run(next_tokens, first, kernels::RowClass::prefill,
               [&](const kernels::Batch& batch, std::span<const int32_t> rows, float* logits) {
                 model_->forward_mtp(batch, hidden, *cache_, rows, logits);
               });
  }

 private:
  static constexpr int kBlocks = 8;
  static constexpr int kSlots = 2;

  template <typename Forward>
  std::vector<float> run(std::span<const int32_t> tokens, int32_t first, kernels::RowClass row_class,
                         const Forward& forward) {
    const auto count = static_cast<int32_t>(tokens.size());
    const kernels::SequenceRows rows{.first_row = 0,
                                     .rows = count,
                                     .first_position = first,
                                     .row_class = row_class,
                                     .state_slot = 0,
                                     .block_table = blocks_};
    std::vector<int32_t> logit_rows(tokens.size());
    std::iota(logit_rows.begin(), logit_rows.end(), 0);
    std::vector<float> logits(tokens.size() * vocab());
    forward(kernels::Batch{.tokens = tokens, .sequences = {&rows, 1}}, logit_rows, logits.data());
    return logits;
  }

  ThreadPool pool_;
  kernels::Workspace workspace_;
  std::unique_ptr<Model> model_;
  std::unique_ptr<Cache> cache_;
  std::vector<int32_t> blocks_;
};

}  // namespace tessera::model
