#include "guide/schema.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <set>
#include <string_view>
#include <utility>

namespace tessera::guide {
namespace {

using Json = nlohmann::ordered_json;

// Say something about a schema, not about what it allows.
constexpr std::string_view kNotes[] = {
    "title",         "description", "default", "examples",        "example",          "deprecated", "readOnly",
    "writeOnly",     "$comment",    "$defs",   "definitions",     "$schema",          "$id",        "$anchor",
    "discriminator", "nullable",    "format",  "contentEncoding", "contentMediaType", "strict"};

struct Family {
  const char* type;
  std::array<std::string_view, 9> keywords;
};
constexpr Family kFamilies[] = {
    {"object",
     {"properties", "required", "additionalProperties", "patternProperties", "propertyNames", "minProperties",
      "maxProperties", "unevaluatedProperties"}},
    {"array", {"items", "prefixItems", "minItems", "maxItems", "unevaluatedItems", "uniqueItems", "contains"}},
    {"string", {"minLength", "maxLength", "pattern"}},
    {"number", {"minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"}},
};
// Each decides alone what xgrammar makes of a schema, in this order.
constexpr const char* kDeciding[] = {"$ref", "const", "enum", "anyOf", "oneOf", "allOf"};

bool is_note(std::string_view key) { return std::ranges::find(kNotes, key) != std::end(kNotes); }

std::string escaped(const std::string& name) {
  std::string text;
  for (const char c : name) text += c == '~' ? "~0" : c == '/' ? "~1" : std::string(1, c);
  return text;
}

std::string shown(const std::string& place) { return place.size() <= 200 ? place : place.substr(0, 200) + "..."; }

Status unsupported(const std::string& place, std::string_view keyword, std::string_view why) {
  return error(StatusCode::unsupported, "\"{}\" at {} cannot be followed: {}", keyword, shown(place), why);
}

Status malformed(const std::string& place, std::string_view expected) {
  return error(StatusCode::invalid_argument, "{} is malformed, expected {}", shown(place), expected);
}

bool type_allows(const Json& type, const Json& value) {
  if (type.is_array()) {
    return std::ranges::any_of(type, [&](const Json& one) { return one.is_string() && type_allows(one, value); });
  }
  if (type == "string") return value.is_string();
  if (type == "boolean") return value.is_boolean();
  if (type == "null") return value.is_null();
  if (type == "array") return value.is_array();
  if (type == "object") return value.is_object();
  if (type == "integer")
    return value.is_number_integer() || (value.is_number() && std::floor(value.get<double>()) == value.get<double>());
  return type == "number" && value.is_number();
}

/// Prepares a schema in place, and those in it. Places are JSON pointers, as references write them; a name with a slash
/// is escaped in them, and no reference of xgrammar's reaches it.
class Preparation {
 public:
  explicit Preparation(Json& root) : root_(root) {}

  Status run(Json& schema, const std::string& place) {
    if (schema.is_boolean()) {
      if (schema == true) schema = Json::object();
      return {};
    }
    if (!schema.is_object()) return malformed(place, "a JSON schema: an object, true or false");
    if (!seen_.insert(place).second) return {};
    for (const char* key : {"not", "if", "then", "else", "dependentRequired", "dependentSchemas", "dependencies",
                            "contains", "minContains", "maxContains", "$dynamicRef", "$recursiveRef"}) {
      if (schema.contains(key)) return unsupported(place, key, "leave it out");
    }
    for (const char* key : {"$defs", "definitions"}) TESSERA_RETURN_IF_ERROR(each_member(schema, key, place));
    for (const char* key : kDeciding) {
      if (schema.contains(key)) return decided(schema, key, place);
    }
    return plain(schema, place);
  }

 private:
  Status each_member(Json& schema, const char* key, const std::string& place) {
    const auto found = schema.find(key);
    if (found == schema.end()) return {};
    if (!found->is_object()) return malformed(place + "/" + key, "an object of JSON schemas");
    for (auto& [name, member] : found->items()) {
      TESSERA_RETURN_IF_ERROR(run(member, fmt::format("{}/{}/{}", place, key, escaped(name))));
    }
    return {};
  }

  Status each_element(Json& schema, const char* key, const std::string& place) {
    const auto found = schema.find(key);
    if (found == schema.end()) return {};
    if (!found->is_array() || found->empty()) return malformed(place + "/" + key, "an array of JSON schemas");
    for (size_t i = 0; i < found->size(); ++i) {
      TESSERA_RETURN_IF_ERROR(run((*found)[i], fmt::format("{}/{}/{}", place, key, i)));
    }
    return {};
  }

