#include "cli/interrupt.h"

#include <csignal>
#include <cstdlib>
#include <mutex>
#include <thread>
#include <utility>

#include "base/check.h"

namespace tessera::cli {
namespace {

std::mutex mutex;  // guards everything below, and the members of every OnInterrupt
OnInterrupt* innermost = nullptr;
std::function<void()> last_rites;

sigset_t interrupting_signals() {
  sigset_t set;
  sigemptyset(&set);
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) sigaddset(&set, signal);
  return set;
}

}  // namespace

void deliver_interrupt(int signal) {
  const std::lock_guard lock(mutex);
  if (signal != SIGHUP && innermost != nullptr && !innermost->happened_) {
    innermost->happened_ = true;
    innermost->action_();
    return;
  }
  if (last_rites) last_rites();
  std::_Exit(128 + signal);
}

void start_interrupt_thread() {
  const sigset_t set = interrupting_signals();
  TESSERA_CHECK_EQ(pthread_sigmask(SIG_BLOCK, &set, nullptr), 0);
  for (const int signal : {SIGPIPE, SIGXFSZ}) std::signal(signal, SIG_IGN);  // the failed write says why
  std::thread([set] {
    for (;;) {
      int signal = 0;
      if (sigwait(&set, &signal) == 0) deliver_interrupt(signal);
    }
  }).detach();
}

OnInterrupt::OnInterrupt(std::function<void()> action) : action_(std::move(action)) {
  const std::lock_guard lock(mutex);
  outer_ = std::exchange(innermost, this);
}

OnInterrupt::~OnInterrupt() {
  const std::lock_guard lock(mutex);
  innermost = outer_;
}

bool OnInterrupt::happened() const {
  const std::lock_guard lock(mutex);
  return happened_;
}

void set_last_rites(std::function<void()> rites) {
  const std::lock_guard lock(mutex);
  last_rites = std::move(rites);
}

}  // namespace tessera::cli
