#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "base/thread_pool.h"
#include "format/checkpoint.h"
#include "format/matrix_writer.h"
#include "format/quantize.h"
#include "model/synth.h"
#include "model/tensor_kind.h"

namespace tessera::model {

/// The kinds that a recipe quantises, most of them to `format`:
///   experts   routed experts; in dense models the MLP. What NVIDIA publishes of the 397B and 122B models
///   mlp       experts, shared experts and dense MLPs
///   balanced  the same, and FP8 for the projections of attention and Gated DeltaNet
///   all       every projection, the head and the MTP head; not the router, a/b projections and embeddings
/// not_found lists them.
Expected<KindFormats> quantize_recipe(std::string_view recipe, format::WeightFormat format);

struct QuantizeOptions {
  /// Target of each kind: nvfp4, mxfp4, fp8_e4m3 or bf16 (which narrows F32 and F16). Kinds not listed, and weights
  /// that are quantised already, are copied as they are. The router inside the MTP head goes by `router`, what else is
  /// in there by `mtp`; a stored head of a model with tied embeddings is copied. `small` cannot be listed.
  KindFormats formats = {};
  std::optional<format::Dialect> dialect = {};  // none: the source's own if it has one, else ModelOpt
  format::ScaleChoice scales = format::ScaleChoice::amax;
  /// One tensor scale for what other engines fuse: gate and up; q, k and v; in_proj_qkv and in_proj_z; a and b. They
  /// read one scale for the whole and get the rest wrong by the ratio.
  bool shared_scales = true;
  size_t shard_bytes_max = size_t{5} << 30;
  /// Bytes of the source dealt with, of all; called from the calling thread. False stops with `cancelled`.
  std::function<bool(size_t done, size_t total)> progress = {};
};

/// What became of the weights of one kind that were stored in one way.
struct QuantizedPart {
  std::optional<TensorKind> kind;  // none: the vision tower
  std::string from, to;            // "BF16", "NVFP4"; equal when copied
  int64_t tensors = 0;             // weights, or experts of a fused one; without scales
  int64_t elements = 0;
  size_t bytes_before = 0;
  size_t bytes_after = 0;
  format::QuantizationError error;  // zero when copied
  std::string worst;                // the module of the largest relative error
  double worst_error = 0;           // its relative root mean square error

  [[nodiscard]] double bits_per_weight() const {
    return elements == 0 ? 0 : 8.0 * static_cast<double>(bytes_after) / static_cast<double>(elements);
  }
};

struct QuantizeReport {
  format::Dialect dialect = format::Dialect::modelopt;
  std::vector<QuantizedPart> parts;            // in the order of kTensorKinds, the vision tower last
  std::vector<std::string> already_quantized;  // "routed-expert is NVFP4": asked for, but copied
  std::vector<std::string> files_left_out;     // files of the source that were not copied: directories, large files
};

/// Writes `source` with its weights rounded as `options` say into `destination`, which must not exist: shards with the
/// stored names, fused experts split into gate, up and down projections of each expert, config.json with a
/// quantization_config (and hf_quant_config.json for ModelOpt), and every other file of up to 256 MB as it is.
///
/// Memory stays at a few pieces of 16 MB, the block scales of one matrix and a list of what is to be written (1.5 KB a
/// matrix: 130 MB for the 92,160 experts of the 397B), whatever the size: weights are read through the mapping, pass by
/// pass (the largest magnitude, then the rows), and their pages are given back. The bytes do not depend on the number
/// of threads. All is written into "<destination>.partial", which is renamed at the end and removed on failure.
///
/// Errors: destination exists; the disk is too small; columns that a format's groups do not divide; nothing to
/// quantise; NaN or infinite weights (naming tensor, row and column); a dialect that differs from the one in which the
/// source's own NVFP4 weights are spelt.
Expected<QuantizeReport> quantize_checkpoint(const format::Checkpoint& source, const std::filesystem::path& destination,
                                             const QuantizeOptions& options, ThreadPool& pool);

}  // namespace tessera::model
