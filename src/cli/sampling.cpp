#include "cli/sampling.h"

#include <fmt/format.h>

#include <charconv>
#include <limits>
#include <variant>

#include "cli/flags.h"

namespace tessera::cli {
namespace {

using Json = nlohmann::ordered_json;
using P = SamplingParams;

constexpr double kAnyNumber = 1e38;
constexpr int64_t kAnyCount = std::numeric_limits<int64_t>::max();
constexpr int64_t kAnyInt = std::numeric_limits<int32_t>::max();

struct RealField {
  float P::*member;
  double low, high;
};
struct IntField {
  int P::*member;
  int64_t low, high;
};
struct CountField {
  int64_t P::*member;
  int64_t low, high;
};
struct OptionalIntField {
  std::optional<int> P::*member;
  int64_t low, high;
};
struct SeedField {
  std::optional<uint64_t> P::*member;
};
struct SwitchField {
  bool P::*member;
};
struct StringsField {
  std::vector<std::string> P::*member;
};
struct IdsField {
  std::vector<int32_t> P::*member;
};

struct Field {
  const char* key;
  const char* type_name;
  const char* what;
  std::variant<RealField, IntField, CountField, OptionalIntField, SeedField, SwitchField, StringsField, IdsField> kind;
};

// The engine checks ranges too, but only once the model is loaded, which may take minutes.
const Field kFields[] = {
    {"temperature", "X", "0 takes the likeliest token; higher is more varied",
     RealField{&P::temperature, 0, kAnyNumber}},
    {"top_k", "N", "Only the N likeliest tokens; 0: all", IntField{&P::top_k, 0, kAnyInt}},
    {"top_p", "X", "Only the likeliest tokens that together have probability X", RealField{&P::top_p, 0, 1}},
    {"min_p", "X", "Only tokens at least X times as likely as the likeliest", RealField{&P::min_p, 0, 1}},
    {"repetition_penalty", "X", "Above 1: fewer tokens that occurred, in prompt or answer",
     RealField{&P::repetition_penalty, 0, kAnyNumber}},
    {"presence_penalty", "X", "Above 0: fewer tokens that the answer has", RealField{&P::presence_penalty, -2, 2}},
    {"frequency_penalty", "X", "The same, for each time it has them", RealField{&P::frequency_penalty, -2, 2}},
    {"seed", "N", "Same prompt, flags and seed, same answer (default: random)", SeedField{&P::seed}},
    {"max_tokens", "N", "Tokens of an answer at most; -1: as many as fit (default)",
     CountField{&P::max_tokens, -1, kAnyCount}},
    {"min_tokens", "N", "No stop before so many tokens", CountField{&P::min_tokens, 0, kAnyCount}},
    {"stop", "TEXT", "End the answer before this text; may be repeated", StringsField{&P::stop}},
    {"stop_token_ids", "ID", "End the answer at this token; may be repeated", IdsField{&P::stop_token_ids}},
    {"ignore_eos", "", "Do not end at the model's stop tokens", SwitchField{&P::ignore_eos}},
    {"n", "N", "Answers to each prompt, 1 to 16", IntField{&P::n, 1, 16}},
    {"logprobs", "N", "Log-probabilities of each token and N alternatives, 0 to 20, in JSON",
     OptionalIntField{&P::logprobs, 0, 20}},
};

/// A value that the flag's check has let through.
template <typename T>
Json parsed(const std::string& text) {
  T value{};
  std::from_chars(text.data(), text.data() + text.size(), value);
  return value;
}

/// Adds the flag of one field; visited by its kind.
struct FlagAdder {
  CLI::App& command;
  Json& overrides;
  const Field& field;

  [[nodiscard]] std::string flag() const {
    std::string name = std::string("--") + field.key;
    std::replace(name.begin(), name.end(), '_', '-');
    return name;
  }
  template <typename T>
  void scalar(const CLI::Validator& check) const {
    const auto set = [&json = overrides, key = field.key](const std::string& text) { json[key] = parsed<T>(text); };
    command.add_option_function<std::string>(flag(), set, field.what)->type_name(field.type_name)->check(check);
  }
  template <typename T>
  void list(const CLI::Validator& check) const {
    const auto set = [&json = overrides, key = field.key](const std::vector<std::string>& texts) {
      json[key] = Json::array();
      for (const std::string& text : texts) {
        json[key].push_back(std::is_same_v<T, std::string> ? Json(text) : parsed<uint32_t>(text));
      }
    };
    command.add_option_function<std::vector<std::string>>(flag(), set, field.what)
        ->type_name(field.type_name)
        ->check(check)
        ->allow_extra_args(false);
  }
  void operator()(const RealField& f) const { scalar<double>(number(f.low, f.high)); }
  void operator()(const IntField& f) const { scalar<int64_t>(whole(f.low, f.high)); }
  void operator()(const CountField& f) const { scalar<int64_t>(whole(f.low, f.high)); }
  void operator()(const OptionalIntField& f) const { scalar<int64_t>(whole(f.low, f.high)); }
  void operator()(const SeedField& /*f*/) const { scalar<uint64_t>(whole_u64()); }
  void operator()(const SwitchField& /*f*/) const {
    command.add_flag_function(
        flag(), [&json = overrides, key = field.key](int64_t) { json[key] = true; }, field.what);
  }
  void operator()(const StringsField& /*f*/) const { list<std::string>(CLI::Validator()); }
  void operator()(const IdsField& /*f*/) const { list<int32_t>(whole(0, kAnyInt)); }
};

Status wrong(std::string_view key, const Json& found, const std::string& expected) {
  std::string shown = found.dump(-1, ' ', false, Json::error_handler_t::replace);
  if (shown.size() > 60) shown = shown.substr(0, 60) + "...";
  return error(StatusCode::invalid_argument, "\"{}\" is {}, expected {}", key, shown, expected);
}

/// Sets one field from JSON; visited by its kind.
struct Setter {
  const Field& field;
  const Json& value;
  P& params;

