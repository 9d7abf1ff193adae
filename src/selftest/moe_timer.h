#pragma once

#include <cstdint>
#include <memory>

#include "plan/desc.h"
#include "plan/device_facts.h"
#include "plan/tile.h"
#include "plan/tuning_cache.h"
#include "tessera/status.h"

// How long the routed experts of a layer take on a GPU, from the router's logits to their sum: what `tessera tune` and
// `tessera bench moe` ask. Norm, router and shared expert are other kernels' and in no figure.
namespace tessera::kernels {

struct MoeTime {
  plan::Tile gate_up, down;
  double us = 0;             // of a layer: median of the repeats
  uint64_t result_hash = 0;  // of the result's bits: the same for all tiles; of this process
};

/// A layer with random weights, and copies of it, inputs and routings, so many that a run finds nothing of its weights
/// in L2: more than four times its size is read between two runs of one copy. The runs of all copies are one CUDA
/// graph, whose time is divided by their number.
class MoeTimer {
 public:
  /// For up to desc.tokens tokens. `desc` is that of gate_up. Errors: unsupported in a build without CUDA; what
  /// plan::validate refuses; too little memory for two copies; a CUDA call that failed.
  static Expected<MoeTimer> make(int gpu, const plan::DeviceFacts& device, const plan::Desc& desc);
  MoeTimer(MoeTimer&&) noexcept;
  ~MoeTimer();

  /// With the tuned tiles, or the plan's where none are. tokens: 1 to those of `make`.
  Expected<MoeTime> time(int64_t tokens, const plan::TuningCache& tuning) const;
  /// With these tiles. unavailable: the GPU has not finished after ten seconds, and nothing more can be asked of it; to
  /// destroy this would wait for it too.
  Expected<MoeTime> time(int64_t tokens, const plan::Tile& gate_up, const plan::Tile& down) const;

  /// Bytes of weights that a run of so many tokens reads, on average: those of the experts that its tokens choose.
  [[nodiscard]] double weight_bytes(int64_t tokens) const;

  /// Whether a kernel of the tile is compiled and can sum the weight's K segments at this number of tokens.
  static bool can_run(const plan::Desc& desc, const plan::Tile& tile);

 private:
  struct State;
  explicit MoeTimer(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace tessera::kernels
