#include "cli/batch_run.h"

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <map>
#include <mutex>
#include <optional>

#include "cli/console.h"
#include "cli/interrupt.h"
#include "text/dialect/reasoning_parser.h"

namespace tessera::cli {
namespace {

using Json = nlohmann::ordered_json;
using Clock = std::chrono::steady_clock;

constexpr int64_t kOpenChoicesMax = 1024;  // the engine refuses more open requests

/// Which requests have news, told by the engine's thread and awaited by ours.
class ReadyQueue {
 public:
  void push(int64_t index) {
    const std::lock_guard lock(mutex_);
    ready_.push_back(index);
    changed_.notify_one();
  }
  void interrupt() {
    const std::lock_guard lock(mutex_);
    interrupted_ = true;
    changed_.notify_one();
  }
  [[nodiscard]] bool interrupted() const {
    const std::lock_guard lock(mutex_);
    return interrupted_;
  }
  /// nullopt after a second without news, or when interrupted.
  std::optional<int64_t> pop() {
    std::unique_lock lock(mutex_);
    changed_.wait_for(lock, std::chrono::seconds(1), [this] { return interrupted_ || !ready_.empty(); });
    if (interrupted_ || ready_.empty()) return std::nullopt;
    const int64_t index = ready_.front();
    ready_.pop_front();
    return index;
  }

 private:
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<int64_t> ready_;
  bool interrupted_ = false;
};

struct Choice {
  std::optional<text::ReasoningParser> parser;  // none for raw prompts and token ids
  std::string text, reasoning;
  std::vector<int32_t> tokens;
  std::vector<std::vector<TokenLogprob>> logprobs;
  FinishReason reason = FinishReason::none;
  std::string stop_reason;
  Status error;

  void add(const text::ReasoningParser::Piece& piece) {
    reasoning += piece.reasoning;
    text += piece.content;
  }
};

struct Running {
  RequestStream stream;
  Json id;
  size_t prompt_tokens = 0;
  bool wants_logprobs = false;
  std::vector<Choice> choices;
};

Json logprobs_json(const Engine& engine, const std::vector<std::vector<TokenLogprob>>& logprobs) {
  const auto entry = [&](const TokenLogprob& token) -> Json {
    return {{"id", token.token},
            {"token", engine.detokenize({token.token}, false)},
            {"logprob", token.logprob},
            {"rank", token.rank}};
  };
  Json list = Json::array();
  for (const auto& alternatives : logprobs) {
    if (alternatives.empty()) continue;
    Json token = entry(alternatives.front());
    token["top"] = Json::array();
    for (size_t i = 1; i < alternatives.size(); ++i) token["top"].push_back(entry(alternatives[i]));
    list.push_back(std::move(token));
  }
  return list;
}

class Batch {
 public:
  Batch(Engine& engine, const BatchInput& input, const BatchOptions& options, BatchOutput& output)
      : engine_(engine), input_(input), options_(options), output_(output) {}

  Status run() {
    const OnInterrupt stop([this] { ready_.interrupt(); });
    std::erase_if(todo_, [this](const BatchItem& item) { return output_.done().contains(item.index); });
    if (!options_.quiet && todo_.size() < input_.items.size()) {
      note("{} of {} prompts are answered already; going on with the rest", input_.items.size() - todo_.size(),
           input_.items.size());
    }
    // Twice what runs at once: the next ones wait inside the engine, and nothing idles.
    const int64_t choices_max = std::min(kOpenChoicesMax, 2 * int64_t{engine_.fit().max_num_seqs});
    size_t next = 0;
    while (next < todo_.size() || !running_.empty()) {
      while (next < todo_.size() && choices_running_ < choices_max && !ready_.interrupted()) {
        TESSERA_RETURN_IF_ERROR(start(todo_[next++]));
      }
      const auto index = ready_.pop();
      if (index) TESSERA_RETURN_IF_ERROR(read_events(*index));
      if (!engine_.status().ok() || ready_.interrupted()) {
        TESSERA_RETURN_IF_ERROR(write_what_is_finished());
        return engine_.status().ok() ? interrupted() : engine_.status();
      }
      report(/*last=*/false);
    }
    report(/*last=*/true);
    failed_ += output_.failed();
    if (failed_ == 0) return {};
    return error(StatusCode::invalid_argument, "{} of {} prompts could not be run; their lines say why", failed_,
                 input_.items.size());
  }

 private:
  [[nodiscard]] Status interrupted() const {
    return error(StatusCode::cancelled,
                 "interrupted with {} of {} prompts answered; the same command goes on from here",
                 output_.done().size() + answered_, input_.items.size());
  }

  Status start(const BatchItem& item) {
    auto running = submit(item);
    if (!engine_.status().ok()) return {};  // no prompt's fault: the same command goes on from here
    if (!running.ok()) {
      ++failed_;
      return write(
          {{"index", item.index}, {"digest", output_.digest(item.index)}, {"error", running.status().message()}});
    }
    choices_running_ += static_cast<int64_t>(running->choices.size());
    Running& kept = running_.emplace(item.index, std::move(*running)).first->second;
    kept.stream.on_ready([this, index = item.index] { ready_.push(index); });
    return {};
  }

