#pragma once

#include <cstdint>
#include <string>

#include "format/matrix.h"
#include "tessera/status.h"

// What is to be computed: one grouped matrix product of a mixture-of-experts layer, over its routed experts. Weights
// are the M operand, tokens the N operand; K is the depth.
namespace tessera::plan {

using format::WeightFormat;

enum class Op {
  gate_up,  // [2 I, H] x tokens, SwiGLU in the epilogue
  down,     // [H, I] x slots
};

/// What the tensor cores multiply.
enum class Path {
  w4a16,  // 4-bit weights decoded to BF16, BF16 activations: mma m16n8k16, every GPU from compute capability 8.0
  w4a4,   // 4-bit weights and activations of one format: mma m16n8k64 block_scale; native on 12.x, emulated elsewhere
};

constexpr const char* name(Op op) { return op == Op::gate_up ? "gate_up" : "down"; }
constexpr const char* name(Path path) { return path == Path::w4a16 ? "w4a16" : "w4a4"; }

struct Desc {
  Op op = Op::gate_up;
  WeightFormat format = WeightFormat::nvfp4;  // nvfp4 or mxfp4
  Path path = Path::w4a16;
  int64_t hidden = 0;        // H
  int64_t intermediate = 0;  // I, of one expert on one GPU
  int experts = 0;
  int experts_per_token = 0;
  int64_t tokens = 0;
};

/// Rows of one expert's weight (M) and elements of a row (K).
constexpr int64_t weight_rows(const Desc& d) { return d.op == Op::gate_up ? 2 * d.intermediate : d.hidden; }
constexpr int64_t weight_depth(const Desc& d) { return d.op == Op::gate_up ? d.hidden : d.intermediate; }

/// (token, expert) pairs: columns over all experts.
constexpr int64_t slots(const Desc& d) { return d.tokens * d.experts_per_token; }

/// Segments that K is summed in (1, 2, 4 or 8), added in order. It is part of the weight's summation tree, so it may
/// depend on nothing but the weight: not on tokens, tile or GPU. One token must occupy the GPU: segments double until
/// its blocks of 64 rows number kBlocksOfOneToken, while each keeps 4 steps of the deepest tile (1,024 elements). W4A4
/// multiplies prefill rows, a class of their own, many at once: one segment, for accumulators of which a block could
/// not hold two sets.
constexpr int64_t kBlocksOfOneToken = 256;
constexpr int64_t kSegmentDepthMin = 1024;
constexpr int k_segments(const Desc& d) {
  if (d.path == Path::w4a4) return 1;
  const int64_t blocks = (weight_rows(d) + 63) / 64 * d.experts_per_token;
  int segments = 1;
  while (segments < 8 && blocks * segments < kBlocksOfOneToken && weight_depth(d) / segments >= 2 * kSegmentDepthMin) {
    segments *= 2;
  }
  return segments;
}

/// First element of segment `segment`, and for segment = k_segments the depth: segments are nearly equal, none is
/// empty, and they begin at multiples of 256, the deepest stage, so that every tile can keep to them.
constexpr int64_t segment_begin(const Desc& d, int segment) {
  const int64_t units = (weight_depth(d) + 255) / 256;
  const int64_t begin = segment * units / k_segments(d) * 256;
  return begin < weight_depth(d) ? begin : weight_depth(d);
}

// Limits, each checked by validate().
inline constexpr int64_t kTokensMax = 65'536;
inline constexpr int64_t kWidthMax = 65'536;  // H and I
inline constexpr int kExpertsMax = 1024;
inline constexpr int kExpertsPerTokenMax = 32;

/// invalid_argument for what no kernel accepts: H not a multiple of 64, I not a multiple of 16, a format that is not
/// 4-bit, a count beyond the limits above. Tokens may be 0.
Status validate(const Desc& desc);

/// "NVFP4 w4a16, H 4096, I 1024, 512 experts, 10 a token, 8 tokens"
std::string describe_layer(const Desc& desc);
/// The same with its operation before it: "down NVFP4 w4a16, H 4096, I 1024, 512 experts, 10 a token, 8 tokens"
std::string describe(const Desc& desc);

}  // namespace tessera::plan
