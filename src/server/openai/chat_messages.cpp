#include "server/openai/chat_messages.h"

#include <string>
#include <string_view>
#include <utility>

#include "server/request/custom_tool.h"
#include "server/request/json_fields.h"
#include "server/request/past_arguments.h"

namespace tessera::server::openai {
namespace {

/// `of_tool`: media are named in place, never refused: a refusal would end a conversation for ever.
std::optional<ApiError> parse_part(const Json& part, const std::string& path, bool of_tool,
                                   const ConversationReader& reader, std::string& text) {
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
    if (!of_tool && !reader.drops_media) {
      return wrong(at(path, "type"), *type, "\"text\": this server takes text only (serve --drop-media leaves it out)");
    }
    text += left_out_text(name);
    reader.note_left_out(path, *type);
    return std::nullopt;
  }
  const Json* words = find(part, name);
  if (words == nullptr) return missing(at(path, name), "a string");
  if (!words->is_string()) return wrong(at(path, name), *words, "a string");
  text += words->get_ref<const std::string&>();
  return std::nullopt;
}

std::optional<ApiError> parse_content(const Json& message, Role role, const std::string& path,
                                      const ConversationReader& reader, std::string& text) {
  const Json* content = find(message, "content");
  const std::string inside = at(path, "content");
  if (content == nullptr) {
    const bool says_null = message.contains("content");
    if (says_null || role == Role::assistant || role == Role::tool) return std::nullopt;
    return missing(inside, "a string or an array of text parts");
  }
  if (content->is_string()) {
    text = content->get_ref<const std::string&>();
    return std::nullopt;
  }
  if (!content->is_array()) return wrong(inside, *content, "a string or an array of text parts");
  if (auto error = too_many(inside, content->size(), reader.limits.parts_max, "parts")) return error;
  for (size_t i = 0; i < content->size(); ++i) {
    if (auto error = parse_part((*content)[i], at(inside, i), role == Role::tool, reader, text)) return error;
  }
  return std::nullopt;
}

/// `function`: {"name": ..., "arguments": the text of an object, or the object}
std::optional<ApiError> parse_function(const Json& function, const std::string& path, const ConversationReader& reader,
                                       ToolCall& out) {
  if (!function.is_object()) return wrong(path, function, "an object with name and arguments");
  if (auto error = read_text(function, "name", out.name, path)) return error;
  if (out.name.empty()) return missing(at(path, "name"), "the function's name");
  const Json* arguments = find(function, "arguments");
  if (arguments == nullptr) return std::nullopt;
  if (arguments->is_object()) {
    out.arguments = *arguments;
    return std::nullopt;
  }
  if (!arguments->is_string()) return wrong(at(path, "arguments"), *arguments, "the text of a JSON object");
  std::string note;
  out.arguments = read_past_arguments(arguments->get_ref<const std::string&>(), reader.limits, note);
  if (!note.empty()) add_note(at(path, "arguments") + " " + note, reader.notes);
  return std::nullopt;
}

/// `custom`: {"name": ..., "input": the text}
std::optional<ApiError> parse_custom(const Json& custom, const std::string& path, ToolCall& out) {
  if (!custom.is_object()) return wrong(path, custom, "an object with name and input");
  if (auto error = read_text(custom, "name", out.name, path)) return error;
  if (out.name.empty()) return missing(at(path, "name"), "the tool's name");
  std::string input;
  if (auto error = read_text(custom, "input", input, path)) return error;
  out.arguments = {{kCustomInput, std::move(input)}};
  return std::nullopt;
}

std::optional<ApiError> parse_call(const Json& call, const std::string& path, const ConversationReader& reader,
                                   ToolCall& out) {
  if (!call.is_object()) return wrong(path, call, "a tool call: an object with id, type and function");
  if (auto error = read_text(call, "id", out.id, path)) return error;
  const Json* type = find(call, "type");
  if (type != nullptr && *type == "custom") {
    const Json* custom = find(call, "custom");
    if (custom == nullptr) return missing(at(path, "custom"), "an object with name and input");
    return parse_custom(*custom, at(path, "custom"), out);
  }
  if (type != nullptr && *type != "function") return wrong(at(path, "type"), *type, "\"function\" or \"custom\"");
  const Json* function = find(call, "function");
  if (function == nullptr) return missing(at(path, "function"), "an object with name and arguments");
  return parse_function(*function, at(path, "function"), reader, out);
}

std::optional<ApiError> parse_assistant(const Json& message, const std::string& path, const ConversationReader& reader,
                                        Message& out) {
  if (auto error = read_text(message, "reasoning", out.reasoning, path)) return error;
  if (auto error = read_text(message, "reasoning_content", out.reasoning, path)) return error;
  if (const Json* call = find(message, "function_call")) {
    if (auto error = parse_function(*call, at(path, "function_call"), reader, out.calls.emplace_back())) return error;
  }
  const Json* calls = find(message, "tool_calls");
  if (calls == nullptr) return std::nullopt;
  const std::string inside = at(path, "tool_calls");
  if (!calls->is_array()) return wrong(inside, *calls, "an array of tool calls");
  if (auto error = too_many(inside, calls->size(), reader.limits.tool_calls_max, "calls")) return error;
  for (size_t i = 0; i < calls->size(); ++i) {
    if (auto error = parse_call((*calls)[i], at(inside, i), reader, out.calls.emplace_back())) return error;
  }
  return std::nullopt;
}

std::optional<ApiError> parse_role(const Json& message, const std::string& path, Role& role) {
  const Json* name = find(message, "role");
  if (name == nullptr) return missing(at(path, "role"), "system, developer, user, assistant or tool");
  if (*name == "system" || *name == "developer") {
    role = Role::system;
  } else if (*name == "tool" || *name == "function") {
    role = Role::tool;
  } else if (*name == "user") {
    role = Role::user;
  } else if (*name == "assistant") {
    role = Role::assistant;
  } else {
    return wrong(at(path, "role"), *name, "system, developer, user, assistant or tool");
  }
  return std::nullopt;
}

std::optional<ApiError> parse_message(const Json& message, const std::string& path, const ConversationReader& reader,
                                      Message& out) {
  if (!message.is_object()) return wrong(path, message, "a message: an object with role and content");
  if (auto error = parse_role(message, path, out.role)) return error;
  if (auto error = parse_content(message, out.role, path, reader, out.text)) return error;
  if (auto error = read_text(message, "name", out.name, path)) return error;
  if (auto error = read_text(message, "tool_call_id", out.tool_call_id, path)) return error;
  if (const Json* prefix = find(message, "prefix"); prefix != nullptr && *prefix != false) {
    return wrong(at(path, "prefix"), *prefix, "\"continue_final_message\": true, beside the messages, in its place");
  }
  return out.role == Role::assistant ? parse_assistant(message, path, reader, out) : std::nullopt;
}

}  // namespace

std::optional<ApiError> parse_messages(const Json& request, const RequestOptions& options, std::vector<Message>& out,
                                       std::vector<std::string>& notes) {
  const Json* list = find(request, "messages");
  if (list == nullptr) return missing("messages", "an array of messages");
  if (!list->is_array() || list->empty()) return wrong("messages", *list, "an array of messages, not empty");
  if (auto error = too_many("messages", list->size(), options.limits.messages_max, "messages")) return error;
  const ConversationReader reader{options.limits, options.drops_media, notes};
  for (size_t i = 0; i < list->size(); ++i) {
    if (auto error = parse_message((*list)[i], at("messages", i), reader, out.emplace_back())) return error;
  }
  return std::nullopt;
}

}  // namespace tessera::server::openai