  Expected<Running> submit(const BatchItem& item) {
    TESSERA_ASSIGN_OR_RETURN(BatchRequest request, parse_batch_item(item, input_.is_json, options_.defaults));
    Prompt prompt{.tokens = std::move(request.token_ids)};
    const bool by_text = !request.messages.empty();
    if (by_text) {
      TESSERA_ASSIGN_OR_RETURN(prompt, make_prompt(engine_, std::move(request.messages), request.prompt));
    }
    const size_t prompt_tokens = prompt.tokens.size();
    Choice choice;
    if (by_text && !request.prompt.raw) choice.parser.emplace(prompt.opens_thinking);
    std::vector<Choice> choices(static_cast<size_t>(request.sampling.n), choice);
    const bool wants_logprobs = request.sampling.logprobs.has_value();
    TESSERA_ASSIGN_OR_RETURN(Guide guide, make_guide(engine_, prompt, request.prompt.grammar));
    Request submitted{
        .prompt = std::move(prompt.tokens), .sampling = std::move(request.sampling), .guide = std::move(guide)};
    if (choice.parser) submitted.stop_scope = {.opens_thinking = prompt.opens_thinking};
    TESSERA_ASSIGN_OR_RETURN(RequestStream stream, engine_.submit(std::move(submitted)));
    return Running{.stream = std::move(stream),
                   .id = std::move(request.id),
                   .prompt_tokens = prompt_tokens,
                   .wants_logprobs = wants_logprobs,
                   .choices = std::move(choices)};
  }

  Status read_events(int64_t index) {
    const auto found = running_.find(index);
    if (found == running_.end()) return {};  // several calls told of the same news
    Running& running = found->second;
    while (const auto event = running.stream.try_next()) {
      Choice& choice = running.choices[static_cast<size_t>(event->choice)];
      if (choice.parser) {
        choice.add(choice.parser->feed(event->text));
      } else {
        choice.text += event->text;
      }
      choice.tokens.insert(choice.tokens.end(), event->tokens.begin(), event->tokens.end());
      choice.logprobs.insert(choice.logprobs.end(), event->logprobs.begin(), event->logprobs.end());
      tokens_ += static_cast<int64_t>(event->tokens.size());
      if (event->finish_reason == FinishReason::none) continue;
      if (choice.parser) choice.add(choice.parser->finish());
      choice.reason = event->finish_reason;
      choice.stop_reason = event->stop_reason;
      choice.error = event->error;
    }
    if (!running.stream.finished() || was_lost(running)) return {};
    choices_running_ -= static_cast<int64_t>(running.choices.size());
    Json line = answer(index, running);
    ++(line.contains("error") ? failed_ : answered_);
    running_.erase(found);
    return write(line);
  }

  /// Answers that were complete when the batch was interrupted or the engine stopped, and that nobody has read.
  Status write_what_is_finished() {
    for (auto next = running_.begin(); next != running_.end();) {
      const int64_t index = (next++)->first;  // read_events() erases what it has written
      TESSERA_RETURN_IF_ERROR(read_events(index));
    }
    return {};
  }

  /// Whether the engine has stopped under it.
  bool was_lost(const Running& running) const {
    const bool failed = std::any_of(running.choices.begin(), running.choices.end(),
                                    [](const Choice& choice) { return choice.reason == FinishReason::error; });
    return failed && !engine_.status().ok();
  }

  Json answer(int64_t index, const Running& running) const {
    Json line = {{"index", index}};
    if (!output_.digest(index).empty()) line["digest"] = output_.digest(index);
    if (!running.id.is_null()) line["id"] = running.id;
    size_t tokens = 0;
    Json choices = Json::array();
    for (const Choice& choice : running.choices) {
      if (choice.reason == FinishReason::error) line["error"] = choice.error.message();
      choices.push_back(choice_json(choice, running.wants_logprobs));
      tokens += choice.tokens.size();
    }
    if (choices.size() == 1) {
      line.update(choices.front());
    } else {
      line["choices"] = std::move(choices);
    }
    line["usage"] = {{"prompt_tokens", running.prompt_tokens}, {"completion_tokens", tokens}};
    return line;
  }

  Json choice_json(const Choice& choice, bool wants_logprobs) const {
    Json json = {{"text", choice.text}};
    if (!choice.reasoning.empty()) json["reasoning"] = choice.reasoning;
    json["finish_reason"] = name(choice.reason);
    if (!choice.stop_reason.empty()) json["stop_reason"] = choice.stop_reason;
    if (options_.token_ids) json["token_ids"] = choice.tokens;
    if (wants_logprobs) json["logprobs"] = logprobs_json(engine_, choice.logprobs);
    return json;
  }

  Status write(const Json& line) { return output_.write(line.dump(-1, ' ', false, Json::error_handler_t::replace)); }

  void report(bool last) {
    if (options_.quiet || todo_.empty()) return;
    const auto now = Clock::now();
    const bool terminal = has_style(Stream::err);
    if (!last && now - reported_ < std::chrono::seconds(terminal ? 1 : 10)) return;
    reported_ = now;
    const double seconds = std::chrono::duration<double>(now - start_).count();
    const std::string text =
        fmt::format("answered {} of {}, {} tokens in {} ({:.1f} tokens/s)", answered_, todo_.size(), tokens_,
                    format_seconds(seconds), static_cast<double>(tokens_) / seconds);
    write_err(terminal ? fmt::format("\r\x1b[K{}{}", text, last ? "\n" : "") : text + "\n");
  }

  Engine& engine_;
  const BatchInput& input_;
  const BatchOptions& options_;
  BatchOutput& output_;
  std::vector<BatchItem> todo_ = input_.items;
  ReadyQueue ready_;  // outlives the streams, whose callbacks use it
  std::map<int64_t, Running> running_;
  int64_t choices_running_ = 0;
  size_t answered_ = 0, failed_ = 0;
  int64_t tokens_ = 0;
  Clock::time_point start_ = Clock::now();
  Clock::time_point reported_ = start_;
};

}  // namespace

Status run_batch(Engine& engine, const BatchInput& input, const BatchOptions& options, BatchOutput& output) {
  return Batch(engine, input, options, output).run();
}

}  // namespace tessera::cli
