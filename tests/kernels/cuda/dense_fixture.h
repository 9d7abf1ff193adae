#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <random>
#include <span>
#include <string>
#include <vector>

#include "device/cuda.h"
#include "kernels/atom.h"
#include "kernels/cuda/dense.h"
#include "kernels/cuda/on_device.h"
#include "kernels/matrix_fixture.h"
#include "kernels/spelt_math.h"

// Random matrices of dense products in device memory, their inputs with garbage around what may be read, and a
// reference in double.
namespace tessera::kernels::cuda {

inline constexpr WeightFormat kDenseFormats[] = {WeightFormat::bf16, WeightFormat::fp8_e4m3, WeightFormat::nvfp4,
                                                 WeightFormat::mxfp4};
inline constexpr uint16_t kNanBf16 = 0x7fc1;
inline constexpr uint16_t kUntouched = 0xabab;

/// Work on a stream of its own, to its end.
template <typename Work>
void run_on_stream(const Work& work, bool pdl = true) {
  device::Stream stream;
  ASSERT_EQ(cudaStreamCreateWithFlags(stream.fill(), cudaStreamNonBlocking), cudaSuccess);
  const Status status = work(device::Queue{stream.get(), pdl});
  ASSERT_TRUE(status.ok()) << status.message();
  ASSERT_EQ(cudaStreamSynchronize(stream.get()), cudaSuccess);
}

/// Scales near 1, in NVFP4 subnormal and negative ones among them; sums of order 1.
inline RandomMatrix make_matrix(WeightFormat format, int64_t rows, int64_t cols, uint32_t seed) {
  RandomMatrix m(format, rows, cols, seed);
  std::mt19937 random(seed + 1);
  for (auto& s : m.block_scales) {
    const uint32_t any = random();
    s = static_cast<std::byte>(format == WeightFormat::mxfp4 ? 126 + any % 2
                               : any % 16 == 0               ? any % 8
                                                             : 0x30 + any % 16 + (any % 7 == 0 ? 0x80 : 0));
  }
  // A BF16 matrix has no scale: its factor is 1.
  const float size = format == WeightFormat::fp8_e4m3 ? 0.02F : 0.4F;
  m.scale = format == WeightFormat::bf16 ? 1.0F : size / std::sqrt(static_cast<float>(cols));
  if (format == WeightFormat::fp8_e4m3) {
    for (int64_t r = 0; r < rows; ++r) m.row_scales.push_back(0.5F + 0.125F * static_cast<float>(r % 9));
  }
  return m;
}

/// A matrix of a product, packed and uploaded. SwiGLU: gate and up, of rows / 2 each.
struct DenseWeights {
  WeightFormat format;
  int64_t rows, depth;
  Epilogue epilogue;
  std::vector<RandomMatrix> parts;
  std::vector<float> decoded;  // [rows, depth], stacked, code times block scale
  std::vector<float> alpha;    // [rows], stacked
  OnDevice<std::byte> atoms;
  OnDevice<float> row_alpha;

  DenseWeights(WeightFormat f, int64_t r, int64_t k, Epilogue e, uint32_t seed)
      : format(f),
        rows(r),
        depth(k),
        epilogue(e),
        parts(make_parts(f, r, k, e, seed)),
        atoms(pack()),
        row_alpha(alphas()) {
    for (const RandomMatrix& part : parts) {
      for (int64_t row = 0; row < part.rows; ++row) {
        for (int64_t col = 0; col < depth; ++col) decoded.push_back(part.code(row, col) * part.block_scale(row, col));
        alpha.push_back(part.alpha(row));
      }
    }
  }
  static std::vector<RandomMatrix> make_parts(WeightFormat f, int64_t r, int64_t k, Epilogue e, uint32_t seed) {
    if (e != Epilogue::swiglu) return {make_matrix(f, r, k, seed)};
    return {make_matrix(f, r / 2, k, seed), make_matrix(f, r / 2, k, seed + 100)};
  }
  [[nodiscard]] std::vector<format::MatrixView> views() const {
    std::vector<format::MatrixView> all;
    for (const RandomMatrix& part : parts) all.push_back(part.view());
    return all;
  }
  [[nodiscard]] std::vector<std::byte> pack() const {
    std::vector<std::byte> out(atom_matrix_bytes(*atom_shape(views())));
    EXPECT_TRUE(kernels::pack_atoms(views(), out.data()).ok());
    return out;
  }
  [[nodiscard]] std::vector<float> alphas() const {
    const AtomShape shape = *atom_shape(views());
    std::vector<float> out(static_cast<size_t>(strips(shape) * kAtomRows));
    row_alphas(views(), shape, out);
    return out;
  }
  [[nodiscard]] int64_t width() const { return epilogue == Epilogue::swiglu ? rows / 2 : rows; }
  [[nodiscard]] int64_t out_stride() const { return (width() + 7) / 8 * 8 + 8; }

