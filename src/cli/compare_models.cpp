#include "cli/compare_models.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "base/aligned_buffer.h"
#include "cli/console.h"
#include "cli/token_score.h"
#include "engine/host_memory.h"

namespace tessera::cli {
namespace {

/// Rows of logits, as of each token of a text.
using Logits = AlignedBuffer<float>;

/// Gives each step's logits to use(first, rows, logits); returns the device.
template <typename Use>
Expected<std::string> run(const OpenedModel& opened, std::span<const int32_t> tokens, const LoneModelOptions& options,
                          const Use& use) {
  TESSERA_ASSIGN_OR_RETURN(LoneModel loaded, load_model(opened, options));
  const int64_t vocab = opened.config.vocab_size;
  Logits logits(static_cast<size_t>(options.rows_max * vocab));
  const auto count = static_cast<int64_t>(tokens.size());
  for (int64_t first = 0; first < count;) {
    const int64_t rows = std::min(options.rows_max, count - first);
    const std::span<float> filled(logits.data(), static_cast<size_t>(rows * vocab));
    TESSERA_RETURN_IF_ERROR(loaded.sequence->run(tokens.subspan(static_cast<size_t>(first), static_cast<size_t>(rows)),
                                                 kernels::RowClass::prefill, filled));
    TESSERA_RETURN_IF_ERROR(use(first, rows, filled, *loaded.pool));
    first += rows;
  }
  return loaded.device;
}

/// What is summed of one token.
struct TokenDistance {
  double reference_logprob = 0, logprob = 0;  // of the token behind it; 0 for the last
  double kl = 0;
  bool same_best = false;
};

TokenDistance distance_of(std::span<const float> reference, std::span<const float> other, const int32_t* next) {
  TokenDistance distance;
  if (next != nullptr) {
    distance.reference_logprob = score_token(reference, *next).logprob;
    distance.logprob = score_token(other, *next).logprob;
  }
  distance.kl = kl_divergence(reference, other);
  distance.same_best = greedy_token(reference) == greedy_token(other);
  return distance;
}

ModelDistance sum(const std::vector<TokenDistance>& distances) {
  ModelDistance sum;
  sum.tokens = static_cast<int64_t>(distances.size());
  for (const TokenDistance& d : distances) {
    sum.reference_perplexity += d.reference_logprob;
    sum.perplexity += d.logprob;
    sum.kl_divergence += d.kl;
    sum.worst_kl_divergence = std::max(sum.worst_kl_divergence, d.kl);
    sum.same_best_token += d.same_best ? 1 : 0;
  }
  const auto count = static_cast<double>(distances.size());
  sum.reference_perplexity = std::exp(-sum.reference_perplexity / (count - 1));
  sum.perplexity = std::exp(-sum.perplexity / (count - 1));
  sum.kl_divergence /= count;
  sum.same_best_token /= count;
  return sum;
}

Status check(const OpenedModel& reference, const OpenedModel& other, std::span<const int32_t> tokens) {
  const int64_t vocab = reference.config.vocab_size;
  if (other.config.vocab_size != vocab) {
    return error(StatusCode::invalid_argument, "the models have vocabularies of {} and {}: nothing to compare", vocab,
                 other.config.vocab_size);
  }
  if (tokens.size() < 2) {
    return error(StatusCode::invalid_argument, "{} tokens to compare models on, expected at least 2", tokens.size());
  }
  const size_t bytes = tokens.size() * static_cast<size_t>(vocab) * sizeof(float);
  const size_t free = engine::available_memory_bytes();
  if (free == 0 || bytes <= free / 2) return {};
  return error(StatusCode::resource_exhausted,
               "the logits of {} tokens take {}, and {} are free; compare on fewer tokens", tokens.size(),
               format_bytes(bytes), format_bytes(free));
}

}  // namespace

Expected<ModelDistance> compare_models(const OpenedModel& reference, const OpenedModel& other,
                                       std::span<const int32_t> tokens, LoneModelOptions options) {
  TESSERA_RETURN_IF_ERROR(check(reference, other, tokens));
  const int64_t vocab = reference.config.vocab_size;
  options.tokens_max = static_cast<int64_t>(tokens.size());
  options.rows_max = std::min(rows_of_logits_max(reference.config), options.tokens_max);
  Logits kept(tokens.size() * static_cast<size_t>(vocab));
  const auto keep = [&](int64_t first, int64_t /*rows*/, std::span<const float> logits, ThreadPool& /*pool*/) {
    std::copy(logits.begin(), logits.end(), kept.data() + first * vocab);
    return Status();
  };
  TESSERA_ASSIGN_OR_RETURN(const std::string reference_device, run(reference, tokens, options, keep));

  std::vector<TokenDistance> distances(tokens.size());
  const auto compare = [&](int64_t first, int64_t rows, std::span<const float> logits, ThreadPool& pool) {
    pool.run_chunks(rows, [&](int64_t i, int) {
      const auto at = static_cast<size_t>(first + i), size = static_cast<size_t>(vocab);
      distances[at] = distance_of({kept.data() + at * size, size}, logits.subspan(static_cast<size_t>(i) * size, size),
                                  at + 1 < tokens.size() ? &tokens[at + 1] : nullptr);
    });
    const auto bad = std::find_if(distances.begin() + first, distances.begin() + first + rows,
                                  [](const TokenDistance& d) { return std::isnan(d.kl); });
    if (bad == distances.begin() + first + rows) return Status();
    return error(StatusCode::corrupt_data, "the logits after token {} are not numbers; the weights are damaged",
                 bad - distances.begin());
  };
  TESSERA_ASSIGN_OR_RETURN(const std::string device, run(other, tokens, options, compare));
  ModelDistance distance = sum(distances);
  distance.reference_device = reference_device;
  distance.device = device;
  return distance;
}

}  // namespace tessera::cli
