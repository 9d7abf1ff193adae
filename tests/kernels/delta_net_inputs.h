#pragma once

#include <type_traits>
#include <vector>

#include "kernels/gated_delta_net.h"
#include "kernels/matrix_fixture.h"

// Random inputs and weights of Gated DeltaNet.
namespace tessera::kernels {

/// Inputs of one sequence at every position. T: float, or uint16_t for BF16.
template <typename T>
struct DeltaSequenceOf {
  int32_t length;
  std::vector<T> qkv, z, b, a;

  DeltaSequenceOf(const DeltaNetShape& s, int32_t n, uint32_t seed)
      : length(n),
        qkv(random_values(n * s.channels(), seed)),
        z(random_values(int64_t{n} * s.value_heads * s.value_dim, seed + 1)),
        b(random_values(int64_t{n} * s.value_heads, seed + 2)),
        a(random_values(int64_t{n} * s.value_heads, seed + 3)) {}

 private:
  static std::vector<T> random_values(int64_t count, uint32_t seed) {
    if constexpr (std::is_same_v<T, float>) {
      return random_floats(static_cast<size_t>(count), seed);
    } else {
      return random_bf16(static_cast<size_t>(count), seed);
    }
  }
};

struct DeltaWeights {
  DeltaNetShape shape;
  std::vector<float> conv_weight, a_log, dt_bias, norm_weight;

  explicit DeltaWeights(const DeltaNetShape& s)
      : shape(s),
        conv_weight(random_floats(static_cast<size_t>(s.channels() * s.conv_width), 51)),
        a_log(random_floats(static_cast<size_t>(s.value_heads), 52)),
        dt_bias(random_floats(static_cast<size_t>(s.value_heads), 53)),
        norm_weight(random_floats(static_cast<size_t>(s.value_dim), 54)) {}
};

}  // namespace tessera::kernels
