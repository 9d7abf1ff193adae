#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <utility>

#include "engine/request_check.h"
#include "server/prepare_steps.h"
#include "server/responses/compaction.h"
#include "server/responses/response_json.h"

// Responses: the conversation is cut, or summed up first, where it is too long and its client lets it.
namespace tessera::server {
namespace {

using responses::Compaction;
using responses::ResponsesRequest;
using responses::SummingUp;

constexpr const char* kSummaryWish =
    "Sum up this conversation for somebody who will go on with it and has not read it: what was asked for, what was "
    "found out and decided, what was done (names of files, commands, results that matter), what is left to do. Write "
    "the summary alone.";

MaybeError read_responses_body(const ModelService& service, const std::string& id, std::string body,
                               ResponsesRequest& out) {
  const auto parse = [&](const Json& json, const RequestOptions& options, ResponsesRequest& request) {
    return responses::parse_responses_request(json, options, id, *service.responses, request);
  };
  return read_body(service, body, parse, out);
}

/// Where the request lets it, leaves out of a conversation that does not fit what is oldest, but no system messages.
/// `dropped`: how many messages were.
MaybeError make_responses_prompt(const ModelService& service, ResponsesRequest& request, ChatPrompt& out,
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
  take_messages(service, chat, out);
  if (dropped > 0) out.messages.clear();  // of the next turn others are
  if (only_counted) return {};
  engine::truncate_prompt(chat.sampling, length, out.tokens);
  return check_context(out.tokens.size(), chat.sampling, length, chat.conversation_field);
}

/// What the user said last, as far as it takes `room` tokens: the summary and what comes next are to fit beside it.
std::vector<std::string> newest_user_texts(const Engine& engine, const std::vector<Message>& messages, int64_t room) {
  std::vector<std::string> texts;
  for (auto message = messages.rbegin(); message != messages.rend(); ++message) {
    if (message->role != Role::user || message->text.empty()) continue;
    const auto tokens = engine.tokenize(message->text);
    room -= tokens ? static_cast<int64_t>(tokens->size()) : room + 1;
    if (room < 0 || texts.size() == responses::kSaidMax) break;
    texts.push_back(message->text);
  }
  std::ranges::reverse(texts);
  return texts;
}

/// Of a summary, which is drawn like the answer: what else is asked of that one's tokens or prompt is left out.
SamplingParams of_summary(SamplingParams params) {
  params.min_tokens = 0;
  params.ignore_eos = false;
  params.stop.clear();
  params.stop_token_ids.clear();
  params.logit_bias.clear();
  params.allowed_token_ids.clear();
  params.bad_words.clear();
  params.logprobs.reset();
  params.truncate_prompt_tokens.reset();
  return params;
}

/// A prompt that asks for a summary of the request's conversation; the request becomes one for plain text.
MaybeError make_summary_prompt(const ModelService& service, ResponsesRequest& request, ChatPrompt& out) {
  ChatRequest& chat = request.chat;
  chat.tools = {};
  chat.format.reset();
  chat.stream = {};
  chat.sampling = of_summary(std::move(chat.sampling));
  chat.template_variables["enable_thinking"] = false;  // all of the answer is the summary
  const auto said = std::ranges::count_if(chat.messages, [](const Message& m) { return m.role != Role::system; });
  chat.messages.push_back({.role = Role::user, .text = kSummaryWish});
  request.truncates = true;  // who asks for a summary may have too much already
  size_t dropped = 0;
  if (auto error = make_responses_prompt(service, request, out, dropped)) return error;
  out.messages.clear();  // nobody goes on from the wish
  // Something was said, if only an empty message of the user's.
  if (static_cast<std::ptrdiff_t>(dropped) < said) return {};
  ApiError error = bad_request("input",
                               "no message of the conversation fits the model's context: there is nothing "
                               "left to sum up; shorten the messages");
  error.code = "context_length_exceeded";
  return error;
}

/// Where its answer goes, and whether it streams. `ends_at_once`: with an error.
void choose_stream(ResponsesRequest& request, bool ends_at_once, Prepared& out) {
  bool& streams = request.chat.stream.stream;
  out.client_reads = streams;
  if (!request.background || ends_at_once) return;
  out.background = std::make_shared<responses::EventLog>();
  streams = true;
}

void make_answer(const ModelService& service, const std::string& id, const ResponsesRequest& request,
                 const ChatPrompt& prompt, std::shared_ptr<SummingUp> summing_up, Prepared& out) {
  out.answer = make_responses_answer(make_head(service, id, request.chat.model), request,
                                     static_cast<int64_t>(prompt.tokens.size()), prompt.opens_thinking,
                                     token_bytes(service), *service.responses, out.background, std::move(summing_up));
}

/// The tokens of a prompt from which on a conversation is summed up.
int64_t tokens_before_summary(const ModelService& service, const ResponsesRequest& request) {
  const int64_t own = service.engine->max_model_len() * 3 / 4;
  const int64_t wanted = request.tokens_before_summary.value_or(0);
  return wanted > 0 ? std::min(wanted, own) : own;
}

/// The summary and what it leaves of the conversation, answered.
MaybeError prepare_second_pass(const ModelService& service, ResponsesRequest& request, SummingUp& summing_up,
                               Prepared& out) {
  std::vector<Message>& messages = request.chat.messages;
  put_in_place(summing_up.compaction, messages);
  if (std::ranges::none_of(messages, [](const Message& m) { return m.role == Role::user; })) {
    messages.push_back({.role = Role::user});  // templates want one
  }
  ChatPrompt prompt;
  size_t dropped = 0;
  if (auto error = make_responses_prompt(service, request, prompt, dropped)) return error;
  summing_up.prompt_tokens = static_cast<int64_t>(prompt.tokens.size());
  summing_up.opens_thinking = prompt.opens_thinking;
  if (auto error = submit_chat(service, std::move(request.chat), std::move(prompt), out)) return error;
  const auto rest = std::exchange(out.rest, nullptr);
  return rest ? rest(out) : MaybeError();
}

/// Sums the conversation up, then answers it unless the summary is the answer.
MaybeError prepare_summing_up(const ModelService& service, const std::string& id, ResponsesRequest request,
                              Prepared& out) {
  if (const Status status = service.engine->check(request.chat.sampling); !status.ok()) return api_error(status);
  auto summing_up = std::make_shared<SummingUp>(SummingUp{.answers = !request.sums_up});
  choose_stream(request, /*ends_at_once=*/false, out);
  ResponsesRequest summary = request;
  if (summing_up->answers) {
    Compaction& compaction = summing_up->compaction;
    std::vector<Message>& messages = summary.chat.messages;
    const int64_t room = std::max<int64_t>(tokens_before_summary(service, request) / 4, 1);
    compaction.whole = true;
    if (messages.back().role == Role::user) {
      compaction.asked = std::move(messages.back().text);
      messages.pop_back();
    }
    compaction.said = newest_user_texts(*service.engine, messages, room);
    summary.chat.sampling.max_tokens = room;
  }
  ChatPrompt prompt;
  if (auto error = make_summary_prompt(service, summary, prompt)) return error;
  make_answer(service, id, request, prompt, summing_up, out);
  const bool streams = request.chat.stream.stream;
  if (summing_up->answers) {
    out.next = [&service, summing_up, held = std::make_shared<ResponsesRequest>(std::move(request))](Prepared& second) {
      return prepare_second_pass(service, *held, *summing_up, second);
    };
  }
  auto error = submit_chat(service, std::move(summary.chat), std::move(prompt), out);
  out.stream = streams;
  return error;
}

}  // namespace

MaybeError prepare_responses(const ModelService& service, const std::string& id, std::string body, Prepared& out) {
  ResponsesRequest request;
  const std::string response_id = responses::response_id(id);
  if (auto error = read_responses_body(service, response_id, std::move(body), request)) return error;
  if (request.sums_up) return prepare_summing_up(service, response_id, std::move(request), out);
  std::optional<ResponsesRequest> whole;
  if (request.tokens_before_summary && responses::can_be_summed_up(request.chat.messages)) whole = request;
  ChatPrompt prompt;
  size_t dropped = 0;
  auto error = make_responses_prompt(service, request, prompt, dropped);
  // Agents take a prompt that is too long as the word to shorten it, where OpenAI says so: in the stream.
  const bool too_long = error && error->code == "context_length_exceeded";
  if (error && !too_long) return error;
  const auto tokens = static_cast<int64_t>(prompt.tokens.size());
  if (whole && (too_long || dropped > 0 || tokens > tokens_before_summary(service, request))) {
    const auto failed = prepare_summing_up(service, response_id, std::move(*whole), out);
    if (!failed || failed->code != "context_length_exceeded") return failed;
    out = {};  // not even that fits
  }
  choose_stream(request, too_long, out);
  out.fails_in_stream = too_long && out.client_reads;
  make_answer(service, response_id, request, prompt, nullptr, out);
  if (error) return error;
  return submit_chat(service, std::move(request.chat), std::move(prompt), out);
}

MaybeError prepare_compaction(const ModelService& service, const std::string& id, std::string body, Prepared& out) {
  ResponsesRequest request;
  if (auto error = read_responses_body(service, responses::response_id(id), std::move(body), request)) return error;
  ChatRequest& chat = request.chat;
  const Engine& engine = *service.engine;
  if (const Status status = engine.check(chat.sampling); !status.ok()) return api_error(status);
  std::vector<std::string> user_texts = newest_user_texts(engine, chat.messages, engine.max_model_len() / 4);
  ChatPrompt prompt;
  if (auto error = make_summary_prompt(service, request, prompt)) return error;
  out.answer = make_compaction_answer(make_head(service, responses::response_id(id), chat.model), std::move(user_texts),
                                      static_cast<int64_t>(prompt.tokens.size()), prompt.opens_thinking);
  return submit_chat(service, std::move(chat), std::move(prompt), out);
}

MaybeError answer_input_tokens(const ModelService& service, std::string body, std::string& out) {
  ResponsesRequest request;
  if (auto error = read_responses_body(service, "", std::move(body), request)) return error;
  ChatPrompt prompt;
  size_t dropped = 0;
  if (auto error = make_responses_prompt(service, request, prompt, dropped, /*only_counted=*/true)) return error;
  out = responses::input_tokens_json(static_cast<int64_t>(prompt.tokens.size()));
  return {};
}

}  // namespace tessera::server
