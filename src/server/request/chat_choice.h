#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "server/request/custom_tool.h"
#include "tessera/engine.h"
#include "text/dialect/reasoning_parser.h"
#include "text/dialect/tool_call_parser.h"

namespace tessera::server {

struct ChatRequest;

struct ToolCallDelta {
  int index = 0;
  std::string id = {}, name = {};  // in the first delta of a call
  std::string arguments = {};      // next fragment of the arguments' JSON text
  bool custom = false;             // of a custom tool: fragments are of its input's text
};

enum class ChatFinish { none, stop, stop_string, length, tool_calls };

/// What one or more events add to a choice.
struct ChatDelta {
  std::string reasoning = {};
  std::string content = {};
  std::vector<ToolCallDelta> tool_calls = {};
  std::string logprobs = {};             // what Options::append_logprob wrote, with commas between
  std::vector<int32_t> tokens = {};      // where they were asked for
  ChatFinish finish = ChatFinish::none;  // in the last delta
  std::string stop_string = {};          // that was found, with ChatFinish::stop_string
  /// The last call is not whole: its arguments break off, and are no JSON. With ChatFinish::length.
  bool call_is_cut = false;
  [[nodiscard]] bool empty() const {  // nothing to say: no chunk
    return reasoning.empty() && content.empty() && tool_calls.empty() && finish == ChatFinish::none;
  }
};

/// Appends the log-probabilities of one generated token, as an API's JSON.
using AppendLogprob = std::function<void(const std::vector<TokenLogprob>&, std::string&)>;

/// A whole message, gathered from deltas.
struct ChatMessageText {
  std::string reasoning = {}, content = {};
  std::vector<ToolCallDelta> tool_calls = {};
  std::string logprobs = {};
  std::vector<int32_t> tokens = {};
  ChatFinish finish = ChatFinish::none;
  std::string stop_string = {};
  bool call_is_cut = false;

  void add(const ChatDelta& delta);
};

/// The events of one choice of a request, as thinking, text and calls, which every API's writer puts in its own words.
class ChatChoice {
 public:
  struct Options {
    std::string request_id = {};  // tool call ids are made from it
    std::string call_prefix = "call_";
    int index = 0;                // of the choice
    bool opens_thinking = false;  // text::prompt_opens_thinking of the rendered prompt
    /// Without tools, or with tool_choice none, calls are not looked for.
    std::vector<text::ToolSchema> tools = {};
    std::vector<std::string> custom_tools = {};  // of these, those whose input is delivered as text
    bool parallel_tool_calls = true;             // false: only the first call is delivered
    bool include_reasoning = true;               // false: reasoning is left out
    bool must_be_whole = false;                  // it follows a format: stopped by anything but the model, it was cut
    bool tells_stop_strings = false;             // of what a stop string ended that is said even so
    bool return_token_ids = false;
    AppendLogprob append_logprob = {};  // none: log-probabilities are not shown
    bool thinking_logprobs = true;      // those of thinking too
  };
  explicit ChatChoice(Options options);

  /// What every API asks of the request's choices alike.
  static Options options_of(const ChatRequest& request, std::string request_id, bool opens_thinking);

  /// The next event; an event that ends the choice ends the parsers. Logprobs and token ids of events that add no text
  /// yet come with the next delta that has any. Events after the last, and FinishReason::cancelled or error, which have
  /// no place in a delta, end it with ChatFinish::none.
  ChatDelta feed(const Event& event);

  /// All so far, without log-probabilities and tokens.
  [[nodiscard]] const ChatMessageText& said() const { return said_; }
  [[nodiscard]] int64_t tokens() const { return tokens_; }
  /// Of the prompt, those that the prefix cache had.
  [[nodiscard]] int64_t cached_tokens() const { return cached_tokens_; }
  /// Of these, what only its tier in the host's memory had.
  [[nodiscard]] int64_t tier_tokens() const { return tier_tokens_; }
  /// Once it has ended.
  [[nodiscard]] const DraftStats& drafts() const { return drafts_; }
  /// Tokens that came while the model was thinking, the closing tag included.
  [[nodiscard]] int64_t reasoning_tokens() const { return reasoning_tokens_; }

 private:
  void take_text(const text::ReasoningParser::Piece& piece, ChatDelta& delta);
  void take_calls(text::ToolCallParser::Piece piece, ChatDelta& delta);
  void take_tokens(const Event& event);
  void end(const Event& event, ChatDelta& delta);
  void end_input(ChatDelta& delta);

  Options options_;
  text::ReasoningParser reasoning_;
  std::optional<text::ToolCallParser> calls_;
  int64_t tokens_ = 0, reasoning_tokens_ = 0, cached_tokens_ = 0, tier_tokens_ = 0;
  DraftStats drafts_;
  int calls_begun_ = 0;
  ChatMessageText said_;
  std::optional<CallInput> input_;   // of the newest call, if its tool is custom
  std::string logprobs_;             // not yet delivered
  std::vector<int32_t> new_tokens_;  // not yet delivered
};

/// `prefix` and 24 letters and digits, made from the request's id, which must be unique.
std::string tool_call_id(std::string_view prefix, std::string_view request_id, int choice, int index);

}  // namespace tessera::server
