#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <variant>

#include "server/request/request_limits.h"

namespace tessera::server {

/// Everything a client could make large or long, with its bound. Each is a flag of `tessera serve`: see limit_flags.
struct Limits {
  int64_t header_bytes_max = 64 << 10;     // of a request, its first line included; beyond: 431
  int64_t headers_max = 128;               // lines; beyond: 431
  int64_t body_bytes_max = 32 << 20;       // of a request; beyond: 413
  int64_t all_body_bytes_max = 512 << 20;  // of all requests that are being read or prepared; beyond: 503
  int64_t connections_max = 4096;          // beyond: 503 and closed
  int64_t queue_max = 1024;                // requests besides the max_num_seqs that can run; beyond: 429
  int64_t unsent_bytes_max = 256 << 10;    // of one answer, before its next tokens are left with the engine
  int64_t handshake_seconds_max = 10;      // of TLS
  int64_t header_seconds_max = 10;         // from the first byte of a request to the end of its headers; then 408
  int64_t body_seconds_max = 120;          // of a whole body; then 408
  int64_t idle_seconds_max = 75;           // of a connection between requests: longer than common proxies keep one
  int64_t write_stall_seconds_max = 30;    // without the client taking a byte; then the connection is dropped
  int64_t shutdown_seconds_max = 30;       // for running requests to end after SIGTERM; then they are cancelled
  int64_t comment_seconds = 15;            // of silence in a stream, before a comment shows proxies that it lives
  int64_t stored_responses_max = 4096;   // that /v1/responses keeps; beyond, those that were used longest ago are gone
  int64_t stored_bytes_max = 256 << 20;  // of them
  int64_t text_threads = 2;              // that parse, render and tokenize, besides one for short requests
  RequestLimits request = {};
};

/// One limit as a flag.
struct LimitFlag {
  const char* name;  // "--max-body-bytes"
  const char* what;  // one line of help
  std::variant<int64_t Limits::*, int RequestLimits::*, size_t RequestLimits::*> member;
  int64_t low, high;

  [[nodiscard]] int64_t value(const Limits& limits) const;
  void set(Limits& limits, int64_t value) const;
};

std::span<const LimitFlag> limit_flags();

}  // namespace tessera::server
