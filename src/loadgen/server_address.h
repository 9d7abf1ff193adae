#pragma once

#include <string>

#include "base/status.h"

namespace tessera::loadgen {

/// Where a server is, out of what a user gives: "localhost:8000", "https://host/v1", "unix:/run/tessera.sock".
struct ServerAddress {
  std::string root;         // "http://localhost:8000", where /metrics is
  std::string api;          // root + "/v1"
  std::string unix_socket;  // empty: TCP

  static Expected<ServerAddress> parse(const std::string& url);
};

}  // namespace tessera::loadgen
