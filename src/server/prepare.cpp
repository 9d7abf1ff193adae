#include "server/prepare.h"

#include <utility>

#include "engine/request_check.h"
#include "server/anthropic/message_json.h"
#include "server/anthropic/messages_request.h"
#include "server/openai/chat_request.h"
#include "server/openai/tokenize_request.h"
#include "server/prepare_steps.h"

namespace tessera::server {

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
