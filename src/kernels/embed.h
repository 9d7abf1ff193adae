#pragma once

#include <cstdint>
#include <span>

#include "kernels/context.h"
#include "kernels/weight.h"

namespace tessera::kernels {

struct EmbedArgs {
  const Weight* table = nullptr;    // [vocab, hidden]
  std::span<const int32_t> tokens;  // [rows], each in [0, vocab)
  float* out = nullptr;             // [rows, hidden]; rounded to BF16
};

/// out[t] = table[tokens[t]].
void embed(const Context& context, const EmbedArgs& args);

}  // namespace tessera::kernels
