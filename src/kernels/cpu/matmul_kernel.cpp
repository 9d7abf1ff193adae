#include "kernels/cpu/matmul_kernel.h"

#include <cstring>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/cpu/matmul_kernel.cpp"
#include "hwy/foreach_target.h"
#include "kernels/cpu/matmul_direct-inl.h"
#include "kernels/cpu/matmul_slab-inl.h"

HWY_BEFORE_NAMESPACE();
namespace tessera::kernels::cpu {
namespace HWY_NAMESPACE {

/// Up to this many rows of x, decoding for every kDirectRows of them beats writing and reading slabs. Decoding is
/// dearer on short vectors.
inline constexpr int64_t kMaxDirectRows = kPartLanes == 16 ? 32 : kDirectRows;

/// Pointers to `count` rows of x from `row` on, the last repeated.
struct RowPointers {
  const float* row[kMaxTileRows];
  RowPointers(const MatmulTask& task, int64_t first, int64_t count) {
    for (int64_t i = 0; i < kMaxTileRows; ++i) {
      const int64_t index = task.first_row + first + (i < count ? i : count - 1);
      row[i] = task.product->x + index * task.product->x_stride;
    }
  }
};

/// Whole panels and groups of 16 columns without a slab; says how many columns are done.
template <WeightFormat kFormat>
int64_t run_direct(const MatmulTask& task, const uint8_t* panel, float* sums) {
  const int64_t groups = task.product->weight->cols / kGroup;
  for (int64_t row = 0; row < task.rows; row += kDirectRows) {
    const int64_t count = task.rows - row < kDirectRows ? task.rows - row : kDirectRows;
    const RowPointers x(task, row, count);
    direct_rows<kFormat>(panel, groups, count, x.row, sums + row * kPanelRows);
  }
  return groups * kGroup;
}

/// Columns [begin, end) of one panel through a slab.
template <WeightFormat kFormat>
void run_slab(const MatmulTask& task, const uint8_t* panel, int64_t blocks, int64_t begin, int64_t end, float* sums) {
  float* values = task.scratch;
  float* scales = values + kPanelRows * kSlabColumns;
  decode_slab<kFormat>(panel, blocks, begin, end, values, scales);
  const Slab slab{values, scales, end - begin, blocks * kBlockRows};
  for (int64_t row = 0; row < task.rows; row += kTileRows) {
    const int64_t count = task.rows - row < kTileRows ? task.rows - row : kTileRows;
    RowPointers x(task, row, count);
    for (const float*& p : x.row) p += begin;
    slab_rows<(format::group_size(kFormat) > 0)>(slab, count, x.row, sums + row * kPanelRows);
  }
}

/// out = alpha * sums, rounded if the product asks, for panel `panel`.
void write_panel(const MatmulTask& task, int64_t panel, const float* sums) {
  const Matmul& product = *task.product;
  const bool round = task.to_bf16 && product.round;
  const int64_t first = panel * kPanelRows;
  const int64_t count = product.weight->rows - first;
  for (int64_t row = 0; row < task.rows; ++row) {
    float* out = product.out + (task.first_row + row) * product.out_stride + first;
    for (int64_t i = 0; i < kPanelRows && i < count; i += kBlockRows) {
      const F32x16 y =
          round_if(round, mul(load(product.weight->alpha.data() + first + i), load(sums + row * kPanelRows + i)));
      store_n(y, count - i, out + i);
    }
  }
}

template <WeightFormat kFormat>
void run_format(const MatmulTask& task) {
  // f32 and f16 have too little to decode to be worth kernels of their own, 128-bit vectors too little speed.
  constexpr bool kHasDirect = kPartLanes >= 8 && kFormat != WeightFormat::f32 && kFormat != WeightFormat::f16;
  const Weight& weight = *task.product->weight;
  const auto* data = reinterpret_cast<const uint8_t*>(weight.data.data());
  const int64_t full_panel = panel_bytes(kFormat, weight.cols, kPanelBlocks);
  const int64_t panel_sums = matmul_sum_rows(task.rows) * kPanelRows;
  float* sums = task.scratch + kSlabFloats;
  std::memset(sums, 0, static_cast<size_t>(task.panels * panel_sums) * sizeof(float));
  const auto slab = [&](int64_t i, int64_t begin) {
    const int64_t end = weight.cols < begin + kSlabColumns ? weight.cols : begin + kSlabColumns;
    const int64_t panel = task.first_panel + i;
    run_slab<kFormat>(task, data + panel * full_panel, panel_blocks(weight.rows, panel), begin, end,
                      sums + i * panel_sums);
  };
  if (kHasDirect && task.rows <= kMaxDirectRows) {
    for (int64_t i = 0; i < task.panels; ++i) {
      const int64_t panel = task.first_panel + i;
      int64_t done = 0;
      if constexpr (kHasDirect) {
        if (panel_blocks(weight.rows, panel) == kPanelBlocks) {
          done = run_direct<kFormat>(task, data + panel * full_panel, sums + i * panel_sums);
        }
      }
      for (int64_t begin = done; begin < weight.cols; begin += kSlabColumns) slab(i, begin);
    }
  } else {
    // Slabs of the same columns follow each other, so that those columns of x stay in the second-level cache.
    for (int64_t begin = 0; begin < weight.cols; begin += kSlabColumns) {
      for (int64_t i = 0; i < task.panels; ++i) slab(i, begin);
    }
  }
  for (int64_t i = 0; i < task.panels; ++i) write_panel(task, task.first_panel + i, sums + i * panel_sums);
}

void run_task(const MatmulTask& task) {
  switch (task.product->weight->format) {
    case WeightFormat::f32: return run_format<WeightFormat::f32>(task);
    case WeightFormat::f16: return run_format<WeightFormat::f16>(task);
    case WeightFormat::bf16: return run_format<WeightFormat::bf16>(task);
    case WeightFormat::fp8_e4m3: return run_format<WeightFormat::fp8_e4m3>(task);
    case WeightFormat::nvfp4: return run_format<WeightFormat::nvfp4>(task);
    case WeightFormat::mxfp4: return run_format<WeightFormat::mxfp4>(task);
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace tessera::kernels::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tessera::kernels::cpu {
HWY_EXPORT(run_task);

void run_matmul_task(const MatmulTask& task) { HWY_DYNAMIC_DISPATCH(run_task)(task); }

}  // namespace tessera::kernels::cpu
#endif
