#include "kernels/cpu/simd_target.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cstdlib>
#include <vector>

#include "base/ascii.h"
#include "base/status.h"

// Without per-target code here: HWY_TARGETS is what foreach_target.h compiles.
#include "hwy/highway.h"

namespace tessera::kernels::cpu {
namespace {

/// Highway counts the generations of AVX-512 as AVX3.
std::string target_text(int64_t target) {
  const std::string name = hwy::TargetName(target);
  return name == "AVX3" ? "avx512" : lower(name);
}

/// The targets in `set`, the plainest first: better ones have lower bits.
std::vector<int64_t> each_target(int64_t set) {
  std::vector<int64_t> targets;
  for (; set != 0; set &= set - 1) targets.insert(targets.begin(), set & -set);
  return targets;
}

std::string names(int64_t set) {
  std::vector<std::string> texts;
  for (const int64_t target : each_target(set)) texts.push_back(target_text(target));
  return fmt::format("{}", fmt::join(texts, ", "));
}

}  // namespace

Status use_simd_target(std::string_view name) {
  const int64_t supported = hwy::SupportedTargets() & HWY_TARGETS;
  for (const int64_t target : each_target(HWY_TARGETS)) {
    if (name != target_text(target)) continue;
    if ((supported & target) == 0) {
      return error(StatusCode::invalid_argument, "{} is {}, which this CPU lacks; it has {}", kSimdVariable, name,
                   names(supported));
    }
    hwy::DisableTargets(target - 1);
    return {};
  }
  return error(StatusCode::invalid_argument, "{} is \"{}\"; expected one of {}", kSimdVariable, name,
               names(HWY_TARGETS));
}

Status use_simd_target_of_environment() {
  const char* name = std::getenv(kSimdVariable);
  return name == nullptr || *name == '\0' ? Status() : use_simd_target(name);
}

std::string simd_target() {
  const int64_t supported = hwy::SupportedTargets() & HWY_TARGETS;
  return target_text(supported & -supported);
}

}  // namespace tessera::kernels::cpu
