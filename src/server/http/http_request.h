#pragma once

#include <chrono>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace tessera::server {

using HttpHeaders = std::vector<std::pair<std::string, std::string>>;

struct HttpRequest {
  std::string method;  // "GET"
  std::string path;    // percent-decoded, without the query
  std::string query;   // as it came, without '?'
  int version = 11;    // 10 or 11
  bool keep_alive = true;
  HttpHeaders headers;  // names in lower case, in order
  std::string body;
  std::string client = {};  // address and port
  std::chrono::steady_clock::time_point arrived = {};

  /// The first header of that (lower-case) name; empty if there is none.
  [[nodiscard]] std::string_view header(std::string_view name) const {
    for (const auto& [key, value] : headers) {
      if (key == name) return value;
    }
    return {};
  }
};

struct HttpReply {
  int status = 200;
  std::string content_type = "application/json";
  HttpHeaders headers = {};  // others
  std::string body = {};
};

}  // namespace tessera::server
