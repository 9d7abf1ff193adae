#pragma once

#include <optional>
#include <string>

#include "server/request/api_error.h"
#include "server/request/usage.h"
#include "server/responses/responses_request.h"

namespace tessera::server::responses {

enum class ResponseStatus { in_progress, completed, incomplete, failed, cancelled };

/// Where a response stands.
struct ResponseState {
  ResponseStatus status = ResponseStatus::in_progress;
  std::optional<Usage> usage = {};     // null before it is known
  std::optional<ApiError> error = {};  // with failed
};

/// Of the response to a request with this id.
inline std::string response_id(const std::string& request_id) { return "resp_" + request_id; }

/// The response object up to its output, which is its last member: {"id": ..., "output":
std::string response_head(const ResponseHead& head, const std::string& echo, const ResponseState& state);

/// The members of a request's echo: "key": value, ...
std::string echo_members(const ResponsesRequest& request);

/// The answer of /v1/responses/compact: what the user has said, and the conversation in short.
std::string compaction_json(const ResponseHead& head, const std::vector<std::string>& user_texts,
                            const std::string& summary, const Usage& usage);

/// GET /v1/responses/{id}/input_items: of the conversation, newest first unless `ascending`.
struct ItemPage {
  int64_t limit = 20;
  bool ascending = false;
  std::string after = {};  // id of an item; empty: from the beginning
};
std::string input_items_json(const std::vector<SharedResponse>& conversation, const ItemPage& page);

/// DELETE /v1/responses/{id}
std::string deleted_json(const std::string& id);

/// {"object": "response.input_tokens", "input_tokens": N}
std::string input_tokens_json(int64_t tokens);

}  // namespace tessera::server::responses
