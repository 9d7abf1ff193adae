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

/// The messages that the template gets of a request with this `input`; more: fields behind it, with their comma.
inline std::string messages_of(const std::string& input, const std::string& more = "") {
  return template_request(request_of(body_of("{\"input\": " + input + more + "}")).chat)["messages"].dump();
}

/// Why a request with these fields is refused.
inline ApiError refusal_of(const std::string& fields, const std::string& input = "\"Hi\"") {
  ResponseStore store({});
  ResponsesRequest request;
  const Json body = body_of("{\"input\": " + input + (fields.empty() ? "" : ", " + fields) + "}");
  const auto error = parse_responses_request(body, {}, "resp_1", store, request);
  EXPECT_TRUE(error) << body.dump();
  return error.value_or(ApiError{});
}

/// Requests in the shape of Codex, by name.
inline Json codex_requests() { return body_of(request_text("codex")); }

}  // namespace tessera::server::responses
