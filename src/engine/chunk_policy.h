#pragma once

#include <chrono>
#include <cstdint>

namespace tessera::engine {

/// How many rows of prompts a step may read beside sequences that decode, so that it takes about a wanted time: these
/// get their next tokens when it has ended. Follows what such steps take, which grows with the positions before a
/// prompt's rows and falls with every row that shares the reading of weights.
class ChunkPolicy {
 public:
  /// `wanted`: of a step; 0: no bound. `rows_max`: of a step.
  ChunkPolicy(std::chrono::duration<double> wanted, int64_t rows_max);

  [[nodiscard]] int64_t rows() const { return static_cast<int64_t>(rows_) / 64 * 64; }
  /// A step with `rows` rows of prompts beside decoding sequences took so long.
  void took(std::chrono::duration<double> time, int64_t rows);

 private:
  double wanted_;  // seconds
  double rows_max_;
  double rows_;
};

}  // namespace tessera::engine
