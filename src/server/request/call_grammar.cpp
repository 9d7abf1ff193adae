#include "server/request/call_grammar.h"

#include <algorithm>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "guide/source.h"
#include "server/request/json_fields.h"
#include "server/request/tag_free_pattern.h"
#include "text/dialect/dialect.h"

namespace tessera::server {
namespace {

namespace dialect = text::dialect;

using Kind = GrammarSource::Kind;

constexpr int kReferenceDepthMax = 16;  // one behind the other

const std::string kCallOpen(dialect::kCallOpen), kCallClose(dialect::kCallClose);
const std::string kFunctionOpen(dialect::kFunctionOpen), kFunctionClose(dialect::kFunctionClose);
const std::string kParameterOpen(dialect::kParameterOpen), kParameterClose(dialect::kParameterClose);

Json constant(const std::string& text) { return {{"type", "const_string"}, {"value", text}}; }
Json regex(const std::string& pattern) { return {{"type", "regex"}, {"pattern", pattern}}; }
Json sequence(Json elements) { return {{"type", "sequence"}, {"elements", std::move(elements)}}; }
Json any_of(Json elements) {
  return elements.size() == 1 ? elements[0] : Json{{"type", "or"}, {"elements", std::move(elements)}};
}
Json tag(const std::string& begin, Json content, const std::string& end) {
  return {{"type", "tag"}, {"begin", begin}, {"content", std::move(content)}, {"end", end}};
}
Json text_without(std::vector<std::string> markers) { return {{"type", "any_text"}, {"excludes", std::move(markers)}}; }

const Json& function_of(const ToolFields& tools, size_t i) { return *find(tools.json[i], "function"); }

bool may_be_called(const ToolFields& tools, size_t i) {
  const Json& name = *find(function_of(tools, i), "name");
  if (tools.choice.mode == ToolMode::named) return name == tools.choice.name;
  return std::ranges::any_of(tools.schemas, [&](const text::ToolSchema& tool) { return name == tool.name; });
}

template <typename Is>
bool any_callable(const ToolFields& tools, Is is) {
  for (size_t i = 0; i < tools.json.size(); ++i) {
    if (is(tools.origins[i]) && may_be_called(tools, i)) return true;
  }
  return false;
}

/// The arguments of one tool.
class Arguments {
 public:
  explicit Arguments(const Json& parameters) : root_(parameters) {}

  /// What stands between "<function=NAME>\n" and "</function>"; null: anything may.
  Expected<Json> format() {
    const Json* properties = find(root_, "properties");
    if (properties == nullptr && find(root_, "additionalProperties") != nullptr &&
        *find(root_, "additionalProperties") != false) {
      return Json();
    }
    for (const auto& [key, value] : root_.items()) {
      static const std::set<std::string> kFollowed = {"type",        "properties", "required", "additionalProperties",
                                                      "description", "title",      "$defs",    "definitions",
                                                      "$schema",     "$id",        "strict",   "$comment",
                                                      "examples",    "default"};
      if (!kFollowed.contains(key)) {
        return error(StatusCode::unsupported, "\"{}\" cannot be followed in the arguments of a call", key);
      }
    }
    std::set<std::string> required;
    if (const Json* names = find(root_, "required")) {
      for (const Json& name : *names) required.insert(name.get<std::string>());
    }
    Json elements = Json::array();
    if (properties != nullptr) {
      for (const auto& [name, schema] : properties->items()) {
        if (name.empty() || name.find_first_of("<>\n\r") != std::string::npos) {
          return error(StatusCode::unsupported, "a parameter's name cannot have '<', '>' or a line break");
        }
        TESSERA_ASSIGN_OR_RETURN(Json parameter, parameter_format(name, schema));
        if (!required.contains(name)) parameter = {{"type", "optional"}, {"content", std::move(parameter)}};
        elements.push_back(std::move(parameter));
      }
    }
    return elements;
  }

 private:
  Expected<Json> parameter_format(const std::string& name, const Json& schema) {
    const std::string begin = kParameterOpen + name + ">\n";
    const std::string end = "\n" + kParameterClose + "\n";
    const text::ToolParameter parameter = parameter_of_schema(name, schema, root_);
    if (parameter.type != text::ParameterType::string) {
      TESSERA_ASSIGN_OR_RETURN(Json whole, with_definitions(schema));
      return sequence({constant(begin), {{"type", "json_schema"}, {"json_schema", std::move(whole)}}, constant(end)});
    }
    Texts texts;
    TESSERA_RETURN_IF_ERROR(add_texts(schema, kReferenceDepthMax, texts));
    if (texts.free)
      return tag(begin, text_without({"\n" + kParameterClose, kParameterOpen, kFunctionClose, kCallClose}), end);
    if (texts.formats.empty()) return error(StatusCode::unsupported, "no text satisfies the parameter {}", shown(name));
    return sequence(around(begin, std::move(texts.formats), end));
  }

