#pragma once

#include <gmock/gmock.h>

#include <fstream>
#include <iterator>
#include <string>

#include "server/responses/responses_request.h"

namespace tessera::server::responses {

/// A body as the handlers read it; the test fails if it is no JSON object.
inline Json body_of(const std::string& text) {
  Json body;
  const auto error = parse_body(text, RequestLimits(), body);
  EXPECT_FALSE(error) << text << ": " << error->message;
  return body;
}

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
inline Json codex_requests() {
  std::ifstream file(TESSERA_SOURCE_DIR "/tests/server/requests/codex.json");
  return body_of(std::string((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>()));
}

}  // namespace tessera::server::responses
