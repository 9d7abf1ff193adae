#pragma once

#include <cstdint>
#include <vector>

#include "base/status.h"
#include "tessera/engine.h"

namespace tessera::engine {

inline constexpr int kMaxChoices = 16;
inline constexpr int kMaxLogprobs = 20;
// A waiting request holds these; a thousand of them must not fill the memory.
inline constexpr size_t kMaxStopStrings = 16;
inline constexpr size_t kMaxStopBytes = 4096;  // of all stop strings together
inline constexpr size_t kMaxStopTokenIds = 4096;
inline constexpr size_t kMaxLogitBias = 4096;
inline constexpr size_t kMaxBadWords = 1024;
inline constexpr size_t kMaxBadWordBytes = 16384;               // of all together
inline constexpr size_t kMaxAllowedTokenIds = size_t{1} << 20;  // kept as a bit for each id of the vocabulary
inline constexpr size_t kMaxGuideTokens = 65536;

/// What a request is checked against.
struct RequestLimits {
  int64_t vocab_size = 0;     // of the model: rows of its embedding table
  int64_t max_model_len = 0;  // tokens of prompt and output
  bool has_tokenizer = false;
};

/// Leaves of `prompt` what SamplingParams::truncate_prompt_tokens lets stay: its end. Out of its range it does nothing,
/// and check_request says so.
void truncate_prompt(const SamplingParams& params, int64_t max_model_len, std::vector<int32_t>& prompt);

/// Whether a prompt can be read, with `room` tokens of an answer behind it.
Status check_prompt(const std::vector<int32_t>& prompt, int64_t room, const RequestLimits& limits);

/// invalid_argument, with the field's name, what it is and what it may be.
Status check_sampling(const SamplingParams& params, const RequestLimits& limits);

/// All of a request, in the same way.
Status check_request(const Request& request, const RequestLimits& limits);

}  // namespace tessera::engine
