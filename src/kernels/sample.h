#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "kernels/batch.h"
#include "kernels/noise.h"
#include "tessera/status.h"
#include "tessera/token_logprob.h"

// From logits to a token: what a step asks of its rows, and what comes back. sample_math.h has the
// arithmetic, cpu/sampler.h and cuda/sample.h the draw.
//
// Order: logit_bias; repetition, frequency, presence penalty; banned tokens; where only some tokens are allowed, all
// others banned; ids that the tokenizer does not know cut off; temperature; top_k; top_p (mass of what top_k left);
// min_p; Gumbel-max. It is the order of transformers; vLLM's V1 sampler differs in one point, it takes min_p before
// top_k and top_p, so its top_p measures the mass of what min_p left.
// Temperature 0 takes the largest logit after bias, penalties and bans. Ties everywhere go to the lower id.
namespace tessera::kernels {

/// Words of a mask with a bit for each id of a vocabulary: id i is bit i % 32 of word i / 32.
constexpr int64_t mask_words(int64_t vocab) { return (vocab + 31) / 32; }

/// Defaults are neutral.
struct SampleParams {
  float temperature = 1.0F;                                // >= 0; 0 is greedy
  int top_k = 0;                                           // 0: off
  float top_p = 1.0F;                                      // (0, 1]
  float min_p = 0.0F;                                      // [0, 1]
  float repetition_penalty = 1.0F;                         // > 0; over prompt and output
  float presence_penalty = 0.0F;                           // over output
  float frequency_penalty = 0.0F;                          // over output
  std::vector<std::pair<int32_t, float>> logit_bias = {};  // token id, addend
  std::optional<int> logprobs = {};                        // best alternatives to report, besides the chosen token

  [[nodiscard]] bool has_penalty() const {
    return repetition_penalty != 1.0F || presence_penalty != 0.0F || frequency_penalty != 0.0F;
  }
};

/// Tokens that penalties see from now on in a slot: what its sequence holds when it starts to run. What is drawn for
/// the slot afterwards is counted where it is drawn.
struct TokenHistory {
  int32_t slot = 0;
  std::span<const int32_t> prompt;
  std::span<const int32_t> output;
};

/// One row of logits and what is wanted of it.
struct SampleRow {
  int32_t row = 0;   // of the batch
  int32_t slot = 0;  // of the row's sequence: whose counts penalties read, and where the drawn token is kept
  /// Not negative: nothing is drawn; wanted are the log-probability of this token and of params->logprobs alternatives.
  int32_t target = -1;
  int32_t draft = 0;  // 0: the draw is the slot's newest; n: it is the slot's n-th draft, up to kDraftsMax
  const SampleParams* params = nullptr;
  std::span<const int32_t> banned = {};    // stop tokens while min_tokens is not reached
  std::span<const uint32_t> allowed = {};  // a bit for each id of the vocabulary; empty: all. Wins over banned
  NoiseStream noise = {};
};

/// What a row's status says.
Status non_finite_logits();
Status no_token_left(int64_t known_ids);

/// A draw. `status`: corrupt_data when a logit is NaN or +infinity, or all are -infinity; invalid_argument when every
/// token is banned.
struct SampleResult {
  int32_t token = 0;
  Status status = {};
  std::vector<TokenLogprob> logprobs = {};  // if asked for: the token, then the best alternatives, best first
};

}  // namespace tessera::kernels
