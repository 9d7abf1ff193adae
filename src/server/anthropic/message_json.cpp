#include "server/anthropic/message_json.h"

#include <fmt/format.h>

#include <utility>

#include "base/hash.h"
#include "server/request/json_text.h"

namespace tessera::server::anthropic {
namespace {

constexpr std::string_view kEnd = "\n\n";

/// Clients send thinking back only where it is signed. It is text like any other here, so the signature says no more
/// than which text it was made for, and is not checked.
std::string signature(std::string_view thinking) { return fmt::format("tessera-{:016x}", fnv1a(thinking)); }

void append_usage(const Usage& usage, std::string& out) {
  fmt::format_to(std::back_inserter(out),
                 R"({{"input_tokens":{},"cache_creation_input_tokens":0,"cache_read_input_tokens":{},)"
                 R"("output_tokens":{}}})",
                 usage.prompt_tokens - usage.cached_tokens, usage.cached_tokens, usage.completion_tokens);
}

const char* stop_reason(ChatFinish finish) {
  switch (finish) {
    case ChatFinish::none: return nullptr;
    case ChatFinish::stop: return "end_turn";
    case ChatFinish::stop_string: return "stop_sequence";
    case ChatFinish::length: return "max_tokens";
    case ChatFinish::tool_calls: break;
  }
  return "tool_use";
}

/// "stop_reason": ..., "stop_sequence": ...
void append_stop(ChatFinish finish, std::string_view stop_string, std::string& out) {
  const char* reason = stop_reason(finish);
  out += R"("stop_reason":)";
  out += reason == nullptr ? "null" : fmt::format("\"{}\"", reason);
  out += R"(,"stop_sequence":)";
  if (finish == ChatFinish::stop_string) {
    append_string(stop_string, out);
  } else {
    out += "null";
  }
}

/// {"id": ..., "content": [
void append_opening(const ResponseHead& head, std::string& out) {
  out += R"({"id":)";
  append_string(head.id, out);
  out += R"(,"type":"message","role":"assistant","model":)";
  append_string(head.model, out);
  out += R"(,"content":[)";
}

void append_block(std::string_view block, std::string& content) {
  if (!content.empty()) content += ',';
  content += block;
}

std::string text_member(std::string_view type, std::string_view key, std::string_view text) {
  std::string out = fmt::format(R"("type":"{}","{}":)", type, key);
  append_string(text, out);
  return out;
}

std::string call_member(const ToolCallDelta& call) {
  std::string out = R"("type":"tool_use","id":)";
  append_string(call.id, out);
  out += R"(,"name":)";
  append_string(call.name, out);
  return out;
}

void append_event(std::string_view type, std::string_view members, std::string& out) {
  fmt::format_to(std::back_inserter(out), "event: {0}\ndata: {{\"type\":\"{0}\"{1}}}{2}", type, members, kEnd);
}

}  // namespace

std::string message_json(const ResponseHead& head, const ChatMessageText& message, const Usage& usage) {
  std::string content;
  if (!message.reasoning.empty()) {
    append_block(fmt::format(R"({{{},"signature":"{}"}})", text_member("thinking", "thinking", message.reasoning),
                             signature(message.reasoning)),
                 content);
  }
  if (!message.content.empty())
    append_block(fmt::format("{{{}}}", text_member("text", "text", message.content)), content);
  const size_t whole_calls = message.tool_calls.size() - (message.call_is_cut ? 1 : 0);
  for (size_t i = 0; i < whole_calls; ++i) {
    const ToolCallDelta& call = message.tool_calls[i];
    append_block(fmt::format(R"({{{},"input":{}}})", call_member(call), call.arguments), content);
  }
  std::string out;
  append_opening(head, out);
  out += content;
  out += "],";
  append_stop(message.finish, message.stop_string, out);
  out += R"(,"usage":)";
  append_usage(usage, out);
  return out + "}";
}

std::string count_json(int64_t tokens) { return fmt::format(R"({{"input_tokens":{}}})", tokens); }

void MessageEvents::begin(const Usage& usage, std::string& out) const {
  std::string message = R"(,"message":)";
  append_opening(head_, message);
  message += "],";
  append_stop(ChatFinish::none, {}, message);
  message += R"(,"usage":)";
  append_usage(usage, message);
  append_event("message_start", message + "}", out);
  ping(out);
}

void MessageEvents::ping(std::string& out) { append_event("ping", "", out); }

void MessageEvents::open(Block block, std::string_view content, std::string& out) {
  close(out);
  block_ = block;
  ++index_;
  append_event("content_block_start", fmt::format(R"(,"index":{},"content_block":{{{}}})", index_, content), out);
}

void MessageEvents::close(std::string& out) {
  if (block_ == Block::none) return;
  if (block_ == Block::thinking) delta("signature_delta", "signature", signature(std::exchange(thinking_, {})), out);
  append_event("content_block_stop", fmt::format(R"(,"index":{})", index_), out);
  block_ = Block::none;
}

void MessageEvents::delta(std::string_view type, std::string_view key, std::string_view text, std::string& out) const {
  append_event("content_block_delta",
               fmt::format(R"(,"index":{},"delta":{{{}}})", index_, text_member(type, key, text)), out);
}

void MessageEvents::feed(const ChatDelta& next, std::string& out) {
  if (!next.reasoning.empty()) {
    if (block_ != Block::thinking) open(Block::thinking, R"("type":"thinking","thinking":"","signature":"")", out);
    thinking_ += next.reasoning;
    delta("thinking_delta", "thinking", next.reasoning, out);
  }
  if (!next.content.empty()) {
    if (block_ != Block::text) open(Block::text, R"("type":"text","text":"")", out);
    delta("text_delta", "text", next.content, out);
  }
  for (const ToolCallDelta& call : next.tool_calls) {
    if (!call.id.empty()) open(Block::call, call_member(call) + R"(,"input":{})", out);
    if (!call.arguments.empty()) delta("input_json_delta", "partial_json", call.arguments, out);
  }
  if (next.finish != ChatFinish::none) {
    finish_ = next.finish;
    stop_string_ = next.stop_string;
  }
}

void MessageEvents::end(const Usage& usage, std::string& out) {
  close(out);
  std::string members = R"(,"delta":{)";
  append_stop(finish_, stop_string_, members);
  members += R"(},"usage":)";
  append_usage(usage, members);
  append_event("message_delta", members, out);
  append_event("message_stop", "", out);
}

}  // namespace tessera::server::anthropic
