#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/dtype.h"
#include "base/status.h"
#include "format/matrix.h"
#include "format/safetensors.h"

namespace tessera::format {

/// Resolves what a user calls a model: a directory that holds config.json, or "owner/name" (optionally
/// "owner/name@revision") in the Hugging Face cache ($HF_HUB_CACHE, else $HF_HOME/hub, else ~/.cache/huggingface/hub:
/// models--owner--name/refs/main names the snapshot). Errors say where was looked; nothing is downloaded.
Expected<std::filesystem::path> find_model(const std::string& name);

/// A checkpoint directory: config.json and friends as text, tensors as views into mapped shards.
///
/// Names are canonical, whatever prefix the files use: "model.layers.N...", "model.embed_tokens.weight",
/// "model.norm.weight", "lm_head.weight", "mtp...."; vision tensors ("model.visual.*", "visual.*") are left out.
class Checkpoint {
 public:
  /// Opens and checks everything but the tensor bytes: index against shards, headers, offsets, file sizes, Git LFS
  /// pointers, dangling cache links. `directory` is the result of find_model.
  static Expected<Checkpoint> open(const std::filesystem::path& directory);

  [[nodiscard]] const std::filesystem::path& directory() const { return directory_; }
  /// Text of a small file beside the weights ("generation_config.json"); nullopt if it is not there.
  [[nodiscard]] Expected<std::optional<std::string>> read_text(const std::string& file) const;

  [[nodiscard]] bool has(std::string_view name) const { return tensors_.find(name) != tensors_.end(); }
  /// not_found names the tensor and the nearest names that exist.
  [[nodiscard]] Expected<TensorView> tensor(std::string_view name) const;
  /// All tensors by canonical name.
  [[nodiscard]] const std::map<std::string, TensorView, std::less<>>& tensors() const { return tensors_; }

  /// The matrix of linear module `module` ("model.layers.0.mlp.gate"), decided by what is stored, not by the config:
  ///   weight_packed U8 + weight_scale (E4M3, or E8M0/U8 for MXFP4) [+ weight_global_scale]  compressed-tensors
  ///   weight U8 + weight_scale (E4M3) + weight_scale_2                                      ModelOpt
  ///   weight F8_E4M3 + weight_scale (scalar, [1], [rows] or [rows, 1])                       FP8
  ///   weight BF16 / F16 / F32                                                              plain
  /// Every companion's dtype and shape is checked; scales must be finite and positive.
  [[nodiscard]] Expected<MatrixView> matrix(const std::string& module) const;
  [[nodiscard]] bool has_matrix(const std::string& module) const;

  /// One expert of a fused 3-D tensor [experts, rows, cols] (BF16, F16 or F32; "….experts.gate_up_proj"): rows
  /// [first_row, first_row + rows) of expert `expert`.
  [[nodiscard]] Expected<MatrixView> fused_matrix(const std::string& name, int64_t expert, int64_t first_row,
                                                  int64_t rows) const;

  /// Sum of all tensor bytes (vision left out).
  [[nodiscard]] size_t tensor_bytes() const;

 private:
  std::filesystem::path directory_;
  std::vector<std::shared_ptr<const SafetensorsFile>> shards_;
  std::map<std::string, TensorView, std::less<>> tensors_;
  // A deque-like home for decoded row scales that MatrixView::row_scales points into.
  mutable std::map<std::string, std::vector<float>, std::less<>> row_scales_;
};

/// What quantization_config (config.json) or hf_quant_config.json says; used for what the tensors cannot tell.
struct QuantizationInfo {
  std::string method;             // "compressed-tensors", "modelopt", or empty
  bool activations_4bit = false;  // W4A4 asked for; Tessera's CPU path computes W4A16 all the same
  bool fp8_kv_cache = false;      // either file may say so
};
Expected<QuantizationInfo> read_quantization_info(const Checkpoint& checkpoint);

}  // namespace tessera::format
