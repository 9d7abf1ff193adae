#include "server/prepare.h"

#include <algorithm>
#include <ctime>
#include <utility>

#include "server/openai/guide.h"
#include "server/openai/json_body.h"
#include "server/openai/tokenize_request.h"

namespace tessera::server {
namespace {

using openai::api_error;
using openai::Json;

MaybeError check_model(const ModelService& service, const std::string& model) {
  if (model.empty() || std::find(service.names.begin(), service.names.end(), model) != service.names.end()) return {};
  return openai::model_not_found(model, service.names);
}

openai::ResponseHead make_head(const ModelService& service, std::string id, const std::string& model) {
  return {.id = std::move(id), .created = std::time(nullptr), .model = model.empty() ? service.names.front() : model};
}

MaybeError parse(const ModelService& service, std::string& body, Json& json) {
  auto error = openai::parse_body(body, service.options.limits, json);
  std::string().swap(body);
  return error;
}

openai::TokenBytes token_bytes(const ModelService& service) {
  return [engine = service.engine.get()](int32_t token) { return engine->token_bytes(token); };
}

openai::Tokenise tokeniser(const ModelService& service) {
  return [engine = service.engine.get()](const std::string& text) { return engine->tokenize(text); };
}

MaybeError submit(const ModelService& service, Request request, Prepared& out) {
  out.prompt_tokens += static_cast<int64_t>(request.prompt.size());
  auto stream = service.engine->submit(std::move(request));
  if (!stream) return api_error(stream.status());
  out.streams.push_back(std::move(*stream));
  return {};
}

}  // namespace

MaybeError prepare_chat(const ModelService& service, const std::string& id, std::string body, Prepared& out) {
  openai::ChatRequest chat;
  {
    Json json;
    if (auto error = parse(service, body, json)) return error;
    if (auto error = openai::parse_chat_request(json, service.options, chat)) return error;
  }
  if (auto error = check_model(service, chat.model)) return error;
  auto text = service.engine->render_chat(chat.template_request.dump());
  if (!text) return openai::render_error(text.status());
  chat.template_request = nullptr;
  auto tokens = service.engine->tokenize(*text);
  if (!tokens) return api_error(tokens.status(), "messages");
  if (auto error = openai::check_context(tokens->size(), chat.sampling, service.engine->max_model_len(), "messages")) {
    return error;
  }
  const bool opens_thinking = text::prompt_opens_thinking(*text);
  auto guide = openai::make_guide(opens_thinking, chat.thinking_budget, chat.tools, tokeniser(service));
  if (!guide) return api_error(guide.status(), "tool_choice");
  out.stream = chat.stream.stream;
  out.answer = make_chat_answer(make_head(service, "chatcmpl-" + id, chat.model), chat, *tokens, opens_thinking,
                                token_bytes(service));
  return submit(service, {.prompt = std::move(*tokens), .sampling = chat.sampling, .guide = std::move(*guide)}, out);
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
    if (auto error = openai::check_context(prompts.back().size(), request.sampling, engine.max_model_len(), "prompt")) {
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
  if (auto error = check_model(service, request.model)) return error;
  if (!request.prompt) {
    auto text = service.engine->render_chat(request.template_request.dump());
    if (!text) return openai::render_error(text.status());
    request.prompt = std::move(*text);
  }
  const auto tokens = service.engine->tokenize(*request.prompt);
  if (!tokens) return api_error(tokens.status(), "prompt");
  const openai::TokenBytes bytes = token_bytes(service);
  out = openai::tokenize_json(*tokens, service.engine->max_model_len(), request.return_token_strs ? &bytes : nullptr);
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
