#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "tessera/engine.h"

namespace tessera::server {

/// What all chunks and the whole answer of a request have in common; made by the HTTP side.
struct ResponseHead {
  std::string id = {};           // "chatcmpl-...", "cmpl-...", "msg_..."
  int64_t created = 0;           // seconds since 1970
  std::string model = {};        // the name that was asked for
  std::string fingerprint = {};  // system_fingerprint; empty: null
};

struct Usage {
  int64_t prompt_tokens = 0;
  int64_t completion_tokens = 0;          // of all choices
  int64_t cached_tokens = 0;              // of the prompt
  int64_t tier_tokens = 0;                // of these, what only the tier in the host's memory had
  int64_t reasoning_tokens = 0;           // of the completion
  std::optional<DraftStats> drafts = {};  // where they were asked for
};

}  // namespace tessera::server
