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
// A worker that keeps the others waiting for so long has lost its core; systems take cores for 1 to 10 ms.
constexpr auto kStall = std::chrono::microseconds(300);
// Threads that wait for each other and share their cores with other programs get less of them than one thread would: a
// worker has to work for more than it keeps the others waiting.
constexpr int kWorth = 2;
constexpr auto kFirstRest = std::chrono::milliseconds(20);
constexpr auto kLongestRest = std::chrono::milliseconds(640);

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
    for (int i = 1; i < threads; ++i) {
      workers_.push_back(std::make_unique<Worker>());
      workers_.back()->thread = std::thread([this, i] { work(i); });
    }
  } catch (const std::system_error&) {
    workers_.pop_back();  // has no thread
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
  for (auto& worker : workers_) worker->thread.join();
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
  // seq_cst on ticket_ and sleepers_: either the worker sees the new loop before it sleeps, or we see the sleeper and
  // wake it.
  ticket_.store(loop << 32);
  if (sleepers_.load() > 0) {
    { const std::lock_guard lock(mutex_); }
    wake_.notify_all();
  }
  take_chunks(0, nullptr);
  wait_for_chunks();
  ticket_.store(loop << 32 | kClosed, std::memory_order_release);
}

void ThreadPool::take_chunks(int thread, std::atomic<bool>* has_chunk) {
  Ticket ticket = ticket_.load(std::memory_order_acquire);
  for (;;) {
    const auto chunk = static_cast<int64_t>(ticket & kClosed);
    const int64_t chunks = chunks_.load(std::memory_order_acquire);
    const auto* const body = body_.load(std::memory_order_acquire);
    if (chunk >= chunks) return;
    if (!ticket_.compare_exchange_weak(ticket, ticket + 1, std::memory_order_acq_rel)) continue;
    if (has_chunk != nullptr) has_chunk->store(true, std::memory_order_relaxed);
    (*body)(chunk, thread);
    if (has_chunk != nullptr) has_chunk->store(false, std::memory_order_relaxed);
    chunks_left_.fetch_sub(1, std::memory_order_release);
    ticket = ticket_.load(std::memory_order_acquire);
  }
}

/// Until the chunks that others took are done.
void ThreadPool::wait_for_chunks() {
  const auto done = [this] { return chunks_left_.load(std::memory_order_acquire) == 0; };
  if (done()) return;
  const auto begin = Clock::now();
  Worker* stalled = nullptr;
  while (!spin_until(done)) {
    for (size_t i = 0; i < workers_.size() && stalled == nullptr && Clock::now() - begin > kStall; ++i) {
      if (workers_[i]->has_chunk.load(std::memory_order_relaxed)) stalled = workers_[i].get();
    }
    std::this_thread::yield();
  }
  if (stalled != nullptr) {
    stalled->kept_waiting.fetch_add((Clock::now() - begin).count(), std::memory_order_relaxed);
  }
}

/// After a loop in which the worker was kept from its core, or one soon after. What it computes, the owner need not.
void ThreadPool::rest_if_not_worth_it(Worker& worker, Clock::time_point now) {
  const Clock::duration waited{worker.kept_waiting.exchange(0, std::memory_order_relaxed)};
  worker.worked -= waited;  // it had a chunk then, and no core
  worker.waited += waited;
  const bool worth_it = worker.waited * kWorth < worker.worked;
  if (worth_it) {
    worker.worked /= 2;
    worker.waited /= 2;
    return;
  }
  const bool again = now - worker.since < 3 * worker.rest;
  worker.rest = std::clamp<Clock::duration>(again ? 2 * worker.rest : kFirstRest, kFirstRest, kLongestRest);
  worker.worked = worker.waited = {};
  worker.since = now + worker.rest;
  std::unique_lock lock(mutex_);
  wake_.wait_until(lock, worker.since, [&] { return stop_.load(); });
}

void ThreadPool::work(int thread) {
  Worker& worker = *workers_[static_cast<size_t>(thread - 1)];
  Ticket seen = 0;  // the loop
  for (;;) {
    const auto started = [&] { return stop_.load() || ticket_.load() >> 32 != seen; };
    if (!spin_until(started)) {
      std::unique_lock lock(mutex_);
      ++sleepers_;
      wake_.wait(lock, started);
      --sleepers_;
    }
    if (stop_) return;
    seen = ticket_.load() >> 32;
    const auto begin = Clock::now();
    take_chunks(thread, &worker.has_chunk);
    const auto end = Clock::now();
    worker.worked += end - begin;
    if (worker.kept_waiting.load(std::memory_order_relaxed) > 0) rest_if_not_worth_it(worker, end);
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