  /// The format of texts has no empty one.
  static Json around(const std::string& begin, Json texts, const std::string& end) {
    Json filled = Json::array();
    for (Json& text : texts) {
      if (text != constant("")) filled.push_back(std::move(text));
    }
    if (filled.empty()) return {constant(begin + end)};
    const bool any_empty = filled.size() < texts.size();
    Json middle = any_of(std::move(filled));
    if (any_empty) middle = {{"type", "optional"}, {"content", std::move(middle)}};
    return {constant(begin), std::move(middle), constant(end)};
  }

  /// What a parameter may be: one of several formats of texts, or any text.
  struct Texts {
    Json formats = Json::array();
    bool free = false;
    std::set<const Json*> followed = {};  // definitions: each has its texts there once, by however many ways it is met
  };

  /// The texts that a parameter of type string may be, and null's. `references`: how many more, one behind the other.
  Status add_texts(const Json& schema, int references, Texts& out) {
    if (!schema.is_object() || schema.empty()) {
      out.free = true;
      return {};
    }
    if (const Json* reference = find(schema, "$ref")) {
      const Json* target = referenced(*reference);
      if (target == nullptr || references == 0) {
        return error(StatusCode::unsupported, "\"$ref\" {} cannot be followed in the arguments of a call",
                     shown(*reference));
      }
      if (!out.followed.insert(target).second) return {};
      return add_texts(*target, references - 1, out);
    }
    for (const char* key : {"anyOf", "oneOf", "allOf"}) {
      const Json* branches = find(schema, key);
      if (branches == nullptr) continue;
      for (const Json& branch : *branches) TESSERA_RETURN_IF_ERROR(add_texts(branch, references, out));
      return {};
    }
    if (schema.contains("const")) return add_value(schema["const"], out.formats);
    if (const Json* values = find(schema, "enum")) {
      for (const Json& value : *values) TESSERA_RETURN_IF_ERROR(add_value(value, out.formats));
      return {};
    }
    const Json* type = find(schema, "type");
    if (type != nullptr && *type == "null") return add_value(nullptr, out.formats);
    if (type != nullptr && type->is_array() && std::ranges::find(*type, "null") != type->end()) {
      TESSERA_RETURN_IF_ERROR(add_value(nullptr, out.formats));
      if (type->size() == 1) return {};
    }
    return add_string(schema, out);
  }

  static Status add_value(const Json& value, Json& texts) {
    const std::string text = value.is_string() ? value.get<std::string>() : value.dump();
    if (text.find('\r') != std::string::npos || text.find("</") != std::string::npos) {
      return error(StatusCode::unsupported, "the value {} cannot be written in a call", shown(value));
    }
    texts.push_back(constant(text));
    return {};
  }

  static Status add_string(const Json& schema, Texts& out) {
    const Json* pattern = find(schema, "pattern");
    const Json* least = find(schema, "minLength");
    const Json* most = find(schema, "maxLength");
    if (pattern != nullptr && (least != nullptr || most != nullptr)) {
      return error(StatusCode::unsupported, "\"pattern\" beside a length cannot be followed");
    }
    if (pattern != nullptr) {
      if (!pattern->is_string()) return error(StatusCode::invalid_argument, "\"pattern\" is {}", shown(*pattern));
      TESSERA_ASSIGN_OR_RETURN(const std::string tag_free, tag_free_pattern(pattern->get<std::string>()));
      out.formats.push_back(regex(tag_free));
    } else if (least != nullptr || most != nullptr) {
      out.formats.push_back(regex("[^<\\r]{" + (least != nullptr ? least->dump() : "0") + "," +
                                  (most != nullptr ? most->dump() : "") + "}"));
    } else {
      out.free = true;
    }
    return {};
  }

  [[nodiscard]] const Json* referenced(const Json& reference) const {
    for (const char* key : {"$defs", "definitions"}) {
      const std::string prefix = std::string("#/") + key + "/";
      if (!reference.is_string() || !reference.get_ref<const std::string&>().starts_with(prefix)) continue;
      const Json* all = find(root_, key);
      return all != nullptr ? find(*all, reference.get_ref<const std::string&>().substr(prefix.size())) : nullptr;
    }
    return nullptr;
  }

  [[nodiscard]] Expected<Json> with_definitions(const Json& schema) const {
    const std::string text = schema.dump();
    if (!schema.is_object() || text.find("\"$ref\"") == std::string::npos) return schema;
    Json whole = schema;
    for (const char* key : {"$defs", "definitions"}) {
      if (const Json* all = find(root_, key)) whole[key] = *all;
    }
    const std::string with = whole.dump();
    for (size_t at = with.find("\"$ref\":\"#"); at != std::string::npos; at = with.find("\"$ref\":\"#", at + 1)) {
      const std::string_view target = std::string_view(with).substr(at + 9, 14);
      if (!target.starts_with("/$defs/") && !target.starts_with("/definitions/")) {
        return error(StatusCode::unsupported, "\"$ref\" can only point into \"$defs\" in the arguments of a call");
      }
    }
    return whole;
  }

