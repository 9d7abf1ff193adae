#include "kernels/noise.h"

#include <cmath>

namespace tessera::kernels {

double portable_log(double x) {
  int exponent = 0;
  double m = std::frexp(x, &exponent);  // exact; [0.5, 1)
  if (m < 0.70710678118654752) {
    m *= 2;
    --exponent;
  }
  // log m = 2 atanh(s), s = (m - 1) / (m + 1), |s| < 0.1716: 11 terms leave less than 2^-58 of it. Horner in s^2.
  const double s = (m - 1) / (m + 1);
  const double s2 = s * s;
  double sum = 0;
  for (int k = 21; k >= 1; k -= 2) sum = sum * s2 + 1.0 / k;
  // ln 2 in two parts (fdlibm): the first has trailing zeros, so that its product with the exponent is exact.
  constexpr double kLn2High = 6.93147180369123816490e-01, kLn2Low = 1.90821492927058770002e-10;
  return exponent * kLn2High + (exponent * kLn2Low + 2 * s * sum);
}

double gumbel(uint32_t bits) { return -portable_log(-portable_log((bits + 0.5) * 0x1p-32)); }

}  // namespace tessera::kernels
