#include "server/responses/tool_fields.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "base/hash.h"
#include "server/request/custom_tool.h"
#include "server/request/json_fields.h"
#include "server/responses/client_tools.h"

namespace tessera::server::responses {
namespace {

constexpr size_t kNameBytesMax = 128;  // as read_tool_name has it

struct Reader {
  const RequestLimits& limits;
  ToolFields& out;
  ToolNames& names;
  std::vector<std::string>& notes;
  bool repeated = false;  // items of a conversation, which bring the same tools again and again

  void offer(ToolIdentity tool, const Json& description, const Json* parameters, ToolOrigin origin,
             std::vector<text::ToolParameter> read) {
    const std::string name = names.add(std::move(tool));
    Json function = {{"name", name}};
    if (description != "") function["description"] = description;
    if (parameters != nullptr) function["parameters"] = *parameters;
    out.json.push_back({{"type", "function"}, {"function", std::move(function)}});
    out.origins.push_back(std::move(origin));
    out.schemas.push_back({.name = name, .parameters = std::move(read)});
  }

  [[nodiscard]] bool is_known(const Json& tool, const std::string& name_space) const {
    const std::string& type = find(tool, "type")->get_ref<const std::string&>();
    if (type == "namespace") return false;  // its tools are looked at
    if (type == kToolSearch || client_tool(type) != nullptr) return names.has(type, "");
    const Json* name = find(tool, "name");
    return name != nullptr && name->is_string() && names.has(name->get<std::string>(), name_space);
  }

  std::optional<ApiError> read_identity(const Json& tool, const std::string& path, ToolIdentity& identity,
                                        std::string& description) const {
    if (auto error = read_tool_name(tool, path, identity.name)) return error;
    if (names.has(identity.name, identity.name_space)) {
      return wrong(at(path, "name"), Json(identity.name), "a name that no other tool has");
    }
    return read_text(tool, "description", description, path);
  }

  std::optional<ApiError> function(const Json& tool, const std::string& path, const std::string& name_space) {
    ToolIdentity identity{.kind = CallKind::function, .name_space = name_space};
    std::string description;
    if (auto error = read_identity(tool, path, identity, description)) return error;
    const Json* parameters = find(tool, "parameters");
    const std::string inside = at(path, "parameters");
    std::vector<text::ToolParameter> read;
    if (parameters != nullptr) {
      if (auto error = read_parameters(*parameters, inside, limits, read)) return error;
    }
    bool strict = false;
    if (auto error = read_flag(tool, "strict", strict, path)) return error;
    offer(std::move(identity), description, parameters, {.parameters = inside, .strict = strict}, std::move(read));
    return std::nullopt;
  }

  std::optional<ApiError> custom(const Json& tool, const std::string& path, const std::string& name_space) {
    ToolIdentity identity{.kind = CallKind::custom, .name_space = name_space};
    std::string description;
    if (auto error = read_identity(tool, path, identity, description)) return error;
    std::optional<AnswerFormat> format;
    if (auto error = read_custom_format(tool, path, format)) return error;
    const Json parameters = custom_parameters(format);
    offer(std::move(identity), description, &parameters,
          {.parameters = path, .custom = true, .input = std::move(format)}, {{.name = kCustomInput}});
    return std::nullopt;
  }

  /// A tool of which there is one, of this name.
  std::optional<ApiError> only_one(CallKind kind, const char* name, const std::string& description,
                                   const Json& parameters, const std::string& path) {
    if (names.has(name, "")) {
      return bad_request(path, fmt::format("{} is a second tool of the name {}, expected one", path, name));
    }
    std::vector<text::ToolParameter> read;
    if (auto error = read_parameters(parameters, path, limits, read)) return error;
    offer({.kind = kind, .name = name}, description, &parameters, {.parameters = path}, std::move(read));
    return std::nullopt;
  }

  std::optional<ApiError> of_client(const ClientTool& tool, const Json& given, const std::string& path) {
    return only_one(tool.kind, tool.type, description_of(tool, given), Json::parse(tool.parameters), path);
  }

  /// Nothing is offered where the provider would search: it has nothing to find.
  std::optional<ApiError> tool_search(const Json& tool, const std::string& path) {
    static const Json kParameters =
        Json::parse(R"({"type": "object", "properties": {"query": {"type": "string"}}, "required": ["query"]})");
    const Json* execution = find(tool, "execution");
    if (execution == nullptr || *execution != "client") return std::nullopt;
    std::string description = "Looks for tools that can be called then.";
    if (auto error = read_text(tool, "description", description, path)) return error;
    const Json* parameters = find(tool, "parameters");
    if (parameters == nullptr) return only_one(CallKind::tool_search, kToolSearch, description, kParameters, path);
    return only_one(CallKind::tool_search, kToolSearch, description, *parameters, at(path, "parameters"));
  }