  const Json& root_;
};

Expected<Json> format_of(const GrammarSource& source);

/// "</function>" included.
Expected<Json> body_of(const Json& function, const ToolOrigin& origin, bool follow) {
  const Json free = text_without({kCallOpen, kFunctionOpen});
  const std::string end = kFunctionClose + "\n";
  if (!follow) return sequence({tag("", free, end)});
  if (origin.input) {
    TESSERA_ASSIGN_OR_RETURN(Json input, format_of(origin.input->source));
    const std::string name = find(function, "parameters")->at("properties").begin().key();
    return sequence(
        {constant(kParameterOpen + name + ">\n"), std::move(input), constant("\n" + kParameterClose + "\n" + end)});
  }
  const Json* given = find(function, "parameters");
  if (given == nullptr) return constant(end);
  TESSERA_ASSIGN_OR_RETURN(const std::string prepared, guide::prepare_schema(given->dump(), {}));
  const Json parameters = Json::parse(prepared);
  TESSERA_ASSIGN_OR_RETURN(Json elements, Arguments(parameters).format());
  if (elements.is_null()) return tag("", free, end);
  elements.push_back(constant(end));
  return sequence(std::move(elements));
}

Expected<Json> tags_of(const ToolFields& tools, bool follow_all, bool lenient) {
  Json tags = Json::array();
  for (size_t i = 0; i < tools.json.size(); ++i) {
    if (!may_be_called(tools, i)) continue;
    const Json& function = function_of(tools, i);
    const ToolOrigin& origin = tools.origins[i];
    auto body = body_of(function, origin, origin.strict || (!lenient && (follow_all || origin.input)));
    if (!body) {
      if (origin.strict) return body.status().with_context(origin.parameters);
      body = body_of(function, origin, /*follow=*/false);
    }
    tags.push_back(
        tag(dialect::call_beginning(find(function, "name")->get<std::string>()), std::move(*body), kCallClose));
  }
  return tags;
}

/// Inside a structural tag.
Expected<Json> format_of(const GrammarSource& source) {
  switch (source.kind) {
    case Kind::json_object: return Json{{"type", "json_schema"}, {"json_schema", {{"type", "object"}}}};
    case Kind::json_schema: {
      Json schema = Json::parse(source.text, nullptr, /*allow_exceptions=*/false);
      if (schema.is_discarded()) return error(StatusCode::invalid_argument, "the schema is not JSON");
      return Json{{"type", "json_schema"}, {"json_schema", std::move(schema)}};
    }
    case Kind::regex: return regex(source.text);
    case Kind::grammar: return Json{{"type", "grammar"}, {"grammar", source.text}};
    case Kind::choice: {
      Json choices = Json::array();
      for (const std::string& choice : source.choices) choices.push_back(constant(choice));
      return any_of(std::move(choices));
    }
    case Kind::structural_tag: break;
  }
  return error(StatusCode::unsupported, "a structural tag cannot be given beside tools");
}

}  // namespace

bool any_not_strict(const ToolFields& tools) {
  return any_callable(tools, [](const ToolOrigin& origin) { return !origin.strict; });
}

Expected<std::optional<AnswerFormat>> answer_grammar(const ToolFields& tools, bool parallel,
                                                     const std::optional<AnswerFormat>& format, bool lenient) {
  const bool forced = tools.choice.mode == ToolMode::required || tools.choice.mode == ToolMode::named;
  const bool follows =
      any_callable(tools, [&](const ToolOrigin& origin) { return origin.strict || (origin.input && !lenient); });
  if (tools.choice.mode == ToolMode::none || (!forced && !format && !follows)) return format;
  if (format) {  // sizes and depths, before it is read
    const Status status = guide::check_source(format->source, {});
    if (!status.ok()) return status;
  }
  TESSERA_ASSIGN_OR_RETURN(Json tags, tags_of(tools, forced, lenient));
  Json answer;
  if (forced || format) {
    answer = {{"type", "tags_with_separator"},
              {"tags", std::move(tags)},
              {"separator", "\n"},
              {"at_least_one", true},
              {"stop_after_first", !parallel || tools.choice.mode == ToolMode::named}};
    if (!forced) {
      TESSERA_ASSIGN_OR_RETURN(Json other, format_of(format->source));
      answer = any_of({std::move(answer), std::move(other)});
    }
  } else {
    // A call without its wrapper would be read as one, too.
    answer = {{"type", "triggered_tags"},
              {"triggers", {kCallOpen}},
              {"tags", std::move(tags)},
              {"excludes", {kFunctionOpen}},
              {"stop_after_first", !parallel}};
  }
  const Json whole = {{"type", "structural_tag"}, {"format", std::move(answer)}};
  return std::optional(AnswerFormat{
      .source = {.kind = Kind::structural_tag, .text = whole.dump(-1, ' ', false, Json::error_handler_t::replace)},
      .param = format && !forced ? format->param : tools.param()});
}

}  // namespace tessera::server
