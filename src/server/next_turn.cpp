#include "server/next_turn.h"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <memory>
#include <string>
#include <utility>

#include "server/request/past_arguments.h"

namespace tessera::server {

std::shared_ptr<NextTurn> next_turn_of(const ModelService& service, const ChatRequest& chat,
                                       std::vector<Message> messages) {
  const bool one_answer = chat.sampling.n == 1 && !chat.continues_message && chat.add_generation_prompt;
  if (messages.empty() || !one_answer || chat.sampling.truncate_prompt_tokens ||
      !service.engine->prefills_when_idle()) {
    return nullptr;
  }
  auto turn = std::make_shared<NextTurn>();
  turn->chat.messages = std::move(messages);
  turn->chat.template_variables = chat.template_variables;
  turn->chat.tools.json = chat.tools.json;
  turn->chat.cache_salt = chat.cache_salt;
  turn->chat.returns_reasoning = chat.returns_reasoning;
  return turn;
}

bool add_answer(const ChatMessageText& said, const RequestLimits& limits, NextTurn& turn) {
  const bool cut_off = said.finish == ChatFinish::length;
  if (said.finish == ChatFinish::none || (cut_off && (said.content.empty() || !said.tool_calls.empty()))) return false;
  turn.answer = {.role = Role::assistant, .text = said.content};
  // A client that has sent some back will do so again.
  const bool returns_reasoning =
      turn.chat.returns_reasoning ||
      std::ranges::any_of(turn.chat.messages, [](const Message& message) { return !message.reasoning.empty(); });
  if (returns_reasoning) turn.answer.reasoning = said.reasoning;
  for (const ToolCallDelta& call : said.tool_calls) {
    std::string note;
    turn.answer.calls.push_back({.id = call.id,
                                 .name = call.name,
                                 .arguments = call.custom ? Json{{kCustomInput, call.arguments}}
                                                          : read_past_arguments(call.arguments, limits, note)});
  }
  return true;
}

void prefill_next_turn(const ModelService& service, NextTurn turn) {
  const Engine& engine = *service.engine;
  Message next{.role = Role::user};
  if (!turn.answer.calls.empty()) next = {.role = Role::tool, .tool_call_id = turn.answer.calls.front().id};
  turn.chat.messages.push_back(std::move(turn.answer));
  turn.chat.messages.push_back(std::move(next));
  turn.chat.continues_message = true;  // the prompt then ends where its text begins
  auto rendered = engine.render_chat(template_request(turn.chat).dump());
  if (!rendered) return spdlog::debug("a next turn is not prefilled: {}", rendered.status().message());
  cut_at_continuation(turn.chat, rendered->text);
  const auto tokens_max = static_cast<size_t>(engine.max_model_len());
  auto tokens = engine.tokenize(*rendered, tokens_max);
  if (!tokens || tokens->size() > tokens_max) return;
  const Status status =
      service.engine->prefill_when_idle({.tokens = std::move(*tokens), .cache_salt = std::move(turn.chat.cache_salt)});
  if (!status.ok()) spdlog::debug("a next turn is not prefilled: {}", status.message());
}

}  // namespace tessera::server
