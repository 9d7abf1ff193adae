#pragma once

#include <cstdint>
#include <string>

#include "format/matrix.h"
#include "tessera/status.h"

// What is to be computed: one grouped matrix product of a mixture-of-experts layer, over its routed experts, or one
// dense product. Weights are the M operand, tokens the N operand; K is the depth.
namespace tessera::plan {

using format::WeightFormat;

enum class Op {
  gate_up,  // [2 I, H] x tokens, SwiGLU in the epilogue
  down,     // [H, I] x slots
  dense,    // [rows, depth] x tokens
};

/// What the tensor cores multiply.
enum class Path {
  w4a16,  // weights decoded to BF16 (4-bit; of dense products FP8 and BF16 too), BF16 activations: mma m16n8k16, every
          // GPU from compute capability 8.0
  w4a4,   // 4-bit weights and activations of one format: mma m16n8k64 block_scale; native on 12.x, emulated elsewhere
};

constexpr const char* name(Op op) { return op == Op::gate_up ? "gate_up" : op == Op::down ? "down" : "dense"; }
constexpr const char* name(Path path) { return path == Path::w4a16 ? "w4a16" : "w4a4"; }

/// A dense product is planned as a layer of one expert, which every token passes.
struct Desc {
  Op op = Op::gate_up;
  WeightFormat format = WeightFormat::nvfp4;  // nvfp4, mxfp4; of W4A16 bf16 and fp8_e4m3 too
  Path path = Path::w4a16;
  int64_t hidden = 0;        // H
  int64_t intermediate = 0;  // I, of one expert on one GPU
  int experts = 0;
  int experts_per_token = 0;
  int64_t tokens = 0;
  int64_t rows = 0;  // M and K of a dense product, which has neither H nor I
  int64_t depth = 0;
  int64_t launch_rows = 0;  // of all matrices that this one is always multiplied beside, itself too; 0: it is alone
};

constexpr Desc dense_desc(WeightFormat format, int64_t rows, int64_t depth, int64_t tokens) {
  return {.op = Op::dense,
          .format = format,
          .experts = 1,
          .experts_per_token = 1,
          .tokens = tokens,
          .rows = rows,
          .depth = depth};
}

/// Rows of one expert's weight (M) and elements of a row (K).
constexpr int64_t weight_rows(const Desc& d) {
  if (d.op == Op::dense) return d.rows;
  return d.op == Op::gate_up ? 2 * d.intermediate : d.hidden;
}
constexpr int64_t weight_depth(const Desc& d) {
  if (d.op == Op::dense) return d.depth;
  return d.op == Op::gate_up ? d.hidden : d.intermediate;
}

/// (token, expert) pairs: columns over all experts.
constexpr int64_t slots(const Desc& d) { return d.tokens * d.experts_per_token; }

/// The deepest stage: segments begin at multiples of it, so that every tile can keep to them.
inline constexpr int64_t kSegmentUnit = 256;

/// Segments that K is summed in (1, 2 or 4), added in order. It is part of the weight's summation tree, so it may
/// depend on nothing but the weight: not on tokens, tile or GPU. One segment, but for dense matrices whose strips are
/// too few to occupy a GPU with one warp each: a warp's chain of MMAs over 4,096 elements takes about 7.5 us on an
/// H200, where all SMs have read 128 strips of BF16 in half of that. Those deeper than kOneSegmentDepthMax have
/// segments of about kSegmentDepth; those with no strip for most SMs, as a router's and a shared expert's, of half of
/// that, and begin to have them earlier. In a decode kernel segments are the warps of one block, which wait for each
/// other: they are of one length, and a depth that does not divide so has fewer. Wider tiles sum them one after
/// another, and matrices of another number of segments in another launch: those that read the hidden rows of most
/// models have one. Whether there is a strip for most SMs is a matter of all matrices of a launch.
inline constexpr int64_t kOneSegmentDepthMax = 2048;
inline constexpr int64_t kSegmentDepth = 1024;
inline constexpr int64_t kSegmentStripsMax = 512;
inline constexpr int64_t kFewStripsMax = 96;
inline constexpr int kSegmentsMax = 4;
constexpr int k_segments(const Desc& d) {
  const int64_t strips = (d.rows + 15) / 16;
  const bool few = strips <= kFewStripsMax && d.launch_rows <= kFewStripsMax * 16 && d.depth >= kOneSegmentDepthMax;
  if (d.op != Op::dense || strips >= kSegmentStripsMax || (d.depth <= kOneSegmentDepthMax && !few)) return 1;
  const int64_t depth = few ? kSegmentDepth / 2 : kSegmentDepth;
  int segments = 1;
  while (segments < kSegmentsMax && d.depth > segments * depth && d.depth % (2 * segments * kSegmentUnit) == 0) {
    segments *= 2;
  }
  return segments;
}

/// First element of segment `segment` of `segments`, and for segment = segments the depth.
constexpr int64_t segment_begin(int64_t depth, int segments, int segment) {
  const int64_t units = (depth + kSegmentUnit - 1) / kSegmentUnit;
  const int64_t begin = segment * units / segments * kSegmentUnit;
  return begin < depth ? begin : depth;
}

// Limits, each checked by validate().
inline constexpr int64_t kTokensMax = 65'536;
inline constexpr int64_t kWidthMax = 65'536;                // H and I
inline constexpr int64_t kDenseRowsMax = int64_t{1} << 20;  // M of a dense product: a vocabulary
inline constexpr int kExpertsMax = 1024;
inline constexpr int kExpertsPerTokenMax = 32;

/// invalid_argument for what no kernel accepts: H not a multiple of 64, I not a multiple of 16, F32 or F16, W4A4 of a
/// format that is not 4-bit, a count beyond the limits above. Of a dense product: a depth that is not a multiple of 16,
/// a format that has no atoms (kernels/atom.h), W4A4. Tokens may be 0.
Status validate(const Desc& desc);

/// "NVFP4 w4a16, H 4096, I 1024, 512 experts, 10 a token, 8 tokens"
std::string describe_layer(const Desc& desc);
/// The same with its operation before it: "down NVFP4 w4a16, H 4096, I 1024, 512 experts, 10 a token, 8 tokens", "dense
/// BF16, M 2048, K 4096, 17 tokens"
std::string describe(const Desc& desc);

}  // namespace tessera::plan
