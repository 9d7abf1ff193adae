#pragma once

#include <cstdint>
#include <memory>
#include <vector>

namespace tessera::engine {

/// One choice of a request as the scheduler sees it: its tokens, and what of them is computed and where.
struct Sequence {
  std::shared_ptr<const std::vector<int32_t>> prompt;  // not empty; shared by the choices of a request
  std::vector<int32_t> output;                         // tokens generated so far
  bool wants_prompt_logits = false;                    // until the whole prompt's were delivered

  int64_t computed = 0;         // positions [0, computed) are in the KV blocks and in the state
  std::vector<int32_t> blocks;  // KV block of positions [64 i, 64 i + 64)
  int32_t slot = -1;            // state slot; -1: waiting

  [[nodiscard]] int64_t prompt_size() const { return static_cast<int64_t>(prompt->size()); }
  [[nodiscard]] int64_t size() const { return prompt_size() + static_cast<int64_t>(output.size()); }
  [[nodiscard]] int32_t token(int64_t position) const {
    return position < prompt_size() ? (*prompt)[static_cast<size_t>(position)]
                                    : output[static_cast<size_t>(position - prompt_size())];
  }
  /// Only the newest token is missing, and it was generated: the next row is an ordinary decode row.
  [[nodiscard]] bool decoding() const { return computed >= prompt_size() && computed == size() - 1; }
};

}  // namespace tessera::engine
