#pragma once

#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "base/status.h"
#include "kernels/cpu/token_counts.h"
#include "kernels/noise.h"
#include "kernels/sample.h"

// The draw of kernels/sample.h on the CPU.
//
// Each filter keeps the ids above some logit, so a filter is a Cut, and the draw is one pass that skips the blocks of
// 256 ids that cannot win. A draw is argmax over the kept ids of gumbel(noise of the id) - depth, which has exactly the
// softmax distribution (Maddison, Tarlow and Minka 2014, "A* sampling", section 2). The noise has 32 bits, hence a
// bound of 22.9: a block is skipped when its largest logit is that far behind. sample_math.h has the arithmetic, and
// what is left of "exactly" in fp32.
namespace tessera::kernels {

/// The ids that a filter keeps: those with a larger logit, and at the same logit those up to last_id.
struct Cut {
  float logit = -std::numeric_limits<float>::infinity();
  int32_t last_id = -1;

  [[nodiscard]] bool keeps(float value, int32_t id) const { return value > logit || (value == logit && id <= last_id); }
};

struct DrawArgs {
  std::span<float> logits;  // [vocab]; changed in place
  int64_t known_ids = 0;    // ids [known_ids, vocab) are padding that no tokenizer entry stands for
  const SampleParams* params = nullptr;
  const TokenCounts* counts = nullptr;  // null without penalties
  std::span<const int32_t> banned;      // stop tokens while min_tokens is not reached
  std::span<const uint32_t> allowed;    // a bit for each id; empty: all. Wins over banned
  NoiseStream noise;
};

struct Draw {
  int32_t token = 0;
  std::vector<TokenLogprob> logprobs = {};  // if params->logprobs: the token, then the best alternatives
};

/// Scratch for one thread; keeps nothing from draw to draw.
class Sampler {
 public:
  /// corrupt_data when a logit is NaN or +infinity, or all are -infinity; invalid_argument when every token is banned.
  Expected<Draw> draw(const DrawArgs& args);

  /// `token` first, then the `top` best tokens: log-softmax of the logits as they are, ranks from 1. corrupt_data as
  /// above.
  Expected<std::vector<TokenLogprob>> logprobs(std::span<const float> logits, int32_t token, int top);

 private:
  struct Candidate {
    float logit;
    int32_t id;
  };
  static bool better(const Candidate& a, const Candidate& b) {
    return a.logit > b.logit || (a.logit == b.logit && a.id < b.id);
  }

  Status scan(std::span<const float> logits);
  int32_t argmax(std::span<const float> logits) const;
  std::span<Candidate> select_top(std::span<const float> logits, int64_t k);
  Cut top_k(std::span<const float> logits, int64_t k);
  Cut top_p(std::span<const float> logits, const Cut& cut, float inverse, float p);
  int32_t gumbel_max(std::span<const float> logits, const Cut& cut, float inverse, float deepest,
                     const NoiseStream& noise);

  std::vector<float> raw_;     // the logits before bias and penalties, for logprobs
  std::vector<float> maxima_;  // of blocks of 256
  std::vector<float> sorted_maxima_;
  std::vector<Candidate> candidates_;
  std::vector<uint64_t> mass_;  // of buckets of depth
};

}  // namespace tessera::kernels
