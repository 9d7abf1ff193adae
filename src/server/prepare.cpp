#include "server/prepare.h"

#include <fmt/format.h>

#include <algorithm>
#include <ctime>
#include <utility>

#include "engine/request_check.h"
#include "server/anthropic/message_json.h"
#include "server/anthropic/messages_request.h"
#include "server/openai/chat_request.h"
#include "server/openai/tokenize_request.h"
#include "server/request/call_grammar.h"
#include "server/request/guide.h"
#include "server/request/json_body.h"
#include "server/responses/response_json.h"
#include "text/dialect/dialect.h"
#include "text/dialect/reasoning_parser.h"
#include "text/dialect/turns.h"

namespace tessera::server {
namespace {

MaybeError check_model(const ModelService& service, const std::string& model) {
  if (model.empty() || std::find(service.names.begin(), service.names.end(), model) != service.names.end()) return {};
  return model_not_found(model, service.names);
}

ResponseHead make_head(const ModelService& service, std::string id, const std::string& model) {
  return {.id = std::move(id), .created = std::time(nullptr), .model = model.empty() ? service.names.front() : model};
}

/// `body` is given up, and its JSON as soon as it is read.
template <typename Parse, typename T>
MaybeError read_body(const ModelService& service, std::string& body, const Parse& parse, T& request) {
  Json json;
  auto error = parse_body(body, service.options.limits, json);
  std::string().swap(body);
  if (error) return error;
  return parse(json, service.options, request);
}

TokenBytes token_bytes(const ModelService& service) {
  return [engine = service.engine.get()](int32_t token) { return engine->token_bytes(token); };
}

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

/// The tokens of a prompt, truncated where that is asked for, if they fit the model's context.
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

/// The requests of one body, and what their answers follow.
struct Submission {
  std::vector<Request> requests;
  std::optional<AnswerFormat> format = {};
  std::optional<AnswerFormat> lenient = {};  // in its place where it cannot be followed; without text: nothing
};

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

/// A conversation as the model reads it.
struct ChatPrompt {
  std::vector<int32_t> tokens;
  bool opens_thinking = false;  // text::prompt_opens_thinking
};

/// Also checks the model that is asked for, and that the prompt fits unless it is only counted.
MaybeError render_prompt(const ModelService& service, const ChatRequest& chat, ChatPrompt& out,
                         bool only_counted = false) {
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

/// The same; `chat` loses its messages.
MaybeError make_prompt(const ModelService& service, ChatRequest& chat, ChatPrompt& out, bool only_counted = false) {
  auto error = render_prompt(service, chat, out, only_counted);
  std::vector<Message>().swap(chat.messages);
  return error;
}

text::TurnMarks turn_marks(const Engine& engine) {
  namespace dialect = text::dialect;
  const auto id = [&](std::string_view mark) { return engine.token_id(std::string(mark)).value_or(-1); };
  text::TurnMarks marks{.turn = id(dialect::kTurnOpen), .user = {}, .tool_answer = id(dialect::kToolAnswerOpen)};
  if (auto user = engine.tokenize(std::string(dialect::kUserTurnOpen))) marks.user = std::move(*user);
  return marks;
}

/// Gives a conversation to the engine, once there is an answer to take its events.
MaybeError submit_chat(const ModelService& service, ChatRequest chat, ChatPrompt prompt, Prepared& out) {
  Submission submission;
  if (auto error = choose_grammar(chat, submission)) return error;
  auto guide =
      make_guide(prompt.opens_thinking, chat.thinking_budget, answer_start(chat, submission), tokeniser(service));
  if (!guide) return api_error(guide.status(), submission.format ? submission.format->param : "thinking_budget");
  out.stream = chat.stream.stream;
  out.notes = std::move(chat.notes);
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

constexpr const char* kSummaryWish =
    "Sum up this conversation for somebody who will go on with it and has not read it: what was asked for, what was "
    "found out and decided, what was done (names of files, commands, results that matter), what is left to do. Write "
    "the summary alone.";

MaybeError read_responses_body(const ModelService& service, const std::string& id, std::string body,
                               responses::ResponsesRequest& out) {
  const auto parse = [&](const Json& json, const RequestOptions& options, responses::ResponsesRequest& request) {
    return responses::parse_responses_request(json, options, id, *service.responses, request);
  };
  return read_body(service, body, parse, out);
}

/// Where the request lets it, leaves out of a conversation that does not fit what is oldest, but no system messages.
/// `dropped`: how many messages were.
MaybeError make_responses_prompt(const ModelService& service, responses::ResponsesRequest& request, ChatPrompt& out,
                                 size_t& dropped, bool only_counted = false) {
  ChatRequest& chat = request.chat;
  const int64_t length = service.engine->max_model_len();
  const int64_t wanted = chat.sampling.max_tokens;
  const int64_t room = length - std::min(wanted < 0 ? length : std::max<int64_t>(wanted, 1), length / 4);
  dropped = 0;
  for (;;) {
    if (auto error = render_prompt(service, chat, out, only_counted || request.truncates)) return error;
    const auto tokens = static_cast<int64_t>(out.tokens.size());
    if (!request.truncates || tokens <= room) break;
    const size_t now = drop_oldest(static_cast<double>(tokens - room) / static_cast<double>(tokens), chat.messages);
    if (now == 0) break;
    dropped += now;
  }
  if (dropped > 0) add_note(fmt::format("input: {} messages did not fit and were left out", dropped), chat.notes);
  std::vector<Message>().swap(chat.messages);
  if (only_counted) return {};
  engine::truncate_prompt(chat.sampling, length, out.tokens);
  return check_context(out.tokens.size(), chat.sampling, length, chat.conversation_field);
}

/// What the user said, as far as it takes a quarter of the context: the summary and what comes next are to fit beside
/// it.
std::vector<std::string> newest_user_texts(const Engine& engine, const std::vector<Message>& messages) {
  int64_t room = engine.max_model_len() / 4;
  std::vector<std::string> texts;
  for (auto message = messages.rbegin(); message != messages.rend(); ++message) {
    if (message->role != Role::user || message->text.empty()) continue;
    const auto tokens = engine.tokenize(message->text);
    room -= tokens ? static_cast<int64_t>(tokens->size()) : room + 1;
    if (room < 0) break;
    texts.push_back(message->text);
  }
  std::ranges::reverse(texts);
  return texts;
}

}  // namespace

std::string find_no_chat(const Engine& engine) {
  if (const auto tokens = engine.tokenize("a"); !tokens) return tokens.status().message();
  const Json hello = {{"messages", {{{"role", "user"}, {"content", "Hello"}}}}, {"add_generation_prompt", true}};
  const auto text = engine.render_chat(hello.dump());
  return text ? std::string() : text.status().message();
}

MaybeError prepare_chat(const ModelService& service, const std::string& id, std::string body, Prepared& out) {
  ChatRequest chat;
  if (auto error = read_body(service, body, openai::parse_chat_request, chat)) return error;
  ChatPrompt prompt;
  if (auto error = make_prompt(service, chat, prompt)) return error;
  out.answer = make_chat_answer(make_head(service, "chatcmpl-" + id, chat.model), chat, prompt.tokens,
                                prompt.opens_thinking, token_bytes(service));
  return submit_chat(service, std::move(chat), std::move(prompt), out);
}

MaybeError prepare_messages(const ModelService& service, const std::string& id, std::string body, Prepared& out) {
  ChatRequest chat;
  if (auto error = read_body(service, body, anthropic::parse_messages_request, chat)) return error;
  ChatPrompt prompt;
  if (auto error = make_prompt(service, chat, prompt)) return error;
  out.answer = make_messages_answer(make_head(service, "msg_" + id, chat.model), chat,
                                    static_cast<int64_t>(prompt.tokens.size()), prompt.opens_thinking);
  return submit_chat(service, std::move(chat), std::move(prompt), out);
}

MaybeError prepare_responses(const ModelService& service, const std::string& id, std::string body, Prepared& out) {
  responses::ResponsesRequest request;
  const std::string response_id = responses::response_id(id);
  if (auto error = read_responses_body(service, response_id, std::move(body), request)) return error;
  ChatPrompt prompt;
  size_t dropped = 0;
  auto error = make_responses_prompt(service, request, prompt, dropped);
  // Agents take a prompt that is too long as the word to shorten it, where OpenAI says so: in the stream.
  const bool too_long = error && error->code == "context_length_exceeded";
  if (error && !too_long) return error;
  bool& streams = request.chat.stream.stream;
  out.fails_in_stream = too_long && streams;
  out.client_reads = streams;
  if (request.background && !error) {
    out.background = std::make_shared<responses::EventLog>();
    streams = true;
  }
  out.answer = make_responses_answer(make_head(service, response_id, request.chat.model), request,
                                     static_cast<int64_t>(prompt.tokens.size()), prompt.opens_thinking,
                                     token_bytes(service), *service.responses, out.background);
  if (error) return error;
  return submit_chat(service, std::move(request.chat), std::move(prompt), out);
}

MaybeError prepare_compaction(const ModelService& service, const std::string& id, std::string body, Prepared& out) {
  responses::ResponsesRequest request;
  const std::string response_id = responses::response_id(id);
  if (auto error = read_responses_body(service, response_id, std::move(body), request)) return error;
  ChatRequest& chat = request.chat;
  chat.tools = {};
  chat.format.reset();
  chat.stream = {};
  chat.sampling.logprobs.reset();
  chat.sampling.stop.clear();
  chat.template_variables["enable_thinking"] = false;  // all of the answer is the summary
  std::vector<std::string> user_texts = newest_user_texts(*service.engine, chat.messages);
  const auto said = std::ranges::count_if(chat.messages, [](const Message& m) { return m.role != Role::system; });
  chat.messages.push_back({.role = Role::user, .text = kSummaryWish});
  request.truncates = true;  // who asks for a summary may have too much already
  ChatPrompt prompt;
  size_t dropped = 0;
  if (auto error = make_responses_prompt(service, request, prompt, dropped)) return error;
  if (dropped > 0 && static_cast<std::ptrdiff_t>(dropped) >= said) {
    ApiError error = bad_request("input",
                                 "no message of the conversation fits the model's context: there is nothing "
                                 "left to sum up; shorten the messages");
    error.code = "context_length_exceeded";
    return error;
  }
  out.answer = make_compaction_answer(make_head(service, response_id, chat.model), std::move(user_texts),
                                      static_cast<int64_t>(prompt.tokens.size()), prompt.opens_thinking);
  return submit_chat(service, std::move(chat), std::move(prompt), out);
}

MaybeError answer_input_tokens(const ModelService& service, std::string body, std::string& out) {
  responses::ResponsesRequest request;
  if (auto error = read_responses_body(service, "", std::move(body), request)) return error;
  ChatPrompt prompt;
  size_t dropped = 0;
  if (auto error = make_responses_prompt(service, request, prompt, dropped, /*only_counted=*/true)) return error;
  out = responses::input_tokens_json(static_cast<int64_t>(prompt.tokens.size()));
  return {};
}

MaybeError answer_count_tokens(const ModelService& service, std::string body, std::string& out) {
  ChatRequest chat;
  if (auto error = read_body(service, body, anthropic::parse_messages_request, chat)) return error;
  ChatPrompt prompt;
  if (auto error = make_prompt(service, chat, prompt, /*only_counted=*/true)) return error;
  out = anthropic::count_json(static_cast<int64_t>(prompt.tokens.size()));
  return {};
}

MaybeError prepare_completion(const ModelService& service, const std::string& id, std::string body, Prepared& out) {
  openai::CompletionRequest request;
  if (auto error = read_body(service, body, openai::parse_completion_request, request)) return error;
  if (auto error = check_model(service, request.model)) return error;
  const Engine& engine = *service.engine;
  std::vector<std::vector<int32_t>> prompts;
  std::vector<std::string> texts;
  for (openai::CompletionPrompt& prompt : request.prompts) {
    if (auto* text = std::get_if<std::string>(&prompt)) {
      prompts.emplace_back();
      RenderedChat whole{.text = std::move(*text)};
      if (auto error = tokenize_prompt(service, whole, request.sampling, "prompt", prompts.back())) return error;
      if (request.echo && !request.sampling.truncate_prompt_tokens) texts.push_back(std::move(whole.text));
    } else {
      prompts.push_back(std::move(std::get<std::vector<int32_t>>(prompt)));
      engine::truncate_prompt(request.sampling, engine.max_model_len(), prompts.back());
      if (auto error = check_context(prompts.back().size(), request.sampling, engine.max_model_len(), "prompt")) {
        return error;
      }
    }
    if (texts.size() == prompts.size()) continue;
    texts.push_back(request.echo ? engine.detokenize(prompts.back(), /*skip_special_tokens=*/false) : std::string());
  }
  out.stream = request.stream.stream;
  out.notes = std::move(request.notes);
  out.answer = make_completion_answer(make_head(service, "cmpl-" + id, request.model), request, prompts,
                                      std::move(texts), token_bytes(service));
  Submission submission{.requests = {}, .format = std::move(request.format)};
  for (std::vector<int32_t>& prompt : prompts) {
    submission.requests.push_back(
        {.prompt = std::move(prompt), .sampling = request.sampling, .cache_salt = request.cache_salt});
  }
  return submit(service, std::move(submission), out);
}

MaybeError answer_tokenize(const ModelService& service, std::string body, std::string& out) {
  openai::TokenizeRequest request;
  if (auto error = read_body(service, body, openai::parse_tokenize_request, request)) return error;
  std::vector<int32_t> tokens;
  if (request.prompt) {
    if (auto error = check_model(service, request.model)) return error;
    auto all = service.engine->tokenize(*request.prompt);
    if (!all) return api_error(all.status(), "prompt");
    tokens = std::move(*all);
  } else {
    request.chat.model = request.model;
    ChatPrompt prompt;
    if (auto error = make_prompt(service, request.chat, prompt, /*only_counted=*/true)) return error;
    tokens = std::move(prompt.tokens);
  }
  const TokenBytes bytes = token_bytes(service);
  out = openai::tokenize_json(tokens, service.engine->max_model_len(), request.return_token_strs ? &bytes : nullptr);
  return {};
}

MaybeError answer_detokenize(const ModelService& service, std::string body, std::string& out) {
  openai::DetokenizeRequest request;
  if (auto error = read_body(service, body, openai::parse_detokenize_request, request)) return error;
  if (auto error = check_model(service, request.model)) return error;
  out = openai::detokenize_json(service.engine->detokenize(request.tokens, /*skip_special_tokens=*/false));
  return {};
}

}  // namespace tessera::server
