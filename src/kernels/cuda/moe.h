#pragma once

#include <cstddef>
#include <cstdint>

#include "device/cuda.h"
#include "kernels/cuda/expert_sum.h"
#include "kernels/cuda/grouped_gemm.h"
#include "plan/desc.h"
#include "plan/device_facts.h"
#include "plan/tuning_cache.h"
#include "tessera/status.h"

// The experts of a layer on a GPU, W4A16 or W4A4: from logits to choices, grouping, gate_up with SwiGLU, down, and the
// sum over experts. The norm and the router's product come before, the shared expert's rows (a dense network with a
// format of its own) are handed in, and the next norm adds the result to the residual. Nothing waits for the host, so
// that all of it may be captured in a CUDA graph. Rounding points are those of kernels/moe.h; W4A4 also quantises the
// rows of both products.
namespace tessera::kernels::cuda {

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

/// The same with given tiles, for tests and tuning. unsupported: there is no such kernel.
Expected<MoePlan> plan_moe(const plan::Desc& desc, const plan::Tile& gate_up, const plan::Tile& down);

/// Whether the tile's kernel is compiled.
bool can_run(const plan::Desc& desc, const plan::Tile& tile);

/// Device memory of one call. Offsets are bytes, multiples of 256.
struct MoeWorkspace {
  size_t ids = 0, weights = 0, slots = 0, slot_token = 0, first_slot = 0, chunk_counts = 0;
  size_t tiles[2] = {}, tile_count[2] = {};
  size_t fp4 = 0;    // W4A4: slices of the tokens, then of `gated`
  size_t gated = 0;  // [slots, I] BF16
  size_t rows = 0;   // [slots, H] BF16
  size_t bytes = 0;
};
MoeWorkspace moe_workspace(const MoePlan& plan);

/// Column tiles of a launch: a bound for any routing.
int64_t column_tiles(const MoePlan& plan, plan::Op op);

/// All pointers are device memory, 16-byte aligned; logits and shared_gate 4-byte aligned.
struct MoeArgs {
  const uint16_t* x = nullptr;           // [tokens, H] BF16, normed
  const int32_t* live_tokens = nullptr;  // the first so many tokens count, 0 to desc.tokens; null: all
  // Column ranges of a wider product in fp32, rows logits_stride floats apart. Both are rounded to BF16 here.
  const float* logits = nullptr;          // [tokens, E]
  const float* shared_gate = nullptr;     // [tokens, 1], before the sigmoid; with shared_rows; null: weight 1
  int64_t logits_stride = 0;              // at least E
  const uint16_t* shared_rows = nullptr;  // [tokens, H] BF16: output of the shared expert; null: there is none
  uint16_t* delta = nullptr;              // out of moe() alone: SumExpertsArgs::delta
  int32_t* chosen = nullptr;              // optional out: [tokens, experts_per_token], descending logit
  // [E] atom matrices of 2 I rows, gate and up interleaved (kernels/atom.h), and of H rows.
  const std::byte* gate_up = nullptr;
  const std::byte* down = nullptr;
  const float* gate_up_alpha = nullptr;  // [E, 2], of gate and of up (GemmArgs::alpha)
  const float* down_alpha = nullptr;     // [E, 2], twice the same
  // W4A4: [E], scales of the rows that gate and up read, which are quantised once for both, and of those that down
  // reads (QuantizeArgs::input_scales).
  const float* gate_up_input_scales = nullptr;
  const float* down_input_scales = nullptr;
  std::byte* workspace = nullptr;  // moe_workspace(plan).bytes
};

/// delta = bf16(sum over a token's experts, ascending, the shared one last). With fewer live tokens than desc.tokens,
/// the bits are those of a plan for that number; experts that no live token takes are not read. 4 launches up to 16
/// tokens, 5 up to 128, 7 beyond, W4A4 two more; none for 0 tokens. invalid_argument: a stride below E.
Status moe(const MoePlan& plan, const MoeArgs& args, const device::Queue& queue);

/// Its parts, for who has something to run in between, or leaves the sum to the norm after it: choices and grouping,
/// which read logits alone; the two products; and what is then to be summed, of which the workspace holds the most.
Status moe_route(const MoePlan& plan, const MoeArgs& args, const device::Queue& queue);
Status moe_products(const MoePlan& plan, const MoeArgs& args, const device::Queue& queue);
ExpertSum expert_sum(const MoePlan& plan, const MoeArgs& args);

}  // namespace tessera::kernels::cuda
