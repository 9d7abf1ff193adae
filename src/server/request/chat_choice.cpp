#include "server/request/chat_choice.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "base/hash.h"
#include "server/request/chat_request.h"

namespace tessera::server {
namespace {

void append_list(std::string_view elements, std::string& out) {
  if (!out.empty() && !elements.empty()) out += ',';
  out += elements;
}

/// One delta per call: what finish() adds joins what feed() gave.
ToolCallDelta& delta_of(int call, ChatDelta& delta) {
  if (delta.tool_calls.empty() || delta.tool_calls.back().index != call) delta.tool_calls.push_back({.index = call});
  return delta.tool_calls.back();
}

}  // namespace

ChatChoice::ChatChoice(Options options) : options_(std::move(options)), reasoning_(options_.opens_thinking) {
  if (!options_.tools.empty()) calls_.emplace(options_.tools);
}

ChatChoice::Options ChatChoice::options_of(const ChatRequest& request, std::string request_id, bool opens_thinking) {
  return {.request_id = std::move(request_id),
          .opens_thinking = opens_thinking,
          .tools = request.tools.schemas,
          .parallel_tool_calls = request.parallel_tool_calls,
          .include_reasoning = request.include_reasoning,
          .must_be_whole = request.format.has_value()};
}

ChatDelta ChatChoice::feed(const Event& event) {
  ChatDelta delta;
  take_tokens(event);
  take_text(reasoning_.feed(event.text), delta);
  if (event.finish_reason != FinishReason::none) end(event, delta);
  said_.add(delta);
  if (!delta.empty()) {
    delta.logprobs = std::exchange(logprobs_, {});
    delta.tokens = std::exchange(new_tokens_, {});
  }
  return delta;
}

void ChatChoice::end(const Event& event, ChatDelta& delta) {
  // Only the model itself ends a call. A limit, a stop string or a stop token of the request's cuts it off.
  const bool cut = event.stop_cause != StopCause::model;
  const bool by_string = event.stop_cause == StopCause::string;
  take_text(reasoning_.finish(), delta);
  if (calls_) {
    take_calls(calls_->finish(cut), delta);
    delta.call_is_cut = cut && calls_->inside_call() && calls_->calls() == calls_begun_;
    if (!delta.call_is_cut) end_input(delta);
  }
  if (event.finish_reason == FinishReason::cancelled || event.finish_reason == FinishReason::error) return;
  if (event.finish_reason == FinishReason::length || delta.call_is_cut) {
    delta.finish = ChatFinish::length;
  } else if (calls_begun_ > 0) {
    delta.finish = ChatFinish::tool_calls;
  } else if (cut && options_.must_be_whole && !(by_string && options_.tells_stop_strings)) {
    delta.finish = ChatFinish::length;
  } else if (by_string) {
    delta.finish = ChatFinish::stop_string;
    delta.stop_string = event.stop_reason;
  } else {
    delta.finish = ChatFinish::stop;
  }
}

void ChatChoice::take_tokens(const Event& event) {
  const auto count = static_cast<int64_t>(event.tokens.size());
  tokens_ += count;
  cached_tokens_ = event.cached_tokens;
  tier_tokens_ = event.tier_tokens;
  drafts_ = event.drafts;
  if (reasoning_.inside()) reasoning_tokens_ += count;
  if (options_.return_token_ids) new_tokens_.insert(new_tokens_.end(), event.tokens.begin(), event.tokens.end());
  if (!options_.append_logprob || (reasoning_.inside() && !options_.thinking_logprobs)) return;
  for (const auto& entry : event.logprobs) {
    std::string element;
    options_.append_logprob(entry, element);
    append_list(element, logprobs_);
  }
}

void ChatChoice::take_text(const text::ReasoningParser::Piece& piece, ChatDelta& delta) {
  if (options_.include_reasoning) delta.reasoning += piece.reasoning;
  if (piece.content.empty()) return;
  if (calls_) {
    take_calls(calls_->feed(piece.content), delta);
  } else {
    delta.content += piece.content;
  }
}

void ChatChoice::take_calls(text::ToolCallParser::Piece piece, ChatDelta& delta) {
  delta.content += piece.content;
  for (text::ToolCallParser::CallDelta& call : piece.calls) {
    if (call.index > 0 && !options_.parallel_tool_calls) continue;
    if (call.index == calls_begun_) {
      end_input(delta);
      ToolCallDelta& out = delta_of(call.index, delta);
      out.id = tool_call_id(options_.call_prefix, options_.request_id, options_.index, call.index);
      out.name = std::move(call.name);
      if (std::ranges::find(options_.custom_tools, out.name) != options_.custom_tools.end()) input_.emplace();
      ++calls_begun_;
    }
    ToolCallDelta& out = delta_of(call.index, delta);
    out.custom = input_.has_value();
    out.arguments += input_ ? input_->feed(call.arguments) : call.arguments;
  }
}

/// Input that could not be given before the call was whole.
void ChatChoice::end_input(ChatDelta& delta) {
  if (!input_) return;
  if (const std::string rest = input_->rest(); !rest.empty()) {
    ToolCallDelta& out = delta_of(calls_begun_ - 1, delta);
    out.custom = true;
    out.arguments += rest;
  }
  input_.reset();
}

std::string tool_call_id(std::string_view prefix, std::string_view request_id, int choice, int index) {
  // A hash of what makes the call unique, and as many digits as needed.
  uint64_t state = fnv1a(request_id);
  for (const auto number : {static_cast<uint32_t>(choice), static_cast<uint32_t>(index)}) {
    std::string bytes;
    for (int shift = 0; shift < 32; shift += 8) bytes += static_cast<char>(number >> shift & 0xFF);
    state = fnv1a(bytes, state);
  }
  static constexpr std::string_view kDigits = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
  std::string id(prefix);
  for (int word = 0; word < 3; ++word) {
    uint64_t z = splitmix64(state);
    for (int digit = 0; digit < 8; ++digit, z /= kDigits.size()) id += kDigits[z % kDigits.size()];
  }
  return id;
}

void ChatMessageText::add(const ChatDelta& delta) {
  reasoning += delta.reasoning;
  content += delta.content;
  for (const ToolCallDelta& call : delta.tool_calls) {
    if (!call.id.empty()) {
      tool_calls.push_back(call);
    } else if (!tool_calls.empty()) {
      tool_calls.back().arguments += call.arguments;
    }
  }
  append_list(delta.logprobs, logprobs);
  tokens.insert(tokens.end(), delta.tokens.begin(), delta.tokens.end());
  if (delta.finish != ChatFinish::none) finish = delta.finish;
  if (!delta.stop_string.empty()) stop_string = delta.stop_string;
  call_is_cut = call_is_cut || delta.call_is_cut;
}

}  // namespace tessera::server
