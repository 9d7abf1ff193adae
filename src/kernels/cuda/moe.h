#pragma once

#include <cstddef>
#include <cstdint>

#include "device/cuda.h"
#include "kernels/cuda/grouped_gemm.h"
#include "plan/desc.h"
#include "plan/device_facts.h"
#include "plan/tuning_cache.h"
#include "tessera/status.h"

// A mixture-of-experts layer on a GPU, W4A16 or W4A4: router, grouping, gate_up with SwiGLU, down, and the sum over
// experts; the shared expert is one more group of the same launches. Nothing waits for the host, so that all of it may
// be captured in a CUDA graph. Rounding points are those of kernels/moe.h; W4A4 also quantises the rows of both
// products.
namespace tessera::kernels::cuda {

/// Slots up to which K segments are summed by blocks of their own, by way of memory; with more slots, blocks are many
/// enough, and each sums all segments. The bits are the same.
inline constexpr int64_t kPartialSlotsMax = 256;
/// Counters of finished segments, for the most blocks that such a launch can have.
inline constexpr int64_t kTicketsMax = int64_t{1} << 16;

/// What moe() cannot run, with every parameter in the message.
Status supports(const plan::Desc& desc);

struct MoePlan {
  plan::Desc desc;  // of gate_up; down's differs in op alone
  plan::Tile gate_up, down;

  [[nodiscard]] const plan::Tile& tile(plan::Op op) const { return op == plan::Op::gate_up ? gate_up : down; }
};

/// The tuned tiles where `tuning` has them, else the plan's cheapest.
Expected<MoePlan> plan_moe(const plan::Desc& desc, const plan::DeviceFacts& device,
                           const plan::TuningCache& tuning = {});

/// The same with given tiles, for tests and tuning. unsupported: there is no such kernel, or it cannot sum the weight's
/// segments at this number of slots.
Expected<MoePlan> plan_moe(const plan::Desc& desc, const plan::Tile& gate_up, const plan::Tile& down);

/// Whether the tile's kernel is compiled and can sum the weight's segments at this number of slots.
bool can_run(const plan::Desc& desc, const plan::Tile& tile);

/// Device memory of one call. Offsets are bytes, multiples of 256.
struct MoeWorkspace {
  size_t tickets = 0;  // int32 [kTicketsMax]: at offset 0 whatever the plan, zero before the first call
  size_t ids = 0, weights = 0, slots = 0, slot_token = 0, first_slot = 0, chunk_counts = 0;
  size_t tiles[2] = {}, tile_count[2] = {};
  size_t fp4 = 0;       // W4A4: slices of the tokens, then of `gated`
  size_t gated = 0;     // [slots, I] BF16
  size_t rows = 0;      // [slots, H] BF16
  size_t partials = 0;  // fp32
  size_t bytes = 0;
};
MoeWorkspace moe_workspace(const MoePlan& plan);

/// Whether blocks of this operation take one K segment each.
bool splits(const MoePlan& plan, plan::Op op);
/// Column tiles of a launch: a bound for any routing.
int64_t column_tiles(const MoePlan& plan, plan::Op op);

/// All pointers are device memory, 16-byte aligned.
struct MoeArgs {
  const uint16_t* x = nullptr;         // [tokens, H] BF16, normed
  const float* logits = nullptr;       // [tokens, E]
  const float* shared_gate = nullptr;  // [tokens], before the sigmoid; with a shared expert; null: weight 1
  uint16_t* residual = nullptr;        // [tokens, H] BF16, in and out: residual + moe(x)
  int32_t* chosen = nullptr;           // optional out: [tokens, experts_per_token]
  // [E + shared] atom matrices of 2 I rows, gate and up interleaved (kernels/atom.h), and of H rows.
  const std::byte* gate_up = nullptr;
  const std::byte* down = nullptr;
  const float* gate_up_alpha = nullptr;  // [E + shared, 2], of gate and of up (GemmArgs::alpha)
  const float* down_alpha = nullptr;     // [E + shared, 2], twice the same
  float gate_up_input_scale = 1.0F;      // W4A4 (kernels/cuda/quantize.h)
  float down_input_scale = 1.0F;
  std::byte* workspace = nullptr;  // moe_workspace(plan).bytes
};

/// 4 launches up to 16 tokens, 5 up to 128, 7 beyond, W4A4 two more; none for 0 tokens.
Status moe(const MoePlan& plan, const MoeArgs& args, const device::Queue& queue);

}  // namespace tessera::kernels::cuda
