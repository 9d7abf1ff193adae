#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/status.h"
#include "format/checkpoint.h"
#include "kernels/backend.h"
#include "model/config.h"
#include "model/shard.h"
#include "model/tensor_kind.h"

// What a model loads: one list, made from config and headers before a byte of a weight is read. The fit report adds up
// its bytes on a backend, the loader goes through it in order, dummy weights are such a list without files, and the
// bytes that a step reads are counted from it. A rank of tensor parallelism has a list of its own, of its share.
namespace tessera::model {

/// A piece of a matrix or a vector that a model loads, and where the source of its block takes it. A matrix or vector
/// is one piece, or several, one after another: a rank has rows of q, of k and of v.
struct Placement {
  std::string name;  // canonical: a linear module, one of fused experts' tensors, or a vector's tensor
  TensorKind kind = TensorKind::small;
  // One of the two, in PlannedBlock::source:
  format::MatrixView* matrix = nullptr;
  std::span<float> values;  // of a vector
  // Which piece it is, of the matrix (a fused expert counts as one) or the vector in the checkpoint.
  Range rows;
  Range columns;  // of a matrix
  /// All of a matrix, as the checkpoint has it, without scales (Checkpoint::stored_matrix); `*matrix` is the piece as
  /// it is loaded.
  format::MatrixView stored;
  bool fused = false;                                // an expert of a tensor that holds all of them
  std::optional<format::WeightFormat> becomes = {};  // when it is loaded
  int64_t weights = 0;                               // of the piece
  size_t stored_bytes = 0;                           // of the piece, scales of blocks included
};

/// A block of the model as a backend will load it. `source` has its matrices' formats and sizes, and, of a checkpoint,
/// where their bytes are, but of columns and of what is requantized: those are copied, and come when the block is
/// loaded, as scales and the values of vectors do.
struct PlannedBlock {
  kernels::BlockSource source;
  bool mtp = false;
  std::vector<Placement> placements;
};

/// The weight bytes that a decode step reads; the bandwidth floor's numerator. The embedding rows (some KB a token)
/// and the MTP head are left out.
struct WeightTraffic {
  double fixed_bytes = 0;   // read once a step: attention, Gated DeltaNet, shared experts, routers, head, norms
  double routed_bytes = 0;  // all routed experts of all layers
  int experts = 0;          // 0 in dense models
  int experts_per_token = 0;

  /// Experts that a layer reads for `batch` tokens that choose independently: E (1 - (1 - k / E)^batch).
  [[nodiscard]] double distinct_experts(int64_t batch) const;
  /// Bytes of a step of `batch` tokens, one per sequence.
  [[nodiscard]] double bytes_per_step(int64_t batch) const;
};

struct WeightPlan {
  ModelConfig config;  // of the whole model
  kernels::Rank rank;
  std::vector<std::unique_ptr<PlannedBlock>> blocks;  // in the order of loading: embedding, layers, head, MTP head

  /// visit(block, placement) for all of it.
  template <typename Visit>
  void for_each(Visit visit) const {
    for (const auto& block : blocks) {
      for (const Placement& placement : block->placements) visit(*block, placement);
    }
  }
  /// Whether the MTP head was asked for and there is one.
  [[nodiscard]] bool has_mtp() const { return !blocks.empty() && blocks.back()->mtp; }
  /// Bytes of what is loaded, as they are stored.
  [[nodiscard]] size_t stored_bytes() const;
  /// Which projections become FP8 when they are loaded: so many matrices, of so many bytes as they are stored.
  struct Requantized {
    int matrices = 0;
    size_t stored_bytes = 0;
  };
  [[nodiscard]] Requantized requantized() const;
  /// Bytes that it will take on `backend`.
  [[nodiscard]] size_t placed_bytes(const kernels::Backend& backend) const;
  /// Bytes that loading it takes there besides, until the cache is made; none for weights that are made up.
  [[nodiscard]] size_t staging_bytes(const kernels::Backend& backend) const;
  /// What a step reads, with matrices in the formats that they are loaded in.
  [[nodiscard]] WeightTraffic traffic() const;
  /// Weights that a token meets: all but embedding rows, MTP head and the experts that it does not visit.
  [[nodiscard]] double active_weights() const;
  /// Weights of each kind; all of the MTP head, its norms too, under `mtp`.
  [[nodiscard]] std::map<TensorKind, int64_t> weights_by_kind() const;
};

struct PlanOptions {
  /// The MTP head too, if the checkpoint has one: only for who drafts with it.
  bool with_mtp = false;
  /// BF16, F16 and F32 projections of attention, Gated DeltaNet and shared experts become FP8, a scale a row.
  bool requantize_projections = false;
  /// With with_mtp: the MTP head draws drafts from a copy of lm_head in FP8 or NVFP4, if that is stored larger. Drafts
  /// decide nothing but time.
  std::optional<format::WeightFormat> draft_head = {};
  /// Whose share it is.
  kernels::Rank rank = {};
};

/// The list of a checkpoint; `checkpoint` must outlive it. Headers alone are read. Errors name the tensor, what was
/// found and what was expected; invalid_argument what so many ranks cannot share (make_shard, column_unit).
Expected<WeightPlan> plan_weights(const format::Checkpoint& checkpoint, const ModelConfig& config,
                                  const PlanOptions& options = {});

/// The list of a model without a checkpoint: each matrix in the format of its kind, BF16 where none is listed, vectors
/// in BF16. invalid_argument as plan_weights.
Expected<WeightPlan> plan_dummy_weights(const ModelConfig& config, const KindFormats& formats,
                                        const PlanOptions& options = {});

}  // namespace tessera::model
