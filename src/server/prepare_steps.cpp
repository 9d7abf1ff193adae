#include "server/prepare_steps.h"

#include <fmt/format.h>

#include <algorithm>
#include <ctime>
#include <utility>

#include "engine/request_check.h"
#include "server/next_turn.h"
#include "server/request/call_grammar.h"
#include "server/request/guide.h"
#include "text/dialect/dialect.h"
#include "text/dialect/reasoning_parser.h"
#include "text/dialect/turns.h"

namespace tessera::server {
namespace {

Tokenise tokeniser(const ModelService& service) {
  return [engine = service.engine.get()](const std::string& text) { return engine->tokenize(text); };
}

MaybeError submit(const ModelService& service, Request request, Prepared& out) {
  out.prompt_tokens += static_cast<int64_t>(request.prompt.size());
  out.n = request.sampling.n;
  out.max_tokens = request.sampling.max_tokens;
  auto stream = service.engine->submit(std::move(request));
  if (!stream) return api_error(stream.status());
  out.streams.push_back(std::move(*stream));
  return {};
}

// A prompt is counted to its end if it has at most this many times the tokens that fit: a client that shortens it
// learns by how much. Beyond, the error says "at least", so that no prompt takes more work than one that fits.
constexpr size_t kCountedContexts = 2;

// Of one that is truncated, this many may go.
constexpr size_t kTruncatedContexts = 16;

MaybeError submit_all(const ModelService& service, Submission submission, CompiledGrammar grammar, Prepared& out) {
  for (Request& request : submission.requests) {
    request.guide.grammar = grammar;
    if (auto error = submit(service, std::move(request), out)) return error;
  }
  return {};
}

MaybeError compile_and_submit(const ModelService& service, Submission submission, Prepared& out) {
  auto grammar = service.engine->compile(submission.format->source);
  if (!grammar && submission.lenient) {
    add_note("tools: what is not strict is not enforced: " + grammar.status().message(), out.notes);
    if (submission.lenient->source.text.empty()) return submit_all(service, std::move(submission), nullptr, out);
    grammar = service.engine->compile(submission.lenient->source);
  }
  if (!grammar) {
    const std::string& param = submission.format->param;
    return bad_request(param, param + " cannot be followed: " + grammar.status().message());
  }
  return submit_all(service, std::move(submission), std::move(*grammar), out);
}

/// Calls of tools and the format that the answer follows.
MaybeError choose_grammar(const ChatRequest& chat, Submission& out) {
  auto format = answer_grammar(chat.tools, chat.parallel_tool_calls, chat.format);
  if (!format) return bad_request(chat.format ? chat.format->param : chat.tools.param(), format.status().message());
  out.format = std::move(*format);
  if (!out.format || chat.tools.choice.mode == ToolMode::none || !any_not_strict(chat.tools)) return {};
  auto lenient = answer_grammar(chat.tools, chat.parallel_tool_calls, chat.format, /*lenient=*/true);
  if (lenient) out.lenient = lenient->value_or(AnswerFormat{});  // empty: nothing is followed
  return {};
}

AnswerStart answer_start(const ChatRequest& chat, const Submission& submission) {
  if (!submission.format) return AnswerStart::unguided;
  const bool text_first = chat.tools.choice.mode == ToolMode::automatic && !chat.format;
  return text_first ? AnswerStart::freely : AnswerStart::guided;
}

/// A format is of the whole answer, and part of this one is there already.
MaybeError check_continuation(const ChatRequest& chat) {
  if (!chat.format || !chat.continues_message || chat.messages.back().text.empty()) return {};
  const std::string& param = chat.format->param;
  return bad_request(param, param +
                                " cannot be followed by an answer that continues the assistant's last message; "
                                "leave out one of the two");
}

text::TurnMarks turn_marks(const Engine& engine) {
  namespace dialect = text::dialect;
  const auto id = [&](std::string_view mark) { return engine.token_id(std::string(mark)).value_or(-1); };
  text::TurnMarks marks{.turn = id(dialect::kTurnOpen), .user = {}, .tool_answer = id(dialect::kToolAnswerOpen)};
  if (auto user = engine.tokenize(std::string(dialect::kUserTurnOpen))) marks.user = std::move(*user);
  return marks;
}

}  // namespace

MaybeError check_model(const ModelService& service, const std::string& model) {
  if (model.empty() || std::find(service.names.begin(), service.names.end(), model) != service.names.end()) return {};
  return model_not_found(model, service.names);
}

ResponseHead make_head(const ModelService& service, std::string id, const std::string& model) {
  return {.id = std::move(id), .created = std::time(nullptr), .model = model.empty() ? service.names.front() : model};
}

TokenBytes token_bytes(const ModelService& service) {
  return [engine = service.engine.get()](int32_t token) { return engine->token_bytes(token); };
}

MaybeError tokenize_prompt(const ModelService& service, const RenderedChat& prompt, const SamplingParams& sampling,
                           const std::string& param, std::vector<int32_t>& out) {
  const Engine& engine = *service.engine;
  const size_t contexts = sampling.truncate_prompt_tokens ? kTruncatedContexts : kCountedContexts;
  const size_t counted = contexts * static_cast<size_t>(engine.max_model_len());
  if (const size_t least = engine.tokens_min(prompt); least > counted) {
    return check_context(least, sampling, engine.max_model_len(), param, /*at_least=*/true);
  }
  auto tokens = engine.tokenize(prompt, counted);
  if (!tokens) return api_error(tokens.status(), param);
  out = std::move(*tokens);
  const bool at_least = out.size() > counted;
  if (!at_least) engine::truncate_prompt(sampling, engine.max_model_len(), out);
  return check_context(out.size(), sampling, engine.max_model_len(), param, at_least);
}

MaybeError submit(const ModelService& service, Submission submission, Prepared& out) {
  if (!submission.format) return submit_all(service, std::move(submission), nullptr, out);
  if (auto grammar = service.engine->compiled(submission.format->source)) {
    return submit_all(service, std::move(submission), std::move(grammar), out);
  }
  out.rest = [&service, held = std::make_shared<Submission>(std::move(submission))](Prepared& prepared) {
    return compile_and_submit(service, std::move(*held), prepared);
  };
  return {};
}

MaybeError render_prompt(const ModelService& service, const ChatRequest& chat, ChatPrompt& out, bool only_counted) {
  if (auto error = check_model(service, chat.model)) return error;
  if (!service.no_chat.empty()) {
    return ApiError{.message = "this model takes no conversations, but prompts at /v1/completions: " + service.no_chat,
                    .code = "chat_unavailable"};
  }
  if (auto error = check_continuation(chat)) return error;
  auto rendered = service.engine->render_chat(template_request(chat).dump());
  if (!rendered) return render_error(rendered.status());
  cut_at_continuation(chat, rendered->text);
  out.opens_thinking = text::prompt_opens_thinking(rendered->text);
  if (!only_counted) return tokenize_prompt(service, *rendered, chat.sampling, chat.conversation_field, out.tokens);
  auto tokens = service.engine->tokenize(*rendered);
  if (!tokens) return api_error(tokens.status(), chat.conversation_field);
  out.tokens = std::move(*tokens);
  return {};
}

void take_messages(const ModelService& service, ChatRequest& chat, ChatPrompt& out) {
  std::vector<Message> messages = std::exchange(chat.messages, {});
  if (service.engine->prefills_when_idle()) out.messages = std::move(messages);
}

MaybeError make_prompt(const ModelService& service, ChatRequest& chat, ChatPrompt& out, bool only_counted) {
  auto error = render_prompt(service, chat, out, only_counted);
  take_messages(service, chat, out);
  return error;
}

MaybeError submit_chat(const ModelService& service, ChatRequest chat, ChatPrompt prompt, Prepared& out) {
  Submission submission;
  if (auto error = choose_grammar(chat, submission)) return error;
  auto guide =
      make_guide(prompt.opens_thinking, chat.thinking_budget, answer_start(chat, submission), tokeniser(service));
  if (!guide) return api_error(guide.status(), submission.format ? submission.format->param : "thinking_budget");
  out.stream = chat.stream.stream;
  out.notes = std::move(chat.notes);
  out.next_turn = next_turn_of(service, chat, std::move(prompt.messages));
  Request request{.prompt = std::move(prompt.tokens),
                  .sampling = std::move(chat.sampling),
                  .guide = std::move(*guide),
                  .cache_salt = std::move(chat.cache_salt)};
  request.likely_ends = text::likely_ends(request.prompt, turn_marks(*service.engine));
  if (!service.options.stops_everywhere && !request.sampling.stop.empty()) {
    request.stop_scope = {.opens_thinking = prompt.opens_thinking};
    for (const text::ToolSchema& tool : chat.tools.schemas) request.stop_scope->tools.push_back(tool.name);
  }
  submission.requests.push_back(std::move(request));
  return submit(service, std::move(submission), out);
}

}  // namespace tessera::server
