#include "base/thread_pool.h"

#include <sched.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <fstream>
#include <string>
#include <system_error>

#include "base/check.h"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace tessera {
namespace {

constexpr auto kSpinTime = std::chrono::microseconds(100);

void pause_cpu() {
#if defined(__x86_64__)
  _mm_pause();
#else
  std::this_thread::yield();
#endif
}

/// Spins until `done` holds or kSpinTime has passed; says whether it holds.
template <typename Done>
bool spin_until(const Done& done) {
  const auto deadline = std::chrono::steady_clock::now() + kSpinTime;
  for (;;) {
    for (int i = 0; i < 64; ++i) {
      if (done()) return true;
      pause_cpu();
    }
    if (std::chrono::steady_clock::now() > deadline) return done();
  }
}

}  // namespace

ThreadPool::ThreadPool(int threads) {
  TESSERA_CHECK_GE(threads, 1);
  workers_.reserve(static_cast<size_t>(threads - 1));
  try {
    for (int i = 1; i < threads; ++i) workers_.emplace_back([this, i] { work(i); });
  } catch (const std::system_error&) {
    stop_workers();
    throw;
  }
}

ThreadPool::~ThreadPool() { stop_workers(); }

void ThreadPool::stop_workers() {
  {
    const std::lock_guard lock(mutex_);
    stop_ = true;
    ++generation_;
  }
  wake_.notify_all();
  for (auto& worker : workers_) worker.join();
}

void ThreadPool::run_chunks(int64_t chunks, const std::function<void(int64_t, int)>& body) {
  if (chunks <= 0) return;
  if (workers_.empty() || chunks == 1) {
    for (int64_t i = 0; i < chunks; ++i) body(i, 0);
    return;
  }
  body_ = &body;
  chunks_ = chunks;
  next_chunk_.store(0, std::memory_order_relaxed);
  busy_workers_.store(static_cast<int>(workers_.size()), std::memory_order_relaxed);
  // seq_cst on generation_ and sleepers_: either the worker sees the new generation before it sleeps, or we see
  // the sleeper and wake it.
  ++generation_;
  if (sleepers_.load() > 0) {
    { const std::lock_guard lock(mutex_); }
    wake_.notify_all();
  }
  take_chunks(0);
  const auto done = [this] { return busy_workers_.load(std::memory_order_acquire) == 0; };
  while (!spin_until(done)) std::this_thread::yield();
}

void ThreadPool::take_chunks(int thread) {
  for (;;) {
    const int64_t chunk = next_chunk_.fetch_add(1, std::memory_order_relaxed);
    if (chunk >= chunks_) return;
    (*body_)(chunk, thread);
  }
}

void ThreadPool::work(int thread) {
  uint64_t seen = 0;
  for (;;) {
    const auto started = [&] { return generation_.load() != seen; };
    if (!spin_until(started)) {
      std::unique_lock lock(mutex_);
      ++sleepers_;
      wake_.wait(lock, started);
      --sleepers_;
    }
    seen = generation_.load();
    if (stop_) return;
    take_chunks(thread);
    busy_workers_.fetch_sub(1, std::memory_order_release);
  }
}

int default_thread_count() {
  cpu_set_t set;
  int cores = sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set)
                                                          : static_cast<int>(std::thread::hardware_concurrency());
  // cgroup v2: "max 100000" or "<quota> <period>", both in microseconds.
  std::ifstream file("/sys/fs/cgroup/cpu.max");
  std::string quota;
  double period = 0;
  if (file >> quota >> period && quota != "max" && period > 0) {
    cores = std::min(cores, static_cast<int>(std::ceil(std::atof(quota.c_str()) / period)));
  }
  return std::max(cores, 1);
}

}  // namespace tessera
