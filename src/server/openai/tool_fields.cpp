#include "server/openai/tool_fields.h"

#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

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

std::optional<ApiError> parse_tool(const Json& tool, const std::string& path, const RequestLimits& limits,
                                   text::ToolSchema& out) {
  if (!tool.is_object()) return wrong(path, tool, R"({"type": "function", "function": {...}})");
  const Json* type = find(tool, "type");
  if (type != nullptr && *type != "function") {
    return wrong(at(path, "type"), *type, "\"function\", the only type of tool here");
  }
  const Json* function = find(tool, "function");
  if (function == nullptr) return missing(at(path, "function"), "an object with name, description and parameters");
  return parse_function(*function, at(path, "function"), limits, out);
}

/// `key`: "tools", or "functions", whose entries are what those of tools have in "function".
std::optional<ApiError> parse_tool_list(const Json& list, const std::string& key, const RequestLimits& limits,
                                        ToolFields& out) {
  const bool legacy = key == "functions";
  if (!list.is_array()) return wrong(key, list, "an array of " + key);
  if (auto error = too_many(key, list.size(), limits.tools_max, key.c_str())) return error;
  std::set<std::string_view> names;
  out.schemas.resize(list.size());
  for (size_t i = 0; i < list.size(); ++i) {
    const std::string path = at(key, i);
    auto error = legacy ? parse_function(list[i], path, limits, out.schemas[i])
                        : parse_tool(list[i], path, limits, out.schemas[i]);
    if (error) return error;
    if (!names.insert(out.schemas[i].name).second) {
      return wrong(path + (legacy ? ".name" : ".function.name"), Json(out.schemas[i].name),
                   "a name that no other tool has");
    }
    const Json& function = legacy ? list[i] : *find(list[i], "function");
    const Json* strict = find(function, "strict");
    out.origins.push_back({.parameters = path + (legacy ? ".parameters" : ".function.parameters"),
                           .strict = strict != nullptr && *strict == true});
    out.json.push_back(legacy ? Json{{"type", "function"}, {"function", list[i]}} : list[i]);
  }
  return too_many(key, list.dump().size(), limits.tool_bytes_max, "bytes");
}

/// What a choice says, by whatever form.
struct Choice {
  ToolMode mode = ToolMode::automatic;
  std::vector<std::string> names = {};
  std::string path = "tool_choice";  // of what names a tool
};

/// {"type": "function", "function": {"name": "f"}}, or {"type": "function", "name": "f"}
std::optional<ApiError> parse_reference(const Json& tool, const std::string& path, Choice& out) {
  std::string name;
  const Json* type = tool.is_object() ? find(tool, "type") : nullptr;
  if (type == nullptr || *type != "function") {
    return wrong(at(path, "type"), type == nullptr ? Json() : *type, "\"function\"");
  }
  out.path = at(path, "name");
  const Json* holder = &tool;
  if (find(tool, "name") == nullptr) {
    holder = find(tool, "function");
    if (holder == nullptr || !holder->is_object()) {
      return wrong(at(path, "function"), holder == nullptr ? Json() : *holder, "an object with a name");
    }
    out.path = at(at(path, "function"), "name");
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
  out.path = "function_call";
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
