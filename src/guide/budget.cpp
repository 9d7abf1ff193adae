#include "guide/budget.h"

#include <fmt/format.h>
#include <time.h>

#include "base/check.h"
#include "base/resident_bytes.h"
#include "guide/poll.h"

__thread int tessera_guide_polls_left = 0;

namespace tessera::guide {
namespace {

constexpr int kPolls = 1024;       // between two looks at the clock: 0.05 to 1 ms
constexpr int kMemoryChecks = 16;  // looks at the clock between two at the memory

thread_local Budget* budget = nullptr;

double thread_seconds() {
  timespec now = {};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

}  // namespace

Budget::Budget(double seconds, size_t bytes) : start_(thread_seconds()), seconds_max_(seconds), bytes_max_(bytes) {
  TESSERA_CHECK(budget == nullptr);
  if (bytes_max_ > 0) resident_start_ = resident_bytes();
  budget = this;
  tessera_guide_polls_left = kPolls;
}

Budget::~Budget() { budget = nullptr; }

double Budget::seconds() const { return thread_seconds() - start_; }

void Budget::check() {
  if (seconds() > seconds_max_) throw BudgetExceeded(fmt::format("it takes more than {} s", seconds_max_));
  if (bytes_max_ == 0 || ++checks_ % kMemoryChecks != 0) return;
  const size_t resident = resident_bytes();
  if (resident > resident_start_ + bytes_max_) {
    throw BudgetExceeded(fmt::format("it takes more than {} MiB", bytes_max_ >> 20));
  }
}

}  // namespace tessera::guide

void tessera_guide_poll_slowly() {
  tessera_guide_polls_left = tessera::guide::kPolls;
  if (tessera::guide::budget != nullptr) tessera::guide::budget->check();
}
