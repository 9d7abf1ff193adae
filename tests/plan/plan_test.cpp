#include "plan/plan.h"

#include <gmock/gmock.h>
#include <rapidcheck/gtest.h>

#include "plan/budget.h"
#include "plan/candidates.h"
#include "plan/model_shapes.h"
#include "plan/registers.h"
#include "plan/reject.h"

namespace tessera::plan {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

constexpr WeightFormat kFormats[] = {WeightFormat::nvfp4, WeightFormat::mxfp4};
constexpr Path kPaths[] = {Path::w4a16, Path::w4a4};
constexpr Op kOps[] = {Op::gate_up, Op::down};

void expect_sound(const Plan& plan) {
  ASSERT_LT(plan.choice, plan.candidates.size());
  EXPECT_TRUE(plan.chosen().kept());
  for (const Candidate& candidate : plan.candidates) {
    const std::string where = plan.device.name + " " + describe(plan.desc) + " " + shape_name(candidate.tile);
    if (!candidate.kept()) {
      EXPECT_EQ(candidate.rejected_because.find('\n'), std::string::npos) << where;
      EXPECT_EQ(candidate.resident_blocks, 0) << where;
      // The reason is a fact, and has its numbers.
      const bool too_many_registers = register_estimate(candidate.tile) > register_limit(candidate.tile);
      EXPECT_TRUE(!fits(candidate.tile) || too_many_registers) << where << ": " << candidate.rejected_because;
      EXPECT_NE(candidate.rejected_because.find_first_of("0123456789"), std::string::npos) << where;
      EXPECT_TRUE(too_many_registers || candidate.smem_bytes > smem_limit(candidate.tile.blocks_per_sm)) << where;
      continue;
    }
    EXPECT_TRUE(fits(candidate.tile)) << where;
    EXPECT_LE(candidate.smem_bytes, kSmemPerBlockMax) << where;
    EXPECT_LE(candidate.smem_bytes, plan.device.smem_per_block_bytes) << where;
    EXPECT_LE(candidate.resident_blocks * (candidate.smem_bytes + 1024), plan.device.smem_per_sm_bytes) << where;
    EXPECT_LE(candidate.resident_blocks * threads(candidate.tile), plan.device.threads_per_sm) << where;
    EXPECT_GE(candidate.resident_blocks, candidate.tile.blocks_per_sm) << where;
    EXPECT_LE(register_estimate(candidate.tile), register_limit(candidate.tile)) << where;
    EXPECT_GE(candidate.cost.estimate_us * (1 + kEstimateTolerance), plan.chosen().cost.estimate_us) << where;
    EXPECT_GE(candidate.cost.estimate_us, candidate.cost.floor_us) << where;
  }
}

TEST(Plan, EveryModelFormatPathAndBatchHasATileOnEveryDevice) {
  for (const DeviceFacts& device : known_devices()) {
    for (const ModelShape& model : kModelShapes) {
      for (const Path path : kPaths) {
        for (const WeightFormat format : kFormats) {
          for (const Op op : kOps) {
            for (const int64_t tokens : {0, 1, 7, 64, 513, 65'536}) {
              const auto plan = make_plan(layer_desc(model, op, format, path, tokens), device);
              ASSERT_TRUE(plan.ok()) << plan.status().message();
              expect_sound(*plan);
            }
          }
        }
      }
    }
  }
}

RC_GTEST_PROP(Plan, AnyShapeHasATile, ()) {
  Desc desc{.op = *rc::gen::element(Op::gate_up, Op::down),
            .format = *rc::gen::element(WeightFormat::nvfp4, WeightFormat::mxfp4),
            .path = *rc::gen::element(Path::w4a16, Path::w4a4),
            .hidden = *rc::gen::inRange<int64_t>(1, 1025) * 64,
            .intermediate = *rc::gen::inRange<int64_t>(1, 4097) * 16,
            .experts = *rc::gen::inRange(1, kExpertsMax + 1),
            .experts_per_token = 1,
            .tokens = *rc::gen::inRange<int64_t>(0, kTokensMax + 1)};
  desc.experts_per_token = *rc::gen::inRange(1, std::min(desc.experts, kExpertsPerTokenMax) + 1);
  const auto devices = known_devices();
  const auto plan = make_plan(desc, devices[*rc::gen::inRange<size_t>(0, devices.size())]);
  RC_ASSERT(plan.ok());
  expect_sound(*plan);
  RC_ASSERT(!::testing::Test::HasFailure());
}

TEST(Plan, RejectionsSayTheBytes) {
  const DeviceFacts gpu = *find_device("rtx-pro-6000");
  const auto reason = [&](Path path, int m, int n, int k, int blocks) {
    return reject_reason(make_tile(path, WeightFormat::nvfp4, m, n, k, blocks), gpu);
  };
  EXPECT_EQ(reason(Path::w4a16, 128, 256, 128, 1), "2 stages of 74752 B, barriers 32 B: 149536 B, 48160 B over 101376");
  EXPECT_EQ(reason(Path::w4a4, 128, 64, 256, 2),
            "2 stages of 27648 B, barriers 32 B: 55328 B, 5152 B over 50176 (2 blocks an SM)");
  EXPECT_EQ(reason(Path::w4a4, 256, 256, 64, 1), "epilogue 135168 B, barriers 32 B: 135200 B, 33824 B over 101376");
  EXPECT_EQ(reason(Path::w4a16, 256, 48, 64, 2),
            "124 registers a thread (48 accumulators), 288 threads x 2 blocks leave 96");
  EXPECT_THAT(reason(Path::w4a16, 100, 8, 64, 1), HasSubstr("is not made of 16x8x64 MMAs"));
  EXPECT_EQ(reason(Path::w4a16, 64, 8, 256, 2), "");

  DeviceFacts small = gpu;
  small.name = "a GPU with 64 KB";
  small.smem_per_block_bytes = 64 * 1024;
  small.smem_per_sm_bytes = 64 * 1024;
  const Tile wide = make_tile(Path::w4a16, WeightFormat::nvfp4, 128, 128, 64, 1);
  EXPECT_EQ(reject_reason(wide, small), "84032 B, 18496 B over the 65536 B a block may have on a GPU with 64 KB");
  DeviceFacts exact = small;
  exact.smem_per_sm_bytes = 128 * 1024;
  exact.smem_per_block_bytes = 84032;
  EXPECT_THAT(reject_reason(wide, exact), Not(HasSubstr("a block may have"))) << "its last byte";
  exact.smem_per_block_bytes = 84031;
  EXPECT_EQ(reject_reason(wide, exact), "84032 B, 1 B over the 84031 B a block may have on a GPU with 64 KB");
  const Tile decode = make_tile(Path::w4a16, WeightFormat::nvfp4, 64, 8, 256, 2);
  EXPECT_EQ(reject_reason(decode, small),
            "1 of the 2 blocks an SM that it is made for are resident on a GPU with 64 KB (39984 B, 160 threads)");
}

/// A tile may take exactly the registers that there are; one more is too many.
TEST(Plan, ATileMayTakeItsLastRegister) {
  const DeviceFacts gpu = *find_device("rtx-pro-6000");
  int at_the_limit = 0, beyond = 0;
  for (const int blocks : {1, 2}) {
    for (const int warps_m : {1, 2, 4, 8}) {
      for (int rows = 16; rows <= 96; rows += 16) {
        for (int n = 8; n <= 256; n += 8) {
          Tile tile{.path = Path::w4a16,
                    .format = WeightFormat::nvfp4,
                    .m = rows * warps_m,
                    .n = n,
                    .k = 64,
                    .blocks_per_sm = blocks,
                    .warps_m = warps_m,
                    .warps_n = 1};
          tile.stages = stages_that_fit(tile);
          const int spare = register_limit(tile) - register_estimate(tile);
          if (tile.stages < kStagesMin || spare < -4 || spare > 0) continue;
          (spare == 0 ? at_the_limit : beyond) += 1;
          const std::string reason = reject_reason(tile, gpu);
          EXPECT_EQ(reason.find("registers a thread") != std::string::npos, spare < 0) << shape_name(tile) << reason;
          EXPECT_EQ(compiled(tile), spare == 0 && fits(tile)) << shape_name(tile);
        }
      }
    }
  }
  EXPECT_GT(at_the_limit, 0);
  EXPECT_GT(beyond, 0);
}

TEST(Plan, AGpuWithoutRoomGetsAnErrorThatNamesEverything) {
  DeviceFacts tiny = *find_device("h200");
  tiny.smem_per_block_bytes = 16 * 1024;
  tiny.name = "Tiny";
  const auto plan = make_plan(layer_desc(kModelShapes[0], Op::down, WeightFormat::nvfp4, Path::w4a16, 8), tiny);
  EXPECT_EQ(plan.status().code(), StatusCode::unsupported);
  EXPECT_THAT(plan.status().message(), HasSubstr("no tile for down NVFP4 w4a16, H 4096, I 1024, 512 experts"));
  EXPECT_THAT(plan.status().message(), HasSubstr("16384 B of shared memory a block"));
}

TEST(Plan, RefusesWhatNoKernelAccepts) {
  const Desc good = layer_desc(kModelShapes[0], Op::gate_up, WeightFormat::nvfp4, Path::w4a16, 8);
  const auto refusal = [&](auto change) {
    Desc desc = good;
    change(desc);
    const Status status = validate(desc);
    EXPECT_EQ(status.code(), StatusCode::invalid_argument);
    return status.message();
  };
  EXPECT_TRUE(validate(good).ok());
  EXPECT_THAT(refusal([](Desc& d) { d.format = WeightFormat::f16; }), HasSubstr("found F16"));
  EXPECT_THAT(refusal([](Desc& d) {
                d.format = WeightFormat::bf16;
                d.path = Path::w4a4;
              }),
              HasSubstr("found BF16"));
  EXPECT_EQ(refusal([](Desc& d) { d.hidden = 100; }),
            "the hidden size is 100, expected a positive multiple of 64, at most 65536");
  EXPECT_THAT(refusal([](Desc& d) { d.hidden = 96; }), HasSubstr("is 96"));
  EXPECT_THAT(refusal([](Desc& d) { d.hidden = 0; }), HasSubstr("is 0"));
  EXPECT_THAT(refusal([](Desc& d) { d.intermediate = 8; }), HasSubstr("multiple of 16"));
  EXPECT_THAT(refusal([](Desc& d) { d.intermediate = kWidthMax + 16; }), HasSubstr("at most"));
  EXPECT_THAT(refusal([](Desc& d) { d.experts = 1025; }), HasSubstr("1 to 1024"));
  EXPECT_THAT(refusal([](Desc& d) { d.experts_per_token = 33; }), HasSubstr("1 to 32"));
  EXPECT_THAT(refusal([](Desc& d) { d.experts = 4; }), HasSubstr("1 to 4"));
  EXPECT_THAT(refusal([](Desc& d) { d.tokens = -1; }), HasSubstr("0 to 65536"));
  EXPECT_THAT(refusal([](Desc& d) { d.hidden = kWidthMax + 64; }), HasSubstr("at most"));
  EXPECT_THAT(refusal([](Desc& d) { d.tokens = kTokensMax + 1; }), HasSubstr("0 to 65536"));
}

TEST(Plan, TheLargestLayerIsPlanned) {
  const Desc largest = {.op = Op::gate_up,
                        .hidden = kWidthMax,
                        .intermediate = kWidthMax,
                        .experts = kExpertsMax,
                        .experts_per_token = kExpertsPerTokenMax,
                        .tokens = kTokensMax};
  EXPECT_TRUE(validate(largest).ok()) << validate(largest).message();
  const auto plan = make_plan(largest, *find_device("rtx-pro-6000"));
  ASSERT_TRUE(plan.ok()) << plan.status().message();
  EXPECT_GT(plan->chosen().cost.estimate_us, 0);
}

TEST(Plan, SegmentsBelongToTheWeight) {
  const auto segments = [](int64_t rows, int64_t depth) {
    const int one = k_segments(dense_desc(WeightFormat::bf16, rows, depth, 1));
    for (const WeightFormat format : kDenseFormats) {
      for (const int64_t tokens : {1, 4096}) EXPECT_EQ(k_segments(dense_desc(format, rows, depth, tokens)), one);
    }
    return one;
  };
  EXPECT_EQ(segments(2048, 2048), 1);
  EXPECT_EQ(segments(2048, 2304), 1);  // does not divide
  EXPECT_EQ(segments(2048, 2560), 2);
  EXPECT_EQ(segments(2048, 4608), 2);
  EXPECT_EQ(segments(2048, 3072), 4);
  EXPECT_EQ(segments(2048, 4096), 4);
  EXPECT_EQ(segments(4096, 8192), 4);
  EXPECT_EQ(segments(5120, 17408), 4);
  EXPECT_EQ(segments(8176, 17408), 4);
  EXPECT_EQ(segments(8177, 17408), 1);  // 512 strips
  EXPECT_EQ(segments(1281, 2048), 4);   // few strips
  EXPECT_EQ(segments(1536, 2048), 4);
  EXPECT_EQ(segments(1537, 2048), 1);  // 97
  EXPECT_EQ(segments(1536, 2032), 1);
  EXPECT_EQ(segments(16, 2560), 2);
  for (const ModelShape& model : kModelShapes) {
    for (const Op op : kOps) {
      for (const Path path : kPaths) EXPECT_EQ(k_segments(layer_desc(model, op, WeightFormat::nvfp4, path, 1)), 1);
      Desc beside_others = dense_desc(WeightFormat::bf16, 256, 2048, 1);
      beside_others.launch_rows = 96 * 16;
      EXPECT_EQ(k_segments(beside_others), 4);
      beside_others.launch_rows = 97 * 16;  // there is work for most SMs
      EXPECT_EQ(k_segments(beside_others), 1);
    }
  }
}

/// In every format, those that are listed by no family of their own among them.
TEST(Plan, CandidatesAreOfTheirPathAndFormat) {
  for (const WeightFormat format : kDenseFormats) {
    const bool four_bits = format == WeightFormat::nvfp4 || format == WeightFormat::mxfp4;
    for (const Path path : {Path::w4a16, Path::w4a4}) {
      EXPECT_EQ(candidates(path, format).empty(), path == Path::w4a4 && !four_bits) << format::name(format);
      for (const Tile& tile : candidates(path, format)) {
        EXPECT_EQ(tile.format, format) << shape_name(tile);
        EXPECT_EQ(tile.path, path) << shape_name(tile);
      }
    }
    for (const Tile& tile : dense_candidates(format)) EXPECT_EQ(tile.format, format) << shape_name(tile);
    if (four_bits) continue;
    EXPECT_TRUE(std::ranges::equal(candidates(Path::w4a16, format), dense_candidates(format))) << format::name(format);
  }
}

/// Two segments are summed as four are: from two on a tile wants the registers of their sum.
TEST(Plan, TheSumOfSegmentsWantsRegisters) {
  const DeviceFacts gpu = *find_device("rtx-pro-6000");
  int refused = 0;
  for (const Tile& tile : candidates(dense_desc(WeightFormat::nvfp4, 4096, 8192, 4096))) {
    if (!reject_reason(tile, gpu, 1).empty()) continue;
    const std::string two = reject_reason(tile, gpu, 2), four = reject_reason(tile, gpu, 4);
    EXPECT_EQ(two.empty(), four.empty()) << shape_name(tile) << two << four;
    if (two.empty()) continue;
    EXPECT_THAT(two, HasSubstr("more for the sum of 2 K segments"));
    ++refused;
  }
  EXPECT_GT(refused, 0);
}

/// Estimates are not told apart within kEstimateTolerance: the tables' order decides.
TEST(Plan, TheFirstOfThoseThatAreAlikeIsChosen) {
  int not_the_least = 0;
  for (const char* gpu : {"rtx-pro-6000", "h200"}) {
    for (const ModelShape& model : kModelShapes) {
      for (const int64_t tokens : {1, 8, 64, 512, 4096}) {
        const auto plan =
            make_plan(layer_desc(model, Op::gate_up, WeightFormat::nvfp4, Path::w4a16, tokens), *find_device(gpu));
        ASSERT_TRUE(plan.ok()) << plan.status().message();
        double least = plan->chosen().cost.estimate_us;
        for (const Candidate& c : plan->candidates) least = c.kept() ? std::min(least, c.cost.estimate_us) : least;
        size_t first = 0;
        while (!plan->candidates[first].kept() || plan->candidates[first].cost.estimate_us > 1.02 * least) ++first;
        EXPECT_EQ(plan->choice, first) << gpu << " " << describe(plan->desc);
        not_the_least += plan->chosen().cost.estimate_us > least ? 1 : 0;
      }
    }
  }
  EXPECT_GT(not_the_least, 0);
}

RC_GTEST_PROP(Plan, SegmentsCoverTheDepth, ()) {
  const int64_t depth = *rc::gen::inRange<int64_t>(1, 4097) * 16;
  const int segments = k_segments(dense_desc(WeightFormat::bf16, 16, depth, 1));
  RC_ASSERT(segment_begin(depth, segments, 0) == 0);
  RC_ASSERT(segment_begin(depth, segments, segments) == depth);
  for (int s = 0; s < segments; ++s) {
    RC_ASSERT(segment_begin(depth, segments, s) < segment_begin(depth, segments, s + 1));
    RC_ASSERT(segment_begin(depth, segments, s) % 256 == 0);
    RC_ASSERT(segment_begin(depth, segments, s) * segments == depth * s);  // of one length
  }
}

TEST(Plan, DenseProductsHaveTilesOfTheirOwn) {
  const auto h200 = *find_device("h200");
  for (const WeightFormat format : kDenseFormats) {
    for (const auto& [rows, depth] : {std::pair<int64_t, int64_t>{12'352, 2048}, {2048, 4096}, {5120, 17'408}}) {
      for (const int64_t tokens : {17, 64, 512, 4096}) {
        const auto plan = make_plan(dense_desc(format, rows, depth, tokens), h200);
        ASSERT_TRUE(plan.ok()) << plan.status().message();
        EXPECT_EQ(plan->candidates.size(), kDenseTiles.size());
        EXPECT_TRUE(compiled(plan->chosen().tile));
        EXPECT_EQ(plan->chosen().tile.format, format);
        EXPECT_TRUE(plan->k_segments == 1 || folds_segments(plan->chosen().tile));
        for (const Candidate& c : plan->candidates) {
          if (!c.kept()) continue;
          EXPECT_GT(c.cost.floor_us, 0);
          EXPECT_GE(c.cost.weight_bytes, static_cast<double>(rows * depth) / 2);
        }
      }
    }
  }
  // A wide tile holds no two sets of sums.
  const auto deep = *make_plan(dense_desc(WeightFormat::bf16, 5120, 17'408, 4096), h200);
  EXPECT_THAT(deep.candidates.back().rejected_because, HasSubstr("128 more for the sum of 4 K segments"));
  EXPECT_TRUE(make_plan(dense_desc(WeightFormat::bf16, 5120, 2048, 4096), h200)->candidates.back().kept());
}

TEST(Plan, DenseProductsThatCannotBeAreRefused) {
  const auto refusal = [](WeightFormat format, int64_t rows, int64_t depth, int64_t tokens) {
    return std::string(validate(dense_desc(format, rows, depth, tokens)).message());
  };
  EXPECT_EQ(refusal(WeightFormat::bf16, 250, 64, 1), "");
  EXPECT_EQ(refusal(WeightFormat::bf16, kDenseRowsMax, kWidthMax, kTokensMax), "");
  EXPECT_THAT(refusal(WeightFormat::bf16, kDenseRowsMax + 1, 64, 1), HasSubstr("weight rows is 1048577"));
  EXPECT_THAT(refusal(WeightFormat::bf16, 0, 64, 1), HasSubstr("weight rows is 0"));
  EXPECT_THAT(refusal(WeightFormat::bf16, 16, 40, 1), HasSubstr("the depth is 40, expected a positive multiple of 16"));
  EXPECT_THAT(refusal(WeightFormat::mxfp4, 16, 48, 1), HasSubstr("multiple of 32"));
  EXPECT_THAT(refusal(WeightFormat::f32, 16, 64, 1), HasSubstr("found F32"));
  EXPECT_THAT(refusal(WeightFormat::bf16, 16, 64, -1), HasSubstr("0 to 65536"));
  EXPECT_EQ(describe(dense_desc(WeightFormat::bf16, 2048, 4096, 17)), "dense BF16, M 2048, K 4096, 17 tokens");
  for (const auto& [tokens, what] : {std::pair{0, "0 tokens"}, {1, "1 token"}, {2, "2 tokens"}}) {
    EXPECT_EQ(describe_layer(dense_desc(WeightFormat::bf16, 16, 64, tokens)), std::string("BF16, M 16, K 64, ") + what);
  }
}

}  // namespace
}  // namespace tessera::plan
