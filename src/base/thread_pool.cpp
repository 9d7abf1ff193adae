#include "base/thread_pool.h"

#include <sched.h>
#include <time.h>

#include <algorithm>
#include <chrono>
#include <system_error>

#include "base/check.h"
#include "base/control_groups.h"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace tessera {
namespace {

constexpr auto kSpinTime = std::chrono::microseconds(100);
// A worker looks back over so much of its time: systems give cores to others for some milliseconds at a time.
constexpr auto kWindow = std::chrono::milliseconds(10);
// It rests where it had no core for more than this part of it, one in ...
constexpr int kWorth = 4;
constexpr auto kFirstRest = std::chrono::milliseconds(20);
constexpr auto kLongestRest = std::chrono::milliseconds(640);

void pause_cpu() {
#if defined(__x86_64__)
  _mm_pause();
#else
  std::this_thread::yield();
#endif
}

/// What the calling thread has computed so far.
std::chrono::nanoseconds thread_cpu_time() {
  timespec time = {};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return std::chrono::seconds(time.tv_sec) + std::chrono::nanoseconds(time.tv_nsec);
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
    for (int i = 1; i < threads; ++i) {
      workers_.emplace_back([this, i] { work(i); });
    }
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
  TESSERA_CHECK_LT(chunks, static_cast<int64_t>(kClosed));
  // The loop before is closed, so nobody can have a chunk of it who reads what follows.
  body_.store(&body, std::memory_order_release);
  chunks_.store(chunks, std::memory_order_release);
  chunks_left_.store(chunks, std::memory_order_relaxed);
  const Ticket loop = (ticket_.load(std::memory_order_relaxed) >> 32) + 1;
  owner_core_.store(sched_getcpu(), std::memory_order_relaxed);
  // seq_cst on ticket_ and sleepers_: either the worker sees the new loop before it sleeps, or we see the sleeper and
  // wake it.
  ticket_.store(loop << 32);
  if (sleepers_.load() > 0) {
    { const std::lock_guard lock(mutex_); }
    wake_.notify_all();
  }
  take_chunks(0);
  wait_for_chunks();
  ticket_.store(loop << 32 | kClosed, std::memory_order_release);
}

void ThreadPool::take_chunks(int thread) {
  Ticket ticket = ticket_.load(std::memory_order_acquire);
  for (;;) {
    const auto chunk = static_cast<int64_t>(ticket & kClosed);
    const int64_t chunks = chunks_.load(std::memory_order_acquire);
    const auto* const body = body_.load(std::memory_order_acquire);
    if (chunk >= chunks) return;
    if (!ticket_.compare_exchange_weak(ticket, ticket + 1, std::memory_order_acq_rel)) continue;
    (*body)(chunk, thread);
    if (chunks_left_.fetch_sub(1) == 1 && thread != 0) chunks_left_.notify_one();
    ticket = ticket_.load(std::memory_order_acquire);
  }
}

/// Until the chunks that others took are done. Asleep where that takes long: the system takes time that a thread spins
/// away from it later, and all of its turn where it yields.
void ThreadPool::wait_for_chunks() {
  if (spin_until([this] { return chunks_left_.load(std::memory_order_acquire) == 0; })) return;
  for (int64_t left; (left = chunks_left_.load(std::memory_order_acquire)) != 0;) chunks_left_.wait(left);
}

/// Whether the calling worker runs where the owner ran when it began its newest loop.
bool ThreadPool::beside_owner() const { return sched_getcpu() == owner_core_.load(std::memory_order_relaxed); }

void ThreadPool::work(int thread) {
  Ticket seen = 0;                                             // the loop
  Clock::duration rest = {};                                   // the newest
  Clock::time_point rested = {}, begin = Clock::now();         // when it ends; the window's begin
  Clock::duration asleep = {}, cpu_begin = thread_cpu_time();  // of the window
  for (;;) {
    const auto started = [&] { return stop_.load() || ticket_.load() >> 32 != seen; };
    const bool beside = beside_owner();  // the owner goes on only if this thread sleeps
    if (beside ? !started() : !spin_until(started)) {
      const auto sleep_begin = Clock::now();
      std::unique_lock lock(mutex_);
      ++sleepers_;
      wake_.wait(lock, started);
      --sleepers_;
      const auto slept = Clock::now() - sleep_begin;
      if (!beside || slept > kSpinTime) asleep += slept;  // else it would have spun, on a core of its own
    }
    if (stop_) return;
    seen = ticket_.load() >> 32;
    take_chunks(thread);

    const auto now = Clock::now();
    const auto awake = now - begin - asleep;
    if (awake < kWindow) continue;
    const auto without_core = awake - (thread_cpu_time() - cpu_begin);
    begin = now;
    if (without_core * kWorth > awake) {
      rest = std::clamp<Clock::duration>(now - rested < 3 * rest ? 2 * rest : kFirstRest, kFirstRest, kLongestRest);
      rested = now + rest;
      std::unique_lock lock(mutex_);
      wake_.wait_until(lock, rested, [&] { return stop_.load(); });
      begin = Clock::now();
    }
    asleep = {};
    cpu_begin = thread_cpu_time();
  }
}

int default_thread_count() {
  cpu_set_t set;
  const int cores = sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set)
                                                                : static_cast<int>(std::thread::hardware_concurrency());
  return std::clamp(cores_of_quota(), 1, std::max(cores, 1));
}

}  // namespace tessera
