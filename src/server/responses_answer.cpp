#include <utility>

#include "server/answer.h"
#include "server/openai/logprobs.h"
#include "server/request/chat_choice.h"
#include "server/responses/output_items.h"

namespace tessera::server {
namespace {

using responses::ResponseState;
using responses::ResponseStatus;

Usage usage_of(const ChatChoice& choice, int64_t prompt_tokens) {
  return {.prompt_tokens = prompt_tokens,
          .completion_tokens = choice.tokens(),
          .cached_tokens = choice.cached_tokens(),
          .reasoning_tokens = choice.reasoning_tokens()};
}

class ResponsesAnswer final : public Answer {
 public:
  ResponsesAnswer(const ResponseHead& head, const responses::ResponsesRequest& request, int64_t prompt_tokens,
                  bool opens_thinking, const TokenBytes& token_bytes, responses::ResponseStore& store,
                  std::shared_ptr<responses::EventLog> events, std::shared_ptr<responses::SummingUp> summing_up)
      : id_(head.id),
        store_(request.store ? &store : nullptr),
        events_(std::move(events)),
        summing_up_(std::move(summing_up)),
        prompt_tokens_(prompt_tokens),
        options_(options_of(id_, request.chat, opens_thinking, token_bytes)),
        choice_(summing_up_ ? ChatChoice::Options{.request_id = id_, .opens_thinking = opens_thinking} : options_),
        items_(head, request) {}

  void begin(std::string& out) override {
    items_.begin(out);
    keep();
  }

  void feed(size_t /*prompt*/, const Event& event, std::string& out) override {
    const ChatDelta delta = choice_.feed(event);
    if (summing_up_) {
      summing_up_->compaction.summary += delta.content;
    } else {
      items_.feed(delta, out);
    }
  }

  void go_on(std::string& out) override {
    prompt_tokens_ = summing_up_->prompt_tokens;
    options_.opens_thinking = summing_up_->opens_thinking;
    choice_ = ChatChoice(options_);
    end_summary(out);
  }

  void finish(std::string& out) override {
    if (summing_up_) end_summary(out);
    end({.status = ResponseStatus::completed}, out);
  }

  std::string whole() override {
    std::string events;
    finish(events);
    return items_.json();
  }

  std::string standing() override { return items_.json(); }
  [[nodiscard]] const ChatMessageText* said() const override { return &choice_.said(); }

  void fail(const ApiError& error, std::string& out) override {
    end({.status = ResponseStatus::failed, .error = error}, out);
  }
  void cancel(std::string& out) override { end({.status = ResponseStatus::cancelled}, out); }
  void ping(std::string& out) override { items_.keep_alive(out); }

 private:
  static ChatChoice::Options options_of(const std::string& id, const ChatRequest& request, bool opens_thinking,
                                        const TokenBytes& token_bytes) {
    ChatChoice::Options options = ChatChoice::options_of(request, id, opens_thinking);
    options.thinking_logprobs = false;
    if (request.sampling.logprobs) {
      options.append_logprob = [token_bytes](const std::vector<TokenLogprob>& entry, std::string& out) {
        openai::append_chat_logprob(entry, token_bytes, out);
      };
    }
    return options;
  }

  void end_summary(std::string& out) {
    items_.add_compaction(summing_up_->compaction, out);
    summing_up_.reset();
  }

  void end(ResponseState state, std::string& out) {
    state.usage = usage_of(choice_, prompt_tokens_);
    items_.end(std::move(state), out);
    keep();
  }

  void keep() {
    if (store_ == nullptr) return;
    responses::StoredResponse stored = items_.stored();
    stored.events = events_;
    store_->put(id_, std::move(stored));
  }

  std::string id_;
  responses::ResponseStore* store_;                   // null: it is not kept
  std::shared_ptr<responses::EventLog> events_;       // null: they are not kept
  std::shared_ptr<responses::SummingUp> summing_up_;  // null: what comes is the answer
  int64_t prompt_tokens_;
  ChatChoice::Options options_;
  ChatChoice choice_;
  responses::OutputItems items_;
};

/// A conversation in short: the answer's text.
class CompactionAnswer final : public Answer {
 public:
  CompactionAnswer(ResponseHead head, std::vector<std::string> user_texts, int64_t prompt_tokens, bool opens_thinking)
      : head_(std::move(head)),
        user_texts_(std::move(user_texts)),
        prompt_tokens_(prompt_tokens),
        choice_({.request_id = head_.id, .opens_thinking = opens_thinking}) {}

  void feed(size_t /*prompt*/, const Event& event, std::string& /*out*/) override {
    summary_ += choice_.feed(event).content;
  }
  std::string whole() override {
    return responses::compaction_json(head_, user_texts_, summary_, usage_of(choice_, prompt_tokens_));
  }
  void finish(std::string& /*out*/) override {}
  void fail(const ApiError& /*error*/, std::string& /*out*/) override {}
  void ping(std::string& /*out*/) override {}

 private:
  ResponseHead head_;
  std::vector<std::string> user_texts_;
  int64_t prompt_tokens_;
  ChatChoice choice_;
  std::string summary_;
};

}  // namespace

std::unique_ptr<Answer> make_compaction_answer(const ResponseHead& head, std::vector<std::string> user_texts,
                                               int64_t prompt_tokens, bool opens_thinking) {
  return std::make_unique<CompactionAnswer>(head, std::move(user_texts), prompt_tokens, opens_thinking);
}

std::unique_ptr<Answer> make_responses_answer(const ResponseHead& head, const responses::ResponsesRequest& request,
                                              int64_t prompt_tokens, bool opens_thinking, const TokenBytes& token_bytes,
                                              responses::ResponseStore& store,
                                              std::shared_ptr<responses::EventLog> events,
                                              std::shared_ptr<responses::SummingUp> summing_up) {
  return std::make_unique<ResponsesAnswer>(head, request, prompt_tokens, opens_thinking, token_bytes, store,
                                           std::move(events), std::move(summing_up));
}

}  // namespace tessera::server
