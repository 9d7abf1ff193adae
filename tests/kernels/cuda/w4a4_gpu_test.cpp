#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <random>

#include "kernels/cuda/grouped_gemm.h"
#include "kernels/reference/fp4_fragments.h"
#include "plan/candidates.h"
#include "selftest/gemm_case.h"
#include "selftest/on_gpu.h"
#include "selftest/selftest.h"

// These run on a GPU (label gpu) and, but for tests named Large*, in the simulator. Everything is compared bit for bit;
// NaN equals NaN.
namespace tessera::kernels::cuda {
namespace {

using cpu::Fp4Selectors;

constexpr WeightFormat kFormats[] = {WeightFormat::nvfp4, WeightFormat::mxfp4};

/// Fragments that reach every branch of the model: sparse and dense codes, all scales with NaN among them, accumulators
/// of every size, zeros, infinities, NaN, any bits.
Fp4Warp adversarial_warp(WeightFormat format, const Fp4Selectors& selectors, std::mt19937& random) {
  const bool mxfp4 = format == WeightFormat::mxfp4;
  const uint8_t low = mxfp4 ? (random() % 2 == 0 ? 0 : 110) : (random() % 2 == 0 ? 0 : 0x30);
  const uint8_t high = mxfp4 ? (random() % 3 == 0 ? 255 : 140) : (random() % 4 == 0 ? 0xff : 0x7e);
  cpu::Fp4Operands m =
      cpu::random_operands(random, random() % 4 == 0 ? 0x9 : 0xf, low, high, static_cast<int>(random() % 260) - 150);
  if (random() % 3 == 0) {
    for (auto& row : m.a) {
      for (auto& code : row) code &= random() % 8 != 0 ? 8 : 15;
    }
    for (auto& column : m.b) {
      for (auto& code : column) code &= random() % 4 != 0 ? 8 : 15;
    }
  }
  for (auto& row : m.c) {
    for (float& c : row) {
      switch (random() % 16) {
        case 0: c = 0; break;
        case 1: c = -0.0F; break;
        case 2: c = random() % 8 == 0 ? std::numeric_limits<float>::infinity() : c; break;
        case 3: c = random() % 8 == 0 ? std::numeric_limits<float>::quiet_NaN() : c; break;
        case 4: c = std::bit_cast<float>(static_cast<uint32_t>(random())); break;
        default: break;
      }
    }
  }
  return cpu::fragments(format, m, selectors);
}

TEST(Fp4MmaOnGpu, EmulationIsTheModel) {
  std::mt19937 random(1);
  for (const WeightFormat format : kFormats) {
    for (const Fp4Selectors& s : cpu::all_selectors(format)) {
      std::vector<Fp4Warp> warps(512);
      for (Fp4Warp& warp : warps) warp = adversarial_warp(format, s, random);
      const auto got = run_mma_fp4(0, format, s, true, warps);
      ASSERT_TRUE(got.ok()) << got.status().message();
      for (size_t w = 0; w < warps.size(); ++w) {
        const Fp4Result want = cpu::mma_fp4(format, warps[w], s);
        for (size_t lane = 0; lane < 32; ++lane) {
          for (size_t i = 0; i < 4; ++i) {
            ASSERT_EQ(std::bit_cast<uint32_t>((*got)[w][lane][i]), std::bit_cast<uint32_t>(want[lane][i]))
                << format::name(format) << ", warp " << w << ", lane " << lane << ", d" << i;
          }
        }
      }
    }
  }
}

TEST(Fp4MmaOnGpu, SelectorsThatPtxForbidsAreRefused) {
  const auto got = run_mma_fp4(0, WeightFormat::nvfp4, {2, 0, 0, 0}, true, {});
  EXPECT_EQ(got.status().code(), StatusCode::invalid_argument);
}

TEST(W4a4OnGpu, LargeTheTilesOfTheStoryExist) {  // not all are simulated
  for (const WeightFormat format : kFormats) {
    const auto all = kernels(plan::Path::w4a4, format);
    for (const int k : {64, 128}) {
      for (const auto& [m, n] : {std::pair(128, 128), std::pair(128, 256), std::pair(256, 128)}) {
        const plan::Tile tile = plan::make_tile(plan::Path::w4a4, format, m, n, k, 1);
        EXPECT_TRUE(std::any_of(all.begin(), all.end(), [&](const Kernel& kernel) { return kernel.tile == tile; }))
            << plan::shape_name(tile);
      }
    }
  }
}

void expect_reference_from_every_tile(const CaseShape& shape, int repeats = 1) {
  const GemmCase c(shape);
  for (const auto& [tile, function] : kernels(plan::Path::w4a4, shape.format)) {
    GemmProblem problem = c.problem(tile);
    problem.repeats = repeats;
    const auto outcome = run_gemm(0, problem);
    ASSERT_TRUE(outcome.ok()) << plan::shape_name(tile) << ": " << outcome.status().message();
    EXPECT_EQ(c.difference(*outcome), "") << plan::shape_name(tile);
  }
}

TEST(W4a4OnGpu, LargeOneExpertWithEveryCountOfTokens) {
  std::vector<int32_t> counts;
  for (int32_t t = 1; t <= 40; ++t) counts.push_back(t);
  for (const int32_t t : {63, 64, 65, 127, 128, 129, 0}) counts.push_back(t);
  for (const WeightFormat format : kFormats) {
    expect_reference_from_every_tile({plan::Path::w4a4, plan::Op::gate_up, format, 192, 32, counts, 1});
    expect_reference_from_every_tile({plan::Path::w4a4, plan::Op::down, format, 32, 64, counts, 2});
  }
}

TEST(W4a4OnGpu, DepthsAndWidthsThatNoTileDivides) {
  for (const WeightFormat format : kFormats) {
    for (const int64_t depth : {64, 320, 832}) {
      for (const int64_t width : {16, 48, 208}) {
        expect_reference_from_every_tile(
            {plan::Path::w4a4, plan::Op::gate_up, format, depth, width, {3, 0, 17}, 3, false});
      }
    }
    const int64_t group = format::group_size(format);
    for (const int64_t depth : {group, 3 * group, 5 * group}) {
      expect_reference_from_every_tile({plan::Path::w4a4, plan::Op::down, format, depth, 192, {0, 20, 1}, 4, false});
    }
  }
}

TEST(W4a4OnGpu, NothingToDo) {
  for (const WeightFormat format : kFormats)
    expect_reference_from_every_tile({plan::Path::w4a4, plan::Op::down, format, 64, 64, {0, 0}, 5});
}

TEST(W4a4OnGpu, LargeOneExpertTakesAll) {
  for (const WeightFormat format : kFormats) {
    expect_reference_from_every_tile({plan::Path::w4a4, plan::Op::gate_up, format, 256, 128, {0, 700, 0}, 6});
  }
}

TEST(W4a4OnGpu, LargeAThousandRunsGiveOneAnswer) {
  for (const WeightFormat format : kFormats) {
    const GemmCase c({plan::Path::w4a4, plan::Op::gate_up, format, 512, 128, {130, 1, 60}, 7});
    GemmProblem problem = c.problem(plan::make_tile(plan::Path::w4a4, format, 128, 128, 128, 1));
    problem.repeats = 1000;
    const auto outcome = run_gemm(0, problem);
    ASSERT_TRUE(outcome.ok()) << outcome.status().message();
    EXPECT_EQ(c.difference(*outcome), "");
  }
}

TEST(W4a4OnGpu, ATileWithoutAKernelIsNamed) {
  const GemmCase c({plan::Path::w4a4, plan::Op::down, WeightFormat::nvfp4, 64, 64, {1}, 8});
  const auto outcome = run_gemm(0, c.problem(plan::make_tile(plan::Path::w4a4, WeightFormat::nvfp4, 64, 104, 64, 2)));
  EXPECT_EQ(outcome.status().code(), StatusCode::unsupported);
  EXPECT_NE(outcome.status().message().find("64x104x64"), std::string::npos) << outcome.status().message();
}

/// By what it changes in an outcome that is as it must be.
TEST(Selftest, EveryBitOfW4a4IsCompared) {
  constexpr uint16_t kNan = 0x7fc0, kOtherNan = 0xffff;
  const auto is_nan = [](uint16_t bits) { return (bits & 0x7fff) > 0x7f80; };
  for (const WeightFormat format : kFormats) {
    const GemmCase c({plan::Path::w4a4, plan::Op::down, format, 64, 64, {3, 9}, 9, /*finite=*/false});
    const auto outcome = run_gemm(0, c.problem(kernels(plan::Path::w4a4, format).front().tile));
    ASSERT_TRUE(outcome.ok()) << outcome.status().message();
    const auto after = [&](const auto& change) {
      GemmOutcome changed = *outcome;
      change(changed);
      return c.difference(changed);
    };
    EXPECT_EQ(after([](GemmOutcome&) {}), "");
    const auto& out = outcome->out;
    const auto none = static_cast<size_t>(std::find_if(out.begin(), out.end(), is_nan) - out.begin());
    const auto number = static_cast<size_t>(std::find_if_not(out.begin(), out.end(), is_nan) - out.begin());
    ASSERT_LT(std::max(none, number), out.size()) << "there must be both";
    EXPECT_EQ(after([&](GemmOutcome& o) { o.out[none] = kOtherNan; }), "") << "NaN equals NaN";
    EXPECT_NE(after([&](GemmOutcome& o) { o.out[none] = 0x3f80; }), "") << "1 for NaN";
    EXPECT_NE(after([&](GemmOutcome& o) { o.out[number] = kNan; }), "") << "NaN for a number";
    EXPECT_NE(after([&](GemmOutcome& o) { o.out[number] ^= 1; }), "") << "the last bit";
    EXPECT_NE(after([&](GemmOutcome& o) { o.out.back() ^= 1; }), "") << "the last element";
    EXPECT_NE(after([](GemmOutcome& o) { o.slices.front() ^= std::byte{1}; }), "") << "the first activation";
    EXPECT_NE(after([](GemmOutcome& o) { o.slices.back() ^= std::byte{1}; }), "") << "the last activation";
  }
}

/// Every comparison with it is false, also that of an error with the largest that is let through.
TEST(Selftest, ANumberThatIsNoneIsFound) {
  const GemmCase c({plan::Path::w4a16, plan::Op::down, WeightFormat::nvfp4, 64, 64, {3}, 9});
  auto outcome = run_gemm(0, c.problem(kernels(plan::Path::w4a16, WeightFormat::nvfp4).front().tile));
  ASSERT_TRUE(outcome.ok()) << outcome.status().message();
  EXPECT_EQ(c.difference(*outcome), "");
  outcome->out.back() = 0x7fc0;  // NaN
  EXPECT_NE(c.difference(*outcome), "");
}

TEST(Selftest, IsEqualThroughout) {
  size_t checks = 0;
  const Status status = selftest(0, [&](const SelftestCheck& check) {
    EXPECT_TRUE(check.equal) << check.name << ": " << check.detail;
    ++checks;
  });
  EXPECT_TRUE(status.ok()) << status.message();
  size_t least = 0;  // emulated MMAs of two kinds, and every tile
  for (const WeightFormat format : kFormats) {
    least += 2 + kernels(plan::Path::w4a16, format).size() + kernels(plan::Path::w4a4, format).size();
  }
  EXPECT_GE(checks, least);
}

}  // namespace
}  // namespace tessera::kernels::cuda
