#include "server/anthropic/tool_fields.h"

#include <algorithm>
#include <utility>

#include "server/request/json_fields.h"

namespace tessera::server::anthropic {
namespace {

/// {"name", "description", "input_schema"}, as templates want it: {"type": "function", "function": {...}}
std::optional<ApiError> parse_tool(const Json& tool, const std::string& path, const RequestLimits& limits,
                                   ToolFields& out) {
  text::ToolSchema schema;
  if (auto error = read_tool_name(tool, path, schema.name)) return error;
  const bool taken = std::ranges::any_of(out.schemas, [&](const auto& other) { return other.name == schema.name; });
  if (taken) return wrong(at(path, "name"), Json(schema.name), "a name that no other tool has");
  Json function = {{"name", schema.name}};
  std::string description;
  if (auto error = read_text(tool, "description", description, path)) return error;
  if (!description.empty()) function["description"] = std::move(description);
  if (const Json* parameters = find(tool, "input_schema")) {
    if (auto error = read_parameters(*parameters, at(path, "input_schema"), limits, schema.parameters)) return error;
    function["parameters"] = *parameters;
  }
  bool strict = false;
  if (auto error = read_flag(tool, "strict", strict, path)) return error;
  out.json.push_back({{"type", "function"}, {"function", std::move(function)}});
  out.origins.push_back({.parameters = at(path, "input_schema"), .strict = strict});
  out.schemas.push_back(std::move(schema));
  return std::nullopt;
}

std::optional<ApiError> parse_tool_list(const Json& list, const RequestLimits& limits, ToolFields& out,
                                        std::vector<std::string>& notes) {
  if (!list.is_array()) return wrong("tools", list, "an array of tools");
  if (auto error = too_many("tools", list.size(), limits.tools_max, "tools")) return error;
  if (auto error = too_many("tools", list.dump().size(), limits.tool_bytes_max, "bytes")) return error;
  for (size_t i = 0; i < list.size(); ++i) {
    const std::string path = at("tools", i);
    if (!list[i].is_object()) return wrong(path, list[i], "a tool: an object with name and input_schema");
    std::string type;
    if (auto error = read_text(list[i], "type", type, path)) return error;
    if (type.empty() || type == "custom" || type == "function") {
      if (auto error = parse_tool(list[i], path, limits, out)) return error;
    } else {
      add_note(path + " is of type " + shown(list[i]["type"]) + ", which is not here, and was left out", notes);
    }
  }
  return std::nullopt;
}

}  // namespace

std::optional<ApiError> parse_tools(const Json& request, const RequestLimits& limits, ToolFields& out, bool& parallel,
                                    std::vector<std::string>& notes) {
  if (const Json* list = find(request, "tools")) {
    if (auto error = parse_tool_list(*list, limits, out, notes)) return error;
  }
  const Json* choice = find(request, "tool_choice");
  if (choice == nullptr) return choose_tools(ToolMode::automatic, {}, "tool_choice", Json(), out);
  if (!choice->is_object()) return wrong("tool_choice", *choice, R"({"type": "auto"})");
  bool serial = false;
  if (auto error = read_flag(*choice, "disable_parallel_tool_use", serial, "tool_choice")) return error;
  parallel = !serial;
  const Json* type = find(*choice, "type");
  const Json word = type == nullptr ? Json() : *type;
  if (word == "auto") return choose_tools(ToolMode::automatic, {}, "tool_choice", *choice, out);
  if (word == "none") return choose_tools(ToolMode::none, {}, "tool_choice", *choice, out);
  if (word == "any") return choose_tools(ToolMode::required, {}, "tool_choice", *choice, out);
  if (word != "tool") return wrong("tool_choice.type", word, "auto, any, tool or none");
  std::string name;
  if (auto error = read_tool_name(*choice, "tool_choice", name)) return error;
  return choose_tools(ToolMode::named, {name}, "tool_choice.name", Json(name), out);
}

}  // namespace tessera::server::anthropic
