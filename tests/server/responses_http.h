#pragma once

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "server/served_model.h"

// What tests of /v1/responses over HTTP share.
namespace tessera::server {

using nlohmann::json;

inline const std::string kHello = R"({"model":"tiny","max_output_tokens":6,"seed":1,"input":"Hi"})";

inline std::vector<json> events_of(const std::string& body) {
  std::vector<json> events;
  for (size_t at = body.find("data: "); at != std::string::npos; at = body.find("data: ", at + 1)) {
    events.push_back(json::parse(body.substr(at + 6, body.find('\n', at) - at - 6)));
  }
  return events;
}

inline std::string with(const std::string& fields) { return std::string(kHello).insert(1, fields + ","); }

inline json answer_to(const ServedModel& served, const std::string& body) {
  const RawAnswer answer = ask(served.port(), post("/v1/responses", body));
  EXPECT_EQ(answer.status, 200) << answer.body;
  return json::parse(answer.body, nullptr, false);
}

inline std::string del(const std::string& path) { return "DELETE " + path + " HTTP/1.1\r\nHost: localhost\r\n\r\n"; }

inline std::string path_of(const json& response) { return "/v1/responses/" + response["id"].get<std::string>(); }

}  // namespace tessera::server
