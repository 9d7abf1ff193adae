#include "kernels/cpu/sampler.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "kernels/cpu/vocab_scan.h"

namespace tessera::kernels {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr double kMaxNoise = 22.9;  // > gumbel(2^32 - 1) = 22.874

// Buckets of top_p: 1/64 wide in logit / temperature, 64 deep; what is deeper shares the last one.
constexpr int kBuckets = 4096;
constexpr double kBucketsPerUnit = 64;

int bucket_of(double below_max) {
  return static_cast<int>(std::min(below_max * kBucketsPerUnit, static_cast<double>(kBuckets - 1)));
}

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

/// Keeps p >= min_p * p_max, which is logit >= max + temperature * log(min_p).
Cut min_p_cut(double max, double temperature, double min_p) {
  const double bound = max + temperature * portable_log(min_p);
  auto logit = static_cast<float>(bound);
  if (logit < bound) logit = std::nextafter(logit, kInfinity);
  return {.logit = logit, .last_id = std::numeric_limits<int32_t>::max()};
}

/// The smallest noise bits with which an id `behind` the best score could still reach it, or a little less.
uint32_t least_winning_bits(double behind) {
  const double u = std::exp(-std::exp(-behind));
  return static_cast<uint32_t>(std::max(0.0, std::floor(u * 0x1p32) - 2));
}

}  // namespace

Status Sampler::scan(std::span<const float> logits) {
  maxima_.resize(static_cast<size_t>(scan_blocks(static_cast<int64_t>(logits.size()))));
  if (block_maxima(logits, maxima_.data())) return {};
  return {StatusCode::corrupt_data,
          "the model produced logits that are NaN or infinite; its weights are damaged or do not match its config"};
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
    return error(StatusCode::invalid_argument,
                 "no token is left to choose: all {} are ruled out; lower min_tokens or shorten stop_token_ids",
                 args.known_ids);
  }
  if (params.temperature > 0) {
    const double inv_temperature = 1.0 / static_cast<double>(params.temperature);
    Cut cut;
    if (params.top_k > 0) cut = top_k(logits, params.top_k);
    if (params.top_p < 1) cut = top_p(logits, cut, inv_temperature, params.top_p);
    if (params.min_p > 0) {
      const Cut lower = min_p_cut(max, params.temperature, params.min_p);
      if (lower.logit > cut.logit) cut = lower;
    }
    draw.token = gumbel_max(logits, cut, inv_temperature, args.noise);
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

/// The fewest best ids whose probabilities, among those that `cut` keeps, sum to p or more. One pass sums probabilities
/// by bucket of the logit; only the bucket where the sum crosses p is sorted.
Cut Sampler::top_p(std::span<const float> logits, const Cut& cut, double inv_temperature, double p) {
  const double max = *std::max_element(maxima_.begin(), maxima_.end());
  mass_.assign(kBuckets, 0.0);
  std::array<double, kScanBlock> weights;
  for (size_t block = 0; block < maxima_.size(); ++block) {
    if (maxima_[block] < cut.logit || maxima_[block] == -kInfinity) continue;
    const size_t first = block * kScanBlock;
    const size_t count = std::min<size_t>(kScanBlock, logits.size() - first);
    exp_weights(logits.data() + first, static_cast<int64_t>(count), max, inv_temperature, weights.data());
    for (size_t i = 0; i < count; ++i) {
      const float logit = logits[first + i];
      if (!cut.keeps(logit, static_cast<int32_t>(first + i))) continue;
      mass_[static_cast<size_t>(bucket_of((max - logit) * inv_temperature))] += weights[i];
    }
  }
  double total = 0;
  for (const double mass : mass_) total += mass;
  const double target = total * p;
  int crossing = 0;
  double sum = 0;
  while (crossing + 1 < kBuckets && sum + mass_[static_cast<size_t>(crossing)] < target) {
    sum += mass_[static_cast<size_t>(crossing++)];
  }

  candidates_.clear();
  for (size_t block = 0; block < maxima_.size(); ++block) {
    if (maxima_[block] < cut.logit || bucket_of((max - maxima_[block]) * inv_temperature) > crossing) continue;
    const size_t end = std::min(logits.size(), (block + 1) * kScanBlock);
    for (size_t i = block * kScanBlock; i < end; ++i) {
      const Candidate candidate{.logit = logits[i], .id = static_cast<int32_t>(i)};
      if (!cut.keeps(candidate.logit, candidate.id)) continue;
      if (bucket_of((max - candidate.logit) * inv_temperature) == crossing) candidates_.push_back(candidate);
    }
  }
  std::sort(candidates_.begin(), candidates_.end(), better);
  for (const Candidate& candidate : candidates_) {
    exp_weights(&candidate.logit, 1, max, inv_temperature, weights.data());
    sum += weights[0];
    if (sum >= target) return {.logit = candidate.logit, .last_id = candidate.id};
  }
  return cut;  // rounding left the sum below the target: everything is kept
}

int32_t Sampler::gumbel_max(std::span<const float> logits, const Cut& cut, double inv_temperature,
                            const NoiseStream& noise) {
  const auto score_of = [&](int32_t id, uint32_t bits) {
    return logits[static_cast<size_t>(id)] * inv_temperature + gumbel(bits);
  };
  int32_t best = argmax(logits);
  double best_score = score_of(best, noise_bits(noise, best));
  std::array<uint32_t, kScanBlock> bits;
  for (size_t block = 0; block < maxima_.size(); ++block) {
    if (maxima_[block] < cut.logit || maxima_[block] == -kInfinity) continue;
    const double block_max = maxima_[block] * inv_temperature;
    // Rounding of the scores must not hide a winner.
    const double behind = best_score - block_max - 1e-14 * (std::abs(best_score) + std::abs(block_max));
    if (behind > kMaxNoise) continue;
    const uint32_t least = least_winning_bits(behind);
    const auto first = static_cast<int32_t>(block * kScanBlock);
    if (noise_block(noise, first, bits.data()) < least) continue;
    const auto count = std::min<size_t>(kScanBlock, logits.size() - block * kScanBlock);
    for (size_t i = 0; i < count; ++i) {
      const int32_t id = first + static_cast<int32_t>(i);
      if (bits[i] < least || !cut.keeps(logits[static_cast<size_t>(id)], id)) continue;
      const double score = score_of(id, bits[i]);
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
  const double max = *std::max_element(maxima_.begin(), maxima_.end());
  // Eight lanes (id mod 8), ascending, added in order: the same bits whatever the vector width.
  std::array<double, 8> lanes{};
  std::array<double, kScanBlock> weights{};
  for (size_t first = 0; first < logits.size(); first += kScanBlock) {
    const size_t count = std::min<size_t>(kScanBlock, logits.size() - first);
    exp_weights(logits.data() + first, static_cast<int64_t>(count), max, 1.0, weights.data());
    std::fill(weights.begin() + static_cast<std::ptrdiff_t>(count), weights.end(), 0.0);
    for (size_t i = 0; i < kScanBlock; i += 8) {
      for (size_t lane = 0; lane < 8; ++lane) lanes[lane] += weights[i + lane];
    }
  }
  double sum = 0;
  for (const double lane : lanes) sum += lane;
  const double log_sum = max + portable_log(sum);

  const auto entry = [&](int32_t id, int64_t rank) {
    return TokenLogprob{
        .token = id, .logprob = static_cast<float>(logits[static_cast<size_t>(id)] - log_sum), .rank = rank};
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
