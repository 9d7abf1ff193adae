#pragma once

#include "kernels/spelt_math.h"

namespace tessera::kernels::ptx {

/// Off by a unit in the last place at times, so that nobody relies on more.
inline float ex2_approx(float x) {
  const float y = std::exp2(x);
  if (!(y >= 0x1p-126F)) return y != y ? y : 0.0F;
  const uint32_t off = spelt::bits_of(x) % 3;  // 0, 1 or -1
  if (x == std::trunc(x) || std::isinf(y)) return y;
  return spelt::float_of(spelt::bits_of(y) + (off == 2 ? ~0U : off));
}

}  // namespace tessera::kernels::ptx
