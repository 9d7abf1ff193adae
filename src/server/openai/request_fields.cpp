#include "server/openai/request_fields.h"

#include <algorithm>
#include <span>
#include <string_view>

#include "server/request/json_fields.h"
#include "server/request/sampling_fields.h"

namespace tessera::server::openai {
namespace {

// Read by one of the parsers, besides the table of sampling parameters.
constexpr std::string_view kRead[] = {"model",
                                      "stream",
                                      "stream_options",
                                      "return_token_ids",
                                      "return_draft_stats",
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
                                      "context_management",
                                      "truncation",
                                      "cache_salt"};

// Accepted because leaving them out of account gives the answer that was asked for: notes of the client to its
// provider, wishes about speed.
constexpr std::string_view kWithoutEffect[] = {
    "user", "metadata", "store", "service_tier", "safety_identifier", "prompt_cache_key", "prompt_cache_retention",
    "prediction", "verbosity", "priority", "max_tool_calls", "client_metadata", "request_id", "separate_reasoning",
    "stream_reasoning", "guided_decoding_backend", "spaces_between_special_tokens",
    // They tune what is refused when it is asked for.
    "mirostat_tau", "mirostat_eta", "dry_base", "dry_allowed_length", "dry_penalty_last_n", "dry_sequence_breakers",
    "xtc_threshold", "dynatemp_exponent", "repeat_last_n"};

constexpr const char* kNotSupported = "it is not supported; leave it out";

// Besides the sampling fields that are not here.
constexpr UnsupportedField kUnsupported[] = {
    {"guided_whitespace_pattern", "[\"\"]", "use structured_outputs.disable_any_whitespace in its place"},
    {"chat_template", "[\"\"]", "templates are the operator's choice (serve --chat-template); leave it out"},
    {"return_tokens_as_token_ids", "[false]", "use \"return_token_ids\" in its place"},
    {"return_hidden_states", "[false]", kNotSupported},
    {"prompt_embeds", "[]", "give text or token ids"},
    {"mm_processor_kwargs", "[{}]", "this server takes text only"},
    {"lora_path", "[]", kNotSupported},
};
constexpr UnsupportedField kNotInChats[] = {
    {"best_of", "[1]", "use \"n\" in its place"},
    {"modalities", R"([["text"]])", "this server writes text only"},
    {"audio", "[]", "this server writes text only"},
    {"web_search_options", "[]", "there is no search here; leave it out"},
    {"documents", "[[]]", "put documents into the messages"},
};
constexpr UnsupportedField kNotInResponses[] = {
    {"echo", "[false]", "only /v1/completions and /v1/chat/completions have it"},
};
constexpr UnsupportedField kNotInCompletions[] = {
    {"continue_final_message", "[false]", "only /v1/chat/completions has it; give the prompt as it is"},
    {"suffix", "[\"\"]", "text cannot be inserted before a suffix; put all of it into the prompt"},
};

/// `refused`: what the endpoint refuses besides kUnsupported.
bool is_known(std::string_view key, std::span<const UnsupportedField> refused) {
  const auto names = [key](const auto& list) { return std::ranges::find(list, key) != std::end(list); };
  const auto keys = [key](const auto& table) {
    return std::ranges::find(table, key, &UnsupportedField::key) != std::end(table);
  };
  return names(kRead) || names(kWithoutEffect) || is_sampling_field(key) || keys(kUnsupported) || keys(refused);
}

bool is_known_in_chats(std::string_view key) { return is_known(key, kNotInChats); }
bool is_known_in_completions(std::string_view key) { return is_known(key, kNotInCompletions); }

}  // namespace

std::optional<ApiError> parse_stream(const Json& body, StreamFields& out) {
  if (auto error = read_flag(body, "stream", out.stream)) return error;
  const Json* options = find(body, "stream_options");
  if (options == nullptr) return std::nullopt;
  if (!options->is_object()) return wrong("stream_options", *options, R"({"include_usage": true or false})");
  if (auto error = read_flag(*options, "include_usage", out.include_usage, "stream_options")) return error;
  return read_flag(*options, "continuous_usage_stats", out.continuous_usage, "stream_options");
}

std::optional<ApiError> read_cache_salt(const Json& body, std::string& out) {
  if (auto error = read_text(body, "cache_salt", out)) return error;
  const Json* salt = find(body, "cache_salt");
  if (salt != nullptr && out.empty()) return wrong("cache_salt", *salt, "a string, not empty");
  return std::nullopt;
}

std::optional<ApiError> check_other_fields(const Json& body, Endpoint endpoint, std::vector<std::string>& notes) {
  if (auto error = refuse_unsupported(body, kUnsupported)) return error;
  const bool chat = endpoint != Endpoint::completion;  // responses take and refuse what chats do
  if (auto error = chat ? refuse_unsupported(body, kNotInChats) : refuse_unsupported(body, kNotInCompletions)) {
    return error;
  }
  if (endpoint == Endpoint::responses) {
    if (auto error = refuse_unsupported(body, kNotInResponses)) return error;
  }
  note_unknown(body, chat ? is_known_in_chats : is_known_in_completions, notes);
  return std::nullopt;
}

}  // namespace tessera::server::openai
