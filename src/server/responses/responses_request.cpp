#include "server/responses/responses_request.h"

#include <fmt/format.h>

#include <array>
#include <string_view>
#include <utility>

#include "engine/request_check.h"
#include "server/openai/answer_format.h"
#include "server/openai/request_fields.h"
#include "server/openai/template_fields.h"
#include "server/request/chat_choice.h"
#include "server/request/json_fields.h"
#include "server/request/sampling_fields.h"
#include "server/responses/input_items.h"

namespace tessera::server::responses {
namespace {

using MaybeError = std::optional<ApiError>;

constexpr const char* kLogprobs = "message.output_text.logprobs";
constexpr const char* kSealedReasoning = "reasoning.encrypted_content";

/// What would need a provider that keeps more than responses.
MaybeError check_unsupported(const Json& body) {
  for (const auto& [key, instead] : {std::pair{"conversation", "previous_response_id, or the items as input"},
                                     std::pair{"prompt", "instructions and input: no prompts are kept here"}}) {
    if (const Json* value = find(body, key)) return wrong(key, *value, fmt::format("nothing; use {}", instead));
  }
  std::optional<int64_t> n;
  if (auto error = read_whole(body, "n", 1, 1, n)) return error;
  return std::nullopt;
}

MaybeError parse_keeping(const Json& body, const ResponseStore& store, ResponsesRequest& out) {
  if (auto error = read_flag(body, "store", out.store)) return error;
  if (auto error = read_flag(body, "background", out.background)) return error;
  if (!out.background) return std::nullopt;
  if (!out.store)
    return wrong("background", Json(true), "\"store\": true with it: what is not kept cannot be asked for");
  if (store.keeps_any()) return std::nullopt;
  return wrong("background", Json(true),
               "false: this server keeps no responses (serve --max-stored-responses, --max-stored-bytes)");
}

MaybeError parse_include(const Json& body, bool& logprobs, ResponsesRequest& out) {
  const Json* include = find(body, "include");
  if (include == nullptr) return std::nullopt;
  if (!include->is_array()) return wrong("include", *include, "an array of strings");
  for (size_t i = 0; i < include->size(); ++i) {
    const Json& one = (*include)[i];
    if (!one.is_string()) return wrong(at("include", i), one, "a string");
    logprobs = logprobs || one == kLogprobs;
    out.shows_sealed_reasoning = out.shows_sealed_reasoning || one == kSealedReasoning;
  }
  return std::nullopt;
}

MaybeError parse_sampling(const Json& body, ResponsesRequest& out) {
  static constexpr std::string_view kOther[] = {"n", "logprobs", "prompt_logprobs"};
  SamplingParams& sampling = out.chat.sampling;
  sampling.n = 1;
  sampling.logprobs.reset();
  sampling.prompt_logprobs.reset();
  if (auto error = apply_sampling(body, sampling, kOther)) return error;
  std::optional<int64_t> most;
  if (auto error = read_whole(body, "max_output_tokens", 1, kAnyCount, most)) return error;
  if (most) sampling.max_tokens = *most;
  bool logprobs = false;
  if (auto error = parse_include(body, logprobs, out)) return error;
  std::optional<int64_t> alternatives;
  if (auto error = read_whole(body, "top_logprobs", 0, engine::kMaxLogprobs, alternatives)) return error;
  if (logprobs || alternatives.value_or(0) > 0) sampling.logprobs = static_cast<int>(alternatives.value_or(0));
  return std::nullopt;
}

/// text: {"format": {...}, "verbosity": "low"}
MaybeError parse_text(const Json& body, std::optional<AnswerFormat>& out) {
  const Json* text = find(body, "text");
  if (text == nullptr) return std::nullopt;
  if (!text->is_object()) return wrong("text", *text, R"({"format": {"type": "text"}})");
  std::string verbosity;
  if (auto error = read_text(*text, "verbosity", verbosity, "text")) return error;
  const Json* format = find(*text, "format");
  if (format == nullptr) return std::nullopt;
  const Json* type = format->is_object() ? find(*format, "type") : nullptr;
  if (type == nullptr) return wrong("text.format", *format, R"(an object such as {"type": "json_object"})");
  if (*type == "text") return std::nullopt;
  if (out) return bad_request("text.format", "text.format and " + out->param + " are both given, expected one of them");
  using SourceKind = GrammarSource::Kind;
  if (*type == "json_object") {
    out = AnswerFormat{.source = {.kind = SourceKind::json_object}, .param = "text.format"};
    return std::nullopt;
  }
  if (*type != "json_schema") return wrong("text.format.type", *type, R"("text", "json_object" or "json_schema")");
  const Json* schema = find(*format, "schema");
  if (schema == nullptr) return missing("text.format.schema", "a JSON schema");
  if (!schema->is_object()) return wrong("text.format.schema", *schema, "a JSON schema");
  out =
      AnswerFormat{.source = {.kind = SourceKind::json_schema, .text = schema->dump()}, .param = "text.format.schema"};
  return std::nullopt;
}

MaybeError parse_reasoning(const Json& body, ResponsesRequest& out) {
  const Json* reasoning = find(body, "reasoning");
  if (reasoning == nullptr) return std::nullopt;  // the next reader looks at its shape
  std::string summary;
  for (const char* key : {"summary", "generate_summary"}) {
    if (auto error = read_text(*reasoning, key, summary, "reasoning")) return error;
  }
  out.shows_summary = !summary.empty() && summary != "none";
  return std::nullopt;
}

/// [{"type": "compaction", "compact_threshold": 100000}]
MaybeError parse_context_management(const Json& body, ResponsesRequest& out) {
  const Json* list = find(body, "context_management");
  if (list == nullptr) return std::nullopt;
  const std::string key = "context_management";
  if (!list->is_array()) return wrong(key, *list, R"([{"type": "compaction", "compact_threshold": 100000}])");
  for (size_t i = 0; i < list->size(); ++i) {
    const Json& one = (*list)[i];
    const std::string inside = at(key, i);
    const Json* type = one.is_object() ? find(one, "type") : nullptr;
    if (type == nullptr || *type != "compaction") {
      return wrong(at(inside, "type"), type == nullptr ? Json() : *type, "\"compaction\"");
    }
    if (auto error = read_whole(one, "compact_threshold", 1, kAnyCount, out.tokens_before_summary, inside))
      return error;
    if (!out.tokens_before_summary) out.tokens_before_summary = 0;
  }
  return std::nullopt;
}

/// The item that asks for a summary is the last, if there is one.
MaybeError find_trigger(const Json& items, ResponsesRequest& out) {
  for (size_t i = 0; i < items.size(); ++i) {
    const Json* type = items[i].is_object() ? find(items[i], "type") : nullptr;
    if (type == nullptr || *type != "compaction_trigger") continue;
    if (i + 1 < items.size()) return wrong(at(at("input", i), "type"), *type, "it as the last item of the input");
    out.sums_up = true;
  }
  return std::nullopt;
}

/// The request's own items as an array.
MaybeError own_items(const Json& body, Json& made, const Json*& items) {
  items = find(body, "input");
  if (items == nullptr) {
    items = &made;
  } else if (items->is_string()) {
    made.push_back({{"type", "message"},
                    {"role", "user"},
                    {"content", Json::array({{{"type", "input_text"}, {"text", *items}}})}});
    items = &made;
  } else if (!items->is_array()) {
    return wrong("input", *items, "a string or an array of items");
  }
  return std::nullopt;
}

/// The items as they are kept: each with an id and a type, so that they can be listed. One at a time: as JSON they take
/// many times their bytes.
std::string kept_items(const Json& items, const std::string& id) {
  std::string out = "[";
  for (size_t i = 0; i < items.size(); ++i) {
    Json item = items[i];
    const Json* type = find(item, "type");
    if (type != nullptr && *type == "compaction_trigger") continue;  // it counts once
    if (find(item, "id") == nullptr) item["id"] = tool_call_id("item_", id, 1, static_cast<int>(i));
    if (find(item, "type") == nullptr) item["type"] = find(item, "role") != nullptr ? "message" : "item_reference";
    if (out.size() > 1) out += ',';
    out += item.dump(-1, ' ', false, Json::error_handler_t::replace);
  }
  return out + "]";
}

/// What the request goes on from, oldest first.
MaybeError find_conversation(const Json& body, ResponseStore& store, ResponsesRequest& out,
                             std::vector<SharedResponse>& before) {
  if (auto error = read_text(body, "previous_response_id", out.previous_id)) return error;
  return out.previous_id.empty() ? std::nullopt : store.conversation(out.previous_id, before);
}

/// The items of requests before that may bring tools.
std::vector<Json> items_with_tools(const std::vector<SharedResponse>& before) {
  std::vector<Json> items;
  for (const SharedResponse& response : before) {
    const bool may = response->input.find("tool_search_output") != std::string::npos ||
                     response->input.find("additional_tools") != std::string::npos;
    if (may) items.push_back(Json::parse(response->input));
  }
  return items;
}

/// Everything that the model reads: instructions, what was said before, the request's own items.
MaybeError parse_conversation(const Json& body, const RequestOptions& options, const std::string& id,
                              ResponseStore& store, const std::vector<SharedResponse>& before, ResponsesRequest& out) {
  std::vector<Message>& messages = out.chat.messages;
  std::string instructions;
  if (auto error = read_text(body, "instructions", instructions)) return error;
  if (!instructions.empty()) messages.push_back({.role = Role::system, .text = std::move(instructions)});
  const ItemReader reader{{options.limits, options.drops_media, out.chat.notes}, out.tools, store};
  if (before.empty() && find(body, "input") == nullptr) return missing("input", "a string or an array of items");
  for (const SharedResponse& response : before) {
    for (const std::string& items : {response->input, response->output}) {
      if (auto error = parse_items(Json::parse(items), "previous_response_id", reader, messages)) return error;
    }
  }
  Json made = Json::array();
  const Json* items = nullptr;
  if (auto error = own_items(body, made, items)) return error;
  if (auto error = find_trigger(*items, out)) return error;
  if (auto error = parse_items(*items, "input", reader, messages)) return error;
  if (out.store) out.input = kept_items(*items, id);
  // Templates want something of the user's.
  for (const Message& message : messages) {
    if (message.role == Role::user) return std::nullopt;
  }
  messages.push_back({.role = Role::user});
  return std::nullopt;
}

/// A float as it was meant: 0.7, not 0.69999998.
Json number(float value) { return Json::parse(fmt::format("{}", value)); }

void make_echo(const Json& body, ResponsesRequest& out) {
  const SamplingParams& sampling = out.chat.sampling;
  const auto given = [&](const char* key, Json otherwise) {
    const Json* value = find(body, key);
    return value == nullptr ? std::move(otherwise) : *value;
  };
  Json& echo = out.echo;
  for (const char* key : {"instructions", "max_output_tokens", "max_tool_calls"}) echo[key] = given(key, nullptr);
  echo["metadata"] = given("metadata", Json::object());
  echo["parallel_tool_calls"] = out.chat.parallel_tool_calls;
  echo["previous_response_id"] = given("previous_response_id", nullptr);
  for (const char* key : {"prompt_cache_key", "prompt_cache_retention", "safety_identifier", "user"}) {
    echo[key] = given(key, nullptr);
  }
  const Json* reasoning = find(body, "reasoning");
  echo["reasoning"] = {{"effort", nullptr}, {"summary", nullptr}};
  if (reasoning != nullptr) echo["reasoning"].update(*reasoning);
  echo["service_tier"] = "default";
  echo["store"] = out.store;
  echo["temperature"] = number(sampling.temperature);
  echo["top_p"] = number(sampling.top_p);
  echo["presence_penalty"] = number(sampling.presence_penalty);
  echo["frequency_penalty"] = number(sampling.frequency_penalty);
  echo["top_logprobs"] = sampling.logprobs.value_or(0);
  echo["text"] = {{"format", {{"type", "text"}}}, {"verbosity", "medium"}};
  if (const Json* text = find(body, "text")) echo["text"].update(*text);
  echo["tool_choice"] = given("tool_choice", "auto");
  echo["tools"] = given("tools", Json::array());
  echo["truncation"] = out.truncates ? "auto" : "disabled";
  echo["background"] = out.background;
}

}  // namespace

std::optional<ApiError> parse_responses_request(const Json& body, const RequestOptions& options, const std::string& id,
                                                ResponseStore& store, ResponsesRequest& out) {
  out = {};
  ChatRequest& chat = out.chat;
  chat.sampling = options.sampling;
  chat.conversation_field = "input";
  chat.returns_reasoning = true;
  if (auto error = read_text(body, "model", chat.model)) return error;
  if (auto error = openai::check_other_fields(body, openai::Endpoint::responses, chat.notes)) return error;
  if (auto error = openai::read_cache_salt(body, chat.cache_salt)) return error;
  if (auto error = check_unsupported(body)) return error;
  if (auto error = openai::parse_answer_format(body, chat.format)) return error;
  if (auto error = parse_text(body, chat.format)) return error;
  if (auto error = openai::parse_stream(body, chat.stream)) return error;
  if (auto error = parse_sampling(body, out)) return error;
  if (auto error = parse_reasoning(body, out)) return error;
  if (auto error = openai::parse_thinking_fields(body, options, chat)) return error;
  if (auto error = read_flag(body, "parallel_tool_calls", chat.parallel_tool_calls)) return error;
  if (auto error = parse_keeping(body, store, out)) return error;
  if (auto error = parse_context_management(body, out)) return error;
  std::string truncation;
  if (auto error = read_text(body, "truncation", truncation)) return error;
  if (!truncation.empty() && truncation != "auto" && truncation != "disabled") {
    return wrong("truncation", body["truncation"], R"("auto" or "disabled")");
  }
  out.truncates = truncation == "auto";
  const Json* metadata = find(body, "metadata");
  if (metadata != nullptr && !metadata->is_object()) return wrong("metadata", *metadata, "an object of strings");
  std::vector<SharedResponse> before;
  if (auto error = find_conversation(body, store, out, before)) return error;
  if (auto error = parse_tools(body, items_with_tools(before), options.limits, chat.tools, out.tools, chat.notes)) {
    return error;
  }
  if (auto error = parse_conversation(body, options, id, store, before, out)) return error;
  make_echo(body, out);
  return std::nullopt;
}

}  // namespace tessera::server::responses
