#include "kernels/cuda/attention_decode.cuh"

namespace tessera::kernels::cuda::attn {

Status decode_bf16(const LaunchArgs& args, const device::Queue& queue) { return launch_decode<false>(args, queue); }

}  // namespace tessera::kernels::cuda::attn
