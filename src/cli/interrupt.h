#pragma once

#include <functional>

// SIGINT and SIGTERM (and SIGHUP: the terminal is gone) are received by one thread of their own, so that what they
// lead to is ordinary code. Without an OnInterrupt alive, the program ends at once with 128 + the signal's number.
namespace tessera::cli {

/// Called once, by main, before any other thread exists: they all inherit the signal mask. Also ignores SIGPIPE
/// and SIGXFSZ, so that writing to a reader that has gone away, or a file beyond its limit, is an error to handle.
void start_interrupt_thread();

/// While alive, a first SIGINT or SIGTERM calls `action`, on another thread, and a second one ends the program. When
/// nested, the innermost counts. SIGHUP always ends the program.
class OnInterrupt {
 public:
  explicit OnInterrupt(std::function<void()> action);
  ~OnInterrupt();
  OnInterrupt(const OnInterrupt&) = delete;
  OnInterrupt& operator=(const OnInterrupt&) = delete;

  [[nodiscard]] bool happened() const;

 private:
  friend void deliver_interrupt(int signal);
  std::function<void()> action_;
  OnInterrupt* outer_;
  bool happened_ = false;
};

/// Called, on the interrupt thread, before the program is ended by a signal: puts the terminal back in order. One at a
/// time; empty for none.
void set_last_rites(std::function<void()> rites);

}  // namespace tessera::cli
