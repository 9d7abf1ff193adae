#include "kernels/simulator/block.h"

#include <algorithm>
#include <csetjmp>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <memory>
#include <random>
#include <vector>

#include <ucontext.h>

#include "kernels/simulator/cuda_runtime.h"

uint3 threadIdx, blockIdx;
dim3 blockDim, gridDim;

namespace tessera::simulator {
namespace {

constexpr size_t kStackBytes = 128 << 10;
constexpr int kWarp = 32;
constexpr int kBarrierIds = 16;
constexpr auto kGarbage = std::byte{0xcd};
// One thread in so many falls asleep after its turn, alone or with its warp, and others overtake it by up to this many
// turns: a race needs one thread to be far behind, not all of them to be out of step.
constexpr unsigned kSleepsAlone = 256, kSleepsInWarp = 2048, kTurnsAsleep = 64;
constexpr uint64_t kBarrierMark = 0x6d62617272696572;  // stands where an mbarrier is

alignas(128) std::byte smem[1 << 18];  // dynamic shared memory, and what must stay as it is

/// What is looked at in every turn, of all lanes side by side.
struct Turn {
  bool done = false;
  int asleep = 0;                                // turns that it leaves out
  const uint64_t* counter = nullptr;             // it waits for this to be above...
  uint64_t above = 0;                            // ...this
  const std::function<bool()>* ready = nullptr;  // or for this. Both null: it may run

