#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "kernels/backend.h"
#include "kernels/cuda/expert_sum.h"
#include "kernels/cuda/memory.h"
#include "kernels/cuda/page_move.h"
#include "kernels/cuda/step.h"

namespace tessera::kernels::cuda {

/// KV pools and states of all layers, in one allocation each.
class Cache final : public kernels::Cache {
 public:
  static Expected<std::unique_ptr<Cache>> create(const CacheShape& shape);
  /// Without memory, for passes that are planned.
  static std::unique_ptr<Cache> nowhere(const CacheShape& shape);

  [[nodiscard]] const CacheShape& shape() const override { return shape_; }
  [[nodiscard]] struct KvPool kv_pool(int attention_layer) const;
  [[nodiscard]] float* states(int linear_layer) const;      // S of a layer: [state_slots, state_values]
  [[nodiscard]] uint16_t* windows(int linear_layer) const;  // [state_slots, window_values]
  /// [state_slots, value_heads, record_rows, record_bytes]; null without record_rows.
  [[nodiscard]] std::byte* records(int linear_layer) const;
  /// Behind what is in the stream.
  Status move(const PageMove& move, const HostPages& pages, cudaStream_t stream) const;

 private:
  CacheShape shape_;
  DeviceBuffer kv_, states_, windows_, records_;
};

CacheBytes cache_bytes(const CacheShape& shape);

/// What a step carries besides its batch, for its samples: bytes in both directions.
struct PayloadBounds {
  size_t payload_bytes = 0;
  size_t result_bytes = 0;
};

/// What the block before has left for the next norm: nothing, rows, or the outputs of its experts.
enum class DeltaKind { none, rows, experts };

/// A forward pass on a GPU: the memory of a step, its activations, and the queue that its kernels go to.
class Pass final : public kernels::Pass {
 public:
  static Expected<std::unique_ptr<Pass>> create(const PassShape& shape, bool pdl, const PayloadBounds& payload = {});

  /// One without memory, whose launches are written down in `plan`.
  static std::unique_ptr<Pass> planned(const PassShape& shape, std::vector<device::PlannedLaunch>& plan);

  PassShape shape;
  device::Stream stream;
  device::Queue queue;
  Arena arena;
  DeviceBuffer residual[2];              // [rows_max, hidden] BF16
  DeviceBuffer delta;                    // [rows_max, hidden] BF16
  DeviceBuffer hidden;                   // [rows_max, hidden] BF16
  DeviceBuffer logits;                   // [logit_rows_max, vocab] fp32
  const int32_t* hidden_rows = nullptr;  // which hidden rows the MTP head goes on from; null: all, as they are
  int current = 0;                       // of residual
  DeltaKind delta_kind = DeltaKind::none;
  ExpertSum experts;                          // with DeltaKind::experts; `delta` is then free
  std::optional<Arena::Frame> experts_frame;  // holds their memory until another layer's take it, or the next step

  // A step. Areas are used in turn; no more than two steps are under way.
  StepMemory step_memory;
  StepTables tables;  // of the step that is being enqueued
  cuda::Cache* cache = nullptr;
  uint64_t begun = 0;  // steps
  uint64_t ended = 0;

  /// Memory of attention's own, which keeps counters between calls. Grows until the arena is frozen.
  Expected<std::byte*> attention_memory(size_t bytes);
  /// Where the payload of the next step goes, in host memory: bounds.payload_bytes.
  [[nodiscard]] std::span<std::byte> payload_area() const;
  /// Lays the next step down; of its payload so many bytes are in use, and of the results so many come back.
  Status stage(const Batch& batch, std::span<const int32_t> logit_rows, size_t payload_bytes = 0,
               size_t result_bytes = 0);
  /// Enqueues the first and the last kernel of the step; results: where those that the host wants back are.
  Status begin();
  Status end(const std::byte* results);
  Status end() { return end(result(step_memory)); }
  /// For another forward within the step, on tables that a kernel has changed.
  void begin_again();
  /// Hidden row i becomes what row rows[i], ascending, was. Waits for the stream.
  Status select_hidden(std::span<const int32_t> rows);
  /// Number of steps that the GPU has ended.
  [[nodiscard]] uint64_t done() const { return *static_cast<const volatile uint64_t*>(done_.memory.get()); }
  /// Results of step n, counted from 0.
  [[nodiscard]] const std::byte* results(uint64_t step) const {
    return results_.host() + (step % 2) * step_memory.bounds.result_bytes;
  }

 private:
  MappedBuffer staging_, results_, done_, selected_;
  DeviceBuffer device_step_, attention_;
  std::vector<int32_t> slot_tables_;
};

/// Bounds of a step that is exactly this batch.
StepTables bounds_of(const Batch& batch, int64_t logit_rows);

}  // namespace tessera::kernels::cuda
