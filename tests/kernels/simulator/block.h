#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>

// Runs a CUDA kernel's source on the CPU, block by block, to find what is wrong with it before a GPU does. Every thread
// of a block is a coroutine with a stack of its own; which one goes on is drawn at random whenever one waits. What the
// hardware does asynchronously happens late: a copy's destination holds garbage from the moment it is issued until the
// copy lands, at a random time, in random order. A missing barrier therefore gives wrong results here more reliably
// than on a GPU, a wait that nobody ends is reported as such, and a failure repeats with its seed
// (TESSERA_SIMULATOR_SEED).
//
// What it does not model: caches and memory order between blocks (they run one after another, in random order), the
// bits of the matrix and approximate instructions, time. Grids run one after another too; of the rule for programmatic
// dependent launch (kernels/cuda/step_tables.h) it checks that no block ends before one of its threads has waited, and
// that a thread waits before it triggers, unless it says that it is early.
namespace tessera::simulator {

struct Dim {
  unsigned x = 1, y = 1, z = 1;
};

/// Runs `kernel` as each thread of a one-dimensional block, in each block of the grid. Not reentrant. dependent: it is
/// launched to start early, so that its blocks must wait.
/// Prints what is wrong and aborts the process when the kernel breaks a rule.
void run_grid(Dim grid, Dim block, size_t smem_bytes, bool dependent, const std::function<void()>& kernel);

/// Prints the message with the thread and block that are running, and aborts.
[[noreturn]] void fail(const char* format, ...) __attribute__((format(printf, 1, 2)));

// ---- for what a running thread calls ----

/// griddepcontrol.wait and griddepcontrol.launch_dependents.
void wait_for_grids();
void trigger_dependents();

/// Goes on when `ready` says so; `what` is printed if that never happens.
void wait_until(const char* what, const std::function<bool()>& ready);

/// All 32 threads of the warp give `bytes` each, at most 64; returns their places, kExchangeBytes apart. All of them
/// must do the same `operation`. What is returned holds until the warp's next exchange but one.
inline constexpr size_t kExchangeBytes = 64;
const std::byte* exchange(const char* operation, const void* mine, size_t bytes);

/// Waits for `threads` threads of the block at barrier `id`.
void block_barrier(int id, int threads);
int block_threads();

/// Dynamic shared memory as kernels address it: offsets from shared_base, checked.
inline constexpr uint32_t kSharedBase = 4096;
std::byte* shared_memory(uint32_t address, size_t bytes);
uint32_t shared_address(const void* p);

/// mbarriers, kept beside the memory they stand in, which must not be written meanwhile.
void mbarrier_init(uint32_t barrier, uint32_t arrivals);
void mbarrier_arrive(uint32_t barrier, uint32_t expect_bytes);
void mbarrier_wait_parity(uint32_t barrier, uint32_t parity);

/// Copies that land later. zero: zeros instead of the source, which is then not read.
void copy_later(uint32_t shared_to, const void* from, uint32_t bytes, bool zero);
void copy_later_to_barrier(uint32_t shared_to, const void* from, uint32_t bytes, uint32_t barrier);
/// Arrives when this thread's copies so far have landed.
void arrive_after_copies(uint32_t barrier);
/// This thread's copies since the last call are a group; all but the last `pending_groups` of its groups have landed.
void commit_copies();
void wait_for_copies(int pending_groups);

/// Global memory that copies may read.
void* allocate(size_t bytes, size_t alignment = 256);
void release(void* p);
void check_global(const void* p, size_t bytes);

}  // namespace tessera::simulator
