#pragma once

#include <functional>
#include <vector>

#include "base/status.h"
#include "format/checkpoint.h"
#include "kernels/backend.h"
#include "model/config.h"
#include "model/layers.h"
#include "model/tensor_kind.h"

namespace tessera::model {

/// done and total in bytes of checkpoint read so far; called from the loading thread.
using LoadProgress = std::function<void(size_t done, size_t total)>;

/// Reads and checks every tensor that text generation needs, and has `backend` re-lay it. Errors name the tensor, what
/// was found and what was expected. A checkpoint without MTP tensors loads without the head, whatever its config says.
Expected<Layers> load_weights(const format::Checkpoint& checkpoint, const ModelConfig& config,
                              kernels::Backend& backend, const LoadProgress& progress);

/// The same without a checkpoint: random weights of order 1 / sqrt(depth), each matrix in the format of its kind, BF16
/// where none is listed; no MTP head. For measuring: a backend may refuse it (unsupported).
Expected<Layers> dummy_weights(const ModelConfig& config, const KindFormats& formats, kernels::Backend& backend);

/// FP8 KV scales of every attention layer (MTP layers last), 1 where the checkpoint has none.
struct KvScales {
  std::vector<float> k, v;
};
Expected<KvScales> load_kv_scales(const format::Checkpoint& checkpoint, const ModelConfig& config);

}  // namespace tessera::model
