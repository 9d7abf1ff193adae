#pragma once

#include <gmock/gmock.h>

#include <string>

#include "server/openai/chat_request.h"
#include "server/request_json.h"

namespace tessera::server::openai {

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
