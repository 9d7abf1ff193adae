#pragma once

#include <array>

#include "plan/budget.h"

namespace tessera::plan {

/// What CUTLASS's block-scaled NVFP4 grouped GEMM for compute capability 12.0 (BF16 epilogue) takes of shared memory,
/// read from kernels compiled with CUDA 13.0. It stages whole 128x4 blocks of scales, so columns below 128 pay for
/// 128, keeps its epilogue beside the stages and aligns its buffers to 1,024 bytes.
struct StockTile {
  int m, n, k;
  int stage_bytes;
  int other_bytes;  // epilogue, barriers, alignment: the total less the stages
  int stages;       // in 101,376 bytes
};

inline constexpr std::array<StockTile, 13> kStockTiles = {{
    {128, 128, 128, 18'432, 15'360, 4},
    {128, 128, 256, 36'864, 15'360, 2},
    {128, 256, 128, 27'648, 15'360, 3},
    {256, 128, 128, 27'648, 15'360, 3},
    {128, 64, 128, 14'336, 15'360, 6},
    {128, 64, 256, 28'672, 15'360, 3},
    {128, 32, 128, 12'288, 15'360, 7},
    {128, 32, 256, 24'576, 15'360, 3},
    {128, 16, 256, 22'528, 9'216, 4},
    {128, 8, 128, 10'752, 7'168, 8},
    {128, 8, 256, 21'504, 7'168, 4},
    {128, 128, 64, 9'216, 15'360, 9},
    {128, 256, 64, 13'824, 15'360, 6},
}};

constexpr int stock_total_bytes(const StockTile& t, int stages) { return stages * t.stage_bytes + t.other_bytes; }

/// Stages that its own stage count would choose for another limit; 0: does not fit.
constexpr int stock_stages(const StockTile& t, int limit_bytes) {
  return std::max(0, (limit_bytes - t.other_bytes) / t.stage_bytes);
}

}  // namespace tessera::plan
