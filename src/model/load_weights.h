#pragma once

#include <functional>
#include <vector>

#include "base/status.h"
#include "format/checkpoint.h"
#include "kernels/context.h"
#include "model/config.h"
#include "model/layers.h"

namespace tessera::model {

/// done and total in bytes of checkpoint read so far; called from the loading thread.
using LoadProgress = std::function<void(size_t done, size_t total)>;

/// Reads, checks and re-lays every tensor that text generation needs. Errors name the tensor, what was found and
/// what was expected. A checkpoint without MTP tensors loads without the head, whatever its config says.
Expected<ModelWeights> load_weights(const format::Checkpoint& checkpoint, const ModelConfig& config,
                                    const kernels::Context& context, const LoadProgress& progress);

/// FP8 KV scales of every attention layer (MTP layers last), 1 where the checkpoint has none.
struct KvScales {
  std::vector<float> k, v;
};
Expected<KvScales> load_kv_scales(const format::Checkpoint& checkpoint, const ModelConfig& config);

}  // namespace tessera::model
