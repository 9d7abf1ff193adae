#pragma once

#include <cstddef>
#include <stdexcept>

namespace tessera::guide {

/// Thrown out of xgrammar, by tessera_guide_poll().
struct BudgetExceeded : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// While it lives, xgrammar may take so much on this thread: processor time, so that a busy machine changes no answer,
/// and memory, as far as the process grows by it. One at a time on a thread.
class Budget {
 public:
  /// `bytes` 0: no bound.
  Budget(double seconds, size_t bytes);
  ~Budget();
  Budget(const Budget&) = delete;
  Budget& operator=(const Budget&) = delete;

  /// Processor time since the start.
  [[nodiscard]] double seconds() const;
  void check();

 private:
  double start_;
  double seconds_max_;
  size_t bytes_max_;
  size_t resident_start_ = 0;
  int checks_ = 0;
};

}  // namespace tessera::guide
