#pragma once

#include <cstdint>

#include "device/cuda.h"
#include "kernels/cuda/grouped_gemm.h"
#include "tessera/status.h"

// Which experts a token takes, and which slots an expert gets. All on the device.
namespace tessera::kernels::cuda {

/// Tokens that one block groups; a chunk.
inline constexpr int kChunkTokens = 128;

constexpr int64_t chunks(int64_t tokens) { return (tokens + kChunkTokens - 1) / kChunkTokens; }

/// Column tiles of n slots that any routing of `slots` slots over `groups` groups makes, at most: a group that has
/// slots may leave one tile part empty.
constexpr int64_t slot_tiles_max(int64_t slots, int64_t groups, int n) {
  const int64_t used = slots < groups ? slots : groups;
  return (slots - used) / n + used;
}

struct RouteArgs {
  const float* logits = nullptr;         // [tokens, experts], rows logits_stride apart; rounded to BF16 here
  int64_t logits_stride = 0;             // in floats
  const int32_t* live_tokens = nullptr;  // the first so many tokens count, 0 to `tokens`; null: all
  int32_t tokens = 0;
  int32_t experts = 0;            // at most 1024
  int32_t experts_per_token = 0;  // at most 32

  // Rows of tokens that do not count are not written.
  int32_t* ids = nullptr;     // out: [tokens, experts_per_token], ascending
  float* weights = nullptr;   // out: of ids, summing to 1
  int32_t* chosen = nullptr;  // optional out: [tokens, experts_per_token], descending logit

  int32_t* slots = nullptr;         // out: [tokens, experts_per_token]: slot of each of ids
  int32_t* slot_token = nullptr;    // out: [tokens * experts_per_token]
  int32_t* first_slot = nullptr;    // out: [experts + 1]
  int32_t* chunk_counts = nullptr;  // scratch: [chunks(tokens), experts]
  // Two lists, for the columns of gate_up's and of down's tile.
  SlotTile* tiles[2] = {};      // out: [slot_tiles_max]
  int32_t* tile_count[2] = {};  // out
  int32_t tile_columns[2] = {8, 8};
};

/// Router: logits rounded to BF16, the experts_per_token largest of them, ties to the lower id, NaN last; weights
/// exp(logit - largest) over their sum in descending order, fp32. A NaN among the logits makes the token's weights NaN.
/// Then slots, sorted by expert, then token. For up to 16 tokens one launch, up to kChunkTokens two, for more four; for
/// none none. Neither slots nor tiles depend on `tokens`, but on the tokens that count.
Status route(const RouteArgs& args, const device::Queue& queue);

}  // namespace tessera::kernels::cuda