  Status decided(Json& schema, std::string_view key, const std::string& place) {
    for (const auto& [other, value] : schema.items()) {
      if (other == key || is_note(other)) continue;
      const bool values = key == "const" || key == "enum";
      if (values && other == "type") continue;
      return unsupported(place, other, fmt::format("it stands beside \"{}\", which is followed alone", key));
    }
    if (key == "$ref") return follow(schema, place);
    if (key == "const" || key == "enum") return values_only(schema, std::string(key), place);
    if (key == "allOf" && schema["allOf"].is_array() && schema["allOf"].size() > 1) {
      return unsupported(place, key, "it has several schemas; write one that says the same");
    }
    return each_element(schema, std::string(key).c_str(), place);
  }

  /// Values that a "type" beside them rules out are taken out.
  static Status values_only(Json& schema, const std::string& key, const std::string& place) {
    Json& values = schema[key];
    if (key == "enum" && (!values.is_array() || values.empty())) return malformed(place + "/enum", "a list of values");
    const auto type = schema.find("type");
    if (type == schema.end()) return {};
    if (key == "const") {
      if (!type_allows(*type, values)) return unsupported(place, key, "\"type\" beside it rules it out");
      return {};
    }
    Json kept = Json::array();
    for (const Json& value : values) {
      if (type_allows(*type, value)) kept.push_back(value);
    }
    if (kept.empty()) return unsupported(place, key, "\"type\" beside it rules out every value");
    values = std::move(kept);
    return {};
  }

  /// Null where it leads nowhere.
  Json* target_of(const std::string& reference) {
    Json* target = &root_;
    for (size_t from = 2; from <= reference.size();) {
      const size_t end = std::min(reference.find('/', from), reference.size());
      const std::string part = reference.substr(from, end - from);
      if (!target->is_object() || !target->contains(part)) return nullptr;
      target = &(*target)[part];
      from = end + 1;
    }
    return target;
  }

  /// What a reference points to may lie where no schema is looked for.
  Status follow(Json& schema, const std::string& place) {
    if (!schema["$ref"].is_string()) return malformed(place + "/$ref", "a string");
    const std::string text = schema["$ref"].get<std::string>();
    if (text != "#" && !text.starts_with("#/")) {
      return unsupported(
          place, "$ref",
          fmt::format("it is \"{}\"; only references into this schema, #/..., are", text.substr(0, 100)));
    }
    Json* const target = target_of(text);
    if (target == nullptr) {
      return error(StatusCode::invalid_argument, "\"$ref\" at {} points to {}, which is not there", shown(place),
                   text.substr(0, 100));
    }
    constexpr int kChainMax = 1000;
    const Json* end = target;
    for (int i = 0; end != nullptr && end->is_object() && end->contains("$ref"); ++i) {
      if (i == kChainMax) {
        return error(StatusCode::invalid_argument, "\"$ref\" at {} leads back to itself: nothing satisfies it",
                     shown(place));
      }
      const Json& next = (*end)["$ref"];
      end = next.is_string() && next.get_ref<const std::string&>().starts_with('#')
                ? target_of(next.get_ref<const std::string&>())
                : nullptr;
    }
    return text == "#" ? Status() : run(*target, text);
  }

  Status plain(Json& schema, const std::string& place) {
    TESSERA_RETURN_IF_ERROR(add_type(schema, place));
    if (!schema.contains("type")) return {};
    const Json type = schema["type"];  // a copy: what is added to the schema moves its members
    const auto is = [&](const char* name) {
      return type == name || (type.is_array() && std::ranges::find(type, name) != type.end());
    };
    if (is("object")) TESSERA_RETURN_IF_ERROR(object(schema, place));
    if (is("array")) TESSERA_RETURN_IF_ERROR(array(schema, place));
    return {};
  }

  /// Keywords of one type mean that type; of several, it is not known which.
  static Status add_type(Json& schema, const std::string& place) {
    if (schema.contains("type")) return {};
    const char* found = nullptr;
    std::string_view first;
    for (const Family& family : kFamilies) {
      for (const std::string_view keyword : family.keywords) {
        if (keyword.empty() || !schema.contains(std::string(keyword))) continue;
        if (found != nullptr && found != family.type) {
          return unsupported(place, keyword, fmt::format("it stands beside \"{}\" without a \"type\"", first));
        }
        found = family.type;
        first = keyword;
      }
    }
    if (found != nullptr) schema["type"] = found;
    return {};
  }

