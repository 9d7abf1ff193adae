#include <utility>

#include "server/answer.h"
#include "server/openai/logprobs.h"
#include "server/request/chat_choice.h"
#include "server/responses/output_items.h"

namespace tessera::server {
namespace {

using responses::ResponseState;
using responses::ResponseStatus;

class ResponsesAnswer final : public Answer {
 public:
  ResponsesAnswer(const ResponseHead& head, const responses::ResponsesRequest& request, int64_t prompt_tokens,
                  bool opens_thinking, const TokenBytes& token_bytes, responses::ResponseStore& store)
      : id_(head.id),
        store_(request.store ? &store : nullptr),
        prompt_tokens_(prompt_tokens),
        choice_({.request_id = id_,
                 .opens_thinking = opens_thinking,
                 .tools = request.chat.tools.schemas,
                 .parallel_tool_calls = request.chat.parallel_tool_calls,
                 .include_reasoning = request.chat.include_reasoning,
                 .append_logprob = logprobs_of(request, token_bytes),
                 .thinking_logprobs = false}),
        items_(head, request) {}

  void begin(std::string& out) override {
    items_.begin(out);
    keep();
  }

  void feed(size_t /*prompt*/, const Event& event, std::string& out) override { items_.feed(choice_.feed(event), out); }

  void finish(std::string& out) override { end({.status = ResponseStatus::completed}, out); }

  std::string whole() override {
    std::string events;
    finish(events);
    return items_.json();
  }

  void fail(const ApiError& error, std::string& out) override {
    end({.status = ResponseStatus::failed, .error = error}, out);
  }
  void cancel(std::string& out) override { end({.status = ResponseStatus::cancelled}, out); }
  void ping(std::string& out) override { items_.keep_alive(out); }

 private:
  static AppendLogprob logprobs_of(const responses::ResponsesRequest& request, const TokenBytes& token_bytes) {
    if (!request.chat.sampling.logprobs) return {};
    return [token_bytes](const std::vector<TokenLogprob>& entry, std::string& out) {
      openai::append_chat_logprob(entry, token_bytes, out);
    };
  }

  void end(ResponseState state, std::string& out) {
    state.usage = {.prompt_tokens = prompt_tokens_,
                   .completion_tokens = choice_.tokens(),
                   .cached_tokens = choice_.cached_tokens(),
                   .reasoning_tokens = choice_.reasoning_tokens()};
    items_.end(std::move(state), out);
    keep();
  }

  void keep() {
    if (store_ != nullptr) store_->put(id_, items_.stored());
  }

  std::string id_;
  responses::ResponseStore* store_;  // null: it is not kept
  int64_t prompt_tokens_;
  ChatChoice choice_;
  responses::OutputItems items_;
};

}  // namespace

std::unique_ptr<Answer> make_responses_answer(const ResponseHead& head, const responses::ResponsesRequest& request,
                                              int64_t prompt_tokens, bool opens_thinking, const TokenBytes& token_bytes,
                                              responses::ResponseStore& store) {
  return std::make_unique<ResponsesAnswer>(head, request, prompt_tokens, opens_thinking, token_bytes, store);
}

}  // namespace tessera::server
