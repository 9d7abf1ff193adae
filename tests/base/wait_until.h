#pragma once

#include <chrono>
#include <thread>

namespace tessera::test {

/// Whether `holds()` comes to hold. Two minutes are for sanitizers on a busy machine: what takes longer never comes,
/// and the test that waits for it is to fail with its name rather than to hang.
template <typename Holds>
bool wait_until(const Holds& holds) {
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::minutes(2);
  while (!holds()) {
    if (std::chrono::steady_clock::now() > deadline) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
  return true;
}

}  // namespace tessera::test
