#pragma once

#include <cstdint>

namespace tessera {

struct TokenLogprob {
  int32_t token = 0;
  float logprob = 0;  // natural log, of the model's distribution before temperature, filters and penalties
  int64_t rank = 0;   // 1 is the most likely
};

}  // namespace tessera
