#include "base/resident_bytes.h"

#include <gtest/gtest.h>
#include <sys/mman.h>

#include <cstring>

namespace tessera {
namespace {

/// Memory counts from when it is written, not from when there is an address for it.
TEST(ResidentBytes, CountsWhatIsInRam) {
  constexpr size_t kBytes = size_t{64} << 20;
  const size_t before = resident_bytes();
  ASSERT_GT(before, 0U);
  void* const memory = ::mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(memory, MAP_FAILED);
  EXPECT_LT(resident_bytes(), before + kBytes / 2);
  std::memset(memory, 1, kBytes);
  EXPECT_GT(resident_bytes(), before + kBytes / 2);
  ::munmap(memory, kBytes);
}

}  // namespace
}  // namespace tessera
