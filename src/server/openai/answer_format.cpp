#include "server/openai/answer_format.h"

#include <utility>

#include "server/request/json_fields.h"

namespace tessera::server::openai {
namespace {

using Kind = GrammarSource::Kind;
using MaybeError = std::optional<ApiError>;

bool is_neutral(const Json* value) {
  return value == nullptr || *value == "" || *value == Json::object() || *value == Json::array() || *value == false;
}

/// Only one thing can be followed.
class Reader {
 public:
  explicit Reader(std::optional<AnswerFormat>& out) : out_(out) {}

  MaybeError set(Kind kind, std::string param, std::string text = {}) {
    if (out_) return bad_request(param, param + " and " + out_->param + " are both given, expected one of them");
    out_ = AnswerFormat{.source = {.kind = kind, .text = std::move(text)}, .param = std::move(param)};
    return std::nullopt;
  }

  /// A schema or a structural tag: JSON, or a string of it.
  MaybeError json(Kind kind, const Json* value, const std::string& param) {
    if (value == nullptr) return std::nullopt;
    if (value->is_string()) return set(kind, param, value->get<std::string>());
    if (!value->is_object() && !value->is_boolean()) return wrong(param, *value, "a JSON schema");
    return set(kind, param, value->dump());
  }

  MaybeError text(Kind kind, const Json* value, const std::string& param) {
    if (value == nullptr) return std::nullopt;
    if (!value->is_string()) return wrong(param, *value, "a string");
    return set(kind, param, value->get<std::string>());
  }

  MaybeError choice(const Json* value, const std::string& param) {
    if (value == nullptr) return std::nullopt;
    if (!value->is_array()) return wrong(param, *value, "an array of strings");
    if (auto error = set(Kind::choice, param)) return error;
    for (size_t i = 0; i < value->size(); ++i) {
      const Json& one = (*value)[i];
      if (!one.is_string() || one == "") return wrong(at(param, i), one, "a string that is not empty");
      out_->source.choices.push_back(one.get<std::string>());
    }
    return std::nullopt;
  }

  MaybeError response_format(const Json* format) {
    if (format == nullptr) return std::nullopt;
    const Json* type = format->is_object() ? find(*format, "type") : nullptr;
    const std::string param = "response_format";
    if (type == nullptr) return wrong(param, *format, R"(an object such as {"type": "json_object"})");
    if (*type == "text") return std::nullopt;
    if (*type == "json_object") {
      const Json* schema = find(*format, "schema");  // llama.cpp and others
      return schema == nullptr ? set(Kind::json_object, param) : json(Kind::json_schema, schema, at(param, "schema"));
    }
    if (*type == "json_schema") {
      const std::string inside = at(param, "json_schema");
      const Json* outer = find(*format, "json_schema");
      if (outer == nullptr || !outer->is_object()) return missing(inside, "an object with name and schema");
      const Json* schema = find(*outer, "schema");
      if (schema == nullptr) return missing(at(inside, "schema"), "a JSON schema");
      return json(Kind::json_schema, schema, at(inside, "schema"));
    }
    if (*type == "structural_tag") return json(Kind::structural_tag, format, param);
    return wrong(at(param, "type"), *type, "\"text\", \"json_object\", \"json_schema\" or \"structural_tag\"");
  }

  MaybeError structured_outputs(const Json* outputs) {
    const std::string param = "structured_outputs";
    if (is_neutral(outputs)) return std::nullopt;
    if (!outputs->is_object()) return wrong(param, *outputs, R"(an object such as {"regex": "[0-9]+"})");
    if (auto error = json(Kind::json_schema, find(*outputs, "json"), at(param, "json"))) return error;
    bool flag = false;
    if (auto error = read_flag(*outputs, "json_object", flag, param)) return error;
    if (flag) {
      if (auto error = set(Kind::json_object, at(param, "json_object"))) return error;
    }
    if (auto error = text(Kind::regex, find(*outputs, "regex"), at(param, "regex"))) return error;
    if (auto error = choice(find(*outputs, "choice"), at(param, "choice"))) return error;
    if (auto error = text(Kind::grammar, find(*outputs, "grammar"), at(param, "grammar"))) return error;
    const std::string tag = "structural_tag";
    if (auto error = json(Kind::structural_tag, find(*outputs, tag), at(param, tag))) return error;
    if (const Json* pattern = find(*outputs, "whitespace_pattern")) {
      return wrong(at(param, "whitespace_pattern"), *pattern, "disable_any_whitespace, or nothing");
    }
    bool compact = false;
    if (auto error = read_flag(*outputs, "disable_any_whitespace", compact, param)) return error;
    if (out_) out_->source.any_whitespace = !compact;
    if (!out_) return wrong(param, *outputs, "json, json_object, regex, choice, grammar or structural_tag in it");
    return std::nullopt;
  }

 private:
  std::optional<AnswerFormat>& out_;
};

}  // namespace

MaybeError parse_answer_format(const Json& body, std::optional<AnswerFormat>& out) {
  out.reset();
  Reader reader(out);
  const auto given = [&](const char* key) {
    const Json* value = find(body, key);
    return is_neutral(value) ? nullptr : value;
  };
  if (auto error = reader.response_format(find(body, "response_format"))) return error;
  if (auto error = reader.structured_outputs(find(body, "structured_outputs"))) return error;
  for (const char* key : {"guided_json", "json_schema"}) {
    if (auto error = reader.json(Kind::json_schema, given(key), key)) return error;
  }
  for (const char* key : {"guided_regex", "regex"}) {
    if (auto error = reader.text(Kind::regex, given(key), key)) return error;
  }
  if (auto error = reader.choice(given("guided_choice"), "guided_choice")) return error;
  for (const char* key : {"guided_grammar", "grammar", "ebnf"}) {
    if (auto error = reader.text(Kind::grammar, given(key), key)) return error;
  }
  return std::nullopt;
}

}  // namespace tessera::server::openai
