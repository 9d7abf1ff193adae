#include "plan/desc.h"

#include <algorithm>

#include "base/status.h"

namespace tessera::plan {
namespace {

Status refuse(const char* what, int64_t found, const std::string& expected) {
  return error(StatusCode::invalid_argument, "{} is {}, expected {}", what, found, expected);
}

std::string multiple(int64_t factor, int64_t most) {
  return fmt::format("a positive multiple of {}, at most {}", factor, most);
}

/// F32 and F16 are packed as BF16 (kernels/atom.h).
bool has_atoms(WeightFormat format) { return format != WeightFormat::f32 && format != WeightFormat::f16; }

Status validate_tokens(const Desc& d) {
  if (d.tokens >= 0 && d.tokens <= kTokensMax) return {};
  return refuse("the number of tokens", d.tokens, fmt::format("0 to {}", kTokensMax));
}

Status validate_dense(const Desc& d) {
  if (!has_atoms(d.format)) {
    return error(StatusCode::invalid_argument, "dense products have BF16, FP8, NVFP4 or MXFP4 weights, found {}",
                 format::name(d.format));
  }
  if (d.path != Path::w4a16) {
    return error(StatusCode::invalid_argument, "dense products have BF16 activations, found the path {}", name(d.path));
  }
  if (d.rows <= 0 || d.rows > kDenseRowsMax) {
    return refuse("the number of weight rows", d.rows, fmt::format("1 to {}", kDenseRowsMax));
  }
  const int64_t group = d.format == WeightFormat::mxfp4 ? 32 : 16;
  if (d.depth <= 0 || d.depth % group != 0 || d.depth > kWidthMax) {
    return refuse("the depth", d.depth, multiple(group, kWidthMax));
  }
  return validate_tokens(d);
}

}  // namespace

Status validate(const Desc& d) {
  if (d.op == Op::dense) return validate_dense(d);
  const bool four_bits = d.format == WeightFormat::nvfp4 || d.format == WeightFormat::mxfp4;
  if (!four_bits && (d.path != Path::w4a16 || !has_atoms(d.format))) {
    return error(StatusCode::invalid_argument,
                 "experts have NVFP4 or MXFP4 weights, with BF16 activations BF16 or FP8 too; found {} {}",
                 format::name(d.format), name(d.path));
  }
  if (d.hidden <= 0 || d.hidden % 64 != 0 || d.hidden > kWidthMax) {
    return refuse("the hidden size", d.hidden, multiple(64, kWidthMax));
  }
  if (d.intermediate <= 0 || d.intermediate % 16 != 0 || d.intermediate > kWidthMax) {
    return refuse("an expert's intermediate size", d.intermediate, multiple(16, kWidthMax));
  }
  if (d.experts < 1 || d.experts > kExpertsMax) {
    return refuse("the number of experts", d.experts, fmt::format("1 to {}", kExpertsMax));
  }
  const int per_token_max = std::min(d.experts, kExpertsPerTokenMax);
  if (d.experts_per_token < 1 || d.experts_per_token > per_token_max) {
    return refuse("the number of experts per token", d.experts_per_token, fmt::format("1 to {}", per_token_max));
  }
  return validate_tokens(d);
}

std::string describe_layer(const Desc& d) {
  const char* plural = d.tokens == 1 ? "" : "s";
  if (d.op == Op::dense) {
    return fmt::format("{}, M {}, K {}, {} token{}", format::name(d.format), d.rows, d.depth, d.tokens, plural);
  }
  return fmt::format("{} {}, H {}, I {}, {} experts, {} a token, {} token{}", format::name(d.format), name(d.path),
                     d.hidden, d.intermediate, d.experts, d.experts_per_token, d.tokens, plural);
}

std::string describe(const Desc& d) { return fmt::format("{} {}", name(d.op), describe_layer(d)); }

}  // namespace tessera::plan