  Status object(Json& schema, const std::string& place) {
    TESSERA_RETURN_IF_ERROR(each_member(schema, "properties", place));
    TESSERA_RETURN_IF_ERROR(each_member(schema, "patternProperties", place));
    for (const char* key : {"additionalProperties", "propertyNames", "unevaluatedProperties"}) {
      const auto found = schema.find(key);
      if (found != schema.end() && !found->is_boolean()) TESSERA_RETURN_IF_ERROR(run(*found, place + "/" + key));
    }
    // What else evaluates names is refused, so that "unevaluatedProperties" says the same.
    const auto others =
        schema.find(schema.contains("additionalProperties") ? "additionalProperties" : "unevaluatedProperties");
    const bool silent_of_others = others == schema.end();
    const bool closed = !silent_of_others && *others == false;
    const Json rest = !silent_of_others && others->is_object() ? *others : Json::object();
    const bool patterns = schema.contains("patternProperties") || schema.contains("propertyNames");
    if (patterns && (schema.contains("properties") || schema.contains("required") ||
                     (schema.contains("additionalProperties") && !closed) || schema.contains("minProperties"))) {
      return unsupported(place, schema.contains("patternProperties") ? "patternProperties" : "propertyNames",
                         "it stands beside other properties, and which of both holds for a name is not followed");
    }
    TESSERA_RETURN_IF_ERROR(required(schema, place, closed, rest));
    const bool silent = !schema.contains("properties") && silent_of_others && !patterns;
    if (silent) schema["additionalProperties"] = true;
    const auto least = schema.find("minProperties");
    const bool open = silent || (!silent_of_others && !closed);
    if (least != schema.end() && open && least->is_number() && *least > 1) {
      return unsupported(place, "minProperties", "names that are not listed may be given twice");
    }
    return {};
  }

  /// Names that "properties" does not list are allowed by additionalProperties alone, in no order.
  static Status required(Json& schema, const std::string& place, bool closed, const Json& rest) {
    const auto names = schema.find("required");
    if (names == schema.end()) return {};
    if (!names->is_array()) return malformed(place + "/required", "a list of names");
    const Json list = *names;
    for (const Json& name : list) {
      if (!name.is_string()) return malformed(place + "/required", "a list of names");
      const auto& text = name.get_ref<const std::string&>();
      if (schema.contains("properties") && schema["properties"].contains(text)) continue;
      if (closed) {
        return unsupported(
            place, "required",
            fmt::format("\"{}\" is not in \"properties\", and no others are allowed", text.substr(0, 60)));
      }
      if (!schema.contains("properties")) schema["properties"] = Json::object();
      schema["properties"][text] = rest;
    }
    return {};
  }

  Status array(Json& schema, const std::string& place) {
    if (const auto unique = schema.find("uniqueItems"); unique != schema.end()) {
      if (*unique != false) return unsupported(place, "uniqueItems", "leave it out");
      schema.erase("uniqueItems");
    }
    TESSERA_RETURN_IF_ERROR(each_element(schema, "prefixItems", place));
    for (const char* key : {"items", "unevaluatedItems"}) {
      const auto found = schema.find(key);
      if (found == schema.end() || found->is_boolean()) continue;
      if (found->is_array()) return unsupported(place, key, "a list of schemas is written \"prefixItems\"");
      TESSERA_RETURN_IF_ERROR(run(*found, place + "/" + key));
    }
    const bool silent =
        !schema.contains("items") && !schema.contains("prefixItems") && !schema.contains("unevaluatedItems");
    if (silent) schema["items"] = Json::object();
    return {};
  }

