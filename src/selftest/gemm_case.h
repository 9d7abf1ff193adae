#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "plan/desc.h"
#include "selftest/on_gpu.h"

// A grouped product with random weights, its reference, and the comparison: what the self test and the GPU tests run
// every tile on.
namespace tessera::kernels::cuda {

struct CaseShape {
  plan::Path path = plan::Path::w4a4;
  plan::Op op = plan::Op::gate_up;
  WeightFormat format = WeightFormat::nvfp4;
  int64_t depth = 0;  // K
  int64_t width = 0;  // of the output: I or H
  std::vector<int32_t> group_slots;
  uint32_t seed = 0;
  bool finite = true;  // false: some rows of x hold NaN or infinity
};

/// Of BF16 results against the reference's, which are rounded at the same places.
inline constexpr double kW4a16Error = 1e-3;

/// Bytes as a checkpoint and a router would bring them, and what they give.
class GemmCase {
 public:
  explicit GemmCase(const CaseShape& shape);

  /// For run_gemm.
  [[nodiscard]] GemmProblem problem(const plan::Tile& tile) const;

  /// Empty if `outcome` is as it must be, else the first difference. W4A4: the reference's bytes and bits (NaN equals
  /// NaN). W4A16, whose reference sums in another way: a relative L2 error of at most kW4a16Error.
  [[nodiscard]] std::string difference(const GemmOutcome& outcome) const;

 private:
  void make_weights(int64_t group);
  void make_reference(int64_t group);
  [[nodiscard]] std::string error_of(const std::vector<uint16_t>& out) const;

  struct Matrix {
    std::vector<std::byte> codes, scales;
    float scale = 1.0F;
  };
  [[nodiscard]] format::MatrixView view(const Matrix& matrix) const;

  CaseShape shape_;
  AtomShape atom_shape_;
  std::vector<float> input_scales_;  // [groups]
  std::vector<int32_t> first_slot_, x_rows_;
  std::vector<uint16_t> x_;
  std::vector<Matrix> matrices_;  // [groups, parts]
  std::vector<std::byte> atoms_;
  std::vector<float> alpha_;
  GemmOutcome want_;
};

}  // namespace tessera::kernels::cuda
