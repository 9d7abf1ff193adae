#include "cli/generate.h"

#include <chrono>

#include "base/status.h"
#include "cli/console.h"
#include "cli/interrupt.h"
#include "server/request/guide.h"
#include "text/dialect/reasoning_parser.h"

namespace tessera::cli {
Expected<Prompt> make_prompt(Engine& engine, std::vector<ChatMessage> messages, const PromptOptions& options) {
  Prompt prompt;
  if (options.raw) {
    TESSERA_ASSIGN_OR_RETURN(prompt.tokens, engine.tokenize(messages.back().content));
    prompt.raw = true;
    return prompt;
  }
  if (messages.front().role == "developer") messages.front().role = "system";  // as the server does
  if (!options.system.empty() && messages.front().role != "system") {
    messages.insert(messages.begin(), {.role = "system", .content = options.system});
  }
  TESSERA_ASSIGN_OR_RETURN(const RenderedChat chat, engine.render_chat(messages, options.enable_thinking));
  TESSERA_ASSIGN_OR_RETURN(prompt.tokens, engine.tokenize(chat));
  prompt.opens_thinking = text::prompt_opens_thinking(chat.text);
  return prompt;
}

Expected<Guide> make_guide(Engine& engine, const Prompt& prompt, const CompiledGrammar& grammar) {
  if (!grammar) return Guide();
  TESSERA_ASSIGN_OR_RETURN(Guide guide,
                           server::make_guide(prompt.opens_thinking, std::nullopt, server::AnswerStart::guided,
                                              [&](const std::string& text) { return engine.tokenize(text); }));
  guide.grammar = grammar;
  return guide;
}

Expected<Outcome> stream_answer(Engine& engine, const Prompt& prompt, const SamplingParams& sampling, AnswerView& view,
                                const CompiledGrammar& grammar) {
  const auto start = std::chrono::steady_clock::now();
  const auto seconds = [start] {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  };
  TESSERA_ASSIGN_OR_RETURN(Guide guide, make_guide(engine, prompt, grammar));
  Request request{.prompt = prompt.tokens, .sampling = sampling, .guide = std::move(guide)};
  if (!prompt.raw) request.stop_scope = {.opens_thinking = prompt.opens_thinking};
  TESSERA_ASSIGN_OR_RETURN(RequestStream stream, engine.submit(std::move(request)));
  const OnInterrupt stop([&stream] { stream.cancel(); });
  Outcome outcome;
  outcome.prompt_tokens = static_cast<int64_t>(prompt.tokens.size());
  Status failure;
  while (const auto event = stream.next()) {
    if (outcome.tokens == 0 && !event->tokens.empty()) outcome.first_token_seconds = seconds();
    outcome.tokens += static_cast<int64_t>(event->tokens.size());
    view.feed(event->text);
    if (event->finish_reason == FinishReason::none) continue;
    outcome.reason = event->finish_reason;
    failure = event->error;
  }
  view.finish();
  outcome.seconds = seconds();
  outcome.interrupted = stop.happened();
  if (outcome.reason == FinishReason::error) return failure;
  return outcome;
}

std::string speed_text(const Outcome& outcome) {
  const double decoding = outcome.seconds - outcome.first_token_seconds;
  std::string text = fmt::format("{} tokens of prompt, {} of answer in {}", outcome.prompt_tokens, outcome.tokens,
                                 format_seconds(outcome.seconds));
  if (outcome.tokens > 1) {
    text += fmt::format(" (first after {}, then {:.1f} tokens/s)", format_seconds(outcome.first_token_seconds),
                        static_cast<double>(outcome.tokens - 1) / decoding);
  }
  return text;
}

const char* name(FinishReason reason) {
  switch (reason) {
    case FinishReason::none: return "none";
    case FinishReason::stop: return "stop";
    case FinishReason::length: return "length";
    case FinishReason::cancelled: return "cancelled";
    case FinishReason::error: return "error";
  }
  return "?";
}

}  // namespace tessera::cli