  /// y before SwiGLU and rounding.
  [[nodiscard]] double sum(int64_t row, const uint16_t* x) const {
    double total = 0;
    for (int64_t k = 0; k < depth; ++k) {
      total += double{decoded[static_cast<size_t>(row * depth + k)]} * bf16_to_float(x[k]);
    }
    return total * alpha[static_cast<size_t>(row)];
  }
  /// An element of the result.
  [[nodiscard]] float want(int64_t element, const uint16_t* x) const {
    const auto value = static_cast<float>(sum(element, x));
    if (epilogue == Epilogue::f32) return value;
    if (epilogue == Epilogue::bf16) return round_to_bf16(value);
    return bf16_to_float(kernels::swiglu(value, static_cast<float>(sum(element + rows / 2, x))));
  }
};

/// Rows of x, further apart than they are long: what lies between them, and behind the last, is NaN.
struct DenseInput {
  int64_t rows, depth, stride;
  std::vector<uint16_t> x;
  OnDevice<uint16_t> on_device;

  DenseInput(int64_t r, int64_t k, uint32_t seed)
      : rows(r), depth(k), stride(k + 8), x(make(r, k, seed)), on_device(x) {}
  static std::vector<uint16_t> make(int64_t rows, int64_t depth, uint32_t seed) {
    const auto values = random_bf16(static_cast<size_t>(rows * depth), seed);
    std::vector<uint16_t> out(static_cast<size_t>((rows + 3) * (depth + 8)), kNanBf16);
    for (int64_t r = 0; r < rows; ++r) {
      std::copy_n(values.begin() + r * depth, depth, out.begin() + r * (depth + 8));
    }
    return out;
  }
  [[nodiscard]] const uint16_t* row(int64_t r) const { return x.data() + r * stride; }
};

/// Results of one matrix, [rows, out_stride] as 32-bit words: fp32, or BF16 in the low half. What is not to be written
/// holds kUntouched.
using DenseResult = std::vector<uint32_t>;

struct DenseOutput {
  const DenseWeights* weights;
  bool f32;
  OnDevice<uint16_t> memory;
  DenseOutput(const DenseWeights& w, int64_t rows)
      : weights(&w),
        f32(w.epilogue == Epilogue::f32),
        memory(std::vector<uint16_t>(static_cast<size_t>(rows * w.out_stride()) * (f32 ? 2 : 1), kUntouched)) {}
  [[nodiscard]] DenseResult read() const {
    const auto halves = memory.read();
    DenseResult out(halves.size() / (f32 ? 2 : 1));
    for (size_t i = 0; i < out.size(); ++i) {
      out[i] = f32 ? uint32_t{halves[2 * i + 1]} << 16 | halves[2 * i] : halves[i];
    }
    return out;
  }
  [[nodiscard]] DenseMatrix matrix() const {
    return {.format = weights->format,
            .weights = weights->atoms.get(),
            .row_alpha = weights->row_alpha.get(),
            .rows = static_cast<int32_t>(weights->rows),
            .epilogue = weights->epilogue,
            .out = memory.get(),
            .out_stride = weights->out_stride()};
  }
};

inline float result_value(const DenseWeights& w, uint32_t word) {
  return w.epilogue == Epilogue::f32 ? std::bit_cast<float>(word) : bf16_to_float(static_cast<uint16_t>(word));
}

/// Relative L2 of the first `rows` rows against the reference, every `row_step`-th row and `step`-th element; the worst
/// element is named. BF16 results differ where the sums round to the other side; fp32 sums by what the MMA truncates,
/// up to 2^-23 of the sum in each of its steps.
inline void expect_close(const DenseWeights& w, const DenseInput& input, const DenseResult& got, int64_t rows,
                         const std::string& what, int64_t row_step = 1, int64_t step = 1) {
  double difference = 0, size = 0, worst = -1;
  std::string worst_at;
  for (int64_t r = 0; r < rows; r += row_step) {
    for (int64_t i = 0; i < w.width(); i += step) {
      const double want = w.want(i, input.row(r));
      const double value = result_value(w, got[static_cast<size_t>(r * w.out_stride() + i)]);
      const double d = std::fabs(value - want);
      difference += d * d;
      size += want * want;
      if (!(d <= worst)) {
        worst = d;
        worst_at = "row " + std::to_string(r) + ", element " + std::to_string(i) + ": " + std::to_string(value) +
                   ", want " + std::to_string(want);
      }
    }
  }
  ASSERT_GT(size, 0) << what;
  EXPECT_LE(std::sqrt(difference / size), w.epilogue == Epilogue::f32 ? 1e-4 : 1e-3) << what << "; worst: " << worst_at;
}

/// The first `rows` rows are those of `want`, bit for bit, and all behind them is untouched.
inline void expect_rows(const DenseWeights& w, const DenseResult& got, const DenseResult& want, int64_t rows,
                        const std::string& what) {
  const uint32_t untouched = w.epilogue == Epilogue::f32 ? uint32_t{kUntouched} << 16 | kUntouched : kUntouched;
  for (size_t i = 0; i < got.size(); ++i) {
    const auto row = static_cast<int64_t>(i) / w.out_stride(), element = static_cast<int64_t>(i) % w.out_stride();
    const bool written = row < rows && element < w.width();
    ASSERT_EQ(got[i], written ? want[i] : untouched)
        << what << ": row " << row << ", element " << element << (written ? "" : ", which is not to be written");
  }
}

/// A GPU of so many SMs: with few, a warp has several strips.
inline plan::DeviceFacts facts_with(int sm_count, const char* gpu = "h200") {
  plan::DeviceFacts facts = *plan::find_device(gpu);
  facts.sm_count = sm_count;
  return facts;
}

}  // namespace tessera::kernels::cuda
