#include "server/openai/tool_fields.h"

#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "server/request/custom_tool.h"
#include "server/request/json_fields.h"

namespace tessera::server::openai {
namespace {

std::optional<ApiError> parse_function(const Json& function, const std::string& path, const RequestLimits& limits,
                                       text::ToolSchema& out) {
  if (!function.is_object()) return wrong(path, function, "an object with name, description and parameters");
  if (auto error = read_tool_name(function, path, out.name)) return error;
  std::string ignored;
  if (auto error = read_text(function, "description", ignored, path)) return error;
  const Json* parameters = find(function, "parameters");
  if (parameters == nullptr) return std::nullopt;
  return read_parameters(*parameters, at(path, "parameters"), limits, out.parameters);
}

/// One tool of the request.
struct Offer {
  Json json = {};
  text::ToolSchema schema = {};
  ToolOrigin origin = {};
};

std::optional<ApiError> parse_offered_function(const Json& function, const std::string& path,
                                               const RequestLimits& limits, Offer& out) {
  if (auto error = parse_function(function, path, limits, out.schema)) return error;
  const Json* strict = find(function, "strict");
  out.origin = {.parameters = path + ".parameters", .strict = strict != nullptr && *strict == true};
  out.json = {{"type", "function"}, {"function", function}};
  return std::nullopt;
}

/// {"name": ..., "description": ..., "format": ...}
std::optional<ApiError> parse_custom(const Json& custom, const std::string& path, Offer& out) {
  if (!custom.is_object()) return wrong(path, custom, "an object with name, description and format");
  if (auto error = read_tool_name(custom, path, out.schema.name)) return error;
  std::string description;
  if (auto error = read_text(custom, "description", description, path)) return error;
  out.origin = {.parameters = path, .custom = true};
  if (auto error = read_custom_format(custom, path, out.origin.input)) return error;
  out.schema.parameters = {{.name = kCustomInput}};
  Json function = {{"name", out.schema.name}};
  if (!description.empty()) function["description"] = std::move(description);
  function["parameters"] = custom_parameters(out.origin.input);
  out.json = {{"type", "function"}, {"function", std::move(function)}};
  return std::nullopt;
}

std::optional<ApiError> parse_tool(const Json& tool, const std::string& path, const RequestLimits& limits, Offer& out) {
  if (!tool.is_object()) return wrong(path, tool, R"({"type": "function", "function": {...}})");
  const Json* type = find(tool, "type");
  if (type != nullptr && *type == "custom") {
    const Json* custom = find(tool, "custom");
    if (custom == nullptr) return missing(at(path, "custom"), "an object with name, description and format");
    return parse_custom(*custom, at(path, "custom"), out);
  }
  if (type != nullptr && *type != "function") {
    return wrong(at(path, "type"), *type, "\"function\" or \"custom\": there are no other tools here");
  }
  const Json* function = find(tool, "function");
  if (function == nullptr) return missing(at(path, "function"), "an object with name, description and parameters");
  if (auto error = parse_offered_function(*function, at(path, "function"), limits, out)) return error;
  out.json = tool;
  return std::nullopt;
}

/// `key`: "tools", or "functions", whose entries are what those of tools have in "function".
std::optional<ApiError> parse_tool_list(const Json& list, const std::string& key, const RequestLimits& limits,
                                        ToolFields& out) {
  const bool legacy = key == "functions";
  if (!list.is_array()) return wrong(key, list, "an array of " + key);
  if (auto error = too_many(key, list.size(), limits.tools_max, key.c_str())) return error;
  std::set<std::string> names;
  for (size_t i = 0; i < list.size(); ++i) {
    const std::string path = at(key, i);
    Offer offer;
    auto error =
        legacy ? parse_offered_function(list[i], path, limits, offer) : parse_tool(list[i], path, limits, offer);
    if (error) return error;
    if (!names.insert(offer.schema.name).second) {
      const char* place = legacy ? ".name" : offer.origin.custom ? ".custom.name" : ".function.name";
      return wrong(path + place, Json(offer.schema.name), "a name that no other tool has");
    }
    out.schemas.push_back(std::move(offer.schema));
    out.origins.push_back(std::move(offer.origin));
    out.json.push_back(std::move(offer.json));
  }
  return too_many(key, list.dump().size(), limits.tool_bytes_max, "bytes");
}

/// What a choice says, by whatever form.
struct Choice {
  ToolMode mode = ToolMode::automatic;
  std::vector<std::string> names = {};
  std::string path = "tool_choice";  // of what names a tool
};

/// {"type": "function", "function": {"name": "f"}}, or {"type": "function", "name": "f"}; "custom" in the same way.
std::optional<ApiError> parse_reference(const Json& tool, const std::string& path, Choice& out) {
  std::string name;
  const Json* type = tool.is_object() ? find(tool, "type") : nullptr;
  if (type == nullptr || (*type != "function" && *type != "custom")) {
    return wrong(at(path, "type"), type == nullptr ? Json() : *type, "\"function\" or \"custom\"");
  }
  const std::string key = *type;
  out.path = at(path, "name");
  const Json* holder = &tool;
  if (find(tool, "name") == nullptr) {
    holder = find(tool, key);
    if (holder == nullptr || !holder->is_object()) {
      return wrong(at(path, key), holder == nullptr ? Json() : *holder, "an object with a name");
    }
    out.path = at(at(path, key), "name");
  }
  if (auto error = read_tool_name(*holder, out.path.substr(0, out.path.rfind('.')), name)) return error;
  out.names.push_back(std::move(name));
  return std::nullopt;
}

/// {"type": "allowed_tools", "allowed_tools": {"mode": "auto", "tools": [...]}}, or its members beside the type.
std::optional<ApiError> parse_allowed(const Json& choice, const RequestLimits& limits, Choice& out) {
  std::string path = "tool_choice";
  const Json* allowed = &choice;
  if (const Json* inner = find(choice, "allowed_tools")) {
    allowed = inner;
    path = "tool_choice.allowed_tools";
  }
  if (!allowed->is_object()) return wrong(path, *allowed, "an object with mode and tools");
  auto error = read_allowed_tools(*allowed, path, limits, out.mode, [&](const Json& tool, const std::string& inside) {
    return parse_reference(tool, inside, out);
  });
  out.path = path;
  return error;
}

std::optional<ApiError> parse_tool_choice(const Json& choice, const RequestLimits& limits, Choice& out) {
  const Json* type = choice.is_object() ? find(choice, "type") : nullptr;
  if (const auto mode = tool_mode(type == nullptr ? choice : *type)) {
    out.mode = *mode;
    return std::nullopt;
  }
  if (!choice.is_object()) {
    return wrong("tool_choice", choice,
                 R"("none", "auto", "required" or {"type": "function", "function": {"name": "..."}})");
  }
  if (type != nullptr && *type == "allowed_tools") return parse_allowed(choice, limits, out);
  out.mode = ToolMode::named;
  return parse_reference(choice, "tool_choice", out);
}

/// "none", "auto" or {"name": "f"}
std::optional<ApiError> parse_function_call(const Json& choice, Choice& out) {
  if (choice == "none" || choice == "auto") {
    out.mode = *tool_mode(choice);
    return std::nullopt;
  }
  if (!choice.is_object()) return wrong("function_call", choice, R"("none", "auto" or {"name": "..."})");
  out.mode = ToolMode::named;
  out.path = "function_call.name";
  return read_tool_name(choice, "function_call", out.names.emplace_back());
}

}  // namespace

std::optional<ApiError> parse_tools(const Json& request, const RequestLimits& limits, ToolFields& out) {
  const Json* tools = find(request, "tools");
  const Json* functions = find(request, "functions");
  if (tools != nullptr && functions != nullptr && !functions->empty()) {
    return wrong("functions", *functions, "\"tools\" alone, which holds the functions too");
  }
  const bool legacy = tools == nullptr && functions != nullptr;
  if (legacy) tools = functions;
  if (tools != nullptr) {
    if (auto error = parse_tool_list(*tools, legacy ? "functions" : "tools", limits, out)) return error;
  }
  Choice choice;
  const Json* given = find(request, legacy ? "function_call" : "tool_choice");
  if (given != nullptr) {
    auto error = legacy ? parse_function_call(*given, choice) : parse_tool_choice(*given, limits, choice);
    if (error) return error;
  }
  return choose_tools(choice.mode, choice.names, choice.path, given == nullptr ? Json() : *given, out);
}

}  // namespace tessera::server::openai
