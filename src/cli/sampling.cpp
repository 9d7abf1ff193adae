#include "cli/sampling.h"

#include <algorithm>
#include <charconv>
#include <variant>

#include "cli/flags.h"
#include "server/request/sampling_fields.h"

namespace tessera::cli {
namespace {

using Json = nlohmann::ordered_json;

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
  const server::SamplingField& field;

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
  void operator()(const server::RealField& f) const { scalar<double>(number(f.low, f.high)); }
  void operator()(const server::IntField& f) const { scalar<int64_t>(whole(f.low, f.high)); }
  void operator()(const server::CountField& f) const { scalar<int64_t>(whole(f.low, f.high)); }
  void operator()(const server::OptionalIntField& f) const { scalar<int64_t>(whole(f.low, f.high)); }
  void operator()(const server::SeedField& /*f*/) const { scalar<uint64_t>(whole_u64()); }
  void operator()(const server::SwitchField& /*f*/) const {
    command.add_flag_function(
        flag(), [&json = overrides, key = field.key](int64_t) { json[key] = true; }, field.what);
  }
  void operator()(const server::StringsField& /*f*/) const { list<std::string>(not_empty()); }
  void operator()(const server::IdsField& /*f*/) const { list<int32_t>(whole(0, server::kAnyInt)); }
  void operator()(const server::BiasField& /*f*/) const {}  // no flag could say it
};

/// The value of one field as JSON; visited by its kind.
struct Getter {
  const SamplingParams& params;

  Json operator()(const server::RealField& f) const { return Json::parse(fmt::format("{}", params.*f.member)); }
  Json operator()(const server::OptionalIntField& f) const { return optional(params.*f.member); }
  Json operator()(const server::SeedField& f) const { return optional(params.*f.member); }
  template <typename T>
  Json operator()(const T& f) const {
    return params.*f.member;
  }
  template <typename T>
  static Json optional(const std::optional<T>& value) {
    return value ? Json(*value) : Json();
  }
};

}  // namespace

Json sampling_values(const SamplingParams& params) {
  Json values = Json::object();
  for (const server::SamplingField& field : server::sampling_fields()) {
    if (field.has_flag()) values[field.key] = std::visit(Getter{params}, field.kind);
  }
  return values;
}

void add_sampling_flags(CLI::App& command, Json& overrides) {
  for (const server::SamplingField& field : server::sampling_fields()) {
    if (field.has_flag()) std::visit(FlagAdder{command, overrides, field}, field.kind);
  }
}

const std::vector<std::string>& sampling_keys() {
  static const std::vector<std::string> keys = [] {
    std::vector<std::string> names;
    for (const server::SamplingField& field : server::sampling_fields()) {
      if (field.has_flag()) names.emplace_back(field.key);
    }
    return names;
  }();
  return keys;
}

Status apply_sampling(const Json& object, SamplingParams& params) {
  const auto error = server::apply_sampling(object, params);
  return error ? Status(StatusCode::invalid_argument, error->message) : Status();
}

Json parse_sampling(const std::string& text) {
  const char* flag = "--override-generation-config";
  Json object = parse_object(flag, text);
  if (const auto named = object.find("max_new_tokens"); named != object.end()) {
    object["max_tokens"] = Json(*named);
    object.erase("max_new_tokens");
  }
  SamplingParams scratch;
  auto wrong = server::apply_sampling(object, scratch);
  if (!wrong) wrong = server::refuse_unknown_sampling(object);
  if (wrong) throw CLI::ValidationError(flag, wrong->message);
  Json said = Json::object();
  for (const auto& [key, value] : object.items()) {
    if (!value.is_null()) said[key] = value;
  }
  return said;
}

}  // namespace tessera::cli
