#include "server/responses/input_items.h"

#include <fmt/format.h>

#include <string_view>
#include <utility>

#include "server/request/custom_tool.h"
#include "server/request/json_fields.h"
#include "server/request/past_arguments.h"
#include "server/responses/client_tools.h"
#include "server/responses/compaction.h"

namespace tessera::server::responses {
namespace {

using MaybeError = std::optional<ApiError>;

void join(std::string_view text, std::string_view between, std::string& out) {
  if (text.empty()) return;
  if (!out.empty()) out += between;
  out += text;
}

MaybeError read_required(const Json& item, const char* key, const std::string& path, std::string& out) {
  if (find(item, key) == nullptr) return missing(at(path, key), "a string");
  return read_text(item, key, out, path);
}

/// One part of a message or of what a tool answered. `of_tool`: media are named in place, never refused: a refusal
/// would end a conversation for ever.
MaybeError read_part(const Json& part, const std::string& path, bool of_tool, const ConversationReader& reader,
                     std::string& out) {
  if (part.is_string()) {
    out += part.get_ref<const std::string&>();
    return std::nullopt;
  }
  const Json* type = part.is_object() ? find(part, "type") : nullptr;
  if (type == nullptr || !type->is_string()) return wrong(path, part, R"({"type": "input_text", "text": "..."})");
  const std::string& name = type->get_ref<const std::string&>();
  const bool is_text = name == "input_text" || name == "output_text" || name == "text" || name == "reasoning_text" ||
                       name == "summary_text";
  if (is_text || name == "refusal") {
    std::string text;
    if (auto error = read_required(part, is_text ? "text" : "refusal", path, text)) return error;
    out += text;
    return std::nullopt;
  }
  if (!of_tool && !reader.drops_media) {
    return wrong(at(path, "type"), *type, "input_text: this server takes text only (serve --drop-media leaves it out)");
  }
  out += left_out_text(name);
  reader.note_left_out(path, *type);
  return std::nullopt;
}

/// A string or an array of parts at item[key].
MaybeError read_parts(const Json& item, const char* key, const std::string& path, bool of_tool,
                      const ConversationReader& reader, std::string& out) {
  const Json* content = find(item, key);
  if (content == nullptr) return std::nullopt;
  const std::string inside = at(path, key);
  if (content->is_string()) {
    out = content->get<std::string>();
    return std::nullopt;
  }
  if (!content->is_array()) return wrong(inside, *content, "a string or an array of parts");
  if (auto error = too_many(inside, content->size(), reader.limits.parts_max, "parts")) return error;
  for (size_t i = 0; i < content->size(); ++i) {
    if (auto error = read_part((*content)[i], at(inside, i), of_tool, reader, out)) return error;
  }
  return std::nullopt;
}

/// The assistant's message that the next of its items belongs to.
Message& assistant(std::vector<Message>& out) {
  if (out.empty() || out.back().role != Role::assistant) out.push_back({.role = Role::assistant});
  return out.back();
}

MaybeError read_message(const Json& item, const std::string& path, const ConversationReader& reader,
                        std::vector<Message>& out) {
  const Json* name = find(item, "role");
  if (name == nullptr) return missing(at(path, "role"), "user, assistant, system or developer");
  Role role = Role::user;
  if (*name == "system" || *name == "developer") {
    role = Role::system;
  } else if (*name == "assistant") {
    role = Role::assistant;
  } else if (*name != "user") {
    return wrong(at(path, "role"), *name, "user, assistant, system or developer");
  }
  if (find(item, "content") == nullptr) return missing(at(path, "content"), "a string or an array of parts");
  std::string text;
  if (auto error = read_parts(item, "content", path, /*of_tool=*/false, reader, text)) return error;
  if (role != Role::assistant) {
    out.push_back({.role = role, .text = std::move(text)});
    return std::nullopt;
  }
  // Templates write a message's text before its calls.
  if (!assistant(out).calls.empty()) out.push_back({.role = Role::assistant});
  join(text, "\n\n", out.back().text);
  return std::nullopt;
}

MaybeError read_reasoning(const Json& item, const std::string& path, const ConversationReader& reader,
                          std::vector<Message>& out) {
  std::string text;
  std::string sealed;
  if (auto error = read_parts(item, "content", path, /*of_tool=*/true, reader, text)) return error;
  if (auto error = read_text(item, "encrypted_content", sealed, path)) return error;
  if (text.empty() && sealed.starts_with(kReasoningMark)) {
    text = sealed.substr(std::string_view(kReasoningMark).size());
  }
  if (text.empty()) {
    if (auto error = read_parts(item, "summary", path, /*of_tool=*/true, reader, text)) return error;
  }
  if (text.empty()) return std::nullopt;
  const Message& last = assistant(out);
  if (!last.text.empty() || !last.calls.empty()) out.push_back({.role = Role::assistant});
  join(text, "\n", out.back().reasoning);
  return std::nullopt;
}

MaybeError add_call(const std::string& path, const ConversationReader& reader, ToolCall call,
                    std::vector<Message>& out) {
  std::vector<ToolCall>& calls = assistant(out).calls;
  if (auto error = too_many(path, calls.size() + 1, reader.limits.tool_calls_max, "calls before it and itself")) {
    return error;
  }
  calls.push_back(std::move(call));
  return std::nullopt;
}

/// function_call and custom_tool_call.
MaybeError read_call(const Json& item, bool custom, const std::string& path, const ItemReader& all,
                     std::vector<Message>& out) {
  ToolCall call;
  std::string name;
  std::string name_space;
  std::string text;
  if (auto error = read_text(item, "call_id", call.id, path)) return error;
  if (auto error = read_required(item, "name", path, name)) return error;
  if (name.empty()) return missing(at(path, "name"), "the tool's name");
  if (auto error = read_text(item, "namespace", name_space, path)) return error;
  call.name = past_function(all.tools, name, name_space);
  const char* key = custom ? "input" : "arguments";
  const Json* given = find(item, key);
  if (!custom && given != nullptr && given->is_object()) {
    call.arguments = *given;
    return add_call(path, all.reader, std::move(call), out);
  }
  if (auto error = read_text(item, key, text, path)) return error;
  if (custom) {
    call.arguments = {{kCustomInput, std::move(text)}};
  } else {
    std::string note;
    call.arguments = read_past_arguments(text, all.reader.limits, note);
    if (!note.empty()) add_note(at(path, key) + " " + note, all.reader.notes);
  }
  return add_call(path, all.reader, std::move(call), out);
}

/// local_shell_call, shell_call and apply_patch_call.
MaybeError read_client_tools_call(const ClientTool& tool, const Json& item, const std::string& path,
                                  const ItemReader& all, std::vector<Message>& out) {
  ToolCall call{.name = past_function(all.tools, tool.type, "")};
  if (auto error = read_text(item, "call_id", call.id, path)) return error;
  if (call.id.empty()) {
    if (auto error = read_text(item, "id", call.id, path)) return error;
  }
  if (auto error = read_client_call(tool, item, path, call.arguments)) return error;
  return add_call(path, all.reader, std::move(call), out);
}

/// What the provider has searched for is no part of the conversation here.
bool is_of_client(const Json& item) {
  const Json* execution = find(item, "execution");
  return execution == nullptr || *execution == "client";
}

MaybeError read_search_call(const Json& item, const std::string& path, const ItemReader& all,
                            std::vector<Message>& out) {
  ToolCall call{.name = past_function(all.tools, kToolSearch, "")};
  if (auto error = read_text(item, "call_id", call.id, path)) return error;
  const Json* arguments = find(item, "arguments");
  if (arguments != nullptr) call.arguments = arguments->is_object() ? *arguments : Json{{"query", *arguments}};
  return add_call(path, all.reader, std::move(call), out);
}

/// Adds what the model calls these tools.
void add_names(const Json& tools, const std::string& name_space, const ToolNames& names, std::string& out) {
  for (const Json& tool : tools) {
    const Json* name = tool.is_object() ? find(tool, "name") : nullptr;
    if (name == nullptr || !name->is_string()) continue;
    const Json* inner = find(tool, "tools");
    if (inner != nullptr && inner->is_array()) {
      add_names(*inner, name->get<std::string>(), names, out);
    } else {
      join(past_function(names, name->get<std::string>(), name_space), ", ", out);
    }
  }
}

/// The tools themselves are read with those of the request.
MaybeError read_search_output(const Json& item, const std::string& path, const ItemReader& all,
                              std::vector<Message>& out) {
  Message message{.role = Role::tool};
  if (auto error = read_text(item, "call_id", message.tool_call_id, path)) return error;
  std::string names;
  if (const Json* tools = find(item, "tools"); tools != nullptr && tools->is_array()) {
    add_names(*tools, "", all.tools, names);
  }
  message.text = names.empty() ? "No tool was found." : "These tools can be called now: " + names;
  out.push_back(std::move(message));
  return std::nullopt;
}

/// A conversation in short, if this server wrote it.
MaybeError read_compaction(const Json& item, const std::string& path, const ItemReader& all,
                           std::vector<Message>& out) {
  std::string text;
  if (auto error = read_text(item, "encrypted_content", text, path)) return error;
  Compaction compaction;
  if (unseal(text, compaction)) {
    put_in_place(compaction, out);
  } else {
    all.reader.note_left_out(path, item["type"]);
  }
  return std::nullopt;
}

MaybeError read_output(const Json& item, const std::string& path, const ConversationReader& reader,
                       std::vector<Message>& out) {
  Message message{.role = Role::tool};
  if (auto error = read_text(item, "call_id", message.tool_call_id, path)) return error;
  if (message.tool_call_id.empty()) {
    if (auto error = read_text(item, "id", message.tool_call_id, path)) return error;
  }
  const bool of_shell = item["type"] == "shell_call_output";
  const bool of_patch = item["type"] == "apply_patch_call_output";
  const Json* output = find(item, "output");
  if (output == nullptr && !of_patch) return missing(at(path, "output"), "a string or an array of parts");
  if (of_shell && output->is_array()) {
    if (auto error = read_shell_output(*output, at(path, "output"), reader.limits.parts_max, message.text)) {
      return error;
    }
  } else if (output != nullptr && output->is_object()) {  // as some clients send what failed
    message.text = output->dump(-1, ' ', false, Json::error_handler_t::replace);
  } else if (auto error = read_parts(item, "output", path, /*of_tool=*/true, reader, message.text)) {
    return error;
  }
  if (of_patch) {
    const Json* status = find(item, "status");
    const bool failed = status != nullptr && *status == "failed";
    message.text = (failed ? "The patch failed." : "The patch is applied.") +
                   (message.text.empty() ? std::string() : "\n" + message.text);
  }
  out.push_back(std::move(message));
  return std::nullopt;
}

MaybeError read_agent_message(const Json& item, const std::string& path, const ConversationReader& reader,
                              std::vector<Message>& out) {
  Message message{.role = Role::user};
  std::string author;
  if (auto error = read_text(item, "author", author, path)) return error;
  if (auto error = read_parts(item, "content", path, /*of_tool=*/true, reader, message.text)) return error;
  if (!author.empty()) message.text.insert(0, fmt::format("[{}]\n", shortened(author, kIdBytesShown)));
  out.push_back(std::move(message));
  return std::nullopt;
}

MaybeError parse_item(const Json& item, const std::string& path, const ItemReader& all, std::vector<Message>& out);

MaybeError read_reference(const Json& item, const std::string& path, const ItemReader& all, std::vector<Message>& out) {
  std::string id;
  if (auto error = read_required(item, "id", path, id)) return error;
  const SharedResponse response = all.store.find_item(id);
  if (response == nullptr) {
    return ApiError{.http_status = 404,
                    .message = fmt::format("Item with id '{}' not found: it is not kept here, or no more; give the "
                                           "item itself as input",
                                           shortened(id, kIdBytesShown)),
                    .param = at(path, "id")};
  }
  for (const Json& kept : Json::parse(response->output)) {
    const Json* kept_id = find(kept, "id");
    if (kept_id != nullptr && *kept_id == id) return parse_item(kept, path, all, out);
  }
  return std::nullopt;
}

MaybeError parse_item(const Json& item, const std::string& path, const ItemReader& all, std::vector<Message>& out) {
  if (!item.is_object()) return wrong(path, item, R"(an item such as {"role": "user", "content": "..."})");
  std::string type;
  if (auto error = read_text(item, "type", type, path)) return error;
  if (type == "message" || (type.empty() && find(item, "role") != nullptr)) {
    return read_message(item, path, all.reader, out);
  }
  if (type == "item_reference" || (item.size() == 1 && find(item, "id") != nullptr)) {
    return read_reference(item, path, all, out);
  }
  if (type == "reasoning") return read_reasoning(item, path, all.reader, out);
  if (type == "function_call") return read_call(item, /*custom=*/false, path, all, out);
  if (type == "custom_tool_call") return read_call(item, /*custom=*/true, path, all, out);
  if (type == "function_call_output" || type == "custom_tool_call_output") {
    return read_output(item, path, all.reader, out);
  }
  if (const ClientTool* tool = client_tool_of_item(type)) {
    return type == tool->call_type ? read_client_tools_call(*tool, item, path, all, out)
                                   : read_output(item, path, all.reader, out);
  }
  if (type == "tool_search_call" && is_of_client(item)) return read_search_call(item, path, all, out);
  if (type == "tool_search_output" && is_of_client(item)) return read_search_output(item, path, all, out);
  if (type == "compaction") return read_compaction(item, path, all, out);
  if (type == "agent_message") return read_agent_message(item, path, all.reader, out);
  if (type == "additional_tools") return std::nullopt;    // read with the tools
  if (type == "compaction_trigger") return std::nullopt;  // no part of the conversation
  if (type.empty()) return missing(at(path, "type"), "the item's type");
  all.reader.note_left_out(path, Json(type));
  return std::nullopt;
}

}  // namespace

std::optional<ApiError> parse_items(const Json& items, const std::string& path, const ItemReader& reader,
                                    std::vector<Message>& out) {
  if (auto error = too_many(path, out.size() + items.size(), reader.reader.limits.messages_max, "items")) return error;
  for (size_t i = 0; i < items.size(); ++i) {
    if (auto error = parse_item(items[i], at(path, i), reader, out)) return error;
  }
  return std::nullopt;
}

}  // namespace tessera::server::responses
