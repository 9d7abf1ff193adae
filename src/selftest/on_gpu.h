#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "kernels/atom.h"
#include "kernels/reference/fp4_mma.h"
#include "plan/tile.h"
#include "tessera/status.h"

// Single kernels run on the present GPU with operands and results in host memory: for the self test and for tests,
// which compare them with kernels/cpu. Slow; allocates for itself.
namespace tessera::kernels::cuda {

/// "driver 13.0, runtime 13.0, FP4 MMA native": what decides which code runs.
Expected<std::string> describe_cuda(int gpu);

using Fp4Warp = std::array<cpu::Fp4Lane, 32>;
using Fp4Result = std::array<std::array<float, 4>, 32>;

/// The FP4 MMA of each warp's fragments. emulated: by emulation even where the instruction exists.
Expected<std::vector<Fp4Result>> run_mma_fp4(int gpu, WeightFormat format, const cpu::Fp4Selectors& selectors,
                                             bool emulated, std::span<const Fp4Warp> warps);

struct GemmProblem {
  plan::Tile tile;
  AtomShape shape;                      // of one group; parts = 2: SwiGLU
  std::span<const std::byte> atoms;     // [groups, atom_matrix_bytes(shape)]
  std::span<const float> alpha;         // [groups, 2]
  std::span<const uint16_t> x;          // [rows, shape.cols] BF16
  std::span<const int32_t> first_slot;  // [groups + 1]
  std::span<const int32_t> x_rows;      // [slots]
  std::span<const float> input_scales;  // [groups], of W4A4
  int repeats = 1;                      // of the product; results that differ from the first are an error
};
struct GemmOutcome {
  std::vector<std::byte> slices;  // W4A4: quantised activations, column_blocks_max of them, those without a slot zero
  std::vector<uint16_t> out;      // [slots, rows / parts] BF16
};
/// The grouped product of the tile's path; W4A4 quantises first.
Expected<GemmOutcome> run_gemm(int gpu, const GemmProblem& problem);

}  // namespace tessera::kernels::cuda
