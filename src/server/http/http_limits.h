#pragma once

#include <cstdint>

namespace tessera::server {

/// What a client could make large or long before its request is looked at, and behind it.
struct HttpLimits {
  int64_t header_bytes_max = 64 << 10;     // of a request, its first line included; beyond: 431
  int64_t headers_max = 128;               // lines; beyond: 431
  int64_t body_bytes_max = 32 << 20;       // of a request; beyond: 413
  int64_t all_body_bytes_max = 512 << 20;  // of all requests that are being read or prepared; beyond: 503
  int64_t connections_max = 4096;          // beyond: 503 and closed
  int64_t handshake_seconds_max = 10;      // of TLS
  int64_t header_seconds_max = 10;         // from the first byte of a request to the end of its headers; then 408
  int64_t body_seconds_max = 120;          // of a whole body; then 408
  int64_t idle_seconds_max = 75;           // of a connection between requests: longer than common proxies keep one
  int64_t write_stall_seconds_max = 30;    // without the client taking a byte; then the connection is dropped
  // For a client to take an answer that came before it had sent all: closing at once would destroy the answer.
  int64_t linger_seconds_max = 5;
};

}  // namespace tessera::server
