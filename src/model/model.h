#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "base/status.h"
#include "format/checkpoint.h"
#include "kernels/batch.h"
#include "kernels/context.h"
#include "model/cache.h"
#include "model/config.h"
#include "model/load_weights.h"

namespace tessera::model {

/// Qwen3.5 (MoE and dense) with its MTP head. Immutable once loaded, but forward borrows the context's workspace, so
/// one thread at a time calls it.
class Model {
 public:
  /// Reads and re-lays every tensor of `checkpoint` that text generation needs. Errors name the tensor, what was
  /// found and what was expected. `context`'s pool and workspace must outlive the model.
  static Expected<std::unique_ptr<Model>> load(const format::Checkpoint& checkpoint, const ModelConfig& config,
                                               const kernels::Context& context, const LoadProgress& progress = {});
  ~Model();

  [[nodiscard]] const ModelConfig& config() const;
  [[nodiscard]] bool has_mtp() const;
  [[nodiscard]] size_t weight_bytes() const;
  /// Weight bytes that one decoded token reads (chosen experts only): the bandwidth floor's numerator.
  [[nodiscard]] size_t bytes_per_token() const;

  /// Per attention layer (MTP layers last), from the checkpoint; 1 where absent.
  [[nodiscard]] const std::vector<float>& k_scales() const;
  [[nodiscard]] const std::vector<float>& v_scales() const;
  /// True when the checkpoint asks for an FP8 KV cache.
  [[nodiscard]] bool wants_fp8_kv() const;

  /// One step: writes K, V and states of every row into `cache`, and logits [logit_rows.size(), vocab] (fp32, not
  /// rounded) of the rows listed in logit_rows. `hidden`, if not null, receives the final-normed hidden rows
  /// [rows, hidden] that the MTP head and other drafters read. Ids beyond the tokenizer's are the sampler's business.
  void forward(const kernels::Batch& batch, Cache& cache, std::span<const int32_t> logit_rows, float* logits,
               float* hidden = nullptr);

  /// The MTP head on rows t: batch.tokens[t] is token t+1, hidden[t] the final-normed output of the main model (or of
  /// this head, when drafting further), positions those of t. Writes the MTP layer's KV; logits as in forward
  /// predict token t+2; hidden_out [rows, hidden], if not null, is mtp.norm's output. Draft step i runs MTP layer
  /// i mod config().mtp_layers. Requires has_mtp().
  void forward_mtp(const kernels::Batch& batch, const float* hidden, Cache& cache, std::span<const int32_t> logit_rows,
                   float* logits, float* hidden_out = nullptr, int mtp_layer = 0);

 private:
  struct Impl;
  explicit Model(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace tessera::model
