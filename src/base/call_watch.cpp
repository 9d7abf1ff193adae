#include "base/call_watch.h"

#include <signal.h>

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

namespace tessera {
namespace {

// The watcher looks this often in a limit. It counts looks, not time: while the program is stopped, neither the calls
// nor the looks go on.
constexpr int kLooks = 10;

/// What one thread is doing. Written by that thread alone.
struct Slot {
  std::atomic<const char*> call{nullptr};
  std::atomic<uint64_t> entered{0};  // watched calls so far; with call != nullptr, the last is under way
  int depth = 0;
  uint64_t thread = 0;  // its number: the memory of a thread that has ended may become another's
};

struct Watcher {
  std::mutex mutex;
  std::condition_variable changed;
  std::vector<const Slot*> slots;  // of living threads
  uint64_t threads = 0;            // so far
  std::chrono::milliseconds limit{0};
  OnHang on_hang = nullptr;
  uint64_t settings = 0;  // how often limit and on_hang were set
  bool started = false;
};

/// Never destroyed: threads may end after main has.
Watcher& watcher() {
  static auto* const one = new Watcher;
  return *one;
}

/// How often in a row a thread was seen in the same call.
struct Seen {
  uint64_t thread = 0;
  uint64_t entered = 0;
  int looks = 0;
};

/// The call of a thread that has been in it for kLooks looks; nullptr if there is none.
const char* hanging_call(const std::vector<const Slot*>& slots, std::vector<Seen>& seen) {
  std::vector<Seen> now;
  const char* hanging = nullptr;
  for (const Slot* slot : slots) {
    const char* const call = slot->call.load(std::memory_order_acquire);
    if (call == nullptr) continue;
    Seen current{slot->thread, slot->entered.load(std::memory_order_acquire), 0};
    for (const Seen& before : seen) {
      if (before.thread == current.thread && before.entered == current.entered) current.looks = before.looks + 1;
    }
    if (current.looks >= kLooks) hanging = call;
    now.push_back(current);
  }
  seen = std::move(now);
  return hanging;
}

void watch(Watcher& w) {
  std::vector<Seen> seen;
  uint64_t settings = 0;  // that `seen` is of: looks under another limit say nothing
  std::unique_lock lock(w.mutex);
  for (;;) {
    w.changed.wait(lock, [&] { return w.on_hang != nullptr; });
    if (std::exchange(settings, w.settings) != w.settings) seen.clear();
    const auto between_looks = std::max(w.limit / kLooks, std::chrono::milliseconds(1));
    if (w.changed.wait_for(lock, between_looks, [&] { return w.settings != settings; })) continue;
    if (const char* const call = hanging_call(w.slots, seen)) {
      const OnHang on_hang = std::exchange(w.on_hang, nullptr);
      const auto limit = w.limit;
      lock.unlock();
      on_hang(call, limit);
      lock.lock();
    }
  }
}

/// With the lock. Signals are for the other threads.
void start(Watcher& w) {
  if (w.started || w.on_hang == nullptr) return;
  w.started = true;
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  try {
    std::thread([&w] { watch(w); }).detach();
  } catch (const std::system_error&) {  // there are no more threads: nothing is noticed
  }
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

/// The slot of a thread, listed while the thread lives.
struct ListedSlot {
  ListedSlot() {
    Watcher& w = watcher();
    const std::lock_guard lock(w.mutex);
    slot.thread = ++w.threads;
    w.slots.push_back(&slot);
    start(w);
  }
  ~ListedSlot() {
    Watcher& w = watcher();
    const std::lock_guard lock(w.mutex);
    std::erase(w.slots, &slot);
  }
  Slot slot;
};

Slot& own_slot() {
  thread_local ListedSlot listed;
  return listed.slot;
}

}  // namespace

WatchedCall::WatchedCall(const char* call) {
  Slot& slot = own_slot();
  if (slot.depth++ > 0) return;
  slot.entered.store(slot.entered.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
  slot.call.store(call, std::memory_order_release);
}

WatchedCall::~WatchedCall() {
  Slot& slot = own_slot();
  if (--slot.depth == 0) slot.call.store(nullptr, std::memory_order_release);
}

void watch_calls(std::chrono::milliseconds limit, OnHang on_hang) {
  Watcher& w = watcher();
  {
    const std::lock_guard lock(w.mutex);
    w.limit = limit;
    w.on_hang = on_hang;
    ++w.settings;
    if (!w.slots.empty()) start(w);
  }
  w.changed.notify_all();
}

}  // namespace tessera
