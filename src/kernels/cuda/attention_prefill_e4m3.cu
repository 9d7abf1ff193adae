#include "kernels/cuda/attention_prefill.cuh"

namespace tessera::kernels::cuda::attn {

Status prefill_e4m3(const LaunchArgs& args, const device::Queue& queue) { return launch_prefill<true>(args, queue); }

}  // namespace tessera::kernels::cuda::attn
