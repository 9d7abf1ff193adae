#pragma once

#include <cstddef>
#include <vector>

#include "base/aligned_buffer.h"
#include "base/thread_pool.h"
#include "kernels/comm.h"

namespace tessera::kernels {

/// Where BF16 rounding happens is part of the model's definition; each operation documents its rounding points.
/// `bf16` applies them, `f32` leaves every one out and serves as the oracle. On the CPU, activations are held as
/// fp32 in both modes; in bf16 mode every stored value is representable in BF16.
enum class Compute { bf16, f32 };

/// Scratch memory that operations borrow and give back in stack order. It grows to the largest step seen and is
/// kept, so that a warm engine allocates nothing.
class Workspace {
 public:
  /// Everything taken through a Frame is given back when it goes out of scope. Frames nest.
  class Frame {
   public:
    explicit Frame(Workspace& workspace) : workspace_(workspace), chunk_(workspace.chunk_), used_(workspace.used_) {}
    ~Frame() {
      workspace_.chunk_ = chunk_;
      workspace_.used_ = used_;
    }
    Frame(const Frame&) = delete;
    Frame& operator=(const Frame&) = delete;

    /// Uninitialised, 64-byte aligned.
    template <typename T>
    T* take(size_t count) {
      return reinterpret_cast<T*>(workspace_.take_bytes(count * sizeof(T)));
    }

   private:
    Workspace& workspace_;
    size_t chunk_, used_;
  };

 private:
  std::byte* take_bytes(size_t bytes);

  std::vector<AlignedBuffer<std::byte>> chunks_;
  size_t chunk_ = 0;  // chunk being filled
  size_t used_ = 0;   // bytes used of it
};

/// What every operation needs besides its arguments. One per engine; used by one thread at a time.
struct Context {
  Compute compute = Compute::bf16;
  ThreadPool* pool = nullptr;
  Workspace* workspace = nullptr;
  Comm* comm = nullptr;  // of this rank; null: there is one
};

}  // namespace tessera::kernels
