#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace tessera {

/// A fixed set of threads that run one loop at a time, for CPU kernels.
///
/// Contract: one thread (the owner) calls run_chunks; the caller works too, so a pool of size 1 has no threads
/// of its own. Which thread takes which chunk is free; a kernel must compute every output wholly inside one
/// chunk, so results never depend on the number of threads. Workers spin for about 100 us after a loop (a
/// decode step runs hundreds of short loops back to back; waking a sleeping thread costs 20-50 us), then sleep.
///
/// On a machine that others use too, the system takes cores away for milliseconds, and a loop would wait for a worker
/// that does not run. Besides, threads that wait for each other get less of shared cores than one thread alone. So a
/// loop waits for chunks that were taken, never for workers; a worker on the owner's core sleeps at once; and one that
/// is awake but has no core, or none but the owner's, for a quarter of its time, rests for a while, ever longer if it
/// goes on so.
class ThreadPool {
 public:
  /// `threads` >= 1, the caller included. Throws std::system_error where the system starts no more.
  explicit ThreadPool(int threads);
  ~ThreadPool();
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;

  [[nodiscard]] int size() const { return static_cast<int>(workers_.size()) + 1; }

  /// Calls body(chunk, thread) for every chunk in [0, chunks), each exactly once; `thread` in [0, size())
  /// names the calling thread's scratch space. Returns when all are done. `body` must not throw or nest.
  void run_chunks(int64_t chunks, const std::function<void(int64_t chunk, int thread)>& body);

 private:
  using Clock = std::chrono::steady_clock;

  /// A loop's number in the upper half, the next chunk in the lower: whoever raises it by one has that chunk, and only
  /// of the loop that it has read.
  using Ticket = uint64_t;
  static constexpr Ticket kClosed = 0xffffffff;  // in the lower half: no chunk is left

  void stop_workers();
  void work(int thread);
  void take_chunks(int thread);
  void wait_for_chunks();
  [[nodiscard]] bool beside_owner() const;

  std::vector<std::thread> workers_;
  std::atomic<const std::function<void(int64_t, int)>*> body_{nullptr};
  std::atomic<int64_t> chunks_{0};
  std::atomic<int64_t> chunks_left_{0};
  std::atomic<Ticket> ticket_{kClosed};
  std::atomic<int> sleepers_{0};
  std::atomic<int> owner_core_{-1};  // where its newest loop began
  std::atomic<bool> stop_{false};
  std::mutex mutex_;
  std::condition_variable wake_;
};

/// Threads to use by default: the cores this process may run on (its affinity mask and cgroup quota).
int default_thread_count();

}  // namespace tessera
