#include "server/openai/request_fields.h"

#include <algorithm>
#include <span>
#include <string_view>

#include "server/request/json_fields.h"
#include "server/request/sampling_fields.h"

namespace tessera::server::openai {
namespace {

constexpr unsigned bit(Endpoint endpoint) { return 1U << static_cast<unsigned>(endpoint); }
constexpr unsigned kChats = bit(Endpoint::chat), kCompletions = bit(Endpoint::completion);
constexpr unsigned kResponses = bit(Endpoint::responses), kAll = kChats | kCompletions | kResponses;

/// Read by the parsers of some endpoints, besides the table of sampling parameters.
struct ReadField {
  std::string_view key;
  unsigned where;
};
constexpr ReadField kRead[] = {
    {"model", kAll},
    {"stream", kAll},
    {"stream_options", kAll},
    {"cache_salt", kAll},
    {"response_format", kAll},
    {"structured_outputs", kAll},
    {"guided_json", kAll},
    {"guided_regex", kAll},
    {"guided_choice", kAll},
    {"guided_grammar", kAll},
    {"json_schema", kAll},
    {"regex", kAll},
    {"grammar", kAll},
    {"ebnf", kAll},
    {"return_token_ids", kChats | kCompletions},
    {"return_draft_stats", kChats | kCompletions},
    {"echo", kChats | kCompletions},
    {"max_completion_tokens", kChats},
    {"messages", kChats},
    {"functions", kChats},
    {"function_call", kChats},
    {"continue_final_message", kChats},
    {"add_generation_prompt", kChats},
    {"tools", kChats | kResponses},
    {"tool_choice", kChats | kResponses},
    {"parallel_tool_calls", kChats | kResponses},
    {"chat_template_kwargs", kChats | kResponses},
    {"enable_thinking", kChats | kResponses},
    {"thinking", kChats | kResponses},
    {"reasoning", kChats | kResponses},
    {"reasoning_effort", kChats | kResponses},
    {"thinking_token_budget", kChats | kResponses},
    {"thinking_budget", kChats | kResponses},
    {"max_thinking_tokens", kChats | kResponses},
    {"include_reasoning", kChats | kResponses},
    {"top_logprobs", kChats | kResponses},
    {"prompt", kCompletions},
    {"best_of", kCompletions},
    {"input", kResponses},
    {"instructions", kResponses},
    {"previous_response_id", kResponses},
    {"text", kResponses},
    {"include", kResponses},
    {"max_output_tokens", kResponses},
    {"background", kResponses},
    {"conversation", kResponses},
    {"context_management", kResponses},
    {"truncation", kResponses},
};

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

/// What is refused besides kUnsupported. Responses take and refuse what chats do, and refuse more.
std::span<const UnsupportedField> refused_by(Endpoint endpoint) {
  return endpoint == Endpoint::completion ? std::span<const UnsupportedField>(kNotInCompletions) : kNotInChats;
}

bool is_known(std::string_view key, Endpoint endpoint) {
  const auto keys = [key](const auto& table) {
    return std::ranges::find(table, key, &UnsupportedField::key) != std::end(table);
  };
  const auto* const read = std::ranges::find(kRead, key, &ReadField::key);
  if (read != std::end(kRead) && (read->where & bit(endpoint)) != 0) return true;
  return std::ranges::find(kWithoutEffect, key) != std::end(kWithoutEffect) || is_sampling_field(key) ||
         keys(kUnsupported) || keys(refused_by(endpoint)) || (endpoint == Endpoint::responses && keys(kNotInResponses));
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

std::optional<ApiError> read_cache_salt(const Json& body, std::string& out) {
  if (auto error = read_text(body, "cache_salt", out)) return error;
  const Json* salt = find(body, "cache_salt");
  if (salt != nullptr && out.empty()) return wrong("cache_salt", *salt, "a string, not empty");
  return std::nullopt;
}

std::optional<ApiError> check_other_fields(const Json& body, Endpoint endpoint, std::vector<std::string>& notes) {
  if (auto error = refuse_unsupported(body, kUnsupported)) return error;
  if (auto error = refuse_unsupported(body, refused_by(endpoint))) return error;
  if (endpoint == Endpoint::responses) {
    if (auto error = refuse_unsupported(body, kNotInResponses)) return error;
  }
  note_unknown(
      body, [endpoint](std::string_view key) { return is_known(key, endpoint); }, notes);
  return std::nullopt;
}

}  // namespace tessera::server::openai
