#pragma once

#include <functional>
#include <vector>

#include "base/status.h"
#include "base/thread_pool.h"
#include "format/checkpoint.h"
#include "kernels/backend.h"
#include "model/config.h"
#include "model/layers.h"
#include "model/weight_plan.h"

namespace tessera::model {

/// done and total in bytes of checkpoint read so far; called from the loading thread.
using LoadProgress = std::function<void(size_t done, size_t total)>;

/// Reads and checks everything in `plan`, which is of `checkpoint`, and has `backend` re-lay it. Errors name the
/// tensor, what was found and what was expected. Matrices that become FP8 do so on `pool`; null: on this thread.
Expected<Layers> load_weights(WeightPlan plan, const format::Checkpoint& checkpoint, kernels::Backend& backend,
                              const LoadProgress& progress, ThreadPool* pool);

/// The same without a checkpoint: random weights of order 1 / sqrt(depth). For measuring: a backend may refuse it
/// (unsupported).
Expected<Layers> load_dummy_weights(WeightPlan plan, kernels::Backend& backend);

/// FP8 KV scales of every attention layer (MTP layers last), 1 where the checkpoint has none.
struct KvScales {
  std::vector<float> k, v;
};
Expected<KvScales> load_kv_scales(const format::Checkpoint& checkpoint, const ModelConfig& config);

}  // namespace tessera::model
