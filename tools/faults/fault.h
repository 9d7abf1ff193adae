// The switch of planted faults (tools/faults/faults.py). FAULT=N turns fault N on. FAULT_REACHED names a file of bytes:
// byte N becomes 1 when the place of fault N is come by, in whatever process.
#pragma once

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <type_traits>

namespace planted {

inline int chosen() {
  const char* number = std::getenv("FAULT");
  return number ? std::atoi(number) : -1;
}

struct Places {
  unsigned char* reached = nullptr;
  long count = 0;
};

inline Places places() {
  Places out;
  const char* path = std::getenv("FAULT_REACHED");
  const int file = path ? ::open(path, O_RDWR | O_CLOEXEC) : -1;
  struct stat found{};
  if (file < 0 || ::fstat(file, &found) != 0) return out;
  void* bytes = ::mmap(nullptr, static_cast<size_t>(found.st_size), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  if (bytes != MAP_FAILED) out = {static_cast<unsigned char*>(bytes), found.st_size};
  ::close(file);
  return out;
}

inline bool is_on(int number) {
  static const int active = chosen();
  static const Places all = places();
  if (number < all.count) all.reached[number] = 1;
  return number == active;
}

// Off wherever the compiler looks for a constant, which it does in `const bool x = on(1) && y` even within a function.
constexpr bool on(int number) { return std::is_constant_evaluated() ? false : is_on(number); }

// One more, of a number or an iterator.
template <typename T>
constexpr T more(int number, T value) {
  if (on(number)) return static_cast<T>(value + 1);
  return value;
}

// A sum's or product's operand left out: 0, or 1.
template <typename T>
constexpr T none(int number, T value, int neutral) {
  if (on(number)) return static_cast<T>(neutral);
  return value;
}

}  // namespace planted
