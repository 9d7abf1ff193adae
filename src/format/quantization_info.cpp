#include "format/quantization_info.h"

#include <simdjson.h>

#include <optional>

#include "format/printable.h"

// Two dialects in two files:
//   config.json quantization_config, compressed-tensors: format, config_groups {targets, weights, input_activations},
//     ignore, kv_cache_scheme
//   config.json quantization_config, ModelOpt: quant_algo, config_groups, ignore or exclude_modules, kv_cache_scheme
//   hf_quant_config.json, ModelOpt: quantization {quant_algo, kv_cache_quant_algo, exclude_modules, quantized_layers}
namespace tessera::format {
namespace {

namespace dom = simdjson::dom;

/// A JSON object and where it stands, for errors.
struct Node {
  dom::object object;
  std::string path;
};

Status malformed(const Node& node, std::string_view key, std::string_view expected) {
  return error(StatusCode::corrupt_data, "{}.{}: {} was expected", node.path, printable(key), expected);
}

/// The value of `key`; nullopt if it is absent or null.
template <typename T>
Expected<std::optional<T>> get(const Node& node, std::string_view key, std::string_view expected) {
  dom::element value;
  if (node.object.at_key(key).get(value) != simdjson::SUCCESS || value.is_null()) return std::optional<T>();
  T result{};
  if (value.get(result) != simdjson::SUCCESS) return malformed(node, key, expected);
  return std::optional<T>(std::move(result));
}

Expected<std::optional<Node>> get_object(const Node& node, std::string_view key) {
  TESSERA_ASSIGN_OR_RETURN(const auto found, get<dom::object>(node, key, "an object"));
  if (!found) return std::optional<Node>();
  return std::optional<Node>(Node{*found, fmt::format("{}.{}", node.path, printable(key))});
}

Expected<std::string> get_string(const Node& node, std::string_view key) {
  TESSERA_ASSIGN_OR_RETURN(const auto found, get<std::string_view>(node, key, "a string"));
  return std::string(found.value_or(std::string_view()));
}

Expected<std::vector<std::string>> get_strings(const Node& node, std::string_view key) {
  std::vector<std::string> strings;
  TESSERA_ASSIGN_OR_RETURN(const auto found, get<dom::array>(node, key, "a list of strings"));
  if (!found) return strings;
  for (const dom::element element : *found) {
    std::string_view text;
    if (element.get(text) != simdjson::SUCCESS) return malformed(node, key, "a list of strings");
    strings.emplace_back(text);
  }
  return strings;
}

/// Whether `key` holds {type: "float", num_bits: `bits`}.
Expected<bool> is_float_scheme(const Node& node, std::string_view key, int64_t bits) {
  TESSERA_ASSIGN_OR_RETURN(const auto scheme, get_object(node, key));
  if (!scheme) return false;
  TESSERA_ASSIGN_OR_RETURN(const auto num_bits, get<int64_t>(*scheme, "num_bits", "an integer"));
  TESSERA_ASSIGN_OR_RETURN(const std::string type, get_string(*scheme, "type"));
  return num_bits == bits && (type.empty() || type == "float");
}

using Targets = std::vector<std::pair<std::string, WeightFormat>>;

std::optional<WeightFormat> format_of_algorithm(std::string_view algorithm) {
  if (algorithm.find("NVFP4") != std::string_view::npos) return WeightFormat::nvfp4;
  if (algorithm.find("MXFP4") != std::string_view::npos) return WeightFormat::mxfp4;
  if (algorithm.starts_with("FP8")) return WeightFormat::fp8_e4m3;
  return std::nullopt;
}

/// The format of a config group's weights; nullopt where it is none that is known here.
Expected<std::optional<WeightFormat>> format_of_group(const Node& group) {
  TESSERA_ASSIGN_OR_RETURN(const bool four_bits, is_float_scheme(group, "weights", 4));
  TESSERA_ASSIGN_OR_RETURN(const bool eight_bits, is_float_scheme(group, "weights", 8));
  if (eight_bits) return std::optional(WeightFormat::fp8_e4m3);
  if (!four_bits) return std::optional<WeightFormat>();
  TESSERA_ASSIGN_OR_RETURN(const auto weights, get_object(group, "weights"));
  TESSERA_ASSIGN_OR_RETURN(const auto size, get<int64_t>(*weights, "group_size", "an integer"));
  return std::optional(size == group_size(WeightFormat::mxfp4) ? WeightFormat::mxfp4 : WeightFormat::nvfp4);
}

/// Whether any config group quantises weights and activations to 4-bit floats; checks all groups and adds their
/// targets.
Expected<bool> groups_want_4bit(const Node& config, Targets& targets) {
  TESSERA_ASSIGN_OR_RETURN(const auto groups, get_object(config, "config_groups"));
  bool wanted = false;
  if (!groups) return wanted;
  for (const auto& [name, value] : groups->object) {
    TESSERA_ASSIGN_OR_RETURN(const auto group, get_object(*groups, name));
    if (!group) continue;
    TESSERA_ASSIGN_OR_RETURN(const auto modules, get_strings(*group, "targets"));
    TESSERA_ASSIGN_OR_RETURN(const auto format, format_of_group(*group));
    for (const std::string& module : modules) {
      if (format) targets.emplace_back(module, *format);
    }
    TESSERA_ASSIGN_OR_RETURN(const bool weights, is_float_scheme(*group, "weights", 4));
    TESSERA_ASSIGN_OR_RETURN(const bool activations, is_float_scheme(*group, "input_activations", 4));
    wanted = wanted || (weights && activations);
  }
  return wanted;
}

Expected<bool> layers_want_4bit(const Node& layers, Targets& targets) {
  bool wanted = false;
  for (const auto& [module, value] : layers.object) {
    TESSERA_ASSIGN_OR_RETURN(const auto layer, get_object(layers, module));
    if (!layer) continue;
    TESSERA_ASSIGN_OR_RETURN(const std::string algorithm, get_string(*layer, "quant_algo"));
    if (const auto format = format_of_algorithm(algorithm)) targets.emplace_back(module, *format);
    wanted = wanted || algorithm == "NVFP4";
  }
  return wanted;
}

/// Adds what quantization_config, or the `quantization` object of hf_quant_config.json, says.
Status read_config(const Node& config, QuantizationInfo& info) {
  TESSERA_ASSIGN_OR_RETURN(const std::string algorithm, get_string(config, "quant_algo"));
  TESSERA_ASSIGN_OR_RETURN(const std::string kv_algorithm, get_string(config, "kv_cache_quant_algo"));
  TESSERA_ASSIGN_OR_RETURN(const bool kv_scheme, is_float_scheme(config, "kv_cache_scheme", 8));
  info.fp8_kv_cache = info.fp8_kv_cache || kv_scheme || kv_algorithm == "FP8";

  Targets targets;
  TESSERA_ASSIGN_OR_RETURN(const bool groups, groups_want_4bit(config, targets));
  TESSERA_ASSIGN_OR_RETURN(const auto layers, get_object(config, "quantized_layers"));
  if (layers) {
    // The list of layers is exact; groups made from it can claim 4-bit activations for layers that are W4A16.
    targets.clear();
    TESSERA_ASSIGN_OR_RETURN(info.activations_4bit, layers_want_4bit(*layers, targets));
    info.targets = std::move(targets);
  } else {
    info.activations_4bit = info.activations_4bit || groups || algorithm == "NVFP4";
    const auto of_all = format_of_algorithm(algorithm);
    if (targets.empty() && of_all) targets.emplace_back("Linear", *of_all);
    if (info.targets.empty()) info.targets = std::move(targets);
  }
  for (const std::string_view key : {"ignore", "exclude_modules"}) {
    TESSERA_ASSIGN_OR_RETURN(std::vector<std::string> ignored, get_strings(config, key));
    if (!ignored.empty()) info.ignored = std::move(ignored);
  }
  return {};
}

/// Parses `json` with `parser`, which owns the result.
Expected<Node> parse(dom::parser& parser, std::string_view json, const char* file) {
  dom::element root;
  if (const auto code = parser.parse(json.data(), json.size()).get(root); code != simdjson::SUCCESS) {
    return error(StatusCode::corrupt_data, "{}: not valid JSON: {}", file, simdjson::error_message(code));
  }
  Node node{{}, file};
  if (root.get(node.object) != simdjson::SUCCESS) {
    return error(StatusCode::corrupt_data, "{}: not a JSON object", file);
  }
  return node;
}

Status read_config_json(std::string_view json, QuantizationInfo& info) {
  dom::parser parser;
  TESSERA_ASSIGN_OR_RETURN(const Node root, parse(parser, json, "config.json"));
  TESSERA_ASSIGN_OR_RETURN(auto config, get_object(root, "quantization_config"));
  if (!config) {
    // Some tools write it for the text model alone.
    TESSERA_ASSIGN_OR_RETURN(const auto text_config, get_object(root, "text_config"));
    if (text_config) {
      TESSERA_ASSIGN_OR_RETURN(config, get_object(*text_config, "quantization_config"));
    }
  }
  if (!config) return {};
  TESSERA_ASSIGN_OR_RETURN(info.method, get_string(*config, "quant_method"));
  return read_config(*config, info);
}

Status read_hf_quant_config_json(std::string_view json, QuantizationInfo& info) {
  dom::parser parser;
  TESSERA_ASSIGN_OR_RETURN(const Node root, parse(parser, json, "hf_quant_config.json"));
  TESSERA_ASSIGN_OR_RETURN(const auto config, get_object(root, "quantization"));
  if (!config) return error(StatusCode::corrupt_data, "hf_quant_config.json: has no object 'quantization'");
  if (info.method.empty()) info.method = "modelopt";
  return read_config(*config, info);
}

}  // namespace

Expected<QuantizationInfo> parse_quantization_info(std::string_view config_json,
                                                   std::string_view hf_quant_config_json) {
  QuantizationInfo info;
  if (!config_json.empty()) TESSERA_RETURN_IF_ERROR(read_config_json(config_json, info));
  if (!hf_quant_config_json.empty()) TESSERA_RETURN_IF_ERROR(read_hf_quant_config_json(hf_quant_config_json, info));
  return info;
}

Expected<QuantizationInfo> read_quantization_info(const Checkpoint& checkpoint) {
  TESSERA_ASSIGN_OR_RETURN(const auto config_json, checkpoint.read_text("config.json"));
  TESSERA_ASSIGN_OR_RETURN(const auto hf_quant_config_json, checkpoint.read_text("hf_quant_config.json"));
  Expected<QuantizationInfo> info =
      parse_quantization_info(config_json.value_or(""), hf_quant_config_json.value_or(""));
  if (!info.ok()) return info.status().with_context(printable(checkpoint.directory().string()));
  return info;
}

}  // namespace tessera::format
