#pragma once

#include <cstddef>
#include <cstdint>

namespace tessera::server {

/// What a request may hold, before any of it reaches the template or the engine. Exceeding one is a 400 that names the
/// field and the limit. The size of a body is limited before this, by the HTTP side; stop strings, logprobs, logit_bias
/// and choices have the engine's limits (engine/request_check.h).
struct RequestLimits {
  int json_depth_max = 100;                  // levels of lists and objects; chat templates take 128
  size_t json_values_max = 4'000'000;        // in one body: a value may take 40 times its bytes in memory
  size_t object_keys_max = 1024;             // in one object: readers further on are quadratic in it
  size_t messages_max = 4096;                // of a conversation
  size_t parts_max = 1024;                   // content parts of one message
  size_t tool_calls_max = 256;               // in one past message
  size_t tools_max = 256;                    // functions offered
  size_t tool_bytes_max = 1 << 20;           // of all tools together, as JSON
  int schema_depth_max = 64;                 // levels of lists and objects in one tool's parameters
  size_t template_kwargs_bytes_max = 16384;  // as JSON
  size_t prompts_max = 256;                  // of one completion request
  size_t prompt_tokens_max = 4'000'000;      // of all prompts given as token ids; the context is checked by the engine
  size_t choices_max = 256;                  // n times prompts
};

}  // namespace tessera::server
