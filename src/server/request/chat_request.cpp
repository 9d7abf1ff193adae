#include "server/request/chat_request.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <string_view>
#include <utility>

#include "server/request/json_text.h"

namespace tessera::server {
namespace {

/// Stands at the end of the message to be continued while the template is rendered: what templates put behind a
/// message, and the white space that they take off its end, is then known.
constexpr std::string_view kBreak = "\x02tessera: the message breaks off here\x03";

const char* name_of(Role role) {
  switch (role) {
    case Role::system: return "system";
    case Role::user: return "user";
    case Role::assistant: return "assistant";
    case Role::tool: break;
  }
  return "tool";
}

Json json_of(const Message& message) {
  Json out = {{"role", name_of(message.role)}, {"content", message.text}};
  if (!message.name.empty()) out["name"] = message.name;
  if (!message.tool_call_id.empty()) out["tool_call_id"] = message.tool_call_id;
  if (!message.reasoning.empty()) out["reasoning_content"] = message.reasoning;
  for (const ToolCall& call : message.calls) {
    out["tool_calls"].push_back(
        {{"id", call.id}, {"type", "function"}, {"function", {{"name", call.name}, {"arguments", call.arguments}}}});
  }
  return out;
}

/// A system message behind others. It joins the turn before it where that is the user's or a tool's, so that the turn
/// of an agent does not end, and with it the part of a conversation whose thinking templates keep.
void add_later_system(const Message& message, Json& out) {
  const std::string text = "<system>\n" + message.text + "\n</system>";
  Json& last = out.back();
  if (last["role"] == "assistant") {
    out.push_back({{"role", "user"}, {"content", text}});
  } else {
    last["content"].get_ref<std::string&>() += "\n\n" + text;
  }
}

Json template_messages(const std::vector<Message>& messages) {
  Json out = Json::array();
  for (const Message& message : messages) {
    if (message.role != Role::system || out.empty()) {
      out.push_back(json_of(message));
    } else if (out.size() == 1 && out[0]["role"] == "system") {
      out[0]["content"].get_ref<std::string&>() += "\n\n" + message.text;
    } else {
      add_later_system(message, out);
    }
  }
  return out;
}

/// About what it takes in a prompt.
double bytes_of(const Message& message) {
  constexpr size_t kAround = 16;
  size_t bytes = kAround + message.text.size() + message.reasoning.size();
  for (const ToolCall& call : message.calls) bytes += kAround + call.name.size() + call.arguments.dump().size();
  return static_cast<double>(bytes);
}

constexpr size_t kNotesMax = 16;
constexpr size_t kUnknownMax = 32;
constexpr size_t kUnknownBytesMax = 64;

}  // namespace

std::string left_out_text(std::string_view type) {
  return fmt::format("[{}: left out, since this model reads text only]", shortened(type, 40));
}

void add_note(std::string note, std::vector<std::string>& notes) {
  if (notes.size() < kNotesMax) notes.push_back(std::move(note));
}

void note_unknown(const Json& body, const std::function<bool(std::string_view key)>& is_known,
                  std::vector<std::string>& notes) {
  std::vector<std::string> unknown;
  for (const auto& [key, value] : body.items()) {
    if (unknown.size() == kUnknownMax) break;
    if (!value.is_null() && !is_known(key)) unknown.push_back(shortened(key, kUnknownBytesMax));
  }
  if (!unknown.empty()) {
    add_note(fmt::format("not known here and left out: {}", fmt::join(unknown, ", ")), notes);
  }
}

void ConversationReader::note_left_out(const std::string& path, const Json& type) const {
  add_note(path + " is of type " + shown(type) + " and was left out", notes);
}

Json template_request(const ChatRequest& request) {
  Json out = Json::object();
  out["messages"] = template_messages(request.messages);
  if (request.continues_message) {
    Json& last = out["messages"].back();
    const bool inside_thinking = request.messages.back().text.empty() && !request.messages.back().reasoning.empty();
    last[inside_thinking ? "reasoning_content" : "content"].get_ref<std::string&>() += kBreak;
  }
  if (!request.tools.json.empty()) out["tools"] = request.tools.json;
  out["add_generation_prompt"] = request.add_generation_prompt && !request.continues_message;
  for (const auto& [name, value] : request.template_variables.items()) out[name] = value;
  return out;
}

size_t drop_oldest(double share, std::vector<Message>& messages) {
  const auto last =
      std::find_if(messages.rbegin(), messages.rend(), [](const Message& m) { return m.role == Role::user; });
  const auto end = static_cast<size_t>(messages.rend() - last) - (last == messages.rend() ? 0 : 1);
  double bytes = 0;
  for (const Message& message : messages) bytes += bytes_of(message);
  double wanted = share * bytes;
  std::vector<Message> kept;
  size_t dropped = 0;
  for (size_t i = 0; i < messages.size(); ++i) {
    // What a tool answered goes with the call that asked.
    const bool orphan =
        messages[i].role == Role::tool && dropped > 0 && (kept.empty() || kept.back().role == Role::system);
    if (i < end && messages[i].role != Role::system && (wanted > 0 || orphan)) {
      wanted -= bytes_of(messages[i]);
      ++dropped;
    } else {
      kept.push_back(std::move(messages[i]));
    }
  }
  messages = std::move(kept);
  return dropped;
}

void cut_at_continuation(const ChatRequest& request, std::string& prompt) {
  if (!request.continues_message) return;
  if (const size_t end = prompt.rfind(kBreak); end != std::string::npos) prompt.resize(end);
}

}  // namespace tessera::server
