#pragma once

#include <memory>
#include <string>

// NVML, which is part of the driver and loaded when it is asked for: nothing of Tessera depends on it. Declared by
// hand, since nvml.h is a package of its own (cuda-nvml-dev). Types and values: NVML API Reference Guide, "Device
// Enums", "Initialization and Cleanup", "Device Queries".
namespace tessera::device::nvml {

using Return = int;    // nvmlReturn_t
using Device = void*;  // nvmlDevice_t

inline constexpr const char* kLibrary = "libnvidia-ml.so.1";
inline constexpr Return kSuccess = 0;
inline constexpr Return kDriverNotLoaded = 9;
inline constexpr Return kVersionMismatch = 18;  // the library is another version's than the kernel module
inline constexpr Return kNoLibrary = -1;        // ours: it cannot be loaded, or is none

inline constexpr int kClockSm = 1, kClockMemory = 2;  // nvmlClockType_t

/// The library, opened and initialised; shut down at the end.
class Library {
 public:
  explicit Library(const char* name = kLibrary);
  Library(const Library&) = delete;
  Library& operator=(const Library&) = delete;
  ~Library();

  /// kSuccess, or why it cannot be asked.
  [[nodiscard]] Return opened() const { return opened_; }
  [[nodiscard]] std::string error_text(Return code) const;

  /// A function by its name; null where this driver has none.
  template <typename Function>
  [[nodiscard]] Function* symbol(const char* name) const {
    return reinterpret_cast<Function*>(address(name));
  }
  /// Calls a function that may not be there: kNoLibrary where it is not.
  template <typename... Parameters, typename... Arguments>
  Return call(Return (*function)(Parameters...), Arguments... arguments) const {
    return function == nullptr ? kNoLibrary : function(arguments...);
  }

 private:
  [[nodiscard]] void* address(const char* name) const;

  void* library_ = nullptr;
  Return opened_ = kNoLibrary;
};

}  // namespace tessera::device::nvml
