#include "server/answer.h"

#include <utility>

#include "server/openai/error_json.h"
#include "server/openai/logprobs.h"
#include "server/openai/responses.h"
#include "server/request/chat_choice.h"

namespace tessera::server {
namespace {

using openai::ChunkWriter;

constexpr std::string_view kData = "data: ";
constexpr std::string_view kEnd = "\n\n";
constexpr std::string_view kDone = "data: [DONE]\n\n";
constexpr std::string_view kComment = ": waiting\n\n";

template <typename Choices>
DraftStats drafts_of(const Choices& choices) {
  DraftStats all;
  for (const auto& choice : choices) all += choice.drafts();
  return all;
}

/// What both kinds share of streaming.
struct Stream {
  Stream(ChunkWriter::Kind kind, const ResponseHead& head, const StreamFields& given, bool legacy_calls = false)
      : fields(given), writer(kind, head, given.include_usage, legacy_calls) {}

  template <typename Write>
  void chunk(std::string& out, Write write) const {
    out += kData;
    write(out);
    out += kEnd;
  }

  void finish(const Usage& usage, std::string& out) const {
    if (fields.include_usage) chunk(out, [&](std::string& to) { writer.usage(usage, to); });
    out += kDone;
  }

  static void fail(const ApiError& error, std::string& out) {
    out += kData;
    out += openai::error_json(error);
    out += kEnd;
    out += kDone;
  }

  StreamFields fields;
  ChunkWriter writer;
};

class ChatAnswer final : public Answer {
 public:
  ChatAnswer(ResponseHead head, const ChatRequest& request, std::vector<int32_t> prompt, bool opens_thinking,
             const TokenBytes& token_bytes)
      : head_(std::move(head)),
        stream_(ChunkWriter::Kind::chat, head_, request.stream, request.legacy_functions),
        legacy_functions_(request.legacy_functions),
        return_token_ids_(request.return_token_ids),
        return_draft_stats_(request.return_draft_stats),
        logprobs_(request.sampling.logprobs.has_value()),
        echo_(request.echo),
        prompt_(std::move(prompt)),
        token_bytes_(token_bytes) {
    ChatChoice::Options options = ChatChoice::options_of(request, head_.id, opens_thinking);
    options.custom_tools = request.tools.custom_names();
    options.return_token_ids = request.return_token_ids;
    if (logprobs_) {
      options.append_logprob = [token_bytes](const std::vector<TokenLogprob>& entry, std::string& out) {
        openai::append_chat_logprob(entry, token_bytes, out);
      };
    }
    for (int i = 0; i < request.sampling.n; ++i) {
      options.index = i;
      choices_.emplace_back(options);
    }
    begun_.resize(choices_.size());
    messages_.resize(choices_.size());
    for (ChatMessageText& message : messages_) message.content = echo_;
  }

  void feed(size_t /*prompt*/, const Event& event, std::string& out) override {
    const auto index = static_cast<size_t>(event.choice);
    const ChatDelta delta = choices_[index].feed(event);
    if (!event.prompt_logprobs.empty()) {
      prompt_logprobs_ = openai::prompt_logprobs_json(event.prompt_logprobs, token_bytes_);
    }
    if (!stream_.fields.stream) {
      messages_[index].add(delta);
      return;
    }
    const Usage now = stream_.fields.continuous_usage ? usage() : Usage();
    const Usage* shown = stream_.fields.continuous_usage ? &now : nullptr;
    if (!begun_[index]) {
      const bool ids = return_token_ids_ && !std::exchange(prompt_shown_, true);
      stream_.chunk(out,
                    [&](std::string& to) { stream_.writer.role(event.choice, to, ids ? &prompt_ : nullptr, shown); });
      begun_[index] = true;
      if (!echo_.empty()) {
        stream_.chunk(out, [&](std::string& to) { stream_.writer.delta(event.choice, {.content = echo_}, to, shown); });
      }
    }
    if (delta.empty()) return;
    stream_.chunk(out, [&](std::string& to) { stream_.writer.delta(event.choice, delta, to, shown); });
  }

  void finish(std::string& out) override { stream_.finish(usage(), out); }

  std::string whole() override {
    return openai::chat_completion_json(head_, {.choices = std::move(messages_),
                                                .usage = usage(),
                                                .logprobs = logprobs_,
                                                .legacy_calls = legacy_functions_,
                                                .prompt_logprobs = std::move(prompt_logprobs_),
                                                .prompt_token_ids = return_token_ids_ ? &prompt_ : nullptr});
  }

  [[nodiscard]] const ChatMessageText* said() const override { return &choices_.front().said(); }
  void fail(const ApiError& error, std::string& out) override { Stream::fail(error, out); }
  void ping(std::string& out) override { out += kComment; }

 private:
  [[nodiscard]] Usage usage() const {
    Usage usage{.prompt_tokens = static_cast<int64_t>(prompt_.size()),
                .cached_tokens = choices_.front().cached_tokens(),
                .tier_tokens = choices_.front().tier_tokens()};
    for (const ChatChoice& choice : choices_) {
      usage.completion_tokens += choice.tokens();
      usage.reasoning_tokens += choice.reasoning_tokens();
    }
    if (return_draft_stats_) usage.drafts = drafts_of(choices_);
    return usage;
  }

