#include <gtest/gtest.h>

#include <cstdlib>
#include <iostream>
#include <string>

#include "kernels/cpu/simd_target.h"

// Runs the tests of this binary on the instruction set that TESSERA_SIMD names; exits with kSkipped where the CPU lacks
// it, or runs on it anyway.
namespace tessera::kernels {
namespace {

constexpr int kSkipped = 77;  // SKIP_RETURN_CODE of CMakeLists.txt

class SimdEnvironment : public testing::Environment {
 public:
  void SetUp() override {
    const std::string best = cpu::simd_target();
    const Status status = cpu::use_simd_target_of_environment();
    const char* const wanted = std::getenv(cpu::kSimdVariable);
    if (wanted != nullptr && wanted == best) {
      std::cout << "tests run on " << best << " without being told" << std::endl;
      std::exit(kSkipped);
    }
    if (status.ok()) return;
    std::cout << status.message() << std::endl;
    if (status.message().find("this CPU lacks") != std::string::npos) std::exit(kSkipped);
    FAIL() << status.message();
  }
};

const testing::Environment* const kEnvironment = testing::AddGlobalTestEnvironment(new SimdEnvironment);

}  // namespace
}  // namespace tessera::kernels
