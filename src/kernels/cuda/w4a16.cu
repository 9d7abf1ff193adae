#include "device/cuda.h"
#include "kernels/cuda/w4a16.h"

namespace tessera::kernels::cuda {

Status w4a16_multiply(const W4a16Kernel& kernel, const W4a16Args& args, int64_t column_tiles, cudaStream_t stream) {
  if (column_tiles == 0) return {};
  const dim3 grid(static_cast<unsigned>(column_tiles * args.row_tiles),
                  args.partials != nullptr ? static_cast<unsigned>(args.segments) : 1U);
  return device::launch(kernel.kernel,
                        {.grid = grid,
                         .block = static_cast<unsigned>(plan::threads(kernel.tile)),
                         .smem_bytes = static_cast<size_t>(kernel.smem_bytes),
                         .programmatic_dependent_launch = true,
                         .stream = stream},
                        args);
}

}  // namespace tessera::kernels::cuda
