#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "server/prepare.h"
#include "server/request/json_body.h"

// What preparing a request for the engine takes, whichever API it came by. On text threads.
namespace tessera::server {

MaybeError check_model(const ModelService& service, const std::string& model);
ResponseHead make_head(const ModelService& service, std::string id, const std::string& model);
TokenBytes token_bytes(const ModelService& service);

/// `body` is given up, and its JSON as soon as it is read.
template <typename Parse, typename T>
MaybeError read_body(const ModelService& service, std::string& body, const Parse& parse, T& request) {
  Json json;
  auto error = parse_body(body, service.options.limits, json);
  std::string().swap(body);
  if (error) return error;
  return parse(json, service.options, request);
}

/// The tokens of a prompt, truncated where that is asked for, if they fit the model's context.
MaybeError tokenize_prompt(const ModelService& service, const RenderedChat& prompt, const SamplingParams& sampling,
                           const std::string& param, std::vector<int32_t>& out);

/// A conversation as the model reads it.
struct ChatPrompt {
  std::vector<int32_t> tokens;
  bool opens_thinking = false;         // text::prompt_opens_thinking
  std::vector<Message> messages = {};  // where its next turn is to be prefilled
};

/// Also checks the model that is asked for, and that the prompt fits unless it is only counted.
MaybeError render_prompt(const ModelService& service, const ChatRequest& chat, ChatPrompt& out,
                         bool only_counted = false);
/// `chat` loses its messages, which are kept where the engine prefills next turns.
void take_messages(const ModelService& service, ChatRequest& chat, ChatPrompt& out);
/// Both.
MaybeError make_prompt(const ModelService& service, ChatRequest& chat, ChatPrompt& out, bool only_counted = false);

/// The requests of one body, and what their answers follow.
struct Submission {
  std::vector<Request> requests;
  std::optional<AnswerFormat> format = {};
  std::optional<AnswerFormat> lenient = {};  // in its place where it cannot be followed; without text: nothing
};

/// Gives them to the engine, or leaves that to out.rest.
MaybeError submit(const ModelService& service, Submission submission, Prepared& out);
/// Gives a conversation to the engine, once there is an answer to take its events.
MaybeError submit_chat(const ModelService& service, ChatRequest chat, ChatPrompt prompt, Prepared& out);

}  // namespace tessera::server
