#include "selftest/selftest.h"

#include <fmt/format.h>

#include <bit>
#include <cmath>
#include <random>

#include "base/propagate.h"
#include "kernels/cuda/grouped_gemm.h"
#include "plan/candidates.h"
#include "selftest/gemm_case.h"
#include "selftest/on_gpu.h"

namespace tessera::kernels {
namespace {

using cuda::Fp4Result;
using cuda::Fp4Warp;
using Report = std::function<void(const SelftestCheck&)>;

constexpr size_t kWarps = 2048;

/// Any codes and scales. order_free: small integers and scales that are powers of two near one, whose sums are exact
/// whatever the order.
std::vector<Fp4Warp> random_warps(WeightFormat format, bool order_free, uint32_t seed) {
  std::mt19937 random(seed);
  const bool mxfp4 = format == WeightFormat::mxfp4;
  const auto scales = [&] {
    uint32_t word = 0;
    for (int i = 0; i < 4; ++i) {
      const uint32_t any = random();
      const uint32_t free = mxfp4 ? 125 + any % 5 : 0x28 + any % 5 * 8;
      const uint32_t wide = mxfp4 ? 100 + any % 56 : any % 0x7f;
      word |= (order_free ? free : wide) << (8 * i);
    }
    return word;
  };
  std::vector<Fp4Warp> warps(kWarps);
  for (Fp4Warp& warp : warps) {
    for (cpu::Fp4Lane& lane : warp) {
      for (uint32_t& a : lane.a) a = random();
      for (uint32_t& b : lane.b) b = random();
      for (float& c : lane.c) {
        const auto integer = static_cast<float>(static_cast<int>(random() % 2001) - 1000);
        c = order_free ? integer : std::ldexp(integer, static_cast<int>(random() % 40) - 20);
      }
      lane.scale_a = scales();
      lane.scale_b = scales();
    }
  }
  return warps;
}

/// Empty if equal: NaN and NaN are, and so are zeros, whose sign is not published.
std::string first_difference(WeightFormat format, const std::vector<Fp4Warp>& warps,
                             const std::vector<Fp4Result>& got) {
  for (size_t w = 0; w < warps.size(); ++w) {
    const Fp4Result want = cpu::mma_fp4(format, warps[w], {});
    for (size_t lane = 0; lane < 32; ++lane) {
      for (size_t i = 0; i < 4; ++i) {
        const float g = got[w][lane][i], e = want[lane][i];
        if (g == e || (std::isnan(g) && std::isnan(e))) continue;
        return fmt::format("warp {}, lane {}, d{} is {} ({:#010x}), the model has {} ({:#010x})", w, lane, i, g,
                           std::bit_cast<uint32_t>(g), e, std::bit_cast<uint32_t>(e));
      }
    }
  }
  return {};
}

Status check_mma(int gpu, WeightFormat format, bool native, const Report& report) {
  for (const bool emulated : {true, false}) {
    if (!emulated && !native) continue;
    for (const bool order_free : {true, false}) {
      const std::vector<Fp4Warp> warps = random_warps(format, order_free, order_free ? 1 : 2);
      TESSERA_ASSIGN_OR_RETURN(const auto got, cuda::run_mma_fp4(gpu, format, {}, emulated, warps));
      const std::string difference = first_difference(format, warps, got);
      const std::string what = order_free ? "sums that are exact in any order" : "the model's arithmetic";
      report({fmt::format("{} MMA, {}, {}", format::name(format), emulated ? "emulated" : "native", what),
              difference.empty(), difference.empty() ? fmt::format("{} products of 16x8x64", kWarps) : difference});
    }
  }
  return {};
}

/// Every tile of a path against the reference, and against the first tile: one answer whatever the tile.
Status check_tiles(int gpu, plan::Path path, WeightFormat format, const Report& report) {
  // Groups: empty, one slot, more than the widest tile, a few. K: five slices, no multiple of 128; two and a half.
  const std::vector<int32_t> groups = {0, 1, 300, 9, 70, 8};
  const bool finite = path == plan::Path::w4a16;  // NaN would hide everything else in a relative error
  const cuda::GemmCase cases[] = {cuda::GemmCase({path, plan::Op::gate_up, format, 320, 160, groups, 3, true}),
                                  cuda::GemmCase({path, plan::Op::down, format, 160, 320, groups, 4, finite})};
  std::vector<uint16_t> first[std::size(cases)];
  for (const auto& [tile, function] : cuda::kernels(path, format)) {
    std::string difference;
    for (size_t i = 0; i < std::size(cases) && difference.empty(); ++i) {
      TESSERA_ASSIGN_OR_RETURN(const auto outcome, cuda::run_gemm(gpu, cases[i].problem(tile)));
      difference = cases[i].difference(outcome);
      if (first[i].empty()) first[i] = outcome.out;
      if (path == plan::Path::w4a16 && difference.empty() && outcome.out != first[i]) {
        difference = "other bits than those of the first tile";
      }
    }
    report({fmt::format("{} {} {}, {} stages", format::name(format), plan::name(path), plan::shape_name(tile),
                        tile.stages),
            difference.empty(), difference.empty() ? "gate_up and down, 388 slots of 6 experts" : difference});
  }
  return {};
}

}  // namespace

Expected<std::string> selftest_environment(int gpu) { return cuda::describe_cuda(gpu); }

Status selftest(int gpu, const Report& report) {
  TESSERA_ASSIGN_OR_RETURN(const std::string environment, cuda::describe_cuda(gpu));
  const bool native = environment.ends_with("native");
  for (const WeightFormat format : {WeightFormat::nvfp4, WeightFormat::mxfp4}) {
    TESSERA_RETURN_IF_ERROR(check_mma(gpu, format, native, report));
    for (const plan::Path path : {plan::Path::w4a16, plan::Path::w4a4}) {
      TESSERA_RETURN_IF_ERROR(check_tiles(gpu, path, format, report));
    }
  }
  return {};
}

}  // namespace tessera::kernels
