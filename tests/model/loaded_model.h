#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "format/checkpoint.h"
#include "kernels/cpu/backend.h"
#include "model/lone_sequence.h"

namespace tessera::model {

/// A model with its backend and one sequence, for tests.
class LoadedModel {
 public:
  /// On the CPU.
  LoadedModel(const std::string& directory, kernels::Compute compute, int threads = 2, DType kv_dtype = DType::f32,
              kernels::Comm* comm = nullptr, const PlanOptions& plan = {.with_mtp = true})
      : pool_(threads), backend_(kernels::cpu::make_backend({compute, &pool_, &workspace_, comm})) {
    if (compute == kernels::Compute::bf16 && kv_dtype == DType::f32) kv_dtype = DType::bf16;
    load(directory, kv_dtype, plan);
  }
  /// On any backend.
  LoadedModel(const std::string& directory, std::unique_ptr<kernels::Backend> backend, DType kv_dtype = DType::bf16,
              const PlanOptions& plan = {.with_mtp = true})
      : pool_(1), backend_(std::move(backend)) {
    load(directory, kv_dtype, plan);
  }

  Model& operator*() { return *model_; }
  Model* operator->() { return model_.get(); }
  ThreadPool& pool() { return pool_; }
  [[nodiscard]] size_t vocab() const { return static_cast<size_t>(model_->config().vocab_size); }

  /// Runs tokens at positions [first, first + size) as one step; logits of every row, [size, vocab].
  std::vector<float> step(std::span<const int32_t> tokens, int32_t first, kernels::RowClass row_class) {
    if (first == 0) sequence_->restart();
    EXPECT_EQ(sequence_->position(), first);
    std::vector<float> logits(tokens.size() * vocab());
    const Status status = sequence_->run(tokens, row_class, logits);
    EXPECT_TRUE(status.ok()) << status.message();
    return logits;
  }

  /// The MTP head on the rows of the last step.
  std::vector<float> mtp_step(std::span<const int32_t> next_tokens) {
    std::vector<float> logits(next_tokens.size() * vocab());
    const Status status = sequence_->run_mtp(next_tokens, logits);
    EXPECT_TRUE(status.ok()) << status.message();
    return logits;
  }

 private:
  static constexpr int64_t kTokensMax = 512;

  void load(const std::string& directory, DType kv_dtype, PlanOptions plan) {
    plan.rank = backend_->rank();
    auto checkpoint = format::Checkpoint::open(directory);
    EXPECT_TRUE(checkpoint.ok()) << checkpoint.status().message();
    auto text = checkpoint->read_text("config.json");
    EXPECT_TRUE(text.ok() && *text) << "config.json";
    auto config = parse_config(**text, "config.json");
    EXPECT_TRUE(config.ok()) << config.status().message();
    auto loaded = Model::load(*checkpoint, *config, *backend_, {.plan = plan});
    EXPECT_TRUE(loaded.ok()) << loaded.status().message();
    model_ = std::move(*loaded);
    auto sequence = LoneSequence::create(*model_, kv_dtype, kTokensMax, kTokensMax, model_->has_mtp());
    EXPECT_TRUE(sequence.ok()) << sequence.status().message();
    sequence_ = std::move(*sequence);
  }

  ThreadPool pool_;
  kernels::Workspace workspace_;
  std::unique_ptr<kernels::Backend> backend_;
  std::unique_ptr<Model> model_;
  std::optional<LoneSequence> sequence_;
};

}  // namespace tessera::model
