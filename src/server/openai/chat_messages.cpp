#include "server/openai/chat_messages.h"

#include <algorithm>
#include <string>
#include <string_view>

#include "server/openai/json_fields.h"

namespace tessera::server::openai {
namespace {

std::optional<ApiError> parse_part(const Json& part, const std::string& path, std::string& text) {
  if (part.is_string()) {
    text += part.get_ref<const std::string&>();
    return std::nullopt;
  }
  if (!part.is_object()) return wrong(path, part, R"({"type": "text", "text": "..."})");
  const Json* type = find(part, "type");
  if (type == nullptr) return missing(at(path, "type"), "\"text\"");
  if (!type->is_string()) return wrong(at(path, "type"), *type, "\"text\"");
  const std::string& name = type->get_ref<const std::string&>();
  if (name != "text" && name != "refusal") {
    return wrong(at(path, "type"), *type, "\"text\": this server takes text only");
  }
  const Json* words = find(part, name);
  if (words == nullptr) return missing(at(path, name), "a string");
  if (!words->is_string()) return wrong(at(path, name), *words, "a string");
  text += words->get_ref<const std::string&>();
  return std::nullopt;
}

std::optional<ApiError> parse_content(const Json& message, std::string_view role, const std::string& path,
                                      const RequestLimits& limits, std::string& text) {
  const Json* content = find(message, "content");
  const std::string inside = at(path, "content");
  if (content == nullptr) {
    if (role == "assistant" || role == "tool") return std::nullopt;
    return missing(inside, "a string or an array of text parts");
  }
  if (content->is_string()) {
    text = content->get_ref<const std::string&>();
    return std::nullopt;
  }
  if (!content->is_array()) return wrong(inside, *content, "a string or an array of text parts");
  if (auto error = too_many(inside, content->size(), limits.parts_max, "parts")) return error;
  for (size_t i = 0; i < content->size(); ++i) {
    if (auto error = parse_part((*content)[i], at(inside, i), text)) return error;
  }
  return std::nullopt;
}

/// Clients send the arguments of past calls as the text of an object; templates read the object.
std::optional<ApiError> parse_arguments(const Json& function, const std::string& path, const RequestLimits& limits,
                                        Json& out) {
  const Json* arguments = find(function, "arguments");
  if (arguments == nullptr) return std::nullopt;
  if (arguments->is_object()) {
    out = *arguments;
    return std::nullopt;
  }
  if (!arguments->is_string()) return wrong(path, *arguments, "the text of a JSON object");
  const std::string& text = arguments->get_ref<const std::string&>();
  if (text.find_first_not_of(" \t\r\n") == std::string::npos) return std::nullopt;
  RequestLimits inside = limits;
  inside.json_depth_max /= 2;  // what is around it takes the rest
  Json object;
  if (auto error = parse_json(text, inside, object, path)) return error;
  if (!object.is_object()) return wrong(path, *arguments, "the text of a JSON object");
  out = std::move(object);
  return std::nullopt;
}

std::optional<ApiError> parse_call(const Json& call, const std::string& path, const RequestLimits& limits, Json& out) {
  if (!call.is_object()) return wrong(path, call, "a tool call: an object with id, type and function");
  std::string id;
  if (auto error = read_text(call, "id", id, path)) return error;
  const Json* type = find(call, "type");
  if (type != nullptr && *type != "function") return wrong(at(path, "type"), *type, "\"function\"");
  const std::string inside = at(path, "function");
  const Json* function = find(call, "function");
  if (function == nullptr) return missing(inside, "an object with name and arguments");
  if (!function->is_object()) return wrong(inside, *function, "an object with name and arguments");
  std::string name;
  if (auto error = read_text(*function, "name", name, inside)) return error;
  if (name.empty()) return missing(at(inside, "name"), "the function's name");
  Json arguments = Json::object();
  if (auto error = parse_arguments(*function, at(inside, "arguments"), limits, arguments)) return error;
  out = {{"id", id}, {"type", "function"}, {"function", {{"name", name}, {"arguments", std::move(arguments)}}}};
  return std::nullopt;
}

std::optional<ApiError> parse_assistant(const Json& message, const std::string& path, const RequestLimits& limits,
                                        Json& out) {
  if (find(message, "function_call") != nullptr) {
    return wrong(at(path, "function_call"), message["function_call"], "tool_calls in its place");
  }
  std::string reasoning;
  if (auto error = read_text(message, "reasoning", reasoning, path)) return error;
  if (auto error = read_text(message, "reasoning_content", reasoning, path)) return error;
  if (!reasoning.empty()) out["reasoning_content"] = std::move(reasoning);
  const Json* calls = find(message, "tool_calls");
  if (calls == nullptr) return std::nullopt;
  const std::string inside = at(path, "tool_calls");
  if (!calls->is_array()) return wrong(inside, *calls, "an array of tool calls");
  if (auto error = too_many(inside, calls->size(), limits.tool_calls_max, "calls")) return error;
  Json list = Json::array();
  for (size_t i = 0; i < calls->size(); ++i) {
    Json call;
    if (auto error = parse_call((*calls)[i], at(inside, i), limits, call)) return error;
    list.push_back(std::move(call));
  }
  if (!list.empty()) out["tool_calls"] = std::move(list);
  return std::nullopt;
}

std::optional<ApiError> parse_role(const Json& message, const std::string& path, std::string& role) {
  const Json* name = find(message, "role");
  if (name == nullptr) return missing(at(path, "role"), "system, developer, user, assistant or tool");
  if (*name == "system" || *name == "developer") {
    role = "system";
  } else if (*name == "tool" || *name == "function") {
    role = "tool";
  } else if (*name == "user" || *name == "assistant") {
    role = name->get<std::string>();
  } else {
    return wrong(at(path, "role"), *name, "system, developer, user, assistant or tool");
  }
  return std::nullopt;
}

std::optional<ApiError> parse_message(const Json& message, const std::string& path, const RequestLimits& limits,
                                      Json& out) {
  if (!message.is_object()) return wrong(path, message, "a message: an object with role and content");
  std::string role;
  if (auto error = parse_role(message, path, role)) return error;
  std::string content;
  if (auto error = parse_content(message, role, path, limits, content)) return error;
  out = {{"role", role}, {"content", std::move(content)}};
  for (const char* key : {"name", "tool_call_id"}) {
    std::string text;
    if (auto error = read_text(message, key, text, path)) return error;
    if (!text.empty()) out[key] = std::move(text);
  }
  return role == "assistant" ? parse_assistant(message, path, limits, out) : std::nullopt;
}

}  // namespace

std::optional<ApiError> parse_messages(const Json& request, const RequestLimits& limits, Json& out) {
  const Json* list = find(request, "messages");
  if (list == nullptr) return missing("messages", "an array of messages");
  if (!list->is_array() || list->empty()) return wrong("messages", *list, "an array of messages, not empty");
  if (auto error = too_many("messages", list->size(), limits.messages_max, "messages")) return error;
  out = Json::array();
  for (size_t i = 0; i < list->size(); ++i) {
    Json message;
    if (auto error = parse_message((*list)[i], at("messages", i), limits, message)) return error;
    // Templates take one system message, and clients send one of their own before the user's.
    if (out.size() == 1 && out[0]["role"] == "system" && message["role"] == "system") {
      out[0]["content"].get_ref<std::string&>() += "\n\n" + message["content"].get_ref<const std::string&>();
    } else {
      out.push_back(std::move(message));
    }
  }
  return std::nullopt;
}

}  // namespace tessera::server::openai
