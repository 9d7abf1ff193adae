#include "server/prepare.h"

#include <algorithm>
#include <ctime>
#include <utility>

#include "server/anthropic/message_json.h"
#include "server/anthropic/messages_request.h"
#include "server/openai/chat_request.h"
#include "server/openai/tokenize_request.h"
#include "server/request/guide.h"
#include "server/request/json_body.h"
#include "text/dialect/reasoning_parser.h"

namespace tessera::server {
namespace {

MaybeError check_model(const ModelService& service, const std::string& model) {
  if (model.empty() || std::find(service.names.begin(), service.names.end(), model) != service.names.end()) return {};
  return model_not_found(model, service.names);
}

ResponseHead make_head(const ModelService& service, std::string id, const std::string& model) {
  return {.id = std::move(id), .created = std::time(nullptr), .model = model.empty() ? service.names.front() : model};
}

MaybeError parse(const ModelService& service, std::string& body, Json& json) {
  auto error = parse_body(body, service.options.limits, json);
  std::string().swap(body);
  return error;
}

TokenBytes token_bytes(const ModelService& service) {
  return [engine = service.engine.get()](int32_t token) { return engine->token_bytes(token); };
}

Tokenise tokeniser(const ModelService& service) {
  return [engine = service.engine.get()](const std::string& text) { return engine->tokenize(text); };
}

MaybeError submit(const ModelService& service, Request request, Prepared& out) {
  out.prompt_tokens += static_cast<int64_t>(request.prompt.size());
  auto stream = service.engine->submit(std::move(request));
  if (!stream) return api_error(stream.status());
  out.streams.push_back(std::move(*stream));
  return {};
}

/// `body` is given up.
MaybeError read_messages(const ModelService& service, std::string& body, ChatRequest& chat) {
  Json json;
  if (auto error = parse(service, body, json)) return error;
  return anthropic::parse_messages_request(json, service.options, chat);
}

/// A conversation as the model reads it.
struct ChatPrompt {
  std::vector<int32_t> tokens;
  bool opens_thinking = false;  // text::prompt_opens_thinking
};

/// Also checks the model that is asked for. `chat` loses its messages.
MaybeError make_prompt(const ModelService& service, ChatRequest& chat, ChatPrompt& out) {
  if (auto error = check_model(service, chat.model)) return error;
  auto text = service.engine->render_chat(template_request(chat).dump());
  if (!text) return render_error(text.status());
  cut_at_continuation(chat, *text);
  std::vector<Message>().swap(chat.messages);
  auto tokens = service.engine->tokenize(*text);
  if (!tokens) return api_error(tokens.status(), "messages");
  out = {.tokens = std::move(*tokens), .opens_thinking = text::prompt_opens_thinking(*text)};
  return {};
}

/// Gives a conversation to the engine, once there is an answer to take its events.
MaybeError submit_chat(const ModelService& service, ChatRequest chat, ChatPrompt prompt, Prepared& out) {
  if (auto error = check_context(prompt.tokens.size(), chat.sampling, service.engine->max_model_len(), "messages")) {
    return error;
  }
  auto guide = make_guide(prompt.opens_thinking, chat.thinking_budget, chat.tools, tokeniser(service));
  if (!guide) return api_error(guide.status(), "tool_choice");
  out.stream = chat.stream.stream;
  out.notes = std::move(chat.notes);
  Request request{.prompt = std::move(prompt.tokens), .sampling = std::move(chat.sampling), .guide = std::move(*guide)};
  if (!service.options.stops_everywhere && !request.sampling.stop.empty()) {
    request.stop_scope = {.opens_thinking = prompt.opens_thinking};
    for (const text::ToolSchema& tool : chat.tools.schemas) request.stop_scope->tools.push_back(tool.name);
  }
  return submit(service, std::move(request), out);
}

}  // namespace

MaybeError prepare_chat(const ModelService& service, const std::string& id, std::string body, Prepared& out) {
  ChatRequest chat;
  {
    Json json;
    if (auto error = parse(service, body, json)) return error;
    if (auto error = openai::parse_chat_request(json, service.options, chat)) return error;
  }
  ChatPrompt prompt;
  if (auto error = make_prompt(service, chat, prompt)) return error;
  out.answer = make_chat_answer(make_head(service, "chatcmpl-" + id, chat.model), chat, prompt.tokens,
                                prompt.opens_thinking, token_bytes(service));
  return submit_chat(service, std::move(chat), std::move(prompt), out);
}

MaybeError prepare_messages(const ModelService& service, const std::string& id, std::string body, Prepared& out) {
  ChatRequest chat;
  if (auto error = read_messages(service, body, chat)) return error;
  ChatPrompt prompt;
  if (auto error = make_prompt(service, chat, prompt)) return error;
  out.answer = make_messages_answer(make_head(service, "msg_" + id, chat.model), chat,
                                    static_cast<int64_t>(prompt.tokens.size()), prompt.opens_thinking);
  return submit_chat(service, std::move(chat), std::move(prompt), out);
}

MaybeError answer_count_tokens(const ModelService& service, std::string body, std::string& out) {
  ChatRequest chat;
  if (auto error = read_messages(service, body, chat)) return error;
  ChatPrompt prompt;
  if (auto error = make_prompt(service, chat, prompt)) return error;
  out = anthropic::count_json(static_cast<int64_t>(prompt.tokens.size()));
  return {};
}

MaybeError prepare_completion(const ModelService& service, const std::string& id, std::string body, Prepared& out) {
  openai::CompletionRequest request;
  {
    Json json;
    if (auto error = parse(service, body, json)) return error;
    if (auto error = openai::parse_completion_request(json, service.options, request)) return error;
  }
  if (auto error = check_model(service, request.model)) return error;
  const Engine& engine = *service.engine;
  std::vector<std::vector<int32_t>> prompts;
  std::vector<std::string> texts;
  for (openai::CompletionPrompt& prompt : request.prompts) {
    if (auto* text = std::get_if<std::string>(&prompt)) {
      auto tokens = engine.tokenize(*text);
      if (!tokens) return api_error(tokens.status(), "prompt");
      prompts.push_back(std::move(*tokens));
      texts.push_back(request.echo ? std::move(*text) : std::string());
    } else {
      prompts.push_back(std::move(std::get<std::vector<int32_t>>(prompt)));
      texts.push_back(request.echo ? engine.detokenize(prompts.back(), /*skip_special_tokens=*/false) : std::string());
    }
    if (auto error = check_context(prompts.back().size(), request.sampling, engine.max_model_len(), "prompt")) {
      return error;
    }
  }
  out.stream = request.stream.stream;
  out.answer = make_completion_answer(make_head(service, "cmpl-" + id, request.model), request, prompts,
                                      std::move(texts), token_bytes(service));
  for (std::vector<int32_t>& prompt : prompts) {
    if (auto error = submit(service, {.prompt = std::move(prompt), .sampling = request.sampling}, out)) return error;
  }
  return {};
}

MaybeError answer_tokenize(const ModelService& service, std::string body, std::string& out) {
  openai::TokenizeRequest request;
  {
    Json json;
    if (auto error = parse(service, body, json)) return error;
    if (auto error = openai::parse_tokenize_request(json, service.options, request)) return error;
  }
  std::vector<int32_t> tokens;
  if (request.prompt) {
    if (auto error = check_model(service, request.model)) return error;
    auto all = service.engine->tokenize(*request.prompt);
    if (!all) return api_error(all.status(), "prompt");
    tokens = std::move(*all);
  } else {
    request.chat.model = request.model;
    ChatPrompt prompt;
    if (auto error = make_prompt(service, request.chat, prompt)) return error;
    tokens = std::move(prompt.tokens);
  }
  const TokenBytes bytes = token_bytes(service);
  out = openai::tokenize_json(tokens, service.engine->max_model_len(), request.return_token_strs ? &bytes : nullptr);
  return {};
}

MaybeError answer_detokenize(const ModelService& service, std::string body, std::string& out) {
  openai::DetokenizeRequest request;
  {
    Json json;
    if (auto error = parse(service, body, json)) return error;
    if (auto error = openai::parse_detokenize_request(json, service.options, request)) return error;
  }
  if (auto error = check_model(service, request.model)) return error;
  out = openai::detokenize_json(service.engine->detokenize(request.tokens, /*skip_special_tokens=*/false));
  return {};
}

}  // namespace tessera::server
