#include "kernels/cuda/attention_prefill.cuh"

namespace tessera::kernels::cuda::attn {

Status prefill_bf16(const LaunchArgs& args, const device::Queue& queue) { return launch_prefill<false>(args, queue); }

}  // namespace tessera::kernels::cuda::attn
