#include "kernels/cpu/sampler.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

#include "kernels/cpu/vocab_scan.h"
#include "kernels/sample_math.h"

namespace tessera::kernels {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();

/// Logits that are no numbers stay, to be found out.
void keep_only(std::span<const uint32_t> allowed, std::span<float> logits) {
  for (size_t id = 0; id < logits.size(); ++id) {
    const bool keeps = (allowed[id / 32] >> (id % 32) & 1U) != 0;
    if (!keeps && std::isfinite(logits[id])) logits[id] = -kInfinity;
  }
}

void apply_bias_and_penalties(const DrawArgs& args) {
  for (const auto& [token, bias] : args.params->logit_bias) args.logits[static_cast<size_t>(token)] += bias;
  if (args.counts != nullptr) args.counts->apply(*args.params, args.logits);
  if (!args.allowed.empty()) return keep_only(args.allowed, args.logits);
  for (const int32_t token : args.banned) args.logits[static_cast<size_t>(token)] = -kInfinity;
}

}  // namespace

Status Sampler::scan(std::span<const float> logits) {
  maxima_.resize(static_cast<size_t>(scan_blocks(static_cast<int64_t>(logits.size()))));
  return block_maxima(logits, maxima_.data()) ? Status() : non_finite_logits();
}

int32_t Sampler::argmax(std::span<const float> logits) const {
  const auto block = std::max_element(maxima_.begin(), maxima_.end()) - maxima_.begin();
  auto id = static_cast<size_t>(block * kScanBlock);
  while (logits[id] != maxima_[static_cast<size_t>(block)]) ++id;
  return static_cast<int32_t>(id);
}

Expected<Draw> Sampler::draw(const DrawArgs& args) {
  const SampleParams& params = *args.params;
  if (params.logprobs) raw_.assign(args.logits.begin(), args.logits.end());
  apply_bias_and_penalties(args);
  const std::span<const float> logits = args.logits.first(static_cast<size_t>(args.known_ids));
  TESSERA_RETURN_IF_ERROR(scan(logits));

  Draw draw{.token = argmax(logits)};
  const float max = logits[static_cast<size_t>(draw.token)];
  if (max == -kInfinity) {
    return args.allowed.empty() && args.banned.empty() ? non_finite_logits() : no_token_left(args.known_ids);
  }
  if (params.temperature > 0) {
    const float inverse = spelt::inverse_temperature(params.temperature);
    Cut cut;
    if (params.top_k > 0) cut = top_k(logits, params.top_k);
    if (params.top_p < 1) cut = top_p(logits, cut, inverse, params.top_p);
    draw.token = gumbel_max(logits, cut, inverse, spelt::min_p_depth(params.min_p), args.noise);
  }
  if (params.logprobs) {
    TESSERA_ASSIGN_OR_RETURN(draw.logprobs, logprobs(raw_, draw.token, *params.logprobs));
  }
  return draw;
}

/// The k best ids, in no order but for the last, which is the worst of them. Fewer if fewer are not -infinity.
std::span<Sampler::Candidate> Sampler::select_top(std::span<const float> logits, int64_t k) {
  // The k-th largest block maximum is a lower bound of the k-th largest logit.
  float bound = -kInfinity;
  if (k < static_cast<int64_t>(maxima_.size())) {
    sorted_maxima_ = maxima_;
    std::nth_element(sorted_maxima_.begin(), sorted_maxima_.begin() + (k - 1), sorted_maxima_.end(), std::greater<>());
    bound = sorted_maxima_[static_cast<size_t>(k - 1)];
  }
  candidates_.clear();
  for (size_t block = 0; block < maxima_.size(); ++block) {
    if (maxima_[block] < bound) continue;
    const size_t end = std::min(logits.size(), (block + 1) * kScanBlock);
    for (size_t id = block * kScanBlock; id < end; ++id) {
      if (logits[id] >= bound && logits[id] != -kInfinity) {
        candidates_.push_back({.logit = logits[id], .id = static_cast<int32_t>(id)});
      }
    }
  }
  if (static_cast<int64_t>(candidates_.size()) >= k) {
    std::nth_element(candidates_.begin(), candidates_.begin() + (k - 1), candidates_.end(), better);
    candidates_.resize(static_cast<size_t>(k));
  }
  return candidates_;
}

Cut Sampler::top_k(std::span<const float> logits, int64_t k) {
  const auto top = select_top(logits, k);
  if (static_cast<int64_t>(top.size()) < k) return {};
  return {.logit = top.back().logit, .last_id = top.back().id};
}

