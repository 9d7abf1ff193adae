#include "kernels/cuda/w4a4_instantiate.cuh"

namespace tessera::kernels::cuda {

template std::span<const W4a4Kernel> w4a4_family<WeightFormat::mxfp4, 128>();

}  // namespace tessera::kernels::cuda