  Json& root_;
  std::set<std::string> seen_;  // places
};

/// Deeper than `depth` by its brackets: outside of strings in JSON, outside of classes such as [(] in regexes. In
/// grammars, of which there are two kinds with strings and comments of their own, all count.
bool nests_deeper(const GrammarSource& source, int depth) {
  using Kind = GrammarSource::Kind;
  const bool has_strings = source.kind == Kind::json_schema || source.kind == Kind::structural_tag;
  const bool has_classes = source.kind == Kind::regex;
  int open = 0;
  char inside = 0;  // what ends the string or class
  for (size_t i = 0; i < source.text.size(); ++i) {
    const char c = source.text[i];
    if (c == '\\') {
      ++i;
    } else if (inside != 0) {
      if (c == inside) inside = 0;
    } else if (has_strings && c == '"') {
      inside = '"';
    } else if (has_classes && c == '[') {
      inside = ']';
    } else if (c == '[' || c == '{' || c == '(') {
      if (++open > depth) return true;
    } else if (c == ']' || c == '}' || c == ')') {
      --open;
    }
  }
  return false;
}

Status prepare_format(Json& format, const std::string& place) {
  if (format.is_array()) {
    for (size_t i = 0; i < format.size(); ++i) {
      TESSERA_RETURN_IF_ERROR(prepare_format(format[i], fmt::format("{}[{}]", place, i)));
    }
    return {};
  }
  if (!format.is_object()) return {};
  if (format.contains("json_schema") && !format.contains("max_whitespace_cnt")) {
    format["max_whitespace_cnt"] = kWhiteSpaceMax;
  }
  for (auto& [key, member] : format.items()) {
    const std::string inside = place + "." + key.substr(0, 60);
    TESSERA_RETURN_IF_ERROR(key == "json_schema" ? prepare_schema(member, "#") : prepare_format(member, inside));
  }
  return {};
}

/// {"structures": [{"begin", "schema", "end"}], "triggers": [...]}
Expected<Json> from_structures(const Json& tag) {
  const Json& structures = tag["structures"];
  if (!structures.is_array() || !tag.contains("triggers") || !tag["triggers"].is_array()) {
    return malformed("the structural tag", "\"structures\" and \"triggers\", two lists");
  }
  Json tags = Json::array();
  for (const Json& structure : structures) {
    if (!structure.is_object() || !structure.contains("begin") || !structure.contains("end")) {
      return malformed("structures", R"({"begin": TEXT, "schema": {...}, "end": TEXT})");
    }
    tags.push_back({{"type", "tag"},
                    {"begin", structure["begin"]},
                    {"content",
                     {{"type", "json_schema"},
                      {"json_schema", structure.contains("schema") ? structure["schema"] : Json::object()}}},
                    {"end", structure["end"]}});
  }
  return Json{{"type", "structural_tag"},
              {"format", {{"type", "triggered_tags"}, {"triggers", tag["triggers"]}, {"tags", std::move(tags)}}}};
}

}  // namespace

Status check_source(const GrammarSource& source, const Limits& limits) {
  using Kind = GrammarSource::Kind;
  size_t bytes = source.text.size();
  for (const std::string& choice : source.choices) bytes += choice.size();
  const size_t bytes_max = source.kind == Kind::regex ? limits.regex_bytes_max : limits.source_bytes_max;
  if (bytes > bytes_max) {
    return error(StatusCode::resource_exhausted, "it has {} bytes, expected at most {}", bytes, bytes_max);
  }
  if (source.kind == Kind::choice) {
    if (source.choices.empty()) return {StatusCode::invalid_argument, "there is no choice"};
    if (source.choices.size() > limits.choices_max) {
      return error(StatusCode::resource_exhausted, "there are {} choices, expected at most {}", source.choices.size(),
                   limits.choices_max);
    }
    for (const std::string& choice : source.choices) {
      if (choice.empty()) return {StatusCode::invalid_argument, "a choice is empty, expected some text"};
    }
  } else if (source.kind != Kind::json_object && source.text.empty()) {
    return {StatusCode::invalid_argument, "it is empty"};
  }
  if (nests_deeper(source, limits.depth_max)) {
    return error(StatusCode::resource_exhausted, "it is nested deeper than {} levels", limits.depth_max);
  }
  return {};
}

Expected<Json> parse_source(const std::string& text, const char* what) {
  Json json = Json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (json.is_discarded()) return error(StatusCode::invalid_argument, "the {} is not JSON", what);
  return json;
}

Status prepare_schema(Json& schema, const std::string& place) {
  if (schema == false) return {StatusCode::invalid_argument, place + " is false: nothing satisfies it"};
  return Preparation(schema).run(schema, place);
}

Expected<std::string> prepare_schema(const std::string& schema, const Limits& /*limits*/) {
  TESSERA_ASSIGN_OR_RETURN(Json json, parse_source(schema, "schema"));
  TESSERA_RETURN_IF_ERROR(prepare_schema(json, "#"));
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

Expected<std::string> prepare_structural_tag(const std::string& tag, const Limits& /*limits*/) {
  TESSERA_ASSIGN_OR_RETURN(Json json, parse_source(tag, "structural tag"));
  if (!json.is_object()) return malformed("the structural tag", R"({"type": "structural_tag", "format": {...}})");
  if (json.contains("structures")) {
    TESSERA_ASSIGN_OR_RETURN(json, from_structures(json));
  }
  TESSERA_RETURN_IF_ERROR(prepare_format(json, "structural_tag"));
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

std::string choice_tag(const std::vector<std::string>& choices) {
  Json elements = Json::array();
  for (const std::string& choice : choices) elements.push_back({{"type", "const_string"}, {"value", choice}});
  const Json tag = {{"type", "structural_tag"}, {"format", {{"type", "or"}, {"elements", std::move(elements)}}}};
  return tag.dump(-1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace tessera::guide
