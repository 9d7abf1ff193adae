#pragma once

#include <optional>

#include "server/request/chat_request.h"

namespace tessera::server::anthropic {

/// A request of /v1/messages or /v1/messages/count_tokens.
///
/// cache_control, metadata, context_management and others that do not change what is answered are ignored; `notes` of
/// the request names fields that would, and unknown ones. Sampling parameters of this server besides Anthropic's
/// (min_p, seed...) are taken too. max_tokens may be left out: as many as fit.
///
/// Thinking: on with {"type": "enabled"}, whose budget_tokens bounds it, as the template has it with "adaptive", where
/// output_config.effort "low" bounds it; off with "disabled". Where nothing is said it is off, as the API has it, but
/// where the operator's template arguments say enable_thinking. A last message of the assistant's is continued.
///
/// output_config.format, or output_format, of type json_schema is what the answer follows; "strict" tools are called as
/// their input_schema says.
std::optional<ApiError> parse_messages_request(const Json& body, const RequestOptions& options, ChatRequest& out);

}  // namespace tessera::server::anthropic