  [[nodiscard]] bool may_run() const { return counter != nullptr ? *counter > above : ready == nullptr || (*ready)(); }
};

struct Lane {
  std::unique_ptr<std::byte[]> stack = std::make_unique_for_overwrite<std::byte[]>(kStackBytes);
  ucontext_t start;
  jmp_buf context;
  bool started = false;
  bool waited = false;  // for the grids before this one
  const char* waits_for = nullptr;
  uint64_t exchanges = 0;
  int64_t copy_groups = 0;            // committed
  std::vector<int> copies_under_way;  // of each group
  int64_t groups_landed = 0;          // from the first one on
  uint64_t barrier_phase[kBarrierIds] = {};
};

struct Warp {
  uint64_t complete = 0;  // exchanges
  int arrived[2] = {};
  const char* operation[2] = {};
  alignas(16) std::byte slots[2][kWarp][kExchangeBytes];
};

struct NamedBarrier {
  int arrived = 0;
  uint64_t phase = 0;
};

struct MBarrier {
  uint32_t expected = 0, pending = 0;
  int64_t bytes = 0;  // announced and not landed
  uint32_t phase = 0;
};

struct Later {
  int lane = 0;
  bool is_arrival = false;
  int64_t group = 0;  // of the lane's copies
  uint32_t to = 0, bytes = 0;
  const void* from = nullptr;  // null: zeros
  uint32_t barrier = 0;        // 0: none
};

struct Block {
  std::vector<Lane> lanes;  // stacks are kept from block to block
  std::vector<Turn> turns;  // [threads]
  int running = 0;          // threads that are not done
  int threads = 0;
  std::vector<Warp> warps;
  NamedBarrier barriers[kBarrierIds];
  std::map<uint32_t, MBarrier> mbarriers;
  std::vector<Later> later;
  size_t smem_bytes = 0;
  const std::function<void()>* kernel = nullptr;
  bool dependent = false;
  int current = -1;
  jmp_buf scheduler;
  std::mt19937 random{[] {
    const char* seed = std::getenv("TESSERA_SIMULATOR_SEED");
    return seed != nullptr ? static_cast<uint32_t>(std::strtoul(seed, nullptr, 10)) : 1U;
  }()};
};

Block block;
std::map<const std::byte*, size_t> allocations;

void enter_lane() {
  (*block.kernel)();
  block.turns[static_cast<size_t>(block.current)].done = true;
  --block.running;
  _longjmp(block.scheduler, 1);
}

void run_lane(int index) {
  Lane& lane = block.lanes[static_cast<size_t>(index)];
  block.current = index;
  threadIdx = {static_cast<unsigned>(index), 0, 0};
  if (_setjmp(block.scheduler) != 0) return;
  if (lane.started) _longjmp(lane.context, 1);
  lane.started = true;
  setcontext(&lane.start);
}

MBarrier& find_mbarrier(uint32_t address) {
  const auto found = block.mbarriers.find(address);
  if (found == block.mbarriers.end()) fail("no mbarrier was initialised at shared address %u", address);
  uint64_t mark = 0;
  std::memcpy(&mark, shared_memory(address, sizeof mark), sizeof mark);
  if (mark != kBarrierMark) fail("the mbarrier at shared address %u was overwritten", address);
  return found->second;
}

void complete_if_due(MBarrier& barrier) {
  if (barrier.pending != 0 || barrier.bytes != 0) return;
  barrier.phase ^= 1;
  barrier.pending = barrier.expected;
}

void arrive(uint32_t address) {
  MBarrier& barrier = find_mbarrier(address);
  if (barrier.pending == 0) fail("more arrivals at the mbarrier %u than it was initialised for", address);
  --barrier.pending;
  complete_if_due(barrier);
}

bool may_land(size_t index) {
  const Later& l = block.later[index];
  if (!l.is_arrival) return true;
  for (size_t i = 0; i < index; ++i) {
    if (block.later[i].lane == l.lane && !block.later[i].is_arrival && block.later[i].barrier == 0) return false;
  }
  return true;
}

/// Lands one of the copies at random; false if there is none.
bool land_one() {
  if (block.later.empty()) return false;
  size_t index = block.random() % block.later.size();
  while (!may_land(index)) index = (index + 1) % block.later.size();
  const Later l = block.later[index];
  block.later.erase(block.later.begin() + static_cast<std::ptrdiff_t>(index));
  if (l.is_arrival) {
    arrive(l.barrier);
    return true;
  }
  if (l.barrier == 0) --block.lanes[static_cast<size_t>(l.lane)].copies_under_way[static_cast<size_t>(l.group)];
  std::byte* to = shared_memory(l.to, l.bytes);
  if (l.from != nullptr) {
    std::memcpy(to, l.from, l.bytes);
  } else {
    std::memset(to, 0, l.bytes);
  }
  if (l.barrier != 0) {
    MBarrier& barrier = find_mbarrier(l.barrier);
    barrier.bytes -= l.bytes;
    if (barrier.bytes < 0) fail("more bytes landed at the mbarrier %u than were announced", l.barrier);
    complete_if_due(barrier);
  }
  return true;
}

void fall_asleep(int index) {
  const auto turns = static_cast<int>(block.random() % kTurnsAsleep);
  if (block.random() % kSleepsAlone == 0) block.turns[static_cast<size_t>(index)].asleep = turns;
  if (block.random() % kSleepsInWarp != 0) return;
  const int first = index / kWarp * kWarp;
  for (int i = first; i < std::min(first + kWarp, block.threads); ++i) {
    block.turns[static_cast<size_t>(i)].asleep = turns;
  }
}

/// One turn of every lane that may run, from a random one on. False if none could.
bool run_some() {
  int index = static_cast<int>(block.random() % static_cast<unsigned>(block.threads));
  bool ran = false;
  for (int i = 0; i < block.threads; ++i, ++index) {
    if (index == block.threads) index = 0;
    Turn& turn = block.turns[static_cast<size_t>(index)];
    if (turn.done) continue;
    if (turn.asleep > 0) {
      --turn.asleep;
      ran = true;
      continue;
    }
    if (!turn.may_run()) continue;
    ran = true;
    run_lane(index);
    fall_asleep(index);
    if (block.random() % 8 == 0) land_one();
  }
  return ran;
}

void start_block(size_t smem_bytes) {
  block.warps.assign(static_cast<size_t>((block.threads + kWarp - 1) / kWarp), {});
  for (NamedBarrier& barrier : block.barriers) barrier = {};
  block.mbarriers.clear();
  block.smem_bytes = smem_bytes;
  std::memset(smem, static_cast<int>(kGarbage), sizeof smem);
  if (block.lanes.size() < static_cast<size_t>(block.threads)) {
    block.lanes = std::vector<Lane>(static_cast<size_t>(block.threads));
  }
  block.turns.assign(static_cast<size_t>(block.threads), {});
  block.running = block.threads;
  for (int i = 0; i < block.threads; ++i) {
    Lane& lane = block.lanes[static_cast<size_t>(i)];
    lane.started = lane.waited = false;
    lane.exchanges = 0;
    lane.copy_groups = lane.groups_landed = 0;
    lane.copies_under_way.assign(1, 0);
    std::memset(lane.barrier_phase, 0, sizeof lane.barrier_phase);
    getcontext(&lane.start);
    lane.start.uc_stack = {lane.stack.get(), 0, kStackBytes};
    lane.start.uc_link = nullptr;
    makecontext(&lane.start, enter_lane, 0);
  }
}

void finish_block() {
  if (!block.later.empty()) fail("the block ended with %zu copies under way", block.later.size());
  const bool waited = std::any_of(block.lanes.begin(), block.lanes.begin() + block.threads,
                                  [](const Lane& lane) { return lane.waited; });
  if (block.dependent && !waited) fail("the block ended without griddepcontrol.wait");
  for (size_t i = block.smem_bytes; i < sizeof smem; ++i) {
    if (smem[i] != kGarbage)
      fail("shared memory was written at %zu, beyond the block's %zu bytes", i, block.smem_bytes);
  }
}

[[noreturn]] void fail_waiting() {
  std::map<std::string, int> waits;
  for (int i = 0; i < block.threads; ++i) {
    const auto lane = static_cast<size_t>(i);
    if (!block.turns[lane].done) ++waits[block.lanes[lane].waits_for];
  }
  for (const auto& [what, threads] : waits)
    std::fprintf(stderr, "simulator: %d threads wait for %s\n", threads, what.c_str());
  fail("no thread of the block can go on");
}

/// The current lane goes on when its turn says that it may.
void wait(const char* what) {
  const auto current = static_cast<size_t>(block.current);
  block.lanes[current].waits_for = what;
  while (!block.turns[current].may_run()) {
    if (_setjmp(block.lanes[current].context) == 0) _longjmp(block.scheduler, 1);
  }
  block.turns[current].counter = nullptr;
  block.turns[current].ready = nullptr;
}

void wait_above(const char* what, const uint64_t& counter, uint64_t above) {
  Turn& turn = block.turns[static_cast<size_t>(block.current)];
  turn.counter = &counter;
  turn.above = above;
  wait(what);
}

}  // namespace

void fail(const char* format, ...) {
  std::fprintf(stderr, "simulator: block (%u, %u, %u), thread %d: ", blockIdx.x, blockIdx.y, blockIdx.z, block.current);
  va_list arguments;
  va_start(arguments, format);
  std::vfprintf(stderr, format, arguments);
  va_end(arguments);
  std::fprintf(stderr, "\n");
  std::abort();
}

void run_grid(Dim grid, Dim threads, size_t smem_bytes, bool dependent, const std::function<void()>& kernel) {
  if (threads.y != 1 || threads.z != 1) fail("blocks here are one row of threads");
  if (smem_bytes > sizeof smem / 2) fail("%zu bytes of shared memory", smem_bytes);
  gridDim = {grid.x, grid.y, grid.z};
  blockDim = {threads.x, 1, 1};
  block.threads = static_cast<int>(threads.x);
  block.kernel = &kernel;
  block.dependent = dependent;
  std::vector<uint64_t> order;
  for (uint64_t i = 0; i < uint64_t{grid.x} * grid.y * grid.z; ++i) order.push_back(i);
  std::shuffle(order.begin(), order.end(), block.random);
  for (const uint64_t i : order) {
    blockIdx = {static_cast<unsigned>(i % grid.x), static_cast<unsigned>(i / grid.x % grid.y),
                static_cast<unsigned>(i / grid.x / grid.y)};
    start_block(smem_bytes);
    while (block.running > 0) {
      if (!run_some() && !land_one()) fail_waiting();
    }
    finish_block();
  }
}

void wait_for_grids() { block.lanes[static_cast<size_t>(block.current)].waited = true; }

void trigger_dependents() {
  if (!block.lanes[static_cast<size_t>(block.current)].waited) {
    fail("griddepcontrol.launch_dependents before the thread's griddepcontrol.wait");
  }
}

void wait_until(const char* what, const std::function<bool()>& ready) {
  block.turns[static_cast<size_t>(block.current)].ready = &ready;
  wait(what);
}

const std::byte* exchange(const char* operation, const void* mine, size_t bytes) {
  Lane& lane = block.lanes[static_cast<size_t>(block.current)];
  Warp& warp = block.warps[static_cast<size_t>(block.current / kWarp)];
  const uint64_t number = lane.exchanges++;
  const size_t side = number % 2;
  if (warp.arrived[side] == 0) warp.operation[side] = operation;
  if (std::strcmp(warp.operation[side], operation) != 0) {
    fail("%s, where other threads of the warp are at %s", operation, warp.operation[side]);
  }
  std::memcpy(warp.slots[side][block.current % kWarp], mine, bytes);
  if (++warp.arrived[side] == kWarp) {
    warp.arrived[side] = 0;
    warp.complete = number + 1;
  } else {
    wait_above(operation, warp.complete, number);
  }
  return &warp.slots[side][0][0];
}

int block_threads() { return block.threads; }

void block_barrier(int id, int threads) {
  Lane& lane = block.lanes[static_cast<size_t>(block.current)];
  NamedBarrier& barrier = block.barriers[id];
  const uint64_t mine = lane.barrier_phase[id]++;
  if (++barrier.arrived == threads) {
    barrier.arrived = 0;
    ++barrier.phase;
  } else {
    wait_above(id == 0 ? "__syncthreads" : "a named barrier", barrier.phase, mine);
  }
}

std::byte* shared_memory(uint32_t address, size_t bytes) {
  if (address < kSharedBase || address - kSharedBase + bytes > block.smem_bytes) {
    fail("shared address %u with %zu bytes, of a block that has %zu from %u on", address, bytes, block.smem_bytes,
         kSharedBase);
  }
  return smem + (address - kSharedBase);
}

uint32_t shared_address(const void* p) {
  const auto offset = static_cast<const std::byte*>(p) - smem;
  if (offset < 0 || static_cast<size_t>(offset) > block.smem_bytes) fail("not an address of dynamic shared memory");
  return kSharedBase + static_cast<uint32_t>(offset);
}

void mbarrier_init(uint32_t barrier, uint32_t arrivals) {
  if (barrier % 8 != 0) fail("an mbarrier at %u, which is no multiple of 8", barrier);
  std::memcpy(shared_memory(barrier, 8), &kBarrierMark, 8);
  block.mbarriers[barrier] = {.expected = arrivals, .pending = arrivals};
}

void mbarrier_arrive(uint32_t barrier, uint32_t expect_bytes) {
  find_mbarrier(barrier).bytes += expect_bytes;
  arrive(barrier);
}

void mbarrier_wait_parity(uint32_t barrier, uint32_t parity) {
  const MBarrier& b = find_mbarrier(barrier);
  wait_until("an mbarrier", [&] { return b.phase != parity; });
}

void copy_later(uint32_t shared_to, const void* from, uint32_t bytes, bool zero) {
  if (!zero) check_global(from, bytes);
  std::memset(shared_memory(shared_to, bytes), static_cast<int>(kGarbage), bytes);
  Lane& lane = block.lanes[static_cast<size_t>(block.current)];
  ++lane.copies_under_way.back();
  block.later.push_back({.lane = block.current,
                         .group = lane.copy_groups,
                         .to = shared_to,
                         .bytes = bytes,
                         .from = zero ? nullptr : from});
}

void copy_later_to_barrier(uint32_t shared_to, const void* from, uint32_t bytes, uint32_t barrier) {
  if (bytes % 16 != 0 || shared_to % 16 != 0 || reinterpret_cast<uintptr_t>(from) % 16 != 0) {
    fail("a bulk copy of %u bytes from %p to %u: all must be multiples of 16", bytes, from, shared_to);
  }
  check_global(from, bytes);
  std::memset(shared_memory(shared_to, bytes), static_cast<int>(kGarbage), bytes);
  block.later.push_back({.lane = block.current, .to = shared_to, .bytes = bytes, .from = from, .barrier = barrier});
}

void arrive_after_copies(uint32_t barrier) {
  block.later.push_back({.lane = block.current, .is_arrival = true, .barrier = barrier});
}

void commit_copies() {
  Lane& lane = block.lanes[static_cast<size_t>(block.current)];
  ++lane.copy_groups;
  lane.copies_under_way.push_back(0);
}

void wait_for_copies(int pending_groups) {
  Lane& lane = block.lanes[static_cast<size_t>(block.current)];
  const int64_t end = lane.copy_groups - pending_groups;
  wait_until("its copies", [&lane, end] {
    while (lane.groups_landed < end && lane.copies_under_way[static_cast<size_t>(lane.groups_landed)] == 0) {
      ++lane.groups_landed;
    }
    return lane.groups_landed >= end;
  });
}

void* allocate(size_t bytes, size_t alignment) {
  auto* p = static_cast<std::byte*>(std::aligned_alloc(alignment, (bytes + alignment - 1) / alignment * alignment));
  // Of what is too large to be anything but room between what is used, the beginning.
  std::memset(p, static_cast<int>(kGarbage), std::min(bytes, size_t{1} << 28));
  allocations[p] = bytes;
  return p;
}

void release(void* p) {
  allocations.erase(static_cast<std::byte*>(p));
  std::free(p);
}

void check_global(const void* p, size_t bytes) {
  const auto* begin = static_cast<const std::byte*>(p);
  auto found = allocations.upper_bound(begin);
  if (found != allocations.begin() && (--found, begin + bytes <= found->first + found->second)) return;
  fail("%zu bytes of global memory at %p, which no allocation holds", bytes, p);
}

}  // namespace tessera::simulator
