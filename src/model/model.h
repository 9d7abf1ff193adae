#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "base/status.h"
#include "base/thread_pool.h"
#include "format/checkpoint.h"
#include "kernels/backend.h"
#include "model/config.h"
#include "model/layers.h"
#include "model/load_weights.h"

namespace tessera::model {

struct LoadOptions {
  PlanOptions plan = {};
  LoadProgress progress = {};
  ThreadPool* pool = nullptr;  // for weights that are converted as they are loaded; null: the calling thread alone
};

/// What the caches of a rank hold (one that make_shard takes); blocks and slots are the caller's to set. with_mtp: the
/// MTP layers' KV as well. drafts_max: that a step of a sequence may have.
kernels::CacheShape cache_shape(const ModelConfig& config, DType kv_dtype, bool with_mtp, kernels::Rank rank = {},
                                int drafts_max = 0);

/// Qwen3.5 (MoE and dense) with its MTP head, or a rank's share of it: one forward over the blocks of any backend.
/// Immutable once loaded.
class Model {
 public:
  /// Reads every tensor of `checkpoint` that text generation needs, or the share of them that the backend's rank has
  /// (which must be the plan's), and gives it to `backend`, which must outlive the model. Errors name the tensor, what
  /// was found and what was expected.
  static Expected<std::unique_ptr<Model>> load(const format::Checkpoint& checkpoint, const ModelConfig& config,
                                               kernels::Backend& backend, const LoadOptions& options = {});

  /// A model of this shape without weights of a checkpoint (load_weights.h: load_dummy_weights).
  static Expected<std::unique_ptr<Model>> dummy(const ModelConfig& config, const KindFormats& formats,
                                                kernels::Backend& backend, const PlanOptions& options = {});

  [[nodiscard]] const ModelConfig& config() const { return config_; }
  [[nodiscard]] kernels::Backend& backend() const { return backend_; }
  /// Whether the MTP head was there and wanted.
  [[nodiscard]] bool has_mtp() const { return layers_.mtp != nullptr; }
  /// The weight bytes that a step reads.
  [[nodiscard]] const WeightTraffic& traffic() const { return traffic_; }

  /// A cache with the checkpoint's scales (FP8).
  [[nodiscard]] Expected<std::unique_ptr<kernels::Cache>> make_cache(DType kv_dtype, int blocks, int state_slots,
                                                                     bool with_mtp, int drafts_max = 0) const;
  /// Room for steps within these bounds; the model's own sizes are filled in.
  [[nodiscard]] Expected<std::unique_ptr<kernels::Pass>> make_pass(kernels::PassShape shape) const;

  /// One step, after the backend's begin(): K, V and states of every row go to the cache, logits (fp32, not rounded) of
  /// the step's logit rows and, if the pass keeps them, final-normed hidden rows stay in the pass. Ids beyond the
  /// tokenizer's are the sampler's business.
  Status forward(kernels::Pass& pass) const;

  /// The MTP head on rows t of a pass that keeps hidden rows, after a begin() with tokens t + 1 at the positions of t.
  /// It reads the hidden rows that the main model's forward, or this head's (when drafting further), left in the pass,
  /// and leaves its own. Writes the MTP layer's KV; logits predict token t + 2. Draft step i runs MTP layer
  /// i mod config().mtp_layers. Requires has_mtp().
  Status forward_mtp(kernels::Pass& pass, int mtp_layer = 0) const;

 private:
  Model(const ModelConfig& config, kernels::Backend& backend) : config_(config), backend_(backend) {}
  Status run(kernels::Pass& pass, const Layer& layer, int& attention_layer, int& linear_layer) const;

  ModelConfig config_;
  kernels::Backend& backend_;
  WeightTraffic traffic_;
  KvScales kv_scales_;
  Layers layers_;
};

}  // namespace tessera::model
