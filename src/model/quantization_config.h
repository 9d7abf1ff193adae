#pragma once

#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "format/matrix_writer.h"

namespace tessera::model {

/// What a checkpoint's quantization_config has to say: which modules are stored how.
struct QuantizedModules {
  std::map<std::string, format::WeightFormat> modules;  // name as in the files -> 4-bit or FP8 format
  std::vector<std::string> plain;                       // linear modules left alone
  bool fp8_kv_cache = false;
};

/// The value of config.json's "quantization_config" in the dialect's own form: weight-only (W4A16, FP8 W8A16).
nlohmann::ordered_json quantization_config(format::Dialect dialect, const QuantizedModules& quantized);

/// hf_quant_config.json, which ModelOpt checkpoints carry besides.
nlohmann::ordered_json hf_quant_config(const QuantizedModules& quantized);

}  // namespace tessera::model
