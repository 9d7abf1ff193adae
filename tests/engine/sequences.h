#pragma once

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "engine/sequence.h"

namespace tessera::engine {

/// One whose prompt counts up from `first_token`.
inline std::unique_ptr<Sequence> make_sequence(int64_t prompt_tokens, int32_t first_token = 1) {
  std::vector<int32_t> prompt(static_cast<size_t>(prompt_tokens));
  for (size_t i = 0; i < prompt.size(); ++i) prompt[i] = first_token + static_cast<int32_t>(i);
  auto sequence = std::make_unique<Sequence>();
  sequence->prompt = std::make_shared<const std::vector<int32_t>>(std::move(prompt));
  return sequence;
}

}  // namespace tessera::engine