  ResponseHead head_;
  Stream stream_;
  bool legacy_functions_, return_token_ids_, return_draft_stats_, logprobs_;
  std::string echo_;
  std::vector<int32_t> prompt_;
  TokenBytes token_bytes_;
  std::vector<ChatChoice> choices_;
  std::vector<ChatMessageText> messages_;  // not streaming
  std::vector<bool> begun_;                // the role was sent
  bool prompt_shown_ = false;
  std::string prompt_logprobs_;
};

class CompletionAnswer final : public Answer {
 public:
  CompletionAnswer(ResponseHead head, const openai::CompletionRequest& request,
                   std::vector<std::vector<int32_t>> prompts, std::vector<std::string> texts,
                   const TokenBytes& token_bytes)
      : head_(std::move(head)),
        stream_(ChunkWriter::Kind::completion, head_, request.stream),
        n_(static_cast<size_t>(request.sampling.n)),
        echo_(request.echo),
        return_token_ids_(request.return_token_ids),
        return_draft_stats_(request.return_draft_stats),
        show_prompt_logprobs_(request.prompt_logprobs),
        waits_for_prompt_(request.echo && request.sampling.prompt_logprobs.has_value()),
        prompts_(std::move(prompts)),
        texts_(std::move(texts)),
        token_bytes_(token_bytes),
        choices_(prompts_.size() * n_, openai::CompletionChoice({.logprobs = request.sampling.logprobs.has_value(),
                                                                 .return_token_ids = request.return_token_ids,
                                                                 .must_be_whole = request.format.has_value(),
                                                                 .token_bytes = token_bytes})),
        gathered_(choices_.size()),
        begun_(choices_.size()),
        prompt_logprobs_(prompts_.size()),
        held_(prompts_.size()) {}

  void feed(size_t prompt, const Event& event, std::string& out) override {
    if (!event.prompt_logprobs.empty()) prompt_logprobs_[prompt] = event.prompt_logprobs;
    // With echo, every choice begins with what came with choice 0.
    if (waits_for_prompt_ && prompt_logprobs_[prompt].empty()) {
      held_[prompt].push_back(event);
      return;
    }
    take(prompt, event, out);
    for (const Event& held : std::exchange(held_[prompt], {})) take(prompt, held, out);
  }

  void finish(std::string& out) override { stream_.finish(usage(), out); }

  std::string whole() override {
    openai::CompletionAnswer answer{.usage = usage()};
    for (size_t i = 0; i < choices_.size(); ++i) {
      const size_t prompt = i / n_;
      answer.choices.push_back(
          {.all = std::move(gathered_[i]), .prompt_token_ids = return_token_ids_ ? &prompts_[prompt] : nullptr});
      if (show_prompt_logprobs_) {
        answer.choices.back().prompt_logprobs = openai::prompt_logprobs_json(prompt_logprobs_[prompt], token_bytes_);
      }
    }
    return openai::completion_json(head_, answer);
  }

  void fail(const ApiError& error, std::string& out) override { Stream::fail(error, out); }
  void ping(std::string& out) override { out += kComment; }

 private:
  [[nodiscard]] Usage usage() const {
    Usage usage;
    for (const auto& prompt : prompts_) usage.prompt_tokens += static_cast<int64_t>(prompt.size());
    for (const openai::CompletionChoice& choice : choices_) usage.completion_tokens += choice.tokens();
    for (size_t i = 0; i < choices_.size(); i += n_) {
      usage.cached_tokens += choices_[i].cached_tokens();
      usage.tier_tokens += choices_[i].tier_tokens();
    }
    if (return_draft_stats_) usage.drafts = drafts_of(choices_);
    return usage;
  }

  void take(size_t prompt, const Event& event, std::string& out) {
    const size_t index = prompt * n_ + static_cast<size_t>(event.choice);
    if (echo_ && !begun_[index])
      deliver(index, choices_[index].echo(texts_[prompt], prompts_[prompt], prompt_logprobs_[prompt]), out);
    begun_[index] = true;
    deliver(index, choices_[index].feed(event), out);
  }

  void deliver(size_t index, const openai::CompletionDelta& delta, std::string& out) {
    if (!stream_.fields.stream) {
      gathered_[index].add(delta);
    } else if (!delta.empty() || !delta.tokens.empty()) {
      const Usage now = stream_.fields.continuous_usage ? usage() : Usage();
      stream_.chunk(out, [&](std::string& to) {
        stream_.writer.delta(static_cast<int>(index), delta, to, stream_.fields.continuous_usage ? &now : nullptr);
      });
    }
  }

  ResponseHead head_;
  Stream stream_;
  size_t n_;
  bool echo_, return_token_ids_, return_draft_stats_, show_prompt_logprobs_, waits_for_prompt_;
  std::vector<std::vector<int32_t>> prompts_;
  std::vector<std::string> texts_;
  TokenBytes token_bytes_;
  std::vector<openai::CompletionChoice> choices_;  // prompt * n + choice
  std::vector<openai::CompletionDelta> gathered_;  // not streaming
  std::vector<bool> begun_;
  std::vector<std::vector<std::vector<TokenLogprob>>> prompt_logprobs_;  // of each prompt
  std::vector<std::vector<Event>> held_;                                 // of each prompt
};

}  // namespace

std::unique_ptr<Answer> make_chat_answer(ResponseHead head, const ChatRequest& request, std::vector<int32_t> prompt,
                                         bool opens_thinking, const TokenBytes& token_bytes) {
  return std::make_unique<ChatAnswer>(std::move(head), request, std::move(prompt), opens_thinking, token_bytes);
}

std::unique_ptr<Answer> make_completion_answer(ResponseHead head, const openai::CompletionRequest& request,
                                               std::vector<std::vector<int32_t>> prompts,
                                               std::vector<std::string> texts, const TokenBytes& token_bytes) {
  return std::make_unique<CompletionAnswer>(std::move(head), request, std::move(prompts), std::move(texts),
                                            token_bytes);
}

}  // namespace tessera::server
