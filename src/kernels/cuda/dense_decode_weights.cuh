#pragma once

#include "kernels/cuda/dense_decode.h"
#include "kernels/ptx/cp_async_bulk.cuh"
#include "kernels/ptx/mbarrier.cuh"

// Which strips are a warp's, and how their weights come to it.
namespace tessera::kernels::cuda {

// ---- who does what ----

struct Task {
  int matrix = 0;
  int strip = 0;
  int segment = 0;
};

/// The first task of a warp from turn `turn` on; false: none is left. `turn` becomes the task's.
__device__ inline bool find_task(const DecodeArgs& args, int& turn, Task& task) {
  for (; turn < args.turns; turn += args.working_warps) {
    for (int m = 0; m < args.count; ++m) {
      const DecodeMatrix& matrix = args.matrices[m];
      if (turn < matrix.first_turn || turn >= matrix.end_turn) continue;
      const int own = turn - matrix.first_turn, row = own >> matrix.segment_bits;
      const int strip = row * static_cast<int>(gridDim.x) + static_cast<int>(blockIdx.x) - matrix.first_strip;
      if (strip < 0 || strip >= matrix.strips) continue;
      task = {m, strip, own & (matrix.segments - 1)};
      return true;
    }
  }
  return false;
}

// ---- weights ----

/// A warp's ring: for each stage a barrier that is full when its weights have landed, and one that is empty when they
/// have been read.
struct Ring {
  std::byte* stages;
  uint32_t stages_address, barriers;

  __device__ Ring(const DecodeArgs& args, std::byte* smem, int barriers_offset, int warp)
      : stages(smem + warp * args.stages * args.ring_stage_bytes),
        stages_address(ptx::shared_address(stages)),
        barriers(ptx::shared_address(smem) + barriers_offset + warp * args.stages * kDecodeBarrierBytes) {}

  [[nodiscard]] __device__ uint32_t full(int stage) const { return barriers + stage * kDecodeBarrierBytes; }
  [[nodiscard]] __device__ uint32_t empty(int stage) const { return full(stage) + 8; }
};

/// Where a ring is read or written.
struct RingPlace {
  int stage = 0;
  uint32_t parity = 0;

  __device__ void advance(int stages) {
    if (++stage == stages) {
      stage = 0;
      parity ^= 1;
    }
  }
};

/// What fills the ring of one warp: a lane of the block's last warp, so that the warps that multiply do nothing else.
class WeightSource {
 public:
  /// A lane that no working warp belongs to has nothing to bring.
  __device__ WeightSource(const DecodeArgs& args, const Ring& ring, int lane)
      : ring_(ring), turn_(lane < args.working_warps ? lane : args.turns) {
    if (lane < args.working_warps) {
      for (int i = 0; i < args.stages; ++i) {
        ptx::mbarrier_init(ring.full(i), 1);
        ptx::mbarrier_init(ring.empty(i), 32);
      }
      ptx::fence_mbarrier_init();
    }
    find(args);
  }

  /// All stages, which nobody has read yet.
  __device__ void fill(const DecodeArgs& args) {
    for (int i = 0; i < args.stages && left_ > 0; ++i) {
      load(args);
      ++filled_;
    }
  }
  /// All that is left, as stages get free. Lanes wait together, each for its warp's: no warp is ahead of another that
  /// it waits for, since segments of a strip are of one length.
  __device__ void refill(const DecodeArgs& args) {
    while (left_ > 0) {
      ptx::mbarrier_wait_parity(ring_.empty(place_.stage), place_.parity ^ 1);
      load(args);
    }
  }
  /// Instead: until nothing more lands.
  __device__ void drain() const {
    for (int i = 0; i < filled_; ++i) ptx::mbarrier_wait_parity(ring_.full(i), 0);
  }

 private:
  __device__ void find(const DecodeArgs& args) {
    Task task;
    left_ = 0;
    if (!find_task(args, turn_, task)) return;
    turn_ += args.working_warps;
    const DecodeMatrix& m = args.matrices[task.matrix];
    from_ = m.weights + (int64_t{task.strip} * args.slices + task.segment * m.segment_slices) * m.slice_bytes;
    left_ = m.segment_slices * m.slice_bytes;
    stage_bytes_ = m.stage_slices * m.slice_bytes;
  }

  __device__ void load(const DecodeArgs& args) {
    const auto bytes = static_cast<uint32_t>(min(stage_bytes_, left_));
    const uint32_t full = ring_.full(place_.stage);
    ptx::mbarrier_arrive_expect_tx(full, bytes);
    ptx::cp_async_bulk_once(ring_.stages_address + place_.stage * args.ring_stage_bytes, from_, bytes, full);
    place_.advance(args.stages);
    from_ += bytes;
    left_ -= static_cast<int>(bytes);
    if (left_ == 0) find(args);
  }

  Ring ring_;
  RingPlace place_;
  int turn_, filled_ = 0;
  int left_ = 0, stage_bytes_ = 0;  // of the task's part of its strip
  const std::byte* from_ = nullptr;
};

/// The other end: slice after slice of a task.
class WeightReader {
 public:
  __device__ WeightReader(const DecodeArgs& args, const Ring& ring)
      : ring_(ring), stages_(args.stages), stage_bytes_(args.ring_stage_bytes) {}

  /// The first slice of a task, of `slices`.
  __device__ const std::byte* first(int slices, int stage_slices) {
    left_ = slices;
    stage_slices_ = stage_slices;
    return next_stage();
  }
  /// The one after `slice`, whose values are used; the last stays.
  __device__ const std::byte* next(const std::byte* slice, int slice_bytes) {
    if (--in_stage_ > 0) return slice + slice_bytes;
    if (left_ == 0) return slice;
    release();
    return next_stage();
  }
  /// The task's last stage, once its values are used. Every lane arrives: what it has read is then known to be read
  /// without a __syncwarp(), which compute-sanitizer does not take for an order between one lane's reads and another's
  /// arrival.
  __device__ void release() {
    ptx::mbarrier_arrive(ring_.empty(place_.stage));
    place_.advance(stages_);
  }

 private:
  __device__ const std::byte* next_stage() {
    in_stage_ = min(stage_slices_, left_);
    left_ -= in_stage_;
    ptx::mbarrier_wait_parity(ring_.full(place_.stage), place_.parity);
    return ring_.stages + place_.stage * stage_bytes_;
  }

  Ring ring_;
  RingPlace place_;
  int stages_, stage_bytes_;
  int left_ = 0, stage_slices_ = 0, in_stage_ = 0;
};

}  // namespace tessera::kernels::cuda
