#pragma once

#include <cstdint>
#include <span>

#include "kernels/noise.h"

// The passes over a whole vocabulary (248,320 logits) that sampling needs, in SIMD: the bits of sample_math.h on every
// instruction set. Blocks of 256 ids let the sampler
// skip most of the vocabulary: a block whose largest logit cannot win is never looked at again.
namespace tessera::kernels {

inline constexpr int64_t kScanBlock = 256;
constexpr int64_t scan_blocks(int64_t ids) { return (ids + kScanBlock - 1) / kScanBlock; }

/// maxima[b] = max of logits[256 b, 256 b + 256). False when a logit is NaN or +infinity (then maxima mean nothing).
bool block_maxima(std::span<const float> logits, float* maxima);

/// Of ids i < count <= 256: masses[i] = spelt::mass(x), buckets[i] = spelt::bucket(x), at most kBuckets - 1, for the
/// depth x = spelt::depth(largest, logits[i], inverse). Mass 0 for logits of -infinity.
void weigh(const float* logits, int64_t count, float largest, float inverse, uint64_t* masses, int32_t* buckets);

/// The sum of the masses of logits at temperature 1.
uint64_t total_mass(std::span<const float> logits, float largest);

/// Noise bits of token ids [first, first + 256), first a multiple of 256; bits[i] = noise_bits(stream, first + i).
/// Returns the largest.
uint32_t noise_block(const NoiseStream& stream, int32_t first, uint32_t* bits);

}  // namespace tessera::kernels
