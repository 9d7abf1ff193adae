#include "kernels/cuda/w4a16_table.cuh"

namespace tessera::kernels::cuda {
template std::span<const W4a16Kernel> w4a16_family<plan::WeightFormat::mxfp4, 2, 64>();
}  // namespace tessera::kernels::cuda
