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

/// Resolves what a user calls a model: a directory that holds config.json, "demo" (the model that comes with the
/// program), or "owner/name[@REVISION]" in the Hugging Face cache ($HF_HUB_CACHE, else $HF_HOME/hub, else
/// $XDG_CACHE_HOME/huggingface/hub, else ~/.cache/huggingface/hub: models--owner--name/refs/main names the snapshot).
/// Errors say where was looked and what is there; nothing is downloaded.
Expected<std::filesystem::path> find_model(const std::string& name);

/// Where bytes of a checkpoint lie: a shard's number, and a place in its file.
struct FilePlace {
  size_t shard = 0;
  uint64_t offset = 0;
};

/// A checkpoint directory: config.json and friends as text, tensors as views into mapped shards.
///
/// Names are canonical, whatever prefix the files use: "model.layers.N...", "model.embed_tokens.weight",
/// "model.norm.weight", "lm_head.weight", "mtp...."; vision tensors ("model.visual.*", "visual.*") are left out.
/// All const members may be called from several threads.
class Checkpoint {
 public:
  /// Opens and checks everything but the tensor bytes: index against shards, headers, offsets, file sizes, Git LFS
  /// pointers, dangling cache links. `directory` is the result of find_model. The shards are those that
  /// model.safetensors.index.json names; without an index, the directory's only .safetensors file. A tensor that a
  /// shard holds and the index does not name is taken too; one that two shards hold is an error.
  static Expected<Checkpoint> open(const std::filesystem::path& directory);

  /// The directory's small files alone, without a tensor: for models whose weights are made up.
  static Checkpoint without_weights(const std::filesystem::path& directory);

  [[nodiscard]] const std::filesystem::path& directory() const { return directory_; }
  /// Text of a small file beside the weights ("generation_config.json"), at most 256 MB; nullopt if it is not there.
  [[nodiscard]] Expected<std::optional<std::string>> read_text(const std::string& file) const;

  [[nodiscard]] bool has(std::string_view name) const { return tensors_.find(name) != tensors_.end(); }
  /// not_found names the tensor and its neighbours in the sorted list of names; unsupported names the dtype of a tensor
  /// that SafetensorsFile::foreign_tensors lists.
  [[nodiscard]] Expected<TensorView> tensor(std::string_view name) const;
  /// All tensors by canonical name.
  [[nodiscard]] const std::map<std::string, TensorView, std::less<>>& tensors() const { return tensors_; }
  /// The files, with everything in them under its stored name, the vision tower included; canonical_name
  /// (shard_index.h) leads from there to here. For those who rewrite a checkpoint.
  [[nodiscard]] const std::vector<std::shared_ptr<const SafetensorsFile>>& shards() const { return shards_; }

  /// The matrix of linear module `module` ("model.layers.0.mlp.gate"), decided by what is stored, not by the config:
  ///   weight_packed U8 + weight_scale E4M3 [rows, cols/16] + weight_global_scale   NVFP4, compressed-tensors
  ///   weight_packed U8 + weight_scale U8 or E8M0 [rows, cols/32]                   MXFP4, compressed-tensors
  ///   weight U8 + weight_scale E4M3 [rows, cols/16] + weight_scale_2               NVFP4, ModelOpt
  ///   weight U8 + weight_scale U8 or E8M0 [rows, cols/32]                          MXFP4, ModelOpt
  ///   weight F8_E4M3 + weight_scale F32, F16 or BF16 (scalar, [1], [rows] or [rows, 1])  FP8
  ///   weight BF16 / F16 / F32                                                      plain
  /// Every companion's dtype and shape is checked; tensor and row scales must be finite and positive. Block scales
  /// are not looked at: that would read an eighth of the weights; who copies the weights checks them.
  [[nodiscard]] Expected<MatrixView> matrix(const std::string& module) const;
  [[nodiscard]] bool has_matrix(const std::string& module) const;
  /// matrix() in two steps: what headers tell, without reading a byte of the tensors (`scale` and `row_scales` are left
  /// as they are in an empty view), and then the scales of such a view.
  [[nodiscard]] Expected<MatrixView> stored_matrix(const std::string& module) const;
  Status read_scales(const std::string& module, MatrixView& view) const;

  /// One expert of a fused 3-D tensor [experts, rows, cols] (BF16, F16 or F32; "….experts.gate_up_proj"): rows
  /// [first_row, first_row + rows) of expert `expert`.
  [[nodiscard]] Expected<MatrixView> fused_matrix(const std::string& name, int64_t expert, int64_t first_row,
                                                  int64_t rows) const;

  /// Where the bytes of a tensor or matrix lie; nullopt if they are not of this checkpoint.
  [[nodiscard]] std::optional<FilePlace> place(std::span<const std::byte> bytes) const;

  /// Sum of all tensor bytes (vision left out).
  [[nodiscard]] size_t tensor_bytes() const;

  /// unavailable if a shard has been written since it was opened (MappedFile::check_unchanged).
  [[nodiscard]] Status check_unchanged() const;

 private:
  struct RowScales;

  Status add_shard(const std::string& file);
  [[nodiscard]] Expected<MatrixView> packed_matrix(const std::string& module, const std::string& codes_name) const;
  [[nodiscard]] Expected<MatrixView> fp8_matrix(const std::string& module, const TensorView& weight) const;
  Status read_tensor_scale(const std::string& module, MatrixView& view) const;
  Status read_fp8_scales(const std::string& module, MatrixView& view) const;
  [[nodiscard]] Expected<float> tensor_scale(const std::string& name) const;

  std::filesystem::path directory_;
  std::vector<std::shared_ptr<const SafetensorsFile>> shards_;
  std::map<std::string, TensorView, std::less<>> tensors_;
  std::map<std::string, std::string, std::less<>> foreign_tensors_;  // canonical name to dtype
  std::shared_ptr<RowScales> row_scales_;  // what MatrixView::row_scales points into; shared by copies
};

/// What quantization_config (config.json) or hf_quant_config.json says; used for what the tensors cannot tell. Which
/// module is quantised, and how, is never taken from here: matrix() goes by what is stored, since the lists of
/// released checkpoints forget modules.
struct QuantizationInfo {
  std::string method;                // "compressed-tensors", "modelopt", another quant_method as it is, or empty
  bool activations_4bit = false;     // W4A4 asked for; Tessera's CPU path computes W4A16 all the same
  bool fp8_kv_cache = false;         // either file may say so
  std::vector<std::string> ignored;  // modules left unquantised, as written: names, "re:" expressions or globs
  /// What is quantised and how, as far as the format is known: modules as written, or "Linear", which is all of them.
  std::vector<std::pair<std::string, WeightFormat>> targets;
};
Expected<QuantizationInfo> read_quantization_info(const Checkpoint& checkpoint);

}  // namespace tessera::format
