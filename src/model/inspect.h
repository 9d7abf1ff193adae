#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "format/checkpoint.h"
#include "model/config.h"
#include "model/synth.h"
#include "model/tensor_kind.h"

namespace tessera::model {

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

/// Number of weights of each kind; a double holds more than a config can name, and is exact up to 9e15.
using WeightCounts = std::map<TensorKind, double>;

/// From the config alone. Kinds that the model does not have are left out; `mtp` counts the head's norms too.
WeightCounts weight_counts(const ModelConfig& config);

/// The traffic of a model whose kinds are stored in `formats`, kinds not listed in BF16.
WeightTraffic weight_traffic(const ModelConfig& config, const KindFormats& formats);

/// Tensors of one kind that are stored in one way.
struct StoredPart {
  std::optional<TensorKind> kind;  // none: the vision tower
  std::string format;              // "NVFP4"; of `small` and vision tensors the dtype
  int64_t tensors = 0;             // without scales
  int64_t elements = 0;
  size_t bytes = 0;  // scales included

  [[nodiscard]] double bits_per_weight() const {
    return elements == 0 ? 0 : 8.0 * static_cast<double>(bytes) / static_cast<double>(elements);
  }
};

/// What a checkpoint holds, from its headers and small files; no weight is read.
struct Inspection {
  std::string model_type;  // of the text model, as config.json has it
  ModelConfig config;
  std::vector<StoredPart> parts;      // in the order of kTensorKinds, the vision tower last
  std::vector<std::string> dialects;  // how NVFP4 is spelt: "modelopt", "compressed-tensors"; empty without NVFP4
  format::QuantizationInfo quantization;
  bool has_mtp = false;
  bool has_vision = false;
  bool has_tokenizer = false;      // tokenizer.json
  std::string chat_template_file;  // where it is; empty if nowhere
  size_t shards = 0;
  size_t tensor_bytes = 0;       // the vision tower included
  uintmax_t disk_bytes = 0;      // all files of the directory
  int64_t parameters = 0;        // of the text model, MTP head excluded
  double active_parameters = 0;  // those that a token uses, embedding excluded
  int64_t mtp_parameters = 0;
  WeightTraffic traffic;
  size_t kv_bytes_per_token_bf16 = 0;  // all attention layers; FP8 takes half; MTP layers not counted
  size_t mtp_kv_bytes_per_token_bf16 = 0;
  size_t state_bytes = 0;  // of a sequence's Gated DeltaNet states in fp32, convolution windows included
};

Expected<Inspection> inspect_checkpoint(const format::Checkpoint& checkpoint);

}  // namespace tessera::model
