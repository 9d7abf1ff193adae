#include <utility>

#include "server/answer.h"
#include "server/anthropic/error_json.h"
#include "server/anthropic/message_json.h"
#include "server/request/chat_choice.h"

namespace tessera::server {
namespace {

ChatChoice::Options message_options(const std::string& id, const ChatRequest& request, bool opens_thinking) {
  ChatChoice::Options options = ChatChoice::options_of(request, id, opens_thinking);
  options.call_prefix = "toolu_";
  options.tells_stop_strings = true;
  return options;
}

class MessagesAnswer final : public Answer {
 public:
  MessagesAnswer(ResponseHead head, const ChatRequest& request, int64_t prompt_tokens, bool opens_thinking)
      : head_(std::move(head)),
        streams_(request.stream.stream),
        prompt_tokens_(prompt_tokens),
        choice_(message_options(head_.id, request, opens_thinking)),
        events_(head_) {}

  void begin(std::string& out) override { events_.begin(usage(), out); }

  void feed(size_t /*prompt*/, const Event& event, std::string& out) override {
    const ChatDelta delta = choice_.feed(event);
    if (streams_) {
      events_.feed(delta, out);
    } else {
      message_.add(delta);
    }
  }

  void finish(std::string& out) override { events_.end(usage(), out); }
  std::string whole() override { return anthropic::message_json(head_, message_, usage()); }

  [[nodiscard]] const ChatMessageText* said() const override { return &choice_.said(); }

  void fail(const ApiError& error, std::string& out) override {
    out += "event: error\ndata: " + anthropic::error_json(error) + "\n\n";
  }
  void ping(std::string& out) override { anthropic::MessageEvents::ping(out); }

 private:
  [[nodiscard]] Usage usage() const {
    return {.prompt_tokens = prompt_tokens_,
            .completion_tokens = choice_.tokens(),
            .cached_tokens = choice_.cached_tokens()};
  }

  ResponseHead head_;
  bool streams_;
  int64_t prompt_tokens_;
  ChatChoice choice_;
  anthropic::MessageEvents events_;  // streaming
  ChatMessageText message_;          // not streaming
};

}  // namespace

std::unique_ptr<Answer> make_messages_answer(ResponseHead head, const ChatRequest& request, int64_t prompt_tokens,
                                             bool opens_thinking) {
  return std::make_unique<MessagesAnswer>(std::move(head), request, prompt_tokens, opens_thinking);
}

}  // namespace tessera::server
