#pragma once

#include <cstdlib>
#include <string>

namespace tessera {

/// The device that tests of the server and of the program run models on: TESSERA_TEST_DEVICE, as --device takes it.
/// The CPU unless told, whatever the machine has.
inline std::string test_device() {
  const char* device = std::getenv("TESSERA_TEST_DEVICE");
  return device != nullptr && *device != '\0' ? device : "cpu";
}

/// Of a GPU's memory, so that several tests run beside each other.
inline constexpr double kTestGpuMemoryUtilization = 0.1;

}  // namespace tessera
