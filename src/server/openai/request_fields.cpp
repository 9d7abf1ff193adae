#include "server/openai/request_fields.h"

#include <algorithm>
#include <string_view>

#include "server/request/json_fields.h"
#include "server/request/sampling_fields.h"

namespace tessera::server::openai {
namespace {

constexpr size_t kIgnoredMax = 32;
constexpr size_t kIgnoredBytesMax = 64;

// Read by one of the parsers, besides the table of sampling parameters.
constexpr std::string_view kRead[] = {"model",
                                      "stream",
                                      "stream_options",
                                      "return_token_ids",
                                      "response_format",
                                      "structured_outputs",
                                      "guided_json",
                                      "guided_regex",
                                      "guided_choice",
                                      "guided_grammar",
                                      "json_schema",
                                      "regex",
                                      "grammar",
                                      "ebnf",
                                      "max_completion_tokens",
                                      "messages",
                                      "tools",
                                      "tool_choice",
                                      "parallel_tool_calls",
                                      "functions",
                                      "function_call",
                                      "continue_final_message",
                                      "chat_template_kwargs",
                                      "add_generation_prompt",
                                      "enable_thinking",
                                      "thinking",
                                      "reasoning",
                                      "reasoning_effort",
                                      "thinking_token_budget",
                                      "thinking_budget",
                                      "max_thinking_tokens",
                                      "include_reasoning",
                                      "top_logprobs",
                                      "prompt",
                                      "echo",
                                      "best_of",
                                      "input",
                                      "instructions",
                                      "previous_response_id",
                                      "text",
                                      "include",
                                      "max_output_tokens",
                                      "background",
                                      "conversation",
                                      "truncation"};

// Accepted because leaving them out of account gives the answer that was asked for: notes of the client to its
// provider, wishes about speed, salts of a cache that is not shared.
constexpr std::string_view kWithoutEffect[] = {"user",
                                               "metadata",
                                               "store",
                                               "service_tier",
                                               "safety_identifier",
                                               "prompt_cache_key",
                                               "prompt_cache_retention",
                                               "prediction",
                                               "verbosity",
                                               "priority",
                                               "max_tool_calls",
                                               "client_metadata",
                                               "cache_salt",
                                               "request_id",
                                               "separate_reasoning",
                                               "stream_reasoning",
                                               "guided_decoding_backend",
                                               "spaces_between_special_tokens"};

constexpr unsigned kChat = 1, kCompletion = 2, kBoth = 3;  // /v1/responses takes and refuses what chat does

struct Unsupported {
  std::string_view key;
  unsigned endpoints;
  const char* neutral;  // as JSON; null always is
  const char* why;
};

constexpr const char* kNotSupported = "it is not supported; leave it out";

constexpr Unsupported kUnsupported[] = {
    {"guided_whitespace_pattern", kBoth, "\"\"", "use structured_outputs.disable_any_whitespace in its place"},
    {"chat_template", kBoth, "\"\"", "templates are the operator's choice (serve --chat-template); leave it out"},
    {"continue_final_message", kCompletion, "false", "only /v1/chat/completions has it; give the prompt as it is"},
    {"echo", kChat, "false", "only /v1/completions has it"},
    {"best_of", kChat, "1", "use \"n\" in its place"},
    {"suffix", kCompletion, "\"\"", "text cannot be inserted before a suffix; put all of it into the prompt"},
    {"modalities", kChat, R"(["text"])", "this server writes text only"},
    {"audio", kChat, "null", "this server writes text only"},
    {"web_search_options", kChat, "null", "there is no search here; leave it out"},
    {"documents", kChat, "[]", "put documents into the messages"},
    {"use_beam_search", kBoth, "false", kNotSupported},
    {"length_penalty", kBoth, "1.0", kNotSupported},
    {"bad_words", kBoth, "[]", "use \"logit_bias\" for single tokens"},
    {"allowed_token_ids", kBoth, "null", kNotSupported},
    {"logits_processors", kBoth, "[]", kNotSupported},
    {"custom_logit_processor", kBoth, "\"\"", kNotSupported},
    {"truncate_prompt_tokens", kBoth, "null", "shorten the prompt before it is sent"},
    {"return_tokens_as_token_ids", kBoth, "false", "use \"return_token_ids\" in its place"},
    {"return_hidden_states", kBoth, "false", kNotSupported},
    {"prompt_embeds", kBoth, "null", "give text or token ids"},
    {"mm_processor_kwargs", kBoth, "{}", "this server takes text only"},
    {"lora_path", kBoth, "null", kNotSupported},
};

bool is_known(std::string_view key) {
  const auto names = [key](const auto& list) { return std::ranges::find(list, key) != std::end(list); };
  return names(kRead) || names(kWithoutEffect) ||
         std::ranges::any_of(sampling_fields(), [key](const SamplingField& field) { return key == field.key; }) ||
         std::ranges::any_of(kUnsupported, [key](const Unsupported& field) { return key == field.key; });
}

}  // namespace

std::optional<ApiError> parse_stream(const Json& body, StreamFields& out) {
  if (auto error = read_flag(body, "stream", out.stream)) return error;
  const Json* options = find(body, "stream_options");
  if (options == nullptr) return std::nullopt;
  if (!options->is_object()) return wrong("stream_options", *options, R"({"include_usage": true or false})");
  if (auto error = read_flag(*options, "include_usage", out.include_usage, "stream_options")) return error;
  return read_flag(*options, "continuous_usage_stats", out.continuous_usage, "stream_options");
}

std::optional<ApiError> check_other_fields(const Json& body, Endpoint endpoint, std::vector<std::string>& ignored) {
  const unsigned here = endpoint == Endpoint::completion ? kCompletion : kChat;
  for (const Unsupported& field : kUnsupported) {
    const Json* value = find(body, field.key);
    if (value == nullptr || (field.endpoints & here) == 0 || *value == Json::parse(field.neutral)) continue;
    const std::string key(field.key);
    return bad_request(key, key + " is " + shown(*value) + ": " + field.why);
  }
  for (const auto& [key, value] : body.items()) {
    if (ignored.size() == kIgnoredMax) break;
    if (!is_known(key)) ignored.push_back(shortened(key, kIgnoredBytesMax));
  }
  return std::nullopt;
}

}  // namespace tessera::server::openai
