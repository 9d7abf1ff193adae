#pragma once

#include <cstdint>

#include "kernels/ptx/mbarrier.cuh"

// The ring of stages between a block's producer warp and its consumer warps: for each stage a barrier that is full when
// its bytes have landed, and one that is empty when every consumer warp has read them.
namespace tessera::kernels::cuda {

template <int stages, int barriers_offset>
struct Pipeline {
  static __device__ uint32_t full(uint32_t smem, int stage) { return smem + barriers_offset + stage * 16; }
  static __device__ uint32_t empty(uint32_t smem, int stage) { return full(smem, stage) + 8; }

  /// By one thread, before the block's first __syncthreads(). filled_by: arrivals that fill a stage.
  static __device__ void init(uint32_t smem, int filled_by, int consumer_warps) {
    for (int stage = 0; stage < stages; ++stage) {
      ptx::mbarrier_init(full(smem, stage), filled_by);
      ptx::mbarrier_init(empty(smem, stage), consumer_warps);
    }
    ptx::fence_mbarrier_init();
  }

  /// Where the producer or a consumer warp is. The producer's first pass waits for nobody: it begins with parity 1.
  struct Place {
    int stage = 0;
    uint32_t parity = 0;

    __device__ void advance() {
      if (++stage == stages) {
        stage = 0;
        parity ^= 1;
      }
    }
  };
};

}  // namespace tessera::kernels::cuda
