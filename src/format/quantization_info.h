#pragma once

#include <string_view>

#include "base/status.h"
#include "format/checkpoint.h"

namespace tessera::format {

/// read_quantization_info on the texts of config.json and hf_quant_config.json; empty text means that there is no such
/// file. corrupt_data names the file and key of what is malformed.
Expected<QuantizationInfo> parse_quantization_info(std::string_view config_json, std::string_view hf_quant_config_json);

}  // namespace tessera::format
