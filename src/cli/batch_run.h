#pragma once

#include "cli/batch_input.h"
#include "cli/batch_output.h"
#include "tessera/engine.h"

namespace tessera::cli {

struct BatchOptions {
  BatchRequest defaults;   // what flags say of prompts and sampling
  bool token_ids = false;  // add the ids of the answers
  bool quiet = false;
};

/// Answers every prompt of `input` that `output` does not hold yet, many at a time, writing each answer when it is
/// complete:
///   {"index": 0, "digest": "...", "id": ..., "text": "...", "reasoning": "...", "finish_reason": "stop",
///   "stop_reason": "...",
///    "token_ids": [...], "logprobs": [...], "usage": {"prompt_tokens": 12, "completion_tokens": 34}}
/// The digest is of what was asked (batch_digest.h). With n > 1, everything from text to logprobs is in a list
/// "choices". A prompt that cannot be run has
/// {"index": 0, "error": "..."}. Returns `cancelled` after an interrupt; an error if any prompt failed.
Status run_batch(Engine& engine, const BatchInput& input, const BatchOptions& options, BatchOutput& output);

}  // namespace tessera::cli
