#pragma once

#include <gmock/gmock.h>

#include <string>

#include "server/request_json.h"
#include "server/responses/responses_request.h"

namespace tessera::server::responses {

/// `fields` in a request that is otherwise right.
inline Json body_with(const std::string& fields) {
  return body_of(R"({"input": "Hi")" + (fields.empty() ? "" : ", " + fields) + "}");
}

inline ResponsesRequest request_of(const Json& body, ResponseStore* store = nullptr,
                                   const RequestOptions& options = {}) {
  ResponseStore empty({});
  ResponsesRequest request;
  const auto error = parse_responses_request(body, options, "resp_1", store != nullptr ? *store : empty, request);
  EXPECT_FALSE(error) << body.dump() << ": " << error->message;
  return request;
}

/// Requests in the shape of Codex, by name.
inline Json codex_requests() { return body_of(request_text("codex")); }

}  // namespace tessera::server::responses
