#include "server/request/sampling_fields.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <limits>

#include "engine/request_check.h"
#include "server/request/json_fields.h"

namespace tessera::server {
namespace {

using P = SamplingParams;

constexpr TextLimits kStopLimits{.count = engine::kMaxStopStrings, .bytes = engine::kMaxStopBytes};
constexpr TextLimits kBadWordLimits{.count = engine::kMaxBadWords, .bytes = engine::kMaxBadWordBytes};

const SamplingField kFields[] = {
    {"temperature", "X", "0 takes the likeliest token; higher is more varied",
     RealField{&P::temperature, 0, kAnyNumber}},
    {"top_k", "N", "Only the N likeliest tokens; 0 or -1: all", IntField{&P::top_k, -1, kAnyInt}},
    {"top_p", "X", "Only the likeliest tokens that together have probability X", RealField{&P::top_p, kAboveZero, 1}},
    {"min_p", "X", "Only tokens at least X times as likely as the likeliest", RealField{&P::min_p, 0, 1}},
    {"repetition_penalty", "X", "Above 1: fewer tokens that occurred, in prompt or answer",
     RealField{&P::repetition_penalty, kAboveZero, kAnyNumber}},
    {"presence_penalty", "X", "Above 0: fewer tokens that the answer has", RealField{&P::presence_penalty, -2, 2}},
    {"frequency_penalty", "X", "The same, for each time it has them", RealField{&P::frequency_penalty, -2, 2}},
    {"seed", "N", "Same prompt, flags and seed, same answer (default: random)", SeedField{&P::seed}},
    {"max_tokens", "N", "Tokens of an answer at most; -1: as many as fit (default)",
     CountField{&P::max_tokens, -1, kAnyCount}},
    {"min_tokens", "N", "No stop before so many tokens", CountField{&P::min_tokens, 0, kAnyCount}},
    {"stop", "TEXT", "End the answer before this text; may be repeated", StringsField{&P::stop, kStopLimits}},
    {"stop_token_ids", "ID", "End the answer at this token; may be repeated",
     IdsField{&P::stop_token_ids, 0, engine::kMaxStopTokenIds}},
    {"ignore_eos", "", "Do not end at the model's stop tokens", SwitchField{&P::ignore_eos}},
    {"n", "N", "Answers to each prompt, 1 to 16", IntField{&P::n, 1, engine::kMaxChoices}},
    {"logprobs", "N", "Log-probabilities of each token and N alternatives, 0 to 20, in JSON",
     OptionalIntField{&P::logprobs, 0, engine::kMaxLogprobs}},
    {"prompt_logprobs", "", "", OptionalIntField{&P::prompt_logprobs, 0, engine::kMaxLogprobs}},
    {"logit_bias", "", "", BiasField{&P::logit_bias}},
    {"bad_words", "", "", StringsField{&P::bad_words, kBadWordLimits}},
    {"allowed_token_ids", "", "", IdsField{&P::allowed_token_ids, 1, engine::kMaxAllowedTokenIds}},
    {"truncate_prompt_tokens", "", "", OptionalIntField{&P::truncate_prompt_tokens, -1, kAnyInt}},
    {"include_stop_str_in_output", "", "", SwitchField{&P::include_stop_str_in_output}},
    {"skip_special_tokens", "", "", SwitchField{&P::skip_special_tokens}},
};

constexpr const char* kNotHere = "it is not supported; leave it out";

// Names of llama.cpp, SGLang, text-generation-webui, vLLM's earlier versions and Hugging Face's generate(). Fields that
// only tune one of these (mirostat_tau, dry_base, xtc_threshold) mean nothing without it.
constexpr UnsupportedField kUnsupported[] = {
    {"typical_p", "[1]", kNotHere},
    {"typical", "[1]", kNotHere},
    {"tfs", "[1]", kNotHere},
    {"tfs_z", "[1]", kNotHere},
    {"top_a", "[0]", kNotHere},
    {"top_n_sigma", "[0, -1]", kNotHere},
    {"nsigma", "[0, -1]", kNotHere},
    {"epsilon_cutoff", "[0]", kNotHere},
    {"eta_cutoff", "[0]", kNotHere},
    {"mirostat", "[0, false]", kNotHere},
    {"mirostat_mode", "[0]", kNotHere},
    {"dry_multiplier", "[0]", "use frequency_penalty or presence_penalty against repetition"},
    {"xtc_probability", "[0]", kNotHere},
    {"dynatemp_range", "[0]", "give one temperature"},
    {"dynamic_temperature", "[false]", "give one temperature"},
    {"smoothing_factor", "[0]", kNotHere},
    {"penalty_alpha", "[0]", kNotHere},
    {"repeat_penalty", "[1]", "use repetition_penalty, which counts the whole prompt and answer"},
    {"rep_pen", "[1]", "use repetition_penalty, which counts the whole prompt and answer"},
    {"encoder_repetition_penalty", "[1]", kNotHere},
    {"no_repeat_ngram_size", "[0]", kNotHere},
    {"stop_regex", "[\"\", []]", "use stop for fixed texts, or structured_outputs.regex for the whole answer"},
    {"no_stop_trim", "[false]", "use include_stop_str_in_output"},
    {"min_new_tokens", "[0]", "use min_tokens"},
    {"max_new_tokens", "[]", "use max_tokens"},
    {"max_length", "[]", "use max_tokens"},
    {"n_predict", "[]", "use max_tokens"},
    {"n_probs", "[0]", "use logprobs"},
    {"num_beams", "[1]", kNotHere},
    {"do_sample", "[true]", "use temperature 0 in its place"},
    {"use_beam_search", "[false]", kNotHere},
    {"length_penalty", "[1]", kNotHere},
    {"early_stopping", "[false]", kNotHere},
    {"banned_tokens", "[\"\", []]", "use bad_words"},
    {"logits_processors", "[[]]", kNotHere},
    {"custom_logit_processor", "[\"\"]", kNotHere},
    {"prefix", "[\"\"]", "let the last message be the assistant's, with continue_final_message"},
};

std::optional<ApiError> read_strings(const Json& value, const std::string& path, const TextLimits& limits,
                                     std::vector<std::string>& out) {
  if (!value.is_string() && !value.is_array()) return wrong(path, value, "a string, or an array of strings");
  const size_t count = value.is_string() ? 1 : value.size();
  if (auto error = too_many(path, count, limits.count, "strings")) return error;
  std::vector<std::string> strings;
  size_t bytes = 0;
  for (size_t i = 0; i < count; ++i) {
    const Json& text = value.is_string() ? value : value[i];
    const std::string inside = value.is_string() ? path : at(path, i);
    if (!text.is_string()) return wrong(inside, text, "a string");
    strings.push_back(text.get<std::string>());
    if (strings.back().empty()) return wrong(inside, text, "some text");
    bytes += strings.back().size();
  }
  if (auto error = too_many(path, bytes, limits.bytes, "bytes")) return error;
  out = std::move(strings);
  return std::nullopt;
}

/// Sets one field from JSON; visited by its kind.
struct Setter {
  const char* key;
  const Json& value;
  P& params;

