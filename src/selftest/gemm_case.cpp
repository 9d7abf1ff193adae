#include "selftest/gemm_case.h"

#include <fmt/format.h>

#include <cmath>
#include <limits>
#include <random>

#include "base/check.h"
#include "base/dtype.h"
#include "kernels/cuda/quantize.h"
#include "kernels/fp4_activation.h"
#include "kernels/reference/moe_reference.h"
#include "kernels/spelt_math.h"

namespace tessera::kernels::cuda {
namespace {

/// A power of two or more between neighbours: the scale of another group would show.
float group_input_scale(int64_t group) { return std::ldexp(1.125F, static_cast<int>(group % 5) * 2 - 8); }

bool is_nan(uint16_t bf16) { return (bf16 & 0x7fffU) > 0x7f80U; }

}  // namespace

GemmCase::GemmCase(const CaseShape& shape) : shape_(shape) {
  const auto groups = static_cast<int64_t>(shape.group_slots.size());
  const int parts = shape.op == plan::Op::gate_up ? 2 : 1;
  const bool w4a4 = shape.path == plan::Path::w4a4;
  for (int64_t group = 0; group < groups; ++group) {
    input_scales_.push_back(w4a4 && shape.format == WeightFormat::nvfp4 ? group_input_scale(group) : 1.0F);
  }
  atom_shape_ = {shape.format, parts * shape.width, shape.depth, parts};
  first_slot_ = {0};
  for (const int32_t count : shape.group_slots) first_slot_.push_back(first_slot_.back() + count);

  // Half as many rows as slots, so that rows are gathered and used again.
  std::mt19937 random(shape.seed);
  std::normal_distribution<float> normal;
  const int32_t slots = first_slot_.back(), rows = slots / 2 + 1;
  for (int64_t i = 0; i < rows * shape.depth; ++i) x_.push_back(float_to_bf16(normal(random)));
  if (!shape.finite) {
    x_[0] = float_to_bf16(std::numeric_limits<float>::quiet_NaN());
    x_.back() = float_to_bf16(-std::numeric_limits<float>::infinity());
  }
  for (int32_t i = 0; i < slots; ++i) x_rows_.push_back(static_cast<int32_t>(random() % static_cast<uint32_t>(rows)));
  if (w4a4) {
    want_.slices.resize(static_cast<size_t>(column_blocks_max(slots, groups) * fp4_slices(shape.depth) *
                                            fp4_slice_bytes(shape.format)));
  }
  want_.out.resize(static_cast<size_t>(slots * shape.width));
  for (int64_t group = 0; group < groups; ++group) make_weights(group);
  for (int64_t group = 0; group < groups; ++group) make_reference(group);
}

format::MatrixView GemmCase::view(const Matrix& matrix) const {
  return {.format = shape_.format,
          .rows = shape_.width,
          .cols = shape_.depth,
          .data = matrix.codes.data(),
          .block_scales = matrix.scales.data(),
          .scale = matrix.scale,
          .row_scales = {}};
}

void GemmCase::make_weights(int64_t group) {
  const bool mxfp4 = shape_.format == WeightFormat::mxfp4;
  std::mt19937 random(shape_.seed * 7919 + static_cast<uint32_t>(group) + 1);
  std::vector<format::MatrixView> views;
  for (int part = 0; part < atom_shape_.parts; ++part) {
    Matrix m;
    m.codes.resize(static_cast<size_t>(shape_.width * shape_.depth / 2));
    m.scales.resize(static_cast<size_t>(shape_.width * shape_.depth / format::group_size(shape_.format)));
    for (auto& byte : m.codes) byte = static_cast<std::byte>(random());
    // Scales over 16 binades, so that sums do truncate; of NVFP4 some are subnormal, some negative.
    for (auto& byte : m.scales) {
      const auto any = static_cast<uint8_t>(random());
      byte = static_cast<std::byte>(mxfp4 ? 112 + any % 16 : (any & 0x7fU) == 0x7f ? 0 : any);
    }
    m.scale = mxfp4 ? 1.0F : 0x1.4p-9F * static_cast<float>(part + 1 + group % 3);
    alpha_.push_back(shape_.path == plan::Path::w4a4 ? m.scale * input_scales_[static_cast<size_t>(group)]
                                                     : atom_alpha(shape_.format, m.scale));
    matrices_.push_back(std::move(m));
  }
  if (atom_shape_.parts == 1) alpha_.push_back(alpha_.back());
  for (size_t i = matrices_.size() - static_cast<size_t>(atom_shape_.parts); i < matrices_.size(); ++i) {
    views.push_back(view(matrices_[i]));
  }
  const size_t bytes = atom_matrix_bytes(atom_shape_);
  atoms_.resize(atoms_.size() + bytes);
  const Status packed = pack_atoms(views, atoms_.data() + atoms_.size() - bytes);
  TESSERA_CHECK(packed.ok());
}

void GemmCase::make_reference(int64_t group) {
  const auto parts = static_cast<size_t>(atom_shape_.parts), g = static_cast<size_t>(group);
  const int32_t begin = first_slot_[g], end = first_slot_[g + 1];
  const float input_scale = input_scales_[g];
  const auto depth = static_cast<size_t>(shape_.depth), width = static_cast<size_t>(shape_.width);
  std::vector<float> x(x_.size());
  for (size_t i = 0; i < x.size(); ++i) x[i] = bf16_to_float(x_[i]);
  if (shape_.path == plan::Path::w4a4) {
    cpu::quantize_activations(
        shape_.format, input_scale, x.data(), shape_.depth,
        std::span(x_rows_).subspan(static_cast<size_t>(begin), static_cast<size_t>(end - begin)),
        want_.slices.data() + column_block(begin, group) * fp4_slices(shape_.depth) * fp4_slice_bytes(shape_.format));
  }
  std::vector<float> low(width), high(width);
  for (int32_t slot = begin; slot < end; ++slot) {
    const auto row =
        std::span<const float>(x).subspan(static_cast<size_t>(x_rows_[static_cast<size_t>(slot)]) * depth, depth);
    cpu::reference_product(shape_.path, view(matrices_[g * parts]), input_scale, row, low);
    if (parts == 2) cpu::reference_product(shape_.path, view(matrices_[g * parts + 1]), input_scale, row, high);
    for (size_t i = 0; i < width; ++i) {
      want_.out[static_cast<size_t>(slot) * width + i] = parts == 2 ? swiglu(low[i], high[i]) : float_to_bf16(low[i]);
    }
  }
}

GemmProblem GemmCase::problem(const plan::Tile& tile) const {
  return {.tile = tile,
          .shape = atom_shape_,
          .atoms = atoms_,
          .alpha = alpha_,
          .x = x_,
          .first_slot = first_slot_,
          .x_rows = x_rows_,
          .input_scales = input_scales_};
}

std::string GemmCase::error_of(const std::vector<uint16_t>& out) const {
  double difference = 0, size = 0;
  for (size_t i = 0; i < out.size(); ++i) {
    const double want = bf16_to_float(want_.out[i]), d = bf16_to_float(out[i]) - want;
    difference += d * d;
    size += want * want;
  }
  const double error = size > 0 ? std::sqrt(difference / size) : std::sqrt(difference);
  if (error <= kW4a16Error) return {};  // never NaN
  return fmt::format("{} of {}: relative error {:.2e}, at most {} expected", plan::name(shape_.op),
                     format::name(shape_.format), error, kW4a16Error);
}

std::string GemmCase::difference(const GemmOutcome& outcome) const {
  TESSERA_CHECK_EQ(outcome.slices.size(), want_.slices.size());
  TESSERA_CHECK_EQ(outcome.out.size(), want_.out.size());
  if (shape_.path == plan::Path::w4a16) return error_of(outcome.out);
  for (size_t i = 0; i < want_.slices.size(); ++i) {
    if (outcome.slices[i] == want_.slices[i]) continue;
    const auto bytes = static_cast<size_t>(fp4_slice_bytes(shape_.format));
    return fmt::format("quantised activations: byte {} of slice {} is {:#04x}, the reference has {:#04x}", i % bytes,
                       i / bytes, static_cast<int>(outcome.slices[i]), static_cast<int>(want_.slices[i]));
  }
  for (size_t i = 0; i < want_.out.size(); ++i) {
    const uint16_t got = outcome.out[i], want = want_.out[i];
    if (got == want || (is_nan(got) && is_nan(want))) continue;
    const auto width = static_cast<size_t>(shape_.width);
    return fmt::format("{} of {}: slot {}, row {} is {} ({:#06x}), the reference has {} ({:#06x})",
                       plan::name(shape_.op), format::name(shape_.format), i / width, i % width, bf16_to_float(got),
                       got, bf16_to_float(want), want);
  }
  return {};
}

}  // namespace tessera::kernels::cuda
