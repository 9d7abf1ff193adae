#include "engine/generation_config.h"

#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>

#include "engine/request_check.h"

namespace tessera::engine {
namespace {

using nlohmann::json;

Status convert(const char* key, const json& found, double low, double high, auto& value) {
  using Value = std::remove_reference_t<decltype(value)>;
  const bool whole = !std::is_floating_point_v<Value>;
  if (!found.is_number()) {
    return error(StatusCode::invalid_argument, "{} is of type {}; expected a number", key, found.type_name());
  }
  const auto number = found.get<double>();
  if (!(number >= low && number <= high) || (whole && number != std::floor(number))) {
    return error(StatusCode::invalid_argument, "{} is {}; expected a {}number between {} and {}", key, number,
                 whole ? "whole " : "", low, high);
  }
  value = static_cast<Value>(number);
  return {};
}

/// A number at `key`, if it is there and not null.
Status read_number(const json& object, const char* key, double low, double high, auto& value) {
  const auto found = object.find(key);
  if (found == object.end() || found->is_null()) return {};
  return convert(key, *found, low, high, value);
}

Status read_eos(const json& object, int64_t vocab_size, std::vector<int32_t>& ids) {
  const auto found = object.find("eos_token_id");
  if (found == object.end() || found->is_null()) return {};
  const auto add = [&](const json& id) {
    return convert("eos_token_id", id, 0, static_cast<double>(vocab_size - 1), ids.emplace_back());
  };
  if (!found->is_array()) return add(*found);
  for (const json& id : *found) TESSERA_RETURN_IF_ERROR(add(id));
  return {};
}

Status read_fields(const json& object, int64_t vocab_size, GenerationConfig& config) {
  constexpr double kMaxFloat = std::numeric_limits<float>::max();
  constexpr double kTiny = std::numeric_limits<float>::min();
  SamplingParams& sampling = config.sampling;
  TESSERA_RETURN_IF_ERROR(read_number(object, "temperature", 0, kMaxFloat, sampling.temperature));
  TESSERA_RETURN_IF_ERROR(read_number(object, "top_k", 0, std::numeric_limits<int>::max(), sampling.top_k));
  TESSERA_RETURN_IF_ERROR(read_number(object, "top_p", kTiny, 1, sampling.top_p));
  TESSERA_RETURN_IF_ERROR(read_number(object, "min_p", 0, 1, sampling.min_p));
  TESSERA_RETURN_IF_ERROR(read_number(object, "repetition_penalty", kTiny, kMaxFloat, sampling.repetition_penalty));
  TESSERA_RETURN_IF_ERROR(read_number(object, "max_new_tokens", 0, 1e9, sampling.max_tokens));
  const auto sample = object.find("do_sample");
  if (sample != object.end() && sample->is_boolean() && !sample->get<bool>()) sampling.temperature = 0;
  return read_eos(object, vocab_size, config.eos_token_ids);
}

}  // namespace

Expected<GenerationConfig> parse_generation_config(std::string_view text, const std::string& path, int64_t vocab_size) {
  const json object = json::parse(text, nullptr, false);
  if (!object.is_object()) return error(StatusCode::corrupt_data, "{}: is not a JSON object", path);
  GenerationConfig config;
  TESSERA_RETURN_IF_ERROR(read_fields(object, vocab_size, config).with_context(path));
  return config;
}

}  // namespace tessera::engine
