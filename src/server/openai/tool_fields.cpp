#include "server/openai/tool_fields.h"

#include <algorithm>
#include <set>
#include <string_view>

#include "server/openai/json_fields.h"
#include "text/json_depth.h"

namespace tessera::server::openai {
namespace {

constexpr size_t kNameBytesMax = 128;

/// Names stand between "<function=" and ">" in prompts and answers, and in quotes in JSON.
bool is_tool_name(std::string_view name) {
  return !name.empty() && name.size() <= kNameBytesMax && std::ranges::all_of(name, [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '-' ||
           c == '.' || c == '/' || c == ':';
  });
}

std::optional<ApiError> parse_tool_name(const Json& function, const std::string& path, std::string& out) {
  const Json* name = find(function, "name");
  if (name == nullptr) return missing(at(path, "name"), "the function's name");
  if (!name->is_string() || !is_tool_name(name->get_ref<const std::string&>())) {
    return wrong(at(path, "name"), *name, "1 to 128 letters, digits and _ - . / :");
  }
  out = name->get<std::string>();
  return std::nullopt;
}

std::optional<ApiError> check_type_names(const Json& schema, const std::string& path) {
  const Json* type = find(schema, "type");
  const bool is_name_list = type != nullptr && type->is_array() &&
                            std::ranges::all_of(*type, [](const Json& name) { return name.is_string(); });
  if (type == nullptr || type->is_string() || is_name_list) return std::nullopt;
  return wrong(at(path, "type"), *type, "a type's name or a list of them");
}

/// A JSON schema of an object: the parameters by name.
std::optional<ApiError> parse_parameters(const Json& schema, const std::string& path, const RequestLimits& limits,
                                         std::vector<text::ToolParameter>& out) {
  if (!schema.is_object()) return wrong(path, schema, "a JSON schema of an object");
  if (text::json_depth_exceeds(schema, limits.schema_depth_max)) {
    return bad_request(path, path + " is nested deeper than " + std::to_string(limits.schema_depth_max) + " levels");
  }
  if (auto error = check_type_names(schema, path)) return error;
  if (const Json* type = find(schema, "type"); type != nullptr && type->is_string() && *type != "object") {
    return wrong(at(path, "type"), *type, "\"object\": the arguments of a function are an object");
  }
  const Json* properties = find(schema, "properties");
  if (properties == nullptr) return std::nullopt;
  if (!properties->is_object()) return wrong(at(path, "properties"), *properties, "an object of JSON schemas");
  for (const auto& [name, property] : properties->items()) {
    const std::string property_path = at(at(path, "properties"), shortened(name, 60));
    if (!property.is_object() && !property.is_boolean()) return wrong(property_path, property, "a JSON schema");
    if (property.is_object()) {
      if (auto error = check_type_names(property, property_path)) return error;
    }
    out.push_back(parameter_of_schema(name, property, schema));
  }
  return std::nullopt;
}

std::optional<ApiError> parse_tool(const Json& tool, const std::string& path, const RequestLimits& limits,
                                   text::ToolSchema& out) {
  if (!tool.is_object()) return wrong(path, tool, R"({"type": "function", "function": {...}})");
  const Json* type = find(tool, "type");
  if (type != nullptr && *type != "function") {
    return wrong(at(path, "type"), *type, "\"function\", the only type of tool here");
  }
  const Json* function = find(tool, "function");
  if (function == nullptr) return missing(at(path, "function"), "an object with name, description and parameters");
  const std::string inside = at(path, "function");
  if (!function->is_object()) return wrong(inside, *function, "an object with name, description and parameters");
  if (auto error = parse_tool_name(*function, inside, out.name)) return error;
  std::string ignored;
  if (auto error = read_text(*function, "description", ignored, inside)) return error;
  const Json* parameters = find(*function, "parameters");
  if (parameters == nullptr) return std::nullopt;
  return parse_parameters(*parameters, at(inside, "parameters"), limits, out.parameters);
}

std::optional<ApiError> parse_tool_list(const Json& list, const RequestLimits& limits, ToolFields& out) {
  if (!list.is_array()) return wrong("tools", list, "an array of tools");
  if (auto error = too_many("tools", list.size(), limits.tools_max, "tools")) return error;
  std::set<std::string_view> names;
  out.schemas.resize(list.size());
  for (size_t i = 0; i < list.size(); ++i) {
    if (auto error = parse_tool(list[i], at("tools", i), limits, out.schemas[i])) return error;
    if (!names.insert(out.schemas[i].name).second) {
      return wrong(at(at("tools", i), "function.name"), Json(out.schemas[i].name), "a name that no other tool has");
    }
  }
  if (auto error = too_many("tools", list.dump().size(), limits.tool_bytes_max, "bytes")) return error;
  out.json = list;
  return std::nullopt;
}

std::optional<ApiError> parse_tool_choice(const Json& choice, ToolFields& out) {
  const auto expected = R"("none", "auto", "required" or {"type": "function", "function": {"name": "..."}})";
  if (choice == "none") {
    out.choice.mode = ToolMode::none;
  } else if (choice == "auto") {
    out.choice.mode = out.schemas.empty() ? ToolMode::none : ToolMode::automatic;
  } else if (choice == "required") {
    out.choice.mode = ToolMode::required;
  } else if (choice.is_object()) {
    const Json* type = find(choice, "type");
    if (type == nullptr || *type != "function") {
      return wrong("tool_choice.type", type == nullptr ? Json() : *type, "\"function\"");
    }
    const Json* function = find(choice, "function");
    if (function == nullptr || !function->is_object()) {
      return wrong("tool_choice.function", function == nullptr ? Json() : *function, "an object with a name");
    }
    if (auto error = parse_tool_name(*function, "tool_choice.function", out.choice.name)) return error;
    out.choice.mode = ToolMode::named;
    if (std::ranges::none_of(out.schemas, [&](const auto& tool) { return tool.name == out.choice.name; })) {
      return wrong("tool_choice.function.name", Json(out.choice.name), "the name of one of the tools");
    }
  } else {
    return wrong("tool_choice", choice, expected);
  }
  if (out.choice.mode == ToolMode::required && out.schemas.empty()) {
    return wrong("tool_choice", choice, "tools to choose from: \"tools\" is missing or empty");
  }
  return std::nullopt;
}

}  // namespace

std::optional<ApiError> parse_tools(const Json& request, const RequestLimits& limits, ToolFields& out) {
  if (const Json* list = find(request, "tools")) {
    if (auto error = parse_tool_list(*list, limits, out)) return error;
  }
  out.choice.mode = out.schemas.empty() ? ToolMode::none : ToolMode::automatic;
  if (const Json* choice = find(request, "tool_choice")) {
    if (auto error = parse_tool_choice(*choice, out)) return error;
  }
  if (out.choice.mode == ToolMode::none) out = {};
  return std::nullopt;
}

}  // namespace tessera::server::openai
