#pragma once

#include <gmock/gmock.h>

#include <string>

#include "server/openai/chat_request.h"
#include "server/request/json_body.h"

namespace tessera::server::openai {

/// A body as the handlers read it; the test fails if it is no JSON object.
inline Json body_of(const std::string& text) {
  Json body;
  const auto error = parse_body(text, RequestLimits(), body);
  EXPECT_FALSE(error) << text << ": " << error->message;
  return body;
}

/// `fields` in a chat request that is otherwise right.
inline Json chat_body(const std::string& fields) {
  const std::string rest = fields.empty() ? "" : ", " + fields;
  return body_of(R"({"messages": [{"role": "user", "content": "Hi"}])" + rest + "}");
}

inline ChatRequest chat_request(const std::string& fields, const RequestOptions& options = {}) {
  ChatRequest request;
  const auto error = parse_chat_request(chat_body(fields), options, request);
  EXPECT_FALSE(error) << fields << ": " << error->message;
  return request;
}

}  // namespace tessera::server::openai
