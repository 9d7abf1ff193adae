#include "model/config.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <numbers>
#include <optional>

namespace tessera::model {
namespace {

using Json = nlohmann::json;

/// Reads fields of one JSON object, remembers the first fault and names every field in it.
class Fields {
 public:
  Fields(const Json& object, std::string path) : object_(object), path_(std::move(path)) {}

  [[nodiscard]] const Json* find(const char* key) const {
    const auto it = object_.find(key);
    return it == object_.end() || it->is_null() ? nullptr : &*it;
  }

  int64_t integer(const char* key, int64_t fallback, int64_t min, int64_t max) {
    const Json* value = find(key);
    if (value == nullptr) return fallback;
    if (!value->is_number_integer()) return fail(key, *value, "an integer", fallback);
    // Unsigned values above int64's range must not wrap.
    const bool above = value->is_number_unsigned() && value->get<uint64_t>() > static_cast<uint64_t>(max);
    const auto number = value->get<int64_t>();
    if (above || number < min || number > max) return fail(key, *value, fmt::format("{}..{}", min, max), fallback);
    return number;
  }

  double number(const char* key, double fallback, double min, double max) {
    const Json* value = find(key);
    if (value == nullptr) return fallback;
    if (!value->is_number()) return fail(key, *value, "a number", fallback);
    const auto number = value->get<double>();
    if (!(number >= min && number <= max)) return fail(key, *value, fmt::format("{}..{}", min, max), fallback);
    return number;
  }

  bool boolean(const char* key, bool fallback) {
    const Json* value = find(key);
    if (value == nullptr) return fallback;
    if (!value->is_boolean()) return fail(key, *value, "true or false", fallback);
    return value->get<bool>();
  }

  std::string string(const char* key, const std::string& fallback) {
    const Json* value = find(key);
    if (value == nullptr) return fallback;
    if (!value->is_string()) return fail(key, *value, "a string", fallback);
    return value->get<std::string>();
  }

  template <typename T>
  T fail(const char* key, const Json& found, const std::string& expected, T fallback) {
    if (status_.ok()) {
      std::string shown = found.dump(-1, ' ', true, Json::error_handler_t::replace);
      if (shown.size() > 60) shown = shown.substr(0, 57) + "...";
      status_ = error(StatusCode::corrupt_data, "{}: \"{}\" is {}, expected {}", path_, key, shown, expected);
    }
    return fallback;
  }

  void fail(Status status) {
    if (status_.ok()) status_ = std::move(status);
  }
  [[nodiscard]] const Status& status() const { return status_; }
  [[nodiscard]] const std::string& path() const { return path_; }

