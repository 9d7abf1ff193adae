#include "kernels/reference/moe_reference.h"

#include <array>
#include <cmath>

#include "base/check.h"
#include "base/dtype.h"
#include "format/decode.h"
#include "kernels/fp4_activation.h"
#include "kernels/reference/fp4_mma.h"
#include "kernels/spelt_math.h"

namespace tessera::kernels::cpu {
namespace {

using format::MatrixView;

/// A row of codes and scales in slices of 64 along K, padded with zeros.
struct Fp4Row {
  std::vector<std::byte> codes;   // 32 a slice, low nibble first
  std::vector<std::byte> scales;  // 4 or 2 a slice
};

Fp4Row empty_row(WeightFormat format, int64_t depth) {
  const auto slices = static_cast<size_t>(fp4_slices(depth));
  return {std::vector<std::byte>(slices * kSliceDepth / 2),
          std::vector<std::byte>(slices * kSliceDepth / static_cast<size_t>(format::group_size(format)))};
}

Fp4Row weight_row(const MatrixView& w, int64_t row) {
  Fp4Row out = empty_row(w.format, w.cols);
  const int64_t group = format::group_size(w.format), groups = w.cols / group;
  std::copy_n(w.data + row * (w.cols / 2), w.cols / 2, out.codes.begin());
  std::copy_n(w.block_scales + row * groups, groups, out.scales.begin());
  if (w.format == WeightFormat::mxfp4) return out;
  for (int64_t g = 0; g < groups; ++g) {
    // The MMA does not look at a scale's sign; atoms keep it in the codes (kernels/atom.h).
    if ((static_cast<uint8_t>(out.scales[static_cast<size_t>(g)]) & 0x80U) == 0) continue;
    for (int64_t i = 0; i < group / 2; ++i) out.codes[static_cast<size_t>(g * group / 2 + i)] ^= std::byte{0x88};
  }
  return out;
}

Fp4Row activation_row(WeightFormat format, float input_scale, std::span<const float> x) {
  Fp4Row out = empty_row(format, static_cast<int64_t>(x.size()));
  const auto group = static_cast<size_t>(format::group_size(format));
  for (size_t g = 0; g * group < x.size(); ++g) {
    // K may end inside a group of 32.
    std::array<float, 32> values{};
    std::copy_n(x.begin() + static_cast<int64_t>(g * group), std::min(group, x.size() - g * group), values.begin());
    out.scales[g] =
        quantize_fp4_group(format, input_scale, std::span(values).first(group), out.codes.data() + g * group / 2);
  }
  return out;
}

float multiply(WeightFormat format, const Fp4Row& w, const Fp4Row& x) {
  const size_t slices = w.codes.size() / (kSliceDepth / 2), scales = w.scales.size() / slices;
  float sum = 0;
  for (size_t s = 0; s < slices; ++s) {
    const size_t codes = s * kSliceDepth / 2;
    sum = fp4_multiply_add(format, w.codes.data() + codes, w.scales.data() + s * scales, x.codes.data() + codes,
                           x.scales.data() + s * scales, sum);
  }
  return sum;
}

/// Without the matrix's scale, which has bits of its own.
double multiply_exactly(const MatrixView& w, int64_t row, std::span<const float> x) {
  MatrixView unscaled = w;
  unscaled.scale = 1.0F;
  std::vector<float> weights(static_cast<size_t>(w.cols));
  format::decode_row(unscaled, row, weights);
  double sum = 0;
  for (size_t k = 0; k < weights.size(); ++k) sum += double{weights[k]} * x[k];
  return sum;
}

}  // namespace

void reference_product(plan::Path path, const MatrixView& w, float input_scale, std::span<const float> x,
                       std::span<float> out) {
  TESSERA_CHECK(path == plan::Path::w4a16 || format::group_size(w.format) > 0);
  TESSERA_CHECK_EQ(static_cast<int64_t>(x.size()), w.cols);
  TESSERA_CHECK_EQ(static_cast<int64_t>(out.size()), w.rows);
  if (path == plan::Path::w4a16) {
    for (int64_t row = 0; row < w.rows; ++row) {
      out[static_cast<size_t>(row)] = static_cast<float>(multiply_exactly(w, row, x) * static_cast<double>(w.scale));
    }
    return;
  }
  const Fp4Row columns = activation_row(w.format, input_scale, x);
  const float alpha = w.scale * input_scale;
  for (int64_t row = 0; row < w.rows; ++row) {
    out[static_cast<size_t>(row)] = multiply(w.format, weight_row(w, row), columns) * alpha;
  }
}

std::vector<float> reference_gate_up(plan::Path path, const ReferenceExpert& expert, std::span<const float> x) {
  const float input_scale = expert.input_scales.gate_up;
  std::vector<float> gate(static_cast<size_t>(expert.gate.rows)), up(gate.size());
  reference_product(path, expert.gate, input_scale, x, gate);
  reference_product(path, expert.up, input_scale, x, up);
  for (size_t i = 0; i < gate.size(); ++i) gate[i] = bf16_to_float(swiglu(gate[i], up[i]));
  return gate;
}

std::vector<float> reference_down(plan::Path path, const ReferenceExpert& expert, std::span<const float> gated) {
  std::vector<float> out(static_cast<size_t>(expert.down.rows));
  reference_product(path, expert.down, expert.input_scales.down, gated, out);
  for (float& y : out) y = round_to_bf16(y);
  return out;
}

std::vector<float> reference_moe(plan::Path path, std::span<const ReferenceSlot> slots, const ReferenceShared& shared,
                                 std::span<const float> x) {
  std::vector<float> total(x.size());
  for (const ReferenceSlot& slot : slots) {
    const std::vector<float> gated = reference_gate_up(path, *slot.expert, x);
    const std::vector<float> down = reference_down(path, *slot.expert, gated);
    for (size_t i = 0; i < total.size(); ++i) total[i] = std::fma(slot.weight, down[i], total[i]);
  }
  for (size_t i = 0; i < shared.row.size(); ++i) total[i] = std::fma(shared.weight, shared.row[i], total[i]);
  for (float& y : total) y = round_to_bf16(y);
  return total;
}

}  // namespace tessera::kernels::cpu
