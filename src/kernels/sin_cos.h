#pragma once

#include <cstdint>

#include "kernels/spelt_math.h"

namespace tessera::kernels {

struct SinCos {
  float sin = 0, cos = 0;
};

/// Sine and cosine of an angle in radians, |angle| < 2^31, for rotary embeddings. Computed in double from basic
/// operations alone and rounded once, so the bits are those of no particular C library or instruction set, and
/// the same on the host and on a GPU.
/// angle = n pi/2 + r, |r| <= pi/4 (pi/2 in two parts, the first of 33 bits, so n * it is exact below 2^20), then the
/// Taylor series up to r^13 and r^14: truncation is below 3e-14.
TESSERA_HOST_DEVICE inline SinCos sin_cos(float angle) {
  const double x = angle;
  const double shifter = 6755399441055744.0;  // 1.5 * 2^52: adding it rounds to an integer
  const double n = (x * 0.63661977236758134308 + shifter) - shifter;
  const double r = (x - n * 1.57079632673412561417) - n * 6.07710050650619224932e-11;
  const double z = r * r;
  double s = 1.0 / 6227020800;
  s = s * z - 1.0 / 39916800;
  s = s * z + 1.0 / 362880;
  s = s * z - 1.0 / 5040;
  s = s * z + 1.0 / 120;
  s = s * z - 1.0 / 6;
  s = s * z * r + r;
  double c = -1.0 / 87178291200;
  c = c * z + 1.0 / 479001600;
  c = c * z - 1.0 / 3628800;
  c = c * z + 1.0 / 40320;
  c = c * z - 1.0 / 720;
  c = c * z + 1.0 / 24;
  c = c * z - 1.0 / 2;
  c = c * z + 1.0;
  const auto quadrant = static_cast<uint64_t>(static_cast<int64_t>(n)) & 3U;
  const double sine = (quadrant & 1U) != 0 ? c : s;
  const double cosine = (quadrant & 1U) != 0 ? s : c;
  return {static_cast<float>((quadrant & 2U) != 0 ? -sine : sine),
          static_cast<float>(quadrant == 1 || quadrant == 2 ? -cosine : cosine)};
}

}  // namespace tessera::kernels
