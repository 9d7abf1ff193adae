#include "server/anthropic/content_blocks.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include "server/request/json_fields.h"

namespace tessera::server::anthropic {
namespace {

constexpr std::string_view kBillingLine = "x-anthropic-billing-header:";

// What a provider's own tools leave in a conversation; these run nowhere else.
constexpr std::array<std::string_view, 2> kServerBlocks = {"server_tool_use", "mcp_tool_use"};

using Reader = ConversationReader;

void join(std::string_view text, std::string& out) {
  if (text.empty()) return;
  if (!out.empty()) out += "\n\n";
  out += text;
}

std::string_view without_billing_line(std::string_view text) {
  if (!text.starts_with(kBillingLine)) return text;
  const size_t end = text.find('\n');
  return end == std::string_view::npos ? std::string_view() : text.substr(end + 1);
}

std::optional<ApiError> read_type(const Json& block, const std::string& path, std::string& type) {
  if (!block.is_object()) return wrong(path, block, R"(a block such as {"type": "text", "text": "..."})");
  if (auto error = read_text(block, "type", type, path)) return error;
  if (type.empty()) return missing(at(path, "type"), "the block's type");
  return std::nullopt;
}

std::optional<ApiError> read_required(const Json& block, const char* key, const std::string& path, std::string& out) {
  if (find(block, key) == nullptr) return missing(at(path, key), "a string");
  return read_text(block, key, out, path);
}

/// {"type": "document", "source": {"type": "text", "data": "..."}}; the text is empty where it is no plain text.
std::optional<ApiError> read_document(const Json& block, const std::string& path, std::string& text) {
  const Json* source = find(block, "source");
  const std::string inside = at(path, "source");
  if (source == nullptr || !source->is_object()) return missing(inside, "an object with type and data");
  const Json* type = find(*source, "type");
  if (type == nullptr || *type != "text") return std::nullopt;
  if (auto error = read_required(*source, "data", inside, text)) return error;
  std::string title;
  if (auto error = read_text(block, "title", title, path)) return error;
  if (!title.empty()) text = fmt::format("{}\n\n{}", title, text);
  return std::nullopt;
}

/// Blocks that are text alone: the system prompt.
std::optional<ApiError> read_text_blocks(const Json& content, const std::string& path, const Reader& reader,
                                         std::string& out) {
  if (content.is_string()) {
    out = without_billing_line(content.get_ref<const std::string&>());
    return std::nullopt;
  }
  if (!content.is_array()) return wrong(path, content, "a string or an array of text blocks");
  if (auto error = too_many(path, content.size(), reader.limits.parts_max, "blocks")) return error;
  for (size_t i = 0; i < content.size(); ++i) {
    const std::string inside = at(path, i);
    std::string type;
    std::string text;
    if (auto error = read_type(content[i], inside, type)) return error;
    if (type != "text") {
      reader.note_left_out(inside, content[i]["type"]);
      continue;
    }
    if (auto error = read_required(content[i], "text", inside, text)) return error;
    join(without_billing_line(text), out);
  }
  return std::nullopt;
}

/// Says so in the prompt and in the notes.
std::string leave_out(const Json& block, const std::string& path, const Reader& reader) {
  reader.note_left_out(path, block["type"]);
  return left_out_text(block["type"].get_ref<const std::string&>());
}

/// What a tool answered, as text.
std::optional<ApiError> read_result_block(const Json& block, const std::string& path, const Reader& reader,
                                          std::string& out) {
  std::string type;
  std::string text;
  if (auto error = read_type(block, path, type)) return error;
  if (type == "text") {
    if (auto error = read_required(block, "text", path, text)) return error;
  } else if (type == "document") {
    if (auto error = read_document(block, path, text)) return error;
  } else if (type == "tool_reference") {  // what a search for tools has found, which is among the request's tools
    if (auto error = read_required(block, "tool_name", path, text)) return error;
    text = fmt::format("The tool {} can be called now.", text);
  }
  if (type != "text" && text.empty()) {
    text = leave_out(block, path, reader);
  }
  join(text, out);
  return std::nullopt;
}

std::optional<ApiError> read_result(const Json& block, const std::string& path, const Reader& reader, Message& out) {
  out.role = Role::tool;
  if (auto error = read_required(block, "tool_use_id", path, out.tool_call_id)) return error;
  bool failed = false;
  if (auto error = read_flag(block, "is_error", failed, path)) return error;
  const std::string inside = at(path, "content");
  if (const Json* content = find(block, "content")) {
    if (content->is_string()) {
      out.text = content->get<std::string>();
    } else if (content->is_array()) {
      if (auto error = too_many(inside, content->size(), reader.limits.parts_max, "blocks")) return error;
      for (size_t i = 0; i < content->size(); ++i) {
        if (auto error = read_result_block((*content)[i], at(inside, i), reader, out.text)) return error;
      }
    } else {
      return wrong(inside, *content, "a string or an array of blocks");
    }
  }
  // Templates have no word for a failure. Tools mostly say it themselves.
  if (failed && !out.text.starts_with("Error") && !out.text.starts_with("<")) out.text.insert(0, "Error: ");
  return std::nullopt;
}

std::optional<ApiError> read_call(const Json& block, const std::string& path, ToolCall& out) {
  if (auto error = read_text(block, "id", out.id, path)) return error;
  if (auto error = read_required(block, "name", path, out.name)) return error;
  if (out.name.empty()) return missing(at(path, "name"), "the tool's name");
  const Json* input = find(block, "input");
  if (input == nullptr) return std::nullopt;
  // Clients send back what they made of a call that was cut, which need be no object.
  out.arguments = input->is_object() ? *input : Json{{"arguments", *input}};
  return std::nullopt;
}

/// One block of the assistant's. Signatures are not looked at: thinking is text here.
std::optional<ApiError> read_assistant_block(const Json& block, const std::string& path, const Reader& reader,
                                             Message& out) {
  std::string type;
  std::string text;
  if (auto error = read_type(block, path, type)) return error;
  if (type == "text") {
    if (auto error = read_required(block, "text", path, text)) return error;
    join(text, out.text);
  } else if (type == "thinking") {
    if (auto error = read_required(block, "thinking", path, text)) return error;
    join(text, out.reasoning);
  } else if (type == "tool_use") {
    if (out.calls.size() == reader.limits.tool_calls_max) {
      return too_many(path.substr(0, path.rfind('[')), out.calls.size() + 1, reader.limits.tool_calls_max, "calls");
    }
    return read_call(block, path, out.calls.emplace_back());
  } else if (type != "redacted_thinking") {
    const bool of_server =
        std::ranges::find(kServerBlocks, type) != kServerBlocks.end() || type.ends_with("_tool_result");
    if (!of_server) return wrong(at(path, "type"), block["type"], "text, thinking or tool_use");
    reader.note_left_out(path, block["type"]);
  }
  return std::nullopt;
}

std::optional<ApiError> read_user_block(const Json& block, const std::string& path, const Reader& reader,
                                        std::string& pending, std::vector<Message>& out) {
  std::string type;
  std::string text;
  if (auto error = read_type(block, path, type)) return error;
  if (type == "tool_result") {
    if (!pending.empty()) out.push_back({.role = Role::user, .text = std::exchange(pending, {})});
    return read_result(block, path, reader, out.emplace_back());
  }
  if (type == "text") {
    if (auto error = read_required(block, "text", path, text)) return error;
  } else if (type == "document") {
    if (auto error = read_document(block, path, text)) return error;
    if (text.empty() && !reader.drops_media) {
      return wrong(at(path, "source.type"), block["source"], "a document of plain text");
    }
  } else if (!reader.drops_media) {
    return wrong(at(path, "type"), block["type"],
                 "text or tool_result: this server takes text only (serve --drop-media leaves it out)");
  }
  if (type != "text" && text.empty()) text = leave_out(block, path, reader);
  join(text, pending);
  return std::nullopt;
}

std::optional<ApiError> read_blocks(const Json& content, Role role, const std::string& path, const Reader& reader,
                                    std::vector<Message>& out) {
  if (auto error = too_many(path, content.size(), reader.limits.parts_max, "blocks")) return error;
  if (role == Role::assistant) {
    Message& message = out.emplace_back();
    message.role = role;
    for (size_t i = 0; i < content.size(); ++i) {
      if (auto error = read_assistant_block(content[i], at(path, i), reader, message)) return error;
    }
    return std::nullopt;
  }
  const size_t before = out.size();
  std::string pending;
  for (size_t i = 0; i < content.size(); ++i) {
    if (auto error = read_user_block(content[i], at(path, i), reader, pending, out)) return error;
  }
  if (!pending.empty() || out.size() == before) out.push_back({.role = Role::user, .text = std::move(pending)});
  return std::nullopt;
}

std::optional<ApiError> read_message(const Json& message, const std::string& path, const Reader& reader,
                                     std::vector<Message>& out) {
  if (!message.is_object()) return wrong(path, message, "a message: an object with role and content");
  const Json* name = find(message, "role");
  if (name == nullptr) return missing(at(path, "role"), "user, assistant or system");
  const bool known = *name == "user" || *name == "assistant" || *name == "system";
  if (!known) return wrong(at(path, "role"), *name, "user, assistant or system");
  const Role role = *name == "user" ? Role::user : *name == "assistant" ? Role::assistant : Role::system;
  const Json* content = find(message, "content");
  const std::string inside = at(path, "content");
  if (content == nullptr) return missing(inside, "a string or an array of blocks");
  if (role == Role::system) {
    Message& system = out.emplace_back();
    system.role = role;
    return read_text_blocks(*content, inside, reader, system.text);
  }
  if (content->is_string()) {
    out.push_back({.role = role, .text = content->get<std::string>()});
    return std::nullopt;
  }
  if (!content->is_array()) return wrong(inside, *content, "a string or an array of blocks");
  return read_blocks(*content, role, inside, reader, out);
}

}  // namespace

std::optional<ApiError> parse_conversation(const Json& request, const RequestOptions& options,
                                           std::vector<Message>& out, std::vector<std::string>& notes) {
  const RequestLimits& limits = options.limits;
  const Reader reader{limits, options.drops_media, notes};
  if (const Json* system = find(request, "system")) {
    Message message{.role = Role::system};
    if (auto error = read_text_blocks(*system, "system", reader, message.text)) return error;
    if (!message.text.empty()) out.push_back(std::move(message));
  }
  const Json* list = find(request, "messages");
  if (list == nullptr) return missing("messages", "an array of messages");
  if (!list->is_array() || list->empty()) return wrong("messages", *list, "an array of messages, not empty");
  if (auto error = too_many("messages", list->size(), limits.messages_max, "messages")) return error;
  for (size_t i = 0; i < list->size(); ++i) {
    if (auto error = read_message((*list)[i], at("messages", i), reader, out)) return error;
  }
  return std::nullopt;
}

}  // namespace tessera::server::anthropic
