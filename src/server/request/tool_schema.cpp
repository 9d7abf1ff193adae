#include <algorithm>
#include <array>
#include <string_view>

#include "server/request/json_fields.h"
#include "server/request/tools.h"

namespace tessera::server {
namespace {

using text::ParameterType;

constexpr int kReferencesMax = 16;  // followed or branched through on the way to one type

/// Types that a schema allows; 0: it does not say.
enum Types : unsigned { kString = 1, kInteger = 2, kNumber = 4, kBoolean = 8, kStructure = 16, kNull = 32 };

/// JSON schema's names, and what people write instead.
unsigned types_of_name(std::string_view name) {
  struct Name {
    std::string_view prefix;
    unsigned types;
  };
  static constexpr std::array<Name, 13> kNames = {{{"string", kString},
                                                   {"str", kString},
                                                   {"text", kString},
                                                   {"integer", kInteger},
                                                   {"int", kInteger},
                                                   {"number", kNumber},
                                                   {"float", kNumber},
                                                   {"double", kNumber},
                                                   {"bool", kBoolean},
                                                   {"array", kStructure},
                                                   {"object", kStructure},
                                                   {"list", kStructure},
                                                   {"dict", kStructure}}};
  if (name == "null") return kNull;
  for (const auto& [prefix, types] : kNames) {
    if (name.starts_with(prefix)) return types;
  }
  return 0;
}

unsigned types_of_value(const Json& value) {
  if (value.is_string()) return kString;
  if (value.is_boolean()) return kBoolean;
  if (value.is_number_integer()) return kInteger;
  if (value.is_number()) return kNumber;
  return value.is_null() ? kNull : kStructure;
}

/// What "#/$defs/name" stands for in `root`; null if it is not there.
const Json* referenced(const Json& reference, const Json& root) {
  if (!reference.is_string()) return nullptr;
  std::string_view path = reference.get_ref<const std::string&>();
  if (!path.starts_with("#")) return nullptr;
  path.remove_prefix(1);
  const Json* place = &root;
  while (place != nullptr && !path.empty()) {
    path.remove_prefix(1);  // '/'
    const std::string_view name = path.substr(0, path.find('/'));
    place = place->is_object() ? find(*place, name) : nullptr;
    path.remove_prefix(name.size());
  }
  return place;
}

/// `budget` bounds the work: references may form circles.
unsigned types_of_schema(const Json& schema, const Json& root, int& budget) {
  if (!schema.is_object() || --budget < 0) return 0;
  unsigned types = 0;
  if (const Json* type = find(schema, "type")) {
    if (type->is_string()) types |= types_of_name(type->get_ref<const std::string&>());
    if (type->is_array()) {
      for (const Json& name : *type) types |= name.is_string() ? types_of_name(name.get_ref<const std::string&>()) : 0;
    }
  }
  if (const Json* nullable = find(schema, "nullable"); nullable != nullptr && *nullable == true) types |= kNull;
  if ((types & ~kNull) != 0) return types;
  if (const Json* values = find(schema, "enum"); values != nullptr && values->is_array()) {
    for (const Json& value : *values) types |= types_of_value(value);
    return types;
  }
  if (schema.contains("const")) return types | types_of_value(schema["const"]);
  for (const char* branches : {"anyOf", "oneOf", "allOf"}) {
    const Json* list = find(schema, branches);
    if (list == nullptr || !list->is_array()) continue;
    for (const Json& branch : *list) types |= types_of_schema(branch, root, budget);
    return types;
  }
  if (const Json* reference = find(schema, "$ref")) {
    const Json* target = referenced(*reference, root);
    const unsigned found = target != nullptr ? types_of_schema(*target, root, budget) : 0;
    return types | (found != 0 ? found : kStructure);  // what is worth a definition is mostly an object
  }
  if (schema.contains("properties") || schema.contains("items")) return types | kStructure;
  return types;
}

}  // namespace

text::ToolParameter parameter_of_schema(const std::string& name, const Json& schema, const Json& root) {
  int budget = kReferencesMax;
  const unsigned types = types_of_schema(schema, root, budget);
  text::ToolParameter parameter{.name = name, .nullable = (types & kNull) != 0};
  switch (types & ~kNull) {
    case 0:
    case kString: parameter.type = ParameterType::string; break;
    case kInteger: parameter.type = ParameterType::integer; break;
    case kNumber:
    case kNumber | kInteger: parameter.type = ParameterType::number; break;
    case kBoolean: parameter.type = ParameterType::boolean; break;
    default: parameter.type = ParameterType::json;
  }
  return parameter;
}

}  // namespace tessera::server