  [[nodiscard]] Expected<int64_t> integer(int64_t low, int64_t high) const {
    // Numbers above 2^63 - 1 are unsigned in this library, and get<int64_t> would wrap them.
    const bool fits = value.is_number_integer() &&
                      (!value.is_number_unsigned() || value.get<uint64_t>() <= static_cast<uint64_t>(kAnyCount));
    if (fits && value.get<int64_t>() >= low && value.get<int64_t>() <= high) return value.get<int64_t>();
    const bool open = high == kAnyCount || high == kAnyInt;
    return wrong(field.key, value,
                 open ? fmt::format("a whole number of at least {}", low)
                      : fmt::format("a whole number from {} to {}", low, high));
  }
  Status operator()(const RealField& f) const {
    const double number = value.is_number() ? value.get<double>() : kAnyNumber * 2;
    if (!(number >= f.low && number <= f.high)) {
      return wrong(field.key, value,
                   f.high == kAnyNumber ? fmt::format("a number of at least {}", f.low)
                                        : fmt::format("a number from {} to {}", f.low, f.high));
    }
    params.*f.member = static_cast<float>(number);
    return {};
  }
  Status operator()(const IntField& f) const {
    TESSERA_ASSIGN_OR_RETURN(const int64_t number, integer(f.low, f.high));
    params.*f.member = static_cast<int>(number);
    return {};
  }
  Status operator()(const CountField& f) const {
    TESSERA_ASSIGN_OR_RETURN(params.*f.member, integer(f.low, f.high));
    return {};
  }
  Status operator()(const OptionalIntField& f) const {
    TESSERA_ASSIGN_OR_RETURN(const int64_t number, integer(f.low, f.high));
    params.*f.member = static_cast<int>(number);
    return {};
  }
  Status operator()(const SeedField& f) const {
    if (!value.is_number_unsigned()) return wrong(field.key, value, "a whole number of at least 0");
    params.*f.member = value.get<uint64_t>();
    return {};
  }
  Status operator()(const SwitchField& f) const {
    if (!value.is_boolean()) return wrong(field.key, value, "true or false");
    params.*f.member = value.get<bool>();
    return {};
  }
  Status operator()(const StringsField& f) const {
    std::vector<std::string> strings;
    const Json list = value.is_string() ? Json::array({value}) : value;
    for (const Json& text : list) {
      if (!list.is_array() || !text.is_string()) return wrong(field.key, value, "a string, or an array of strings");
      strings.push_back(text.get<std::string>());
    }
    if (!list.is_array()) return wrong(field.key, value, "a string, or an array of strings");
    params.*f.member = std::move(strings);
    return {};
  }
  Status operator()(const IdsField& f) const {
    if (!value.is_array()) return wrong(field.key, value, "an array of token ids");
    std::vector<int32_t> ids;
    for (const Json& id : value) {
      if (!id.is_number_unsigned() || id.get<uint64_t>() > static_cast<uint64_t>(kAnyInt)) {
        return wrong(field.key, value, "an array of token ids");
      }
      ids.push_back(id.get<int32_t>());
    }
    params.*f.member = std::move(ids);
    return {};
  }
};

}  // namespace

void add_sampling_flags(CLI::App& command, Json& overrides) {
  for (const Field& field : kFields) std::visit(FlagAdder{command, overrides, field}, field.kind);
}

bool is_sampling_key(std::string_view key) {
  return std::any_of(std::begin(kFields), std::end(kFields), [&](const Field& field) { return key == field.key; });
}

const std::vector<std::string>& sampling_keys() {
  static const std::vector<std::string> keys = [] {
    std::vector<std::string> names;
    for (const Field& field : kFields) names.emplace_back(field.key);
    return names;
  }();
  return keys;
}

Status apply_sampling(const Json& object, SamplingParams& params) {
  for (const Field& field : kFields) {
    const auto value = object.find(field.key);
    if (value == object.end() || value->is_null()) continue;
    TESSERA_RETURN_IF_ERROR(std::visit(Setter{field, *value, params}, field.kind));
  }
  return {};
}

}  // namespace tessera::cli
