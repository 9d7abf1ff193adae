#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "server/openai/completion_request.h"
#include "server/request/api_error.h"
#include "server/request/chat_choice.h"
#include "server/request/chat_request.h"
#include "server/request/token_text.h"
#include "server/request/usage.h"
#include "server/responses/compaction.h"
#include "server/responses/responses_request.h"
#include "tessera/engine.h"

namespace tessera::server {

/// Turns the events of one request into its answer, as a stream of server-sent events or whole. Used by one thread at
/// a time.
class Answer {
 public:
  virtual ~Answer() = default;
  /// Streaming: appends what comes before the first event, at once.
  virtual void begin(std::string& /*out*/) {}
  /// The next event of prompt `prompt` (0 but for completions of several). Streaming: appends events to `out`.
  virtual void feed(size_t prompt, const Event& event, std::string& out) = 0;
  /// Between two passes: what is fed from now on is the second's. Streaming: appends what ends the first.
  virtual void go_on(std::string& /*out*/) {}
  /// Streaming: appends what comes after the last event of all choices.
  virtual void finish(std::string& out) = 0;
  /// Not streaming: the answer's body, after the last event.
  virtual std::string whole() = 0;
  /// Of a conversation: what has been said, for its next turn. Null: what comes is not one answer to it.
  [[nodiscard]] virtual const ChatMessageText* said() const { return nullptr; }
  /// Streaming: the answer as it stood at begin(), for a client that will ask for the rest later.
  virtual std::string standing() { return {}; }
  /// Streaming: appends an error, where it is too late for a status; the stream ends behind it.
  virtual void fail(const ApiError& error, std::string& out) = 0;
  /// Streaming: it ends here, by its client's wish or because the client is gone; appends what comes last.
  virtual void cancel(std::string& /*out*/) {}
  /// Streaming: appends what shows proxies and clients that a silent stream lives.
  virtual void ping(std::string& out) = 0;
};

/// `prompt`: the tokens; `opens_thinking`: text::prompt_opens_thinking of the rendered prompt.
std::unique_ptr<Answer> make_chat_answer(ResponseHead head, const ChatRequest& request, std::vector<int32_t> prompt,
                                         bool opens_thinking, const TokenBytes& token_bytes);

/// The answer of /v1/messages.
std::unique_ptr<Answer> make_messages_answer(ResponseHead head, const ChatRequest& request, int64_t prompt_tokens,
                                             bool opens_thinking);

/// The answer of /v1/responses; `store` keeps it, if that is wanted, with `events` if there are any to be kept. With
/// `summing_up` (null: none) the first pass, or the only one, is the conversation's summary.
std::unique_ptr<Answer> make_responses_answer(const ResponseHead& head, const responses::ResponsesRequest& request,
                                              int64_t prompt_tokens, bool opens_thinking, const TokenBytes& token_bytes,
                                              responses::ResponseStore& store,
                                              std::shared_ptr<responses::EventLog> events,
                                              std::shared_ptr<responses::SummingUp> summing_up);

/// The answer of /v1/responses/compact, whose text is the summary; `user_texts` are kept as they are.
std::unique_ptr<Answer> make_compaction_answer(const ResponseHead& head, std::vector<std::string> user_texts,
                                               int64_t prompt_tokens, bool opens_thinking);

/// `texts`: of the prompts, for echo.
std::unique_ptr<Answer> make_completion_answer(ResponseHead head, const openai::CompletionRequest& request,
                                               std::vector<std::vector<int32_t>> prompts,
                                               std::vector<std::string> texts, const TokenBytes& token_bytes);

}  // namespace tessera::server
