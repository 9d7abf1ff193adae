#include "plan/desc.h"

#include <algorithm>

#include "base/status.h"

namespace tessera::plan {

Status validate(const Desc& d) {
  const auto refuse = [](const char* what, int64_t found, const std::string& expected) {
    return error(StatusCode::invalid_argument, "{} is {}, expected {}", what, found, expected);
  };
  if (d.format != WeightFormat::nvfp4 && d.format != WeightFormat::mxfp4) {
    return error(StatusCode::invalid_argument, "tiles are planned for NVFP4 and MXFP4 weights, found {}",
                 format::name(d.format));
  }
  const auto multiple = [](int64_t factor) {
    return fmt::format("a positive multiple of {}, at most {}", factor, kWidthMax);
  };
  if (d.hidden <= 0 || d.hidden % 64 != 0 || d.hidden > kWidthMax) {
    return refuse("the hidden size", d.hidden, multiple(64));
  }
  if (d.intermediate <= 0 || d.intermediate % 16 != 0 || d.intermediate > kWidthMax) {
    return refuse("an expert's intermediate size", d.intermediate, multiple(16));
  }
  if (d.experts < 1 || d.experts > kExpertsMax) {
    return refuse("the number of experts", d.experts, fmt::format("1 to {}", kExpertsMax));
  }
  const int per_token_max = std::min(d.experts, kExpertsPerTokenMax);
  if (d.experts_per_token < 1 || d.experts_per_token > per_token_max) {
    return refuse("the number of experts per token", d.experts_per_token, fmt::format("1 to {}", per_token_max));
  }
  if (d.tokens < 0 || d.tokens > kTokensMax) {
    return refuse("the number of tokens", d.tokens, fmt::format("0 to {}", kTokensMax));
  }
  return {};
}

std::string describe_layer(const Desc& d) {
  return fmt::format("{} {}, H {}, I {}, {} experts, {} a token, {} token{}", format::name(d.format), name(d.path),
                     d.hidden, d.intermediate, d.experts, d.experts_per_token, d.tokens, d.tokens == 1 ? "" : "s");
}

std::string describe(const Desc& d) { return fmt::format("{} {}", name(d.op), describe_layer(d)); }

}  // namespace tessera::plan