  std::optional<ApiError> name_space(const Json& tool, const std::string& path) {
    std::string name;
    if (auto error = read_tool_name(tool, path, name)) return error;
    const Json* list = find(tool, "tools");
    const std::string inside = at(path, "tools");
    if (list == nullptr) return missing(inside, "an array of tools");
    return tools(*list, inside, name);
  }

  std::optional<ApiError> tools(const Json& list, const std::string& path, const std::string& in_namespace = {}) {
    if (!list.is_array()) return wrong(path, list, "an array of tools");
    for (size_t i = 0; i < list.size(); ++i) {
      if (auto error = too_many(path, out.json.size() + 1, limits.tools_max, "tools")) return error;
      const std::string inside = at(path, i);
      const Json& tool = list[i];
      if (!tool.is_object()) return wrong(inside, tool, R"(a tool such as {"type": "function", "name": "..."})");
      const Json* type = find(tool, "type");
      if (type == nullptr || !type->is_string()) {
        return wrong(at(inside, "type"), type == nullptr ? Json() : *type, "the tool's type");
      }
      if (repeated && is_known(tool, in_namespace)) continue;
      std::optional<ApiError> error;
      const ClientTool* of_its_type = in_namespace.empty() ? client_tool(type->get_ref<const std::string&>()) : nullptr;
      if (*type == "function") {
        error = function(tool, inside, in_namespace);
      } else if (*type == "custom") {
        error = custom(tool, inside, in_namespace);
      } else if (of_its_type != nullptr && !runs_at_provider(tool)) {
        error = of_client(*of_its_type, tool, inside);
      } else if (*type == kToolSearch && in_namespace.empty()) {
        error = tool_search(tool, inside);
      } else if (*type == "namespace" && in_namespace.empty()) {
        error = name_space(tool, inside);
      } else {
        add_note(inside + " is of type " + shown(*type) + ", which is not here, and was left out", notes);
      }
      if (error) return error;
    }
    return std::nullopt;
  }
};

struct Choice {
  ToolMode mode = ToolMode::automatic;
  std::vector<std::string> names = {};  // of functions
};

/// {"type": "function" or "custom", "name": "..."} or {"type": "shell" or another of which there is one}; `function`
/// stays empty where it is of a type that is not here.
std::optional<ApiError> parse_reference(const Json& tool, const std::string& path, const ToolNames& names,
                                        std::string& function) {
  const Json* type = tool.is_object() ? find(tool, "type") : nullptr;
  if (type == nullptr) return wrong(path, tool, R"(an object such as {"type": "function", "name": "..."})");
  std::string name;
  std::string name_space;
  if (*type == "function" || *type == "custom") {
    const Json* inner = find(tool, type->get_ref<const std::string&>());  // as chat completions have it
    const bool nested = inner != nullptr && inner->is_object() && find(tool, "name") == nullptr;
    const std::string holder = nested ? at(path, type->get_ref<const std::string&>()) : path;
    if (auto error = read_tool_name(nested ? *inner : tool, holder, name)) return error;
    if (auto error = read_text(tool, "namespace", name_space, path)) return error;
  } else if (type->is_string() && (*type == kToolSearch || client_tool(type->get<std::string>()) != nullptr)) {
    name = type->get<std::string>();
  } else {
    return std::nullopt;
  }
  function = names.function(name, name_space);
  if (function.empty()) return wrong(at(path, "name"), Json(name), "the name of one of the tools");
  return std::nullopt;
}

std::optional<ApiError> parse_allowed(const Json& choice, const RequestLimits& limits, const ToolNames& names,
                                      Choice& out) {
  const Json* allowed = &choice;
  std::string path = "tool_choice";
  if (const Json* inner = find(choice, "allowed_tools"); inner != nullptr && inner->is_object()) {
    allowed = inner;
    path = "tool_choice.allowed_tools";
  }
  const auto read_tool = [&](const Json& tool, const std::string& inside) {
    std::string function;
    auto error = parse_reference(tool, inside, names, function);
    if (!function.empty()) out.names.push_back(std::move(function));
    return error;
  };
  if (auto error = read_allowed_tools(*allowed, path, limits, out.mode, read_tool)) return error;
  if (out.names.empty()) out.mode = ToolMode::none;  // none of those that may be called is here
  return std::nullopt;
}

std::optional<ApiError> parse_choice(const Json& choice, const RequestLimits& limits, const ToolNames& names,
                                     Choice& out) {
  if (const auto mode = tool_mode(choice)) {
    out.mode = *mode;
    return std::nullopt;
  }
  const Json* type = choice.is_object() ? find(choice, "type") : nullptr;
  if (type == nullptr) {
    return wrong("tool_choice", choice, R"("none", "auto", "required" or {"type": "function", "name": "..."})");
  }
  if (*type == "allowed_tools") return parse_allowed(choice, limits, names, out);
  out.mode = ToolMode::named;
  if (auto error = parse_reference(choice, "tool_choice", names, out.names.emplace_back())) return error;
  if (!out.names.front().empty()) return std::nullopt;
  return wrong(
      "tool_choice.type", *type,
      "function, custom, local_shell, shell, apply_patch, tool_search or allowed_tools: other tools are not here");
}

using ToolLists = std::vector<std::pair<std::string, const Json*>>;

/// What items that stand at `path` bring.
void add_lists(const Json& items, const std::string& path, ToolLists& lists) {
  if (!items.is_array()) return;
  for (size_t i = 0; i < items.size(); ++i) {
    const Json* type = items[i].is_object() ? find(items[i], "type") : nullptr;
    if (type == nullptr || (*type != "additional_tools" && *type != "tool_search_output")) continue;
    if (const Json* more = find(items[i], "tools")) lists.emplace_back(at(at(path, i), "tools"), more);
  }
}

/// Where the tools of a request stand: its own, and those that items of the conversation bring.
ToolLists lists_of_tools(const Json& request, const std::vector<Json>& earlier) {
  ToolLists lists;
  if (const Json* own = find(request, "tools")) lists.emplace_back("tools", own);
  for (const Json& items : earlier) add_lists(items, "previous_response_id", lists);
  if (const Json* input = find(request, "input")) add_lists(*input, "input", lists);
  return lists;
}

}  // namespace

std::string ToolNames::add(ToolIdentity tool) {
  std::string_view space = tool.name_space;
  while (space.ends_with('_')) space.remove_suffix(1);
  std::string function = space.empty() ? tool.name : fmt::format("{}__{}", space, tool.name);
  if (function.size() > kNameBytesMax) {
    size_t end = kNameBytesMax - 17;
    while (end > 0 && (static_cast<unsigned char>(function[end]) & 0xc0U) == 0x80) --end;  // not within a character
    function = fmt::format("{}_{:016x}", function.substr(0, end), fnv1a(function));
  }
  while (by_function_.contains(function)) function += '_';
  by_function_.emplace(function, std::move(tool));
  return function;
}

ToolIdentity ToolNames::tool(const std::string& function) const {
  const auto found = by_function_.find(function);
  return found == by_function_.end() ? ToolIdentity{.name = function} : found->second;
}

std::string ToolNames::function(const std::string& name, const std::string& name_space) const {
  std::string elsewhere;
  int others = 0;
  for (const auto& [function, tool] : by_function_) {
    if (tool.name != name) continue;
    if (tool.name_space == name_space) return function;
    elsewhere = function;
    ++others;
  }
  return name_space.empty() && others == 1 ? elsewhere : std::string();
}

bool ToolNames::has(const std::string& name, const std::string& name_space) const {
  return std::ranges::any_of(by_function_, [&](const auto& entry) {
    return entry.second.name == name && entry.second.name_space == name_space;
  });
}

std::string past_function(const ToolNames& names, const std::string& name, const std::string& name_space) {
  const std::string known = names.function(name, name_space);
  return known.empty() ? ToolNames().add({.name = name, .name_space = name_space}) : known;
}

std::optional<ApiError> parse_tools(const Json& request, const std::vector<Json>& earlier, const RequestLimits& limits,
                                    ToolFields& out, ToolNames& names, std::vector<std::string>& notes) {
  Reader reader{limits, out, names, notes};
  size_t bytes = 0;
  for (const auto& [path, list] : lists_of_tools(request, earlier)) {
    reader.repeated = path != "tools";
    if (auto error = reader.tools(*list, path)) return error;
    bytes += list->dump(-1, ' ', false, Json::error_handler_t::replace).size();
    if (auto error = too_many(path, bytes, limits.tool_bytes_max, "bytes")) return error;
  }
  Choice choice;
  const Json* given = find(request, "tool_choice");
  if (given != nullptr) {
    if (auto error = parse_choice(*given, limits, names, choice)) return error;
  }
  return choose_tools(choice.mode, choice.names, "tool_choice", given == nullptr ? Json() : *given, out);
}

}  // namespace tessera::server::responses
