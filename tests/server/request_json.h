#pragma once

#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <string>

#include "server/request/json_body.h"

namespace tessera::server {

/// A body as the handlers read it; the test fails if it is no JSON object.
inline Json body_of(const std::string& text) {
  Json body;
  const auto error = parse_body(text, RequestLimits(), body);
  EXPECT_FALSE(error) << text << ": " << error->message;
  return body;
}

/// What a client sends, of tests/server/requests.
inline std::string request_text(const std::string& name) {
  std::ifstream file(TESSERA_SOURCE_DIR "/tests/server/requests/" + name + ".json");
  EXPECT_TRUE(file) << name;
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

}  // namespace tessera::server
