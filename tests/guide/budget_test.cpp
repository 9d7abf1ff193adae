#include "guide/budget.h"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <time.h>

#include <cstring>
#include <thread>

namespace tessera::guide {
namespace {

constexpr size_t kMiB = size_t{1} << 20;

/// Memory that the process has while this lives.
class Resident {
 public:
  explicit Resident(size_t bytes) : bytes_(bytes) {
    memory_ = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    EXPECT_NE(memory_, MAP_FAILED);
    std::memset(memory_, 1, bytes);
  }
  ~Resident() { ::munmap(memory_, bytes_); }
  Resident(const Resident&) = delete;
  Resident& operator=(const Resident&) = delete;

 private:
  void* memory_;
  size_t bytes_;
};

double processor_seconds() {
  timespec now = {};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) / 1e9;
}

void compute(double seconds) {
  const double start = processor_seconds();
  while (processor_seconds() - start < seconds) {
  }
}

/// As often as it takes for a look at the memory.
void check_often(Budget& budget) {
  for (int i = 0; i < 64; ++i) budget.check();
}

std::string refusal_of(Budget& budget) {
  try {
    check_often(budget);
  } catch (const BudgetExceeded& fault) {
    return fault.what();
  }
  return "none";
}

/// Neither while it waits nor for what others compute meanwhile, under budgets of their own.
TEST(Budget, CountsTheProcessorTimeOfItsThreadAlone) {
  Budget budget(0.1, 0);
  std::thread([] {
    Budget other(0.2, 0);
    compute(0.3);
    EXPECT_EQ(refusal_of(other), "it takes more than 0.2 s");
  }).join();
  EXPECT_LT(budget.seconds(), 0.1);
  EXPECT_EQ(refusal_of(budget), "none");
  compute(0.1);
  EXPECT_GE(budget.seconds(), 0.1);
  EXPECT_LT(budget.seconds(), 1);
  EXPECT_EQ(refusal_of(budget), "it takes more than 0.1 s");
}

TEST(Budget, CountsMemorySinceItBegan) {
  const Resident before(128 * kMiB);
  Budget budget(60, 64 * kMiB);
  EXPECT_EQ(refusal_of(budget), "none");
  const Resident meanwhile(128 * kMiB);
  EXPECT_EQ(refusal_of(budget), "it takes more than 64 MiB");
}

TEST(Budget, WithoutABoundTakesAnyMemory) {
  Budget budget(60, 0);
  const Resident meanwhile(64 * kMiB);
  EXPECT_EQ(refusal_of(budget), "none");
}

}  // namespace
}  // namespace tessera::guide