/// The fewest best ids whose masses, among those that `cut` keeps, sum to p of all or more. One pass sums masses by
/// bucket of depth; only the bucket where the sum crosses p is sorted.
Cut Sampler::top_p(std::span<const float> logits, const Cut& cut, float inverse, float p) {
  const float max = *std::max_element(maxima_.begin(), maxima_.end());
  std::array<uint64_t, kScanBlock> masses;
  std::array<int32_t, kScanBlock> buckets;
  const auto weigh_block = [&](size_t block) {
    const size_t first = block * kScanBlock;
    const size_t count = std::min<size_t>(kScanBlock, logits.size() - first);
    weigh(logits.data() + first, static_cast<int64_t>(count), max, inverse, masses.data(), buckets.data());
    return count;
  };
  mass_.assign(spelt::kBuckets, 0);
  const bool all = cut.logit == -kInfinity;
  for (size_t block = 0; block < maxima_.size(); ++block) {
    if (maxima_[block] < cut.logit || !(spelt::depth(max, maxima_[block], inverse) < spelt::kDepthEnd)) continue;
    const size_t count = weigh_block(block);
    const auto first = static_cast<int32_t>(block * kScanBlock);
    for (size_t i = 0; i < count; ++i) {
      const int32_t id = first + static_cast<int32_t>(i);
      if (all || cut.keeps(logits[static_cast<size_t>(id)], id)) mass_[static_cast<size_t>(buckets[i])] += masses[i];
    }
  }
  const uint64_t target =
      spelt::share(std::accumulate(mass_.begin(), mass_.end(), uint64_t{0}), spelt::top_p_fraction(p));
  int32_t crossing = 0;
  uint64_t sum = 0;
  while (sum + mass_[static_cast<size_t>(crossing)] < target) sum += mass_[static_cast<size_t>(crossing++)];

  candidates_.clear();
  for (size_t block = 0; block < maxima_.size(); ++block) {
    const float depth = spelt::depth(max, maxima_[block], inverse);
    if (maxima_[block] < cut.logit || !(depth < spelt::kDepthEnd) || spelt::bucket(depth) > crossing) continue;
    const size_t count = weigh_block(block);
    for (size_t i = 0; i < count; ++i) {
      if (buckets[i] != crossing) continue;
      const size_t id = block * kScanBlock + i;
      const Candidate candidate{.logit = logits[id], .id = static_cast<int32_t>(id)};
      // What is cut off would come behind all that is kept, where nothing looks: it need not be sorted.
      if (cut.keeps(candidate.logit, candidate.id)) candidates_.push_back(candidate);
    }
  }
  std::sort(candidates_.begin(), candidates_.end(), better);
  size_t last = 0;
  const auto mass_of = [&](size_t i) { return spelt::mass(spelt::depth(max, candidates_[i].logit, inverse)); };
  while ((sum += mass_of(last)) < target) ++last;
  return {.logit = candidates_[last].logit, .last_id = candidates_[last].id};
}

/// Among the ids that `cut` keeps and that are no deeper than `deepest`. The best id is always one of them.
int32_t Sampler::gumbel_max(std::span<const float> logits, const Cut& cut, float inverse, float deepest,
                            const NoiseStream& noise) {
  int32_t best = argmax(logits);
  const float max = logits[static_cast<size_t>(best)];
  float best_score = spelt::gumbel(noise_bits(noise, best));
  std::array<uint32_t, kScanBlock> bits;
  for (size_t block = 0; block < maxima_.size(); ++block) {
    if (maxima_[block] < cut.logit || maxima_[block] == -kInfinity) continue;
    // Rounding keeps order: no score of the block is above this difference.
    const float depth = spelt::depth(max, maxima_[block], inverse);
    if (depth > deepest || spelt::kNoiseMax - depth < best_score) continue;
    const uint32_t least = spelt::least_winning_bits(best_score + depth);
    const auto first = static_cast<int32_t>(block * kScanBlock);
    if (noise_block(noise, first, bits.data()) < least) continue;
    const auto count = std::min<size_t>(kScanBlock, logits.size() - block * kScanBlock);
    for (size_t i = 0; i < count; ++i) {
      const int32_t id = first + static_cast<int32_t>(i);
      const float logit = logits[static_cast<size_t>(id)];
      if (bits[i] < least || !cut.keeps(logit, id)) continue;
      const float own_depth = spelt::depth(max, logit, inverse);
      if (own_depth > deepest) continue;
      const float score = spelt::gumbel(bits[i]) - own_depth;
      if (score > best_score || (score == best_score && id < best)) {
        best_score = score;
        best = id;
      }
    }
  }
  return best;
}

Expected<std::vector<TokenLogprob>> Sampler::logprobs(std::span<const float> logits, int32_t token, int top) {
  TESSERA_RETURN_IF_ERROR(scan(logits));
  const float max = *std::max_element(maxima_.begin(), maxima_.end());
  if (max == -kInfinity) return non_finite_logits();
  const float log_sum = spelt::log_of_mass(total_mass(logits, max));

  const auto entry = [&](int32_t id, int64_t rank) {
    const float logit = logits[static_cast<size_t>(id)];
    const float logprob = logit == -kInfinity ? logit : (logit - max) - log_sum;
    return TokenLogprob{.token = id, .logprob = logprob, .rank = rank};
  };
  const float chosen = logits[static_cast<size_t>(token)];
  int64_t rank = 1;
  for (size_t block = 0; block < maxima_.size(); ++block) {
    if (maxima_[block] < chosen) continue;
    const size_t end = std::min(logits.size(), (block + 1) * kScanBlock);
    for (size_t id = block * kScanBlock; id < end; ++id) {
      rank += logits[id] > chosen || (logits[id] == chosen && id < static_cast<size_t>(token)) ? 1 : 0;
    }
  }

  std::vector<TokenLogprob> result{entry(token, rank)};
  if (top == 0) return result;
  const auto best = select_top(logits, top);
  std::sort(best.begin(), best.end(), better);
  for (const Candidate& candidate : best) {
    result.push_back(entry(candidate.id, static_cast<int64_t>(result.size())));
  }
  return result;
}

}  // namespace tessera::kernels