  std::optional<ApiError> operator()(const RealField& f) const {
    const double number = value.is_number() ? value.get<double>() : kAnyNumber * 2;
    if (!(number >= f.low && number <= f.high)) return wrong(key, value, number_range(f.low, f.high));
    params.*f.member = static_cast<float>(number);
    return std::nullopt;
  }
  std::optional<ApiError> operator()(const IntField& f) const {
    const auto number = whole_number(value, f.low, f.high);
    if (!number) return wrong(key, value, whole_range(f.low, f.high));
    params.*f.member = static_cast<int>(*number);
    return std::nullopt;
  }
  std::optional<ApiError> operator()(const CountField& f) const {
    const auto number = whole_number(value, f.low, f.high);
    if (!number) return wrong(key, value, whole_range(f.low, f.high));
    params.*f.member = *number;
    return std::nullopt;
  }
  std::optional<ApiError> operator()(const OptionalIntField& f) const {
    const auto number = whole_number(value, f.low, f.high);
    if (!number) return wrong(key, value, whole_range(f.low, f.high));
    params.*f.member = static_cast<int>(*number);
    return std::nullopt;
  }
  std::optional<ApiError> operator()(const SeedField& f) const {
    if (value.is_number_float()) {  // 5.0
      const auto whole = whole_number(value, std::numeric_limits<int64_t>::min(), std::numeric_limits<int64_t>::max());
      if (whole) return Setter{key, Json(*whole), params}(f);
    }
    if (!value.is_number_integer()) return wrong(key, value, "a whole number of at most 64 bits");
    params.*f.member = value.get<uint64_t>();
    if (!value.is_number_unsigned() && value.get<int64_t>() == -1) (params.*f.member).reset();
    return std::nullopt;
  }
  std::optional<ApiError> operator()(const SwitchField& f) const {
    if (!value.is_boolean()) return wrong(key, value, "true or false");
    params.*f.member = value.get<bool>();
    return std::nullopt;
  }
  std::optional<ApiError> operator()(const StringsField& f) const {
    return read_strings(value, key, f.limits, params.*f.member);
  }
  std::optional<ApiError> operator()(const IdsField& f) const {
    if (value.is_array() && value.size() < f.least) return wrong(key, value, "at least one token id");
    return read_ids(value, key, f.most, params.*f.member);
  }
  std::optional<ApiError> operator()(const BiasField& f) const {
    if (!value.is_object()) return wrong(key, value, R"(an object such as {"1234": -5})");
    if (auto error = too_many(key, value.size(), engine::kMaxLogitBias, "entries")) return error;
    std::vector<std::pair<int32_t, float>> biases;
    for (const auto& [name, addend] : value.items()) {
      int32_t token = 0;
      const auto [end, fault] = std::from_chars(name.data(), name.data() + name.size(), token);
      const bool is_id =
          fault == std::errc() && end == name.data() + name.size() && token >= 0 && std::to_string(token) == name;
      const std::string path = at(key, shortened(name, 20));
      if (!is_id) return wrong(path, addend, "its key to be a token id, from 0 to 2147483647");
      const double number = addend.is_number() ? addend.get<double>() : kAnyNumber;
      if (!(number >= -100 && number <= 100)) return wrong(path, addend, number_range(-100, 100));
      biases.emplace_back(token, static_cast<float>(number));
    }
    params.*f.member = std::move(biases);
    return std::nullopt;
  }
};

}  // namespace

std::optional<ApiError> read_stop_strings(const Json& value, const std::string& path, std::vector<std::string>& out) {
  return read_strings(value, path, kStopLimits, out);
}

std::span<const SamplingField> sampling_fields() { return kFields; }
std::span<const UnsupportedField> unsupported_sampling_fields() { return kUnsupported; }

std::optional<ApiError> refuse_unsupported(const Json& object, std::span<const UnsupportedField> table) {
  for (const UnsupportedField& field : table) {
    const Json* value = find(object, field.key);
    if (value == nullptr) continue;
    const Json neutral = Json::parse(field.neutral);
    if (std::ranges::find(neutral, *value) != neutral.end()) continue;
    const std::string key(field.key);
    return bad_request(key, key + " is " + shown(*value) + ": " + field.why);
  }
  return std::nullopt;
}

bool is_sampling_field(std::string_view key) {
  return std::ranges::find(kFields, key, &SamplingField::key) != std::end(kFields) ||
         std::ranges::find(kUnsupported, key, &UnsupportedField::key) != std::end(kUnsupported);
}

std::optional<ApiError> refuse_unknown_sampling(const Json& object) {
  for (const auto& [key, value] : object.items()) {
    if (is_sampling_field(key)) continue;
    std::vector<std::string_view> known;
    for (const SamplingField& field : kFields) known.emplace_back(field.key);
    return bad_request(key, fmt::format("there is no sampling parameter {}; there are {}", shortened(key, 64),
                                        fmt::join(known, ", ")));
  }
  return std::nullopt;
}

std::optional<ApiError> apply_sampling(const Json& object, SamplingParams& params,
                                       std::span<const std::string_view> but) {
  if (auto error = refuse_unsupported(object, kUnsupported)) return error;
  for (const SamplingField& field : kFields) {
    if (std::find(but.begin(), but.end(), field.key) != but.end()) continue;
    const Json* value = find(object, field.key);
    if (value == nullptr) continue;
    if (auto error = std::visit(Setter{field.key, *value, params}, field.kind)) return error;
  }
  params.top_k = std::max(params.top_k, 0);  // -1 is what others call 0
  return std::nullopt;
}

}  // namespace tessera::server
