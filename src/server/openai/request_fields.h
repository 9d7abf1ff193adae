#pragma once

#include <optional>
#include <string>
#include <vector>

#include "server/request/chat_request.h"

// What the requests of /v1/chat/completions, /v1/completions and /v1/responses share.
namespace tessera::server::openai {

enum class Endpoint { chat, completion, responses };

/// Reads stream and stream_options.
std::optional<ApiError> parse_stream(const Json& body, StreamFields& out);

/// Reads cache_salt: what is kept of a prompt is for requests with the same alone.
std::optional<ApiError> read_cache_salt(const Json& body, std::string& out);

/// Refuses fields that would change the answer but are not supported, unless they hold their neutral value, and notes
/// those that are not known. Those of sampling are apply_sampling's.
std::optional<ApiError> check_other_fields(const Json& body, Endpoint endpoint, std::vector<std::string>& notes);

}  // namespace tessera::server::openai
