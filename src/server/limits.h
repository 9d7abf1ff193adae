#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <variant>

#include "server/http/http_limits.h"
#include "server/request/request_limits.h"

namespace tessera::server {

/// Everything a client could make large or long, with its bound. Each but linger_seconds_max is a flag of
/// `tessera serve`: see limit_flags.
struct Limits : HttpLimits {
  int64_t queue_max = 1024;              // requests besides the max_num_seqs that can run; beyond: 429
  int64_t unsent_bytes_max = 256 << 10;  // of one answer, before its next tokens are left with the engine
  int64_t shutdown_seconds_max = 30;     // for running requests to end after SIGTERM; then they are cancelled
  int64_t comment_seconds = 15;          // of silence in a stream, before a comment shows proxies that it lives
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
