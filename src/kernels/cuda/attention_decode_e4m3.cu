#include "kernels/cuda/attention_decode.cuh"

namespace tessera::kernels::cuda::attn {

Status decode_e4m3(const LaunchArgs& args, const device::Queue& queue) { return launch_decode<true>(args, queue); }

}  // namespace tessera::kernels::cuda::attn
