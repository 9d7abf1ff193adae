#include "kernels/cpu/matmul_kernel.h"

#include <cstring>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/cpu/matmul_kernel.cpp"
#include "hwy/foreach_target.h"
#include "kernels/cpu/decode-inl.h"

HWY_BEFORE_NAMESPACE();
namespace tessera::kernels::cpu {
namespace HWY_NAMESPACE {

inline constexpr int64_t kGroup = 16;  // columns of one partial sum, by the contract (kernels/linear.h)

// Accumulators of a tile: at most 24 of 32 registers, 12 of 16 where there are fewer.
inline constexpr size_t kTileVectors = kPartLanes == 16 ? 24 : 12;
inline constexpr size_t kTileRows = kTileVectors / 2;

/// Columns [begin, end) of one panel, decoded.
struct Slab {
  const float* values = nullptr;  // [end - begin, width]
  const float* scales = nullptr;  // [(end - begin) / 16, width]; null: all 1
  int64_t columns = 0;
  int64_t width = 0;  // rows of the weight
};

template <WeightFormat kFormat>
void decode_slab(const uint8_t* panel, int64_t blocks, int64_t begin, int64_t end, float* values, float* scales) {
  constexpr int64_t kColumns = word_columns(kFormat);
  const int64_t width = blocks * kBlockRows;
  for (int64_t col = begin; col < end; col += kColumns) {
    const uint8_t* line = panel + word_offset(kFormat, blocks, col / kColumns, 0);
    for (int64_t block = 0; block < blocks; ++block) {
      decode_word<kFormat>(line + block * kLineBytes, values + (col - begin) * width + block * kBlockRows,
                           static_cast<size_t>(width));
    }
  }
  if constexpr (format::group_size(kFormat) > 0) {
    constexpr int64_t kScaleGroup = format::group_size(kFormat);
    for (int64_t col = begin; col < end; col += kGroup) {
      const uint8_t* line = panel + scales_offset(kFormat, blocks, col / kScaleGroup);
      float* to = scales + (col - begin) / kGroup * width;
      store(decode_scales<kFormat, 0>(line), to);
      if (blocks > 1) store(decode_scales<kFormat, 1>(line), to + 16);
      if (blocks > 2) store(decode_scales<kFormat, 2>(line), to + 32);
      if (blocks > 3) store(decode_scales<kFormat, 3>(line), to + 48);
    }
  }
}

/// sums[row][vector] += the slab's part of W x, for kVectors vectors of weight rows and kRows rows of x.
template <size_t kVectors, size_t kRows, bool kScaled>
void add_tile(const Slab& slab, const float* x, int64_t x_stride, float* sums) {
  const D d;
  const float* w = slab.values;
  const float* scale = slab.scales;
  const auto width = static_cast<size_t>(slab.width);
  for (int64_t col = 0; col < slab.columns; col += kGroup) {
    V acc[kVectors][kRows];
    const int64_t count = slab.columns - col < kGroup ? slab.columns - col : kGroup;
    const auto step = [&](int64_t k, bool first) HWY_ATTR {
      V weights[kVectors];
      TESSERA_UNROLL
      for (size_t v = 0; v < kVectors; ++v)
        weights[v] = hn::Load(d, w + static_cast<size_t>(k) * width + v * kPartLanes);
      TESSERA_UNROLL
      for (size_t r = 0; r < kRows; ++r) {
        const V factor = hn::Set(d, x[static_cast<int64_t>(r) * x_stride + col + k]);
        TESSERA_UNROLL
        for (size_t v = 0; v < kVectors; ++v) {
          acc[v][r] = first ? hn::Mul(weights[v], factor) : hn::MulAdd(weights[v], factor, acc[v][r]);
        }
      }
    };
    step(0, true);
    for (int64_t k = 1; k < count; ++k) step(k, false);
    TESSERA_UNROLL
    for (size_t v = 0; v < kVectors; ++v) {
      V factor = hn::Zero(d);
      if constexpr (kScaled) factor = hn::Load(d, scale + v * kPartLanes);
      TESSERA_UNROLL
      for (size_t r = 0; r < kRows; ++r) {
        float* sum = sums + r * kPanelRows + v * kPartLanes;
        const V old = hn::Load(d, sum);
        hn::Store(kScaled ? hn::MulAdd(acc[v][r], factor, old) : hn::Add(old, acc[v][r]), d, sum);
      }
    }
    w += kGroup * slab.width;
    if constexpr (kScaled) scale += slab.width;
  }
}

/// add_tile for `rows` <= kTileRows rows of x and all of the slab's width.
template <size_t kRows, bool kScaled>
void add_rows(const Slab& slab, const float* x, int64_t x_stride, float* sums) {
  constexpr size_t kVectors = 4 * kRows <= kTileVectors ? 4 : 2;
  constexpr int64_t kWide = static_cast<int64_t>(kVectors * kPartLanes);
  Slab part = slab;
  int64_t row = 0;
  for (; row + kWide <= slab.width; row += kWide) {
    part.values = slab.values + row;
    part.scales = slab.scales + row;
    add_tile<kVectors, kRows, kScaled>(part, x, x_stride, sums + row);
  }
  for (; row < slab.width; row += static_cast<int64_t>(kPartLanes)) {
    part.values = slab.values + row;
    part.scales = slab.scales + row;
    add_tile<1, kRows, kScaled>(part, x, x_stride, sums + row);
  }
}

template <bool kScaled, size_t kRows = kTileRows>
void add_some_rows(size_t rows, const Slab& slab, const float* x, int64_t x_stride, float* sums) {
  if (rows == kRows) return add_rows<kRows, kScaled>(slab, x, x_stride, sums);
  if constexpr (kRows > 1) add_some_rows<kScaled, kRows - 1>(rows, slab, x, x_stride, sums);
}

/// out = alpha * sums, rounded and accumulated as the product asks, for panel `panel`.
void write_panel(const MatmulTask& task, int64_t panel, const float* sums) {
  const Matmul& product = *task.product;
  const bool round = task.to_bf16 && product.round;
  const int64_t first = panel * kPanelRows;
  for (int64_t row = 0; row < task.rows; ++row) {
    float* out = product.out + (task.first_row + row) * product.out_stride + first;
    const int64_t count = product.weight->rows - first;
    for (int64_t i = 0; i < kPanelRows && i < count; i += kBlockRows) {
      F16 y = round_if(round, mul(load(product.weight->alpha.data() + first + i), load(sums + row * kPanelRows + i)));
      if (product.accumulate) y = round_if(round, add(load_n(out + i, count - i), y));
      store_n(y, count - i, out + i);
    }
  }
}

template <WeightFormat kFormat>
void run_format(const MatmulTask& task) {
  constexpr bool kScaled = format::group_size(kFormat) > 0;
  const Weight& weight = *task.product->weight;
  const auto* data = reinterpret_cast<const uint8_t*>(weight.data.data());
  const int64_t full_panel = panel_bytes(kFormat, weight.cols, kPanelBlocks);
  float* values = task.scratch;
  float* scales = values + kPanelRows * kSlabColumns;
  float* sums = scales + kPanelRows * kSlabColumns / kGroup;
  const int64_t panel_sums = task.rows * kPanelRows;
  std::memset(sums, 0, static_cast<size_t>(task.panels * panel_sums) * sizeof(float));
  for (int64_t begin = 0; begin < weight.cols; begin += kSlabColumns) {
    const int64_t end = weight.cols < begin + kSlabColumns ? weight.cols : begin + kSlabColumns;
    for (int64_t i = 0; i < task.panels; ++i) {
      const int64_t panel = task.first_panel + i;
      const int64_t blocks = panel_blocks(weight.rows, panel);
      decode_slab<kFormat>(data + panel * full_panel, blocks, begin, end, values, scales);
      const Slab slab{values, scales, end - begin, blocks * kBlockRows};
      for (int64_t row = 0; row < task.rows; row += static_cast<int64_t>(kTileRows)) {
        const int64_t rows = task.rows - row < static_cast<int64_t>(kTileRows) ? task.rows - row : kTileRows;
        const float* x = task.product->x + (task.first_row + row) * task.product->x_stride + begin;
        add_some_rows<kScaled>(static_cast<size_t>(rows), slab, x, task.product->x_stride,
                               sums + i * panel_sums + row * kPanelRows);
      }
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

const char* target_name() { return hwy::TargetName(HWY_TARGET); }

}  // namespace HWY_NAMESPACE
}  // namespace tessera::kernels::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tessera::kernels::cpu {
HWY_EXPORT(run_task);
HWY_EXPORT(target_name);

void run_matmul_task(const MatmulTask& task) { HWY_DYNAMIC_DISPATCH(run_task)(task); }
const char* matmul_target() { return HWY_DYNAMIC_DISPATCH(target_name)(); }

}  // namespace tessera::kernels::cpu
#endif