 private:
  const Json& object_;
  std::string path_;
  Status status_;
};

constexpr int64_t kMaxDimension = 1 << 20;

/// YaRN (arXiv 2309.00071): frequencies below the correction range are divided by `factor`, above it kept, with a
/// linear ramp between; cos and sin are scaled by 0.1 ln(factor) + 1 unless the config says otherwise.
void apply_yarn(Fields& rope, double theta, int rotary_dim, ModelConfig& config) {
  const double factor = rope.number("factor", 1.0, 1.0, 1e4);
  const double original =
      static_cast<double>(rope.integer("original_max_position_embeddings", 262144, 1, int64_t{1} << 40));
  const double beta_fast = rope.number("beta_fast", 32.0, 1e-3, 1e6);
  const double beta_slow = rope.number("beta_slow", 1.0, 1e-3, 1e6);
  const double attention_factor = rope.number("attention_factor", 0.1 * std::log(factor) + 1.0, 1e-3, 1e3);
  if (!rope.status().ok()) return;
  const auto correction_dim = [&](double beta) {
    return rotary_dim * std::log(original / (beta * 2 * std::numbers::pi)) / (2 * std::log(theta));
  };
  const bool truncate = rope.boolean("truncate", true);
  double low = correction_dim(beta_fast);
  double high = correction_dim(beta_slow);
  if (truncate) {
    low = std::floor(low);
    high = std::ceil(high);
  }
  low = std::max(low, 0.0);
  high = std::min(high, rotary_dim - 1.0);
  if (low == high) high += 0.001;  // the ramp needs a width
  for (size_t i = 0; i < config.inv_freq.size(); ++i) {
    const double ramp = std::clamp((static_cast<double>(i) - low) / (high - low), 0.0, 1.0);
    const double kept = config.inv_freq[i];
    config.inv_freq[i] = static_cast<float>(kept / factor * ramp + kept * (1.0 - ramp));
  }
  config.rope_scale = static_cast<float>(attention_factor);
}

/// Two fields that say the same thing must not say two things: which of them a model was trained with is not for us to
/// guess.
void must_agree(Fields& text, const std::string& a, const Json* one, const std::string& b, const Json* other) {
  if (one == nullptr || other == nullptr || *one == *other) return;
  text.fail(error(StatusCode::invalid_argument, "{}: \"{}\" is {} and \"{}\" is {}; expected one of them, or the same",
                  text.path(), a, one->dump(), b, other->dump()));
}

void read_rope(Fields& text, ModelConfig& config) {
  static const Json kEmpty = Json::object();
  const Json* parameters = text.find("rope_parameters");
  must_agree(text, "rope_parameters", parameters, "rope_scaling", text.find("rope_scaling"));
  if (parameters == nullptr) parameters = text.find("rope_scaling");
  if (parameters != nullptr && !parameters->is_object()) {
    text.fail("rope_parameters", *parameters, "an object", 0);
    return;
  }
  Fields rope(parameters == nullptr ? kEmpty : *parameters, text.path() + ": rope_parameters");
  for (const std::string key : {"rope_theta", "partial_rotary_factor"}) {
    must_agree(text, key, text.find(key.c_str()), "rope_parameters." + key, rope.find(key.c_str()));
  }
  // "mrope" with text alone is "default": some files say both.
  const Json* old_type = rope.find("type");
  if (old_type != nullptr && *old_type != "mrope") {
    must_agree(text, "rope_parameters.rope_type", rope.find("rope_type"), "rope_parameters.type", old_type);
  }
  const double theta = rope.number("rope_theta", text.number("rope_theta", 1e7, 1.0, 1e12), 1.0, 1e12);
  const double fraction =
      rope.number("partial_rotary_factor", text.number("partial_rotary_factor", 0.25, 0.0, 1.0), 0.0, 1.0);
  const std::string type = rope.string("rope_type", rope.string("type", "default"));
  const int rotary_dim = static_cast<int>(config.attention.head_dim * fraction) / 2 * 2;
  config.attention.rotary_dim = rotary_dim;
  config.inv_freq.resize(static_cast<size_t>(rotary_dim / 2));
  for (size_t i = 0; i < config.inv_freq.size(); ++i) {
    // In fp32 as torch computes it, so that angles agree to the last bit at long positions.
    const float exponent = static_cast<float>(2 * i) / static_cast<float>(rotary_dim);
    config.inv_freq[i] = 1.0F / std::pow(static_cast<float>(theta), exponent);
  }
  if (type == "yarn") {
    apply_yarn(rope, theta, rotary_dim, config);
  } else if (type != "default" && type != "mrope") {
    rope.fail(error(StatusCode::unsupported, "{}: rope_type \"{}\" is not supported; known: default, yarn", rope.path(),
                    type));
  }
  text.fail(rope.status());
}

void read_layer_types(Fields& text, ModelConfig& config) {
  const auto layers = text.integer("num_hidden_layers", 40, 1, 4096);
  const auto interval = text.integer("full_attention_interval", 4, 1, 4096);
  const Json* types = text.find("layer_types");
  for (int64_t i = 0; types == nullptr && i < layers; ++i) {
    config.layer_types.push_back((i + 1) % interval == 0 ? LayerType::full_attention : LayerType::linear_attention);
  }
  if (types == nullptr) return;
  if (!types->is_array() || static_cast<int64_t>(types->size()) != layers) {
    text.fail("layer_types", *types, fmt::format("an array of num_hidden_layers = {} names", layers), 0);
    return;
  }
  for (const Json& type : *types) {
    if (type == "full_attention") {
      config.layer_types.push_back(LayerType::full_attention);
    } else if (type == "linear_attention") {
      config.layer_types.push_back(LayerType::linear_attention);
    } else {
      text.fail("layer_types", type, "\"full_attention\" or \"linear_attention\" in every entry", 0);
      return;
    }
  }
}

void read_mixers(Fields& text, ModelConfig& config) {
  auto& attention = config.attention;
  attention.heads = static_cast<int>(text.integer("num_attention_heads", 16, 1, 4096));
  attention.kv_heads = static_cast<int>(text.integer("num_key_value_heads", config.is_moe ? 2 : 4, 1, 4096));
  attention.head_dim = static_cast<int>(text.integer("head_dim", 256, 2, 4096));
  attention.norm_eps = config.rms_norm_eps;
  if (attention.head_dim % 2 != 0) {
    text.fail(
        error(StatusCode::unsupported, "{}: head_dim is {}, expected an even number", text.path(), attention.head_dim));
  }
  if (attention.heads % attention.kv_heads != 0) {
    text.fail(error(StatusCode::corrupt_data, "{}: num_attention_heads {} is not a multiple of num_key_value_heads {}",
                    text.path(), attention.heads, attention.kv_heads));
  }
  auto& net = config.delta_net;
  net.key_heads = static_cast<int>(text.integer("linear_num_key_heads", 16, 1, 4096));
  net.value_heads = static_cast<int>(text.integer("linear_num_value_heads", 32, 1, 4096));
  net.key_dim = static_cast<int>(text.integer("linear_key_head_dim", 128, 1, 1024));
  net.value_dim = static_cast<int>(text.integer("linear_value_head_dim", 128, 1, 1024));
  net.conv_width = static_cast<int>(text.integer("linear_conv_kernel_dim", 4, 2, 16));
  net.norm_eps = config.rms_norm_eps;
  if (net.value_heads % net.key_heads != 0) {
    text.fail(error(StatusCode::corrupt_data,
                    "{}: linear_num_value_heads {} is not a multiple of linear_num_key_heads {}", text.path(),
                    net.value_heads, net.key_heads));
  }
}

void read_feed_forward(Fields& text, ModelConfig& config) {
  if (!config.is_moe) {
    config.intermediate_size = text.integer("intermediate_size", 12288, 1, kMaxDimension);
    return;
  }
  config.num_experts = static_cast<int>(text.integer("num_experts", 256, 1, 65536));
  config.experts_per_token = static_cast<int>(text.integer("num_experts_per_tok", 8, 1, 1024));
  config.moe_intermediate_size = text.integer("moe_intermediate_size", 512, 1, kMaxDimension);
  config.shared_expert_intermediate_size = text.integer("shared_expert_intermediate_size", 512, 0, kMaxDimension);
  if (config.experts_per_token > config.num_experts) {
    text.fail(error(StatusCode::corrupt_data, "{}: num_experts_per_tok {} exceeds num_experts {}", text.path(),
                    config.experts_per_token, config.num_experts));
  }
  const Json* dense_layers = text.find("mlp_only_layers");
  if (dense_layers != nullptr && dense_layers->is_array() && !dense_layers->empty()) {
    text.fail(error(StatusCode::unsupported, "{}: mlp_only_layers is not empty; every Qwen3.5-MoE layer is a MoE layer",
                    text.path()));
  }
}

/// Ids outside the vocabulary are left out: small test models carry them over from large ones, and they never come up.
void read_token_ids(Fields& text, const char* key, int64_t vocab_size, std::vector<int32_t>& ids) {
  const Json* value = text.find(key);
  if (value == nullptr) return;
  const Json list = value->is_array() ? *value : Json::array({*value});
  for (const Json& id : list) {
    if (!id.is_number_integer() || id.get<int64_t>() < 0 || id.get<int64_t>() > std::numeric_limits<int32_t>::max()) {
      text.fail(key, id, "token ids", 0);
      return;
    }
    if (id.get<int64_t>() < vocab_size) ids.push_back(id.get<int32_t>());
  }
}

void refuse_what_is_not_implemented(Fields& text) {
  const std::string activation = text.string("hidden_act", "silu");
  if (activation != "silu") {
    text.fail(
        error(StatusCode::unsupported, "{}: hidden_act \"{}\" is not supported; known: silu", text.path(), activation));
  }
  if (text.boolean("attention_bias", false)) {
    text.fail(error(StatusCode::unsupported, "{}: attention_bias true is not supported", text.path()));
  }
  if (!text.boolean("attn_output_gate", true)) {
    text.fail(error(StatusCode::unsupported, "{}: attn_output_gate false is not supported; Qwen3.5 is always gated",
                    text.path()));
  }
  const std::string gate = text.string("output_gate_type", "swish");
  if (gate != "swish" && gate != "silu") {
    text.fail(error(StatusCode::unsupported, "{}: output_gate_type \"{}\" is not supported; known: swish", text.path(),
                    gate));
  }
}

/// The deepest nesting of arrays and objects; brackets inside strings do not count.
int nesting_depth(std::string_view json) {
  int depth = 0;
  int deepest = 0;
  bool in_string = false;
  for (size_t i = 0; i < json.size(); ++i) {
    const char c = json[i];
    if (c == '"') in_string = !in_string;
    if (in_string && c == '\\') ++i;  // what follows is escaped
    if (in_string) continue;
    if (c == '[' || c == '{') deepest = std::max(deepest, ++depth);
    if (c == ']' || c == '}') --depth;
  }
  return deepest;
}

}  // namespace

int ModelConfig::count(LayerType type) const {
  return static_cast<int>(std::count(layer_types.begin(), layer_types.end(), type));
}

Expected<ModelConfig> parse_config(std::string_view json, const std::string& path) {
  // Depth is bounded by hand: nlohmann's parser keeps its own stack, but copying and printing a deep value recurse.
  if (nesting_depth(json) > 64) return error(StatusCode::corrupt_data, "{}: nested deeper than 64 levels", path);
  const Json root = Json::parse(json, nullptr, /*allow_exceptions=*/false);
  if (!root.is_object()) return error(StatusCode::corrupt_data, "{}: not a JSON object", path);
  const Json* text_object = &root;
  if (const auto it = root.find("text_config"); it != root.end()) text_object = &*it;
  if (!text_object->is_object()) return error(StatusCode::corrupt_data, "{}: text_config is not an object", path);

  Fields top(root, path);
  Fields text(*text_object, path);
  const std::string type = text.string("model_type", top.string("model_type", ""));
  ModelConfig config;
  if (type == "qwen3_5_moe_text" || type == "qwen3_5_moe") {
    config.is_moe = true;
  } else if (type == "qwen3_5_text" || type == "qwen3_5") {
    config.is_moe = false;
  } else {
    TESSERA_RETURN_IF_ERROR(text.status());
    return error(StatusCode::unsupported, "{}: model_type \"{}\" is not supported; known: qwen3_5_moe, qwen3_5", path,
                 type);
  }
  config.hidden_size = text.integer("hidden_size", config.is_moe ? 2048 : 4096, 1, kMaxDimension);
  config.vocab_size = text.integer("vocab_size", 248320, 1, 1 << 24);
  config.rms_norm_eps = static_cast<float>(text.number("rms_norm_eps", 1e-6, 0.0, 1.0));
  config.max_position_embeddings =
      text.integer("max_position_embeddings", 262144, 1, std::numeric_limits<int32_t>::max());
  config.tie_word_embeddings = text.boolean("tie_word_embeddings", top.boolean("tie_word_embeddings", false));
  config.mtp_layers = static_cast<int>(text.integer("mtp_num_hidden_layers", 0, 0, 16));
  read_layer_types(text, config);
  read_mixers(text, config);
  read_feed_forward(text, config);
  read_rope(text, config);
  read_token_ids(text, "eos_token_id", config.vocab_size, config.eos_token_ids);
  refuse_what_is_not_implemented(text);
  TESSERA_RETURN_IF_ERROR(top.status());
  TESSERA_RETURN_IF_ERROR(text.status());
  return config;
}

}  // namespace tessera::model
