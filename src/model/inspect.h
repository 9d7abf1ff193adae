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
#include "model/weight_plan.h"

namespace tessera::model {

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
  std::string profile;                 // weight_profile.h; empty: not complete
  Status complete;                     // or which tensor is missing, or not as the config says
  WeightTraffic traffic;               // of a complete checkpoint
  size_t kv_bytes_per_token_bf16 = 0;  // all attention layers; FP8 takes half; MTP layers not counted
  size_t mtp_kv_bytes_per_token_bf16 = 0;
  size_t state_bytes = 0;  // of a sequence's Gated DeltaNet states in fp32, convolution windows included

  /// Of what is loaded: the vision tower is not.
  [[nodiscard]] size_t loaded_bytes() const;
};

Expected<Inspection> inspect_checkpoint(const format::Checkpoint& checkpoint);

}  // namespace tessera::model
