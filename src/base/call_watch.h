#pragma once

#include <chrono>

// Notices calls that do not return: into the driver of a GPU, which waits for ever for a kernel that hangs, and cannot
// be interrupted. Free of fmt, which nvcc cannot parse as C++20.
namespace tessera {

/// Marks the calling thread as inside `call` for as long as it lives: some nanoseconds. Of nested ones the outermost
/// counts. `call` must outlive the program's calls: a literal.
class WatchedCall {
 public:
  explicit WatchedCall(const char* call);
  ~WatchedCall();
  WatchedCall(const WatchedCall&) = delete;
  WatchedCall& operator=(const WatchedCall&) = delete;
};

/// A call or a step that takes longer has hung: the slowest are prefills of 65,536 rows, some seconds.
inline constexpr std::chrono::seconds kHangLimit{120};

using OnHang = void (*)(const char* call, std::chrono::milliseconds limit);

/// From now on on_hang(call, limit) is called, on a thread of its own and once, when a watched call has not returned
/// for `limit` or a tenth more; nullptr: no longer. Time for which the whole program is stopped does not count. The
/// thread comes with the first watched call; where the system gives none, nothing is noticed.
void watch_calls(std::chrono::milliseconds limit, OnHang on_hang);

}  // namespace tessera
