#include "model/load_weights.h"

#include <algorithm>
#include <cmath>
#include <string>

#include "format/decode_floats.h"
#include "model/requantize.h"

namespace tessera::model {
namespace {

using format::Checkpoint;
using format::MatrixView;

/// Blocks in the order of a plan become layers.
class Assembly {
 public:
  void add(std::unique_ptr<kernels::Embedding> embedding) { layers_.embedding = std::move(embedding); }
  void add(std::unique_ptr<kernels::MtpInput> input) {
    layers_.mtp = std::make_unique<Mtp>();
    layers_.mtp->input = std::move(input);
  }
  void add(std::unique_ptr<kernels::AttentionBlock> block) { list().emplace_back().attention = std::move(block); }
  void add(std::unique_ptr<kernels::DeltaNetBlock> block) { list().emplace_back().delta_net = std::move(block); }
  void add(std::unique_ptr<kernels::MoeBlock> block) { list().back().moe = std::move(block); }
  void add(std::unique_ptr<kernels::MlpBlock> block) { list().back().mlp = std::move(block); }
  void add(std::unique_ptr<kernels::Head> head) { (layers_.mtp ? layers_.mtp->head : layers_.head) = std::move(head); }

  Layers take() { return std::move(layers_); }

 private:
  std::vector<Layer>& list() { return layers_.mtp ? layers_.mtp->layers : layers_.layers; }

  Layers layers_;
};

/// Norms that change nothing, a short memory for Gated DeltaNet.
float dummy_value(std::string_view name) {
  if (name.ends_with("linear_attn.norm.weight")) return 1;
  return name.ends_with("conv1d.weight") ? 0.25F : 0;
}

void fill_dummy(const Placement& placement) {
  if (placement.vector != nullptr) {
    std::fill(placement.vector->begin(), placement.vector->end(), dummy_value(placement.name));
  } else {
    placement.matrix->scale = 1.0F / std::sqrt(static_cast<float>(placement.matrix->cols));
  }
}

Status read_vector(const Checkpoint& checkpoint, const Placement& placement) {
  TESSERA_ASSIGN_OR_RETURN(const format::TensorView tensor, checkpoint.tensor(placement.name));
  std::vector<float>& values = *placement.vector;
  TESSERA_RETURN_IF_ERROR(format::decode_floats(tensor, values).with_context(placement.name));
  for (size_t i = 0; i < values.size(); ++i) {
    if (!std::isfinite(values[i])) {
      return error(StatusCode::corrupt_data, "{}: element {} is {}; the checkpoint is damaged", placement.name, i,
                   values[i]);
    }
  }
  return {};
}

/// Adds to the block's source what its plan does not have. Requantised matrices live in `requantizer` until its next
/// block.
Status read_block(const Checkpoint& checkpoint, PlannedBlock& block, Requantizer& requantizer) {
  requantizer.clear();
  for (const Placement& placement : block.placements) {
    if (placement.vector != nullptr) {
      TESSERA_RETURN_IF_ERROR(read_vector(checkpoint, placement));
    } else if (placement.requantize) {
      auto view = requantizer.requantize(placement.stored);
      if (!view.ok()) return view.status().with_context(placement.name);
      *placement.matrix = *view;
    } else if (!placement.fused) {
      TESSERA_RETURN_IF_ERROR(checkpoint.read_scales(placement.name, *placement.matrix));
    }
  }
  return {};
}

Status load_block(kernels::Backend& backend, const PlannedBlock& block, Assembly& assembly) {
  return std::visit(
      [&](const auto& source) -> Status {
        TESSERA_ASSIGN_OR_RETURN(auto loaded, backend.load(source));
        assembly.add(std::move(loaded));
        return {};
      },
      block.source);
}

}  // namespace

Expected<Layers> load_weights(WeightPlan plan, const Checkpoint& checkpoint, kernels::Backend& backend,
                              const LoadProgress& progress, ThreadPool* pool) {
  std::vector<const kernels::BlockSource*> sources;
  for (const auto& block : plan.blocks) sources.push_back(&block->source);
  TESSERA_RETURN_IF_ERROR(backend.read_ahead(checkpoint, sources));
  const size_t total_bytes = plan.stored_bytes();
  size_t done_bytes = 0;
  Requantizer requantizer(pool);
  Assembly assembly;
  for (const auto& block : plan.blocks) {
    TESSERA_RETURN_IF_ERROR(read_block(checkpoint, *block, requantizer));
    TESSERA_RETURN_IF_ERROR(load_block(backend, *block, assembly));
    for (const Placement& placement : block->placements) done_bytes += placement.stored_bytes;
    if (progress) progress(done_bytes, total_bytes);
  }
  TESSERA_RETURN_IF_ERROR(checkpoint.check_unchanged());
  return assembly.take();
}

Expected<Layers> load_dummy_weights(WeightPlan plan, kernels::Backend& backend) {
  Assembly assembly;
  for (const auto& block : plan.blocks) {
    for (const Placement& placement : block->placements) fill_dummy(placement);
    TESSERA_RETURN_IF_ERROR(load_block(backend, *block, assembly));
  }
  return assembly.take();
}

Expected<KvScales> load_kv_scales(const Checkpoint& checkpoint, const ModelConfig& config) {
  KvScales scales;
  const auto read = [&](const std::string& name) -> Expected<float> {
    if (!checkpoint.has(name)) return 1.0F;
    TESSERA_ASSIGN_OR_RETURN(const format::TensorView tensor, checkpoint.tensor(name));
    float scale = 0;
    TESSERA_RETURN_IF_ERROR(format::decode_floats(tensor, {&scale, 1}).with_context(name));
    if (!(std::isfinite(scale) && scale > 0)) {
      return error(StatusCode::corrupt_data, "{} is {}, expected a positive number", name, scale);
    }
    return scale;
  };
  const auto add = [&](const std::string& prefix) -> Status {
    TESSERA_ASSIGN_OR_RETURN(const float k, read(prefix + "self_attn.k_proj.k_scale"));
    TESSERA_ASSIGN_OR_RETURN(const float v, read(prefix + "self_attn.v_proj.v_scale"));
    scales.k.push_back(k);
    scales.v.push_back(v);
    return {};
  };
  for (int i = 0; i < config.num_layers(); ++i) {
    if (config.layer_types[static_cast<size_t>(i)] == LayerType::full_attention)
      TESSERA_RETURN_IF_ERROR(add(fmt::format("model.layers.{}.", i)));
  }
  for (int i = 0; i < config.mtp_layers; ++i) TESSERA_RETURN_IF_ERROR(add(fmt::format("mtp.layers.{}.", i)));
  return scales;
}

}  // namespace tessera::model
