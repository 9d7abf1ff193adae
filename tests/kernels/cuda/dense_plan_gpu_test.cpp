// What dense products refuse, and how their launches are planned.

#include <utility>

#include "kernels/cuda/dense_decode.h"
#include "kernels/cuda/dense_fixture.h"
#include "plan/candidates.h"

namespace tessera::kernels::cuda {
namespace {

TEST(DenseGpu, WhatCannotRunIsRefusedWithItsReason) {
  const DenseWeights w(WeightFormat::bf16, 48, 64, Epilogue::bf16, 30);
  const DenseOutput output(w, 1);
  const DenseInput input(1, 64, 31);
  const auto refusal = [&](const auto& change) {
    DenseArgs args;
    args.x = input.on_device.get();
    args.x_stride = 72;
    args.depth = 64;
    args.rows_max = 1;
    args.matrices[args.count++] = output.matrix();
    EXPECT_TRUE(supports(args).ok()) << supports(args).message();
    change(args);
    const Status status = supports(args);
    EXPECT_FALSE(status.ok());
    return std::string(status.message());
  };
  const auto has = [](const std::string& text, const char* part) { return text.find(part) != std::string::npos; };
  EXPECT_TRUE(has(refusal([](DenseArgs& a) { a.count = 0; }), "0 matrices"));
  EXPECT_TRUE(has(refusal([](DenseArgs& a) { a.depth = 40; }), "the depth is 40"));
  for (const int32_t stride : {56, 68}) {
    EXPECT_TRUE(has(refusal([&](DenseArgs& a) { a.x_stride = stride; }), "rows of x are"));
  }
  EXPECT_TRUE(has(refusal([](DenseArgs& a) { a.x = nullptr; }), "neither"));
  for (const int64_t stride : {40, 52}) {
    EXPECT_TRUE(has(refusal([&](DenseArgs& a) { a.matrices[0].out_stride = stride; }), "results are"));
  }
  EXPECT_TRUE(has(refusal([](DenseArgs& a) { a.matrices[0].weights = nullptr; }), "no weights"));
  EXPECT_TRUE(has(refusal([](DenseArgs& a) { a.matrices[0].format = WeightFormat::f16; }), "found F16"));
  EXPECT_TRUE(has(refusal([](DenseArgs& a) {
                    a.matrices[0].epilogue = Epilogue::swiglu;
                    a.matrices[0].rows = 40;
                  }),
                  "multiple of 16"));
  const auto with_norm = [&](const auto& change) {
    return refusal([&](DenseArgs& a) {
      a.norm.residual = std::exchange(a.x, nullptr);
      change(a);
    });
  };
  const OnDevice<int32_t> index(1);
  EXPECT_TRUE(has(with_norm([](DenseArgs&) {}), "normed_out or a workspace"));
  EXPECT_TRUE(has(with_norm([](DenseArgs& a) { a.overlaps_previous = true; }), "overlaps"));
  EXPECT_TRUE(has(with_norm([&](DenseArgs& a) { a.row_index = index.get(); }), "gathered rows"));
  EXPECT_TRUE(has(with_norm([](DenseArgs& a) { a.x = a.norm.residual; }), "both"));
}

/// All strips of all matrices, each segment once, whoever has them.
void expect_all_dealt(const DecodeLaunch& launch) {
  const DecodeArgs& d = launch.args;
  for (int i = 0; i < d.count; ++i) {
    const DecodeMatrix& m = d.matrices[i];
    EXPECT_EQ(m.first_turn % m.segments, 0);
    EXPECT_EQ(d.working_warps % m.segments, 0);
    const int last = m.first_strip + m.strips - 1, blocks = static_cast<int>(launch.blocks);
    EXPECT_LE(m.first_turn + (last / blocks + 1) * m.segments, m.end_turn);
    EXPECT_LE(m.end_turn, d.turns);
    for (int j = 0; j < i; ++j) {
      const DecodeMatrix& other = d.matrices[j];
      const bool share_turns = other.first_turn == m.first_turn;
      EXPECT_TRUE(share_turns ? other.first_strip + other.strips <= m.first_strip : other.end_turn <= m.first_turn);
    }
  }
}

TEST(DenseGpu, DecodeLaunchesKeepToTheirShareOfAnSmAndLeaveNoStripOut) {
  for (const int64_t depth : {64, 2048, 4096, 5120, 17408}) {
    for (const int32_t rows : {1, 4, 5, 8, 9, 16}) {
      for (const char* gpu : {"rtx-pro-6000", "h200"}) {
        for (const int sm_count : {1, 84, 132, 188}) {
          for (const bool norm : {false, true}) {
            plan::DeviceFacts device = *plan::find_device(gpu);
            device.sm_count = sm_count;
            DenseArgs args;
            const uint16_t some = 0;
            args.depth = static_cast<int32_t>(depth);
            args.rows_max = rows;
            (norm ? args.norm.residual : args.x) = &some;
            for (const int32_t m : {12352, 64, 2048, 250, 5120}) {
              args.matrices[args.count] = {.format = kDenseFormats[args.count % 4], .rows = m};
              ++args.count;
            }
            if (norm && !norm_is_fused(args, device)) continue;
            const DecodeLaunch launch = decode_launch(args, device);
            const DecodeArgs& d = launch.args;
            EXPECT_LE(decode_smem(d).total, launch.smem_limit);
            EXPECT_LE(launch.smem_limit, device.smem_per_block_bytes);
            EXPECT_LE(kDecodeKernelsPerSm * (launch.smem_limit + plan::kSmemReservedPerBlock),
                      device.smem_per_sm_bytes);
            EXPECT_GE(d.stages, kDecodeStagesMin);
            EXPECT_LE(launch.blocks, static_cast<unsigned>(2 * sm_count));
            expect_all_dealt(launch);
          }
        }
      }
    }
  }
}

/// A launch sums all of its matrices in as many segments: those that have others are another launch.
TEST(DenseGpu, MatricesOfDifferentSegmentsHaveLaunchesOfTheirOwn) {
  alignas(16) std::byte nowhere[16] = {};
  for (const int64_t second : {8192, 512}) {  // in one segment and in two
    DenseArgs args;
    args.x = reinterpret_cast<const uint16_t*>(nowhere);
    args.depth = 2560;
    args.x_stride = args.depth;
    args.rows_max = 32;
    for (const int64_t rows : {int64_t{256}, second}) {
      args.matrices[args.count++] = {.weights = nowhere,
                                     .row_alpha = reinterpret_cast<const float*>(nowhere),
                                     .rows = static_cast<int32_t>(rows),
                                     .out = nowhere,
                                     .out_stride = rows};
    }
    ASSERT_EQ(launch_segments(args, args.matrices[0]), 2);
    ASSERT_EQ(launch_segments(args, args.matrices[1]), second == 512 ? 2 : 1);
    std::vector<device::PlannedLaunch> launches;
    const Status status = dense(args, facts_with(132), device::Queue{.plan = &launches});
    ASSERT_TRUE(status.ok()) << status.message();
    EXPECT_EQ(launches.size(), second == 512 ? 1U : 2U);
  }
}

TEST(DenseGpu, MatricesOfALaunchMayHaveMoreRowsThanOneMay) {
  alignas(16) std::byte nowhere[16] = {};
  DenseArgs args;
  args.x = reinterpret_cast<const uint16_t*>(nowhere);
  args.depth = args.x_stride = 64;
  args.rows_max = 32;
  for (int i = 0; i < 2; ++i) {
    args.matrices[args.count++] = {.weights = nowhere,
                                   .row_alpha = reinterpret_cast<const float*>(nowhere),
                                   .rows = static_cast<int32_t>(plan::kDenseRowsMax),
                                   .out = nowhere,
                                   .out_stride = plan::kDenseRowsMax};
  }
  std::vector<device::PlannedLaunch> launches;
  const Status status = dense(args, facts_with(132), device::Queue{.plan = &launches});
  ASSERT_TRUE(status.ok()) << status.message();
  EXPECT_EQ(launches.size(), 1U);
}

TEST(DenseGpu, ATileWithoutRegistersForSegmentsIsRefused) {
  const DenseWeights w(WeightFormat::bf16, 16, 2560, Epilogue::bf16, 32);
  const plan::Tile wide = plan::make_dense_tile(WeightFormat::bf16, {256, 128, 1});
  EXPECT_FALSE(can_run_dense(plan::dense_desc(WeightFormat::bf16, 16, 2560, 1), wide));
  const DenseOutput output(w, 1);
  const DenseInput input(1, 2560, 33);
  DenseArgs args;
  args.x = input.on_device.get();
  args.x_stride = input.stride;
  args.depth = 2560;
  args.rows_max = 1;
  args.matrices[args.count++] = output.matrix();
  const Status status = dense_tiled(args, wide, {});
  EXPECT_EQ(status.code(), StatusCode::unsupported);
  EXPECT_NE(status.message().find("256x128x64"), std::string::npos) << status.message();
}

}  // namespace
}  // namespace tessera::kernels::cuda
