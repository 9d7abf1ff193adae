#include "model/quantization_config.h"

#include <set>

namespace tessera::model {
namespace {

using format::Dialect;
using format::WeightFormat;
using OrderedJson = nlohmann::ordered_json;

/// One entry for all experts of a layer, as both dialects allow: "….experts.*.up_proj" (glob) or
/// "re:….experts\\.\\d+\\.up_proj$". Names without an expert number stay as they are.
std::string target(Dialect dialect, const std::string& module) {
  static constexpr std::string_view kExperts = ".experts.";
  const size_t at = module.find(kExperts);
  if (at == std::string::npos) return module;
  const size_t number = at + kExperts.size();
  const size_t end = module.find_first_not_of("0123456789", number);
  if (end == number || end == std::string::npos) return module;
  if (dialect == Dialect::modelopt) return module.substr(0, number) + "*" + module.substr(end);
  std::string regex = "re:";
  for (const char c : module.substr(0, number) + "#" + module.substr(end)) {
    regex += c == '.' ? "\\." : c == '#' ? "\\d+" : std::string(1, c);
  }
  return regex + "$";
}

std::map<std::string, WeightFormat> targets(Dialect dialect, const QuantizedModules& quantized) {
  std::map<std::string, WeightFormat> result;
  for (const auto& [module, format] : quantized.modules) result[target(dialect, module)] = format;
  return result;
}

std::set<std::string> left_alone(Dialect dialect, const QuantizedModules& quantized) {
  std::set<std::string> result;
  for (const auto& module : quantized.plain) result.insert(target(dialect, module));
  return result;
}

std::string_view modelopt_algorithm(WeightFormat format) {
  switch (format) {
    case WeightFormat::nvfp4: return "W4A16_NVFP4";
    case WeightFormat::mxfp4: return "W4A16_MXFP4";
    default: return "FP8";
  }
}

OrderedJson compressed_tensors_weights(WeightFormat format) {
  OrderedJson weights = {{"num_bits", format == WeightFormat::fp8_e4m3 ? 8 : 4},
                         {"type", "float"},
                         {"symmetric", true},
                         {"dynamic", false}};
  switch (format) {
    case WeightFormat::nvfp4:
      weights["strategy"] = "tensor_group";
      weights["group_size"] = 16;
      weights["scale_dtype"] = "torch.float8_e4m3fn";
      break;
    case WeightFormat::mxfp4:
      weights["strategy"] = "group";
      weights["group_size"] = 32;
      weights["scale_dtype"] = "torch.uint8";
      break;
    default: weights["strategy"] = "tensor"; break;
  }
  return weights;
}

std::string_view compressed_tensors_format(WeightFormat format) {
  switch (format) {
    case WeightFormat::nvfp4: return "nvfp4-pack-quantized";
    case WeightFormat::mxfp4: return "mxfp4-pack-quantized";
    default: return "float-quantized";
  }
}

OrderedJson compressed_tensors_config(const QuantizedModules& quantized) {
  std::map<WeightFormat, OrderedJson> by_format;
  for (const auto& [module, format] : targets(Dialect::compressed_tensors, quantized)) {
    by_format[format].push_back(module);
  }
  OrderedJson groups = OrderedJson::object();
  for (const auto& [format, modules] : by_format) {
    OrderedJson group = {{"targets", modules},
                         {"weights", compressed_tensors_weights(format)},
                         {"input_activations", nullptr},
                         {"output_activations", nullptr},
                         {"format", compressed_tensors_format(format)}};
    groups["group_" + std::to_string(groups.size())] = std::move(group);
  }
  OrderedJson config = {
      {"quant_method", "compressed-tensors"},
      {"format", by_format.size() == 1 ? compressed_tensors_format(by_format.begin()->first) : "mixed-precision"},
      {"quantization_status", "compressed"},
      {"config_groups", std::move(groups)},
      {"ignore", left_alone(Dialect::compressed_tensors, quantized)}};
  if (quantized.fp8_kv_cache) {
    config["kv_cache_scheme"] = {
        {"num_bits", 8}, {"type", "float"}, {"strategy", "tensor"}, {"dynamic", false}, {"symmetric", true}};
  } else {
    config["kv_cache_scheme"] = nullptr;
  }
  return config;
}

/// The body that ModelOpt writes into both of its files.
OrderedJson modelopt_body(const QuantizedModules& quantized) {
  std::set<WeightFormat> formats;
  for (const auto& [module, format] : quantized.modules) formats.insert(format);
  OrderedJson body;
  body["quant_algo"] =
      formats.size() == 1 ? OrderedJson(modelopt_algorithm(*formats.begin())) : OrderedJson("MIXED_PRECISION");
  body["kv_cache_quant_algo"] = quantized.fp8_kv_cache ? OrderedJson("FP8") : OrderedJson(nullptr);
  if (formats.size() > 1) {
    for (const auto& [module, format] : targets(Dialect::modelopt, quantized)) {
      OrderedJson layer = {{"quant_algo", modelopt_algorithm(format)}};
      if (const auto group = format::group_size(format); group > 0) layer["group_size"] = group;
      body["quantized_layers"][module] = std::move(layer);
    }
  } else if (!formats.empty() && format::group_size(*formats.begin()) > 0) {
    body["group_size"] = format::group_size(*formats.begin());
  }
  return body;
}

const OrderedJson kProducer = {{"name", "tessera"}};

}  // namespace

OrderedJson quantization_config(Dialect dialect, const QuantizedModules& quantized) {
  if (dialect == Dialect::compressed_tensors) return compressed_tensors_config(quantized);
  OrderedJson config = {{"quant_method", "modelopt"}};
  config.update(modelopt_body(quantized));
  config["ignore"] = left_alone(Dialect::modelopt, quantized);
  config["producer"] = kProducer;
  return config;
}

OrderedJson hf_quant_config(const QuantizedModules& quantized) {
  OrderedJson body = modelopt_body(quantized);
  body["exclude_modules"] = left_alone(Dialect::modelopt, quantized);
  return {{"producer", kProducer}, {"quantization", std::move(body)}};
}

}  // namespace tessera::model
