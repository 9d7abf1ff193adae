#include "model/load_weights.h"

#include <algorithm>
#include <cmath>
#include <string>

#include "format/decode_floats.h"
#include "format/row_copy.h"
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
  if (placement.matrix == nullptr) {
    std::fill(placement.values.begin(), placement.values.end(), dummy_value(placement.name));
  } else {
    placement.matrix->scale = 1.0F / std::sqrt(static_cast<float>(placement.stored.cols));
  }
}

Status read_vector(const Checkpoint& checkpoint, const Placement& placement) {
  TESSERA_ASSIGN_OR_RETURN(const format::TensorView tensor, checkpoint.tensor(placement.name));
  std::vector<float> values(tensor.bytes.size() / size_bytes(tensor.dtype));
  TESSERA_RETURN_IF_ERROR(format::decode_floats(tensor, values).with_context(placement.name));
  for (size_t i = 0; i < values.size(); ++i) {
    if (!std::isfinite(values[i])) {
      return error(StatusCode::corrupt_data, "{}: element {} is {}; the checkpoint is damaged", placement.name, i,
                   values[i]);
    }
  }
  std::copy_n(values.begin() + placement.rows.begin, placement.values.size(), placement.values.begin());
  return {};
}

/// What is made of a checkpoint's matrices to be loaded; good until the next block.
struct Copies {
  explicit Copies(ThreadPool* pool) : requantized(pool) {}

  Requantizer requantized;
  ColumnCuts columns;

  void clear() {
    requantized.clear();
    columns.clear();
  }
};

/// Rows come first: a row that is requantised has a scale of all its columns, on every rank the same.
Expected<MatrixView> read_matrix(const Checkpoint& checkpoint, const Placement& placement, Copies& copies) {
  const auto own_rows = [&](const MatrixView& all) {
    return format::rows_of(all, placement.rows.begin, placement.rows.size());
  };
  MatrixView view = placement.stored;
  if (placement.becomes) {
    auto requantized = copies.requantized.requantize(own_rows(view), *placement.becomes);
    if (!requantized.ok()) return requantized.status().with_context(placement.name);
    view = *requantized;
  } else {
    if (!placement.fused) TESSERA_RETURN_IF_ERROR(checkpoint.read_scales(placement.name, view));
    view = own_rows(view);
  }
  auto columns = copies.columns.cut(view, placement.columns);
  if (!columns.ok()) return columns.status().with_context(placement.name);
  return columns;
}

/// Adds to the block's source what its plan does not have.
Status read_block(const Checkpoint& checkpoint, PlannedBlock& block, Copies& copies) {
  copies.clear();
  for (const Placement& placement : block.placements) {
    if (placement.matrix == nullptr) {
      TESSERA_RETURN_IF_ERROR(read_vector(checkpoint, placement));
    } else {
      TESSERA_ASSIGN_OR_RETURN(*placement.matrix, read_matrix(checkpoint, placement, copies));
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

Status load_blocks(const WeightPlan& plan, const Checkpoint& checkpoint, kernels::Backend& backend,
                   const LoadProgress& progress, ThreadPool* pool, Assembly& assembly) {
  const size_t total_bytes = plan.stored_bytes();
  size_t done_bytes = 0;
  Copies copies(pool);
  for (const auto& block : plan.blocks) {
    TESSERA_RETURN_IF_ERROR(read_block(checkpoint, *block, copies));
    TESSERA_RETURN_IF_ERROR(load_block(backend, *block, assembly));
    for (const Placement& placement : block->placements) done_bytes += placement.stored_bytes;
    if (progress) progress(done_bytes, total_bytes);
  }
  return {};
}

}  // namespace

Expected<Layers> load_weights(WeightPlan plan, const Checkpoint& checkpoint, kernels::Backend& backend,
                              const LoadProgress& progress, ThreadPool* pool) {
  std::vector<const kernels::BlockSource*> sources;
  for (const auto& block : plan.blocks) sources.push_back(&block->source);
  TESSERA_RETURN_IF_ERROR(backend.read_ahead(checkpoint, sources));
  Assembly assembly;
  if (const Status status = load_blocks(plan, checkpoint, backend, progress, pool, assembly); !status.ok()) {
    (void)backend.read_ahead(checkpoint, {});  // nothing is read of what may be gone before the backend
    return status;
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
