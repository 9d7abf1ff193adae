#include "server/request/tools.h"

#include <algorithm>
#include <string_view>

#include "server/request/json_fields.h"
#include "text/json_depth.h"

namespace tessera::server {
namespace {

constexpr size_t kNameBytesMax = 128;

/// Names stand between "<function=" and ">" in prompts and answers, and in quotes in JSON.
bool is_tool_name(std::string_view name) {
  return !name.empty() && name.size() <= kNameBytesMax && std::ranges::all_of(name, [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '-' ||
           c == '.' || c == '/' || c == ':' || static_cast<unsigned char>(c) >= 0x80;  // letters of any script
  });
}

std::optional<ApiError> check_type_names(const Json& schema, const std::string& path) {
  const Json* type = find(schema, "type");
  const bool is_name_list = type != nullptr && type->is_array() &&
                            std::ranges::all_of(*type, [](const Json& name) { return name.is_string(); });
  if (type == nullptr || type->is_string() || is_name_list) return std::nullopt;
  return wrong(at(path, "type"), *type, "a type's name or a list of them");
}

}  // namespace

std::optional<ApiError> read_tool_name(const Json& function, const std::string& path, std::string& out) {
  const Json* name = find(function, "name");
  if (name == nullptr) return missing(at(path, "name"), "the function's name");
  if (!name->is_string() || !is_tool_name(name->get_ref<const std::string&>())) {
    return wrong(at(path, "name"), *name, "1 to 128 bytes of letters, digits and _ - . / :");
  }
  out = name->get<std::string>();
  return std::nullopt;
}

std::optional<ApiError> read_parameters(const Json& schema, const std::string& path, const RequestLimits& limits,
                                        std::vector<text::ToolParameter>& out) {
  if (!schema.is_object()) return wrong(path, schema, "a JSON schema of an object");
  if (text::json_depth_exceeds(schema, limits.schema_depth_max)) {
    return bad_request(path, path + " is nested deeper than " + std::to_string(limits.schema_depth_max) + " levels");
  }
  if (auto error = check_type_names(schema, path)) return error;
  const Json* type = find(schema, "type");
  if (type != nullptr && *type != "object" && std::ranges::find(*type, "object") == type->end()) {
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

std::vector<std::string> ToolFields::custom_names() const {
  std::vector<std::string> names;
  for (size_t i = 0; i < origins.size(); ++i) {
    if (origins[i].custom) names.push_back(json[i]["function"]["name"].get<std::string>());
  }
  return names;
}

std::optional<ToolMode> tool_mode(const Json& word) {
  if (word == "none") return ToolMode::none;
  if (word == "auto") return ToolMode::automatic;
  if (word == "required" || word == "any") return ToolMode::required;
  return std::nullopt;
}

std::optional<ApiError> read_allowed_tools(
    const Json& allowed, std::string& path, const RequestLimits& limits, ToolMode& mode,
    const std::function<std::optional<ApiError>(const Json& tool, const std::string& path)>& read_tool) {
  const Json* given = find(allowed, "mode");
  const auto word = given == nullptr ? std::optional(ToolMode::automatic) : tool_mode(*given);
  if (!word || *word == ToolMode::none) return wrong(at(path, "mode"), *given, R"("auto" or "required")");
  const Json* tools = find(allowed, "tools");
  path = at(path, "tools");
  if (tools == nullptr) return missing(path, "an array of tools");
  if (!tools->is_array() || tools->empty()) return wrong(path, *tools, "an array of tools, not empty");
  if (auto error = too_many(path, tools->size(), limits.tools_max, "tools")) return error;
  for (size_t i = 0; i < tools->size(); ++i) {
    if (auto error = read_tool((*tools)[i], at(path, i))) return error;
  }
  mode = *word;
  return std::nullopt;
}

std::optional<ApiError> choose_tools(ToolMode mode, const std::vector<std::string>& names, const std::string& path,
                                     const Json& found, ToolFields& out) {
  for (const std::string& name : names) {
    if (std::ranges::none_of(out.schemas, [&](const auto& tool) { return tool.name == name; })) {
      return wrong(path, found, "the name of one of the tools");
    }
  }
  const bool must_call = mode == ToolMode::required || mode == ToolMode::named;
  if (must_call && out.schemas.empty())
    return wrong(path, found, "tools to choose from: \"tools\" is missing or empty");
  if (mode == ToolMode::none || out.schemas.empty()) {
    out = {};
    return std::nullopt;
  }
  out.choice = {.mode = mode, .name = mode == ToolMode::named ? names.front() : std::string()};
  if (!names.empty() && mode != ToolMode::named) {
    std::erase_if(out.schemas, [&](const auto& tool) { return std::ranges::find(names, tool.name) == names.end(); });
  }
  return std::nullopt;
}

}  // namespace tessera::server
