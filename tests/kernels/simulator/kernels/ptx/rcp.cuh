#pragma once

#include "kernels/spelt_math.h"

namespace tessera::kernels::ptx {

/// Within one unit in the last place, and often one off: whoever refines it must.
inline float rcp_approx(float x) {
  const uint32_t off = spelt::bits_of(x) % 3;  // 0, 1 or -1
  return spelt::float_of(spelt::bits_of(1.0F / x) + (off == 2 ? ~0U : off));
}

}  // namespace tessera::kernels::ptx
