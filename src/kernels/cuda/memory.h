#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/check.h"
#include "device/cuda.h"

namespace tessera::kernels::cuda {

/// No device memory lies from here on: addresses of a pass that is planned and not run.
inline constexpr uintptr_t kNowhere = uintptr_t{1} << 60;
inline cudaError_t free_device_memory(void* memory) {
  return reinterpret_cast<uintptr_t>(memory) >= kNowhere ? cudaSuccess : cudaFree(memory);
}

/// Device memory of a known size.
struct DeviceBuffer {
  device::Handle<void*, free_device_memory> memory;
  size_t bytes = 0;

  /// `fill` 0: zeros. Waits for the device.
  static Expected<DeviceBuffer> create(size_t bytes, int fill = 0);
  /// Addresses without memory, of no other buffer.
  static DeviceBuffer nowhere(size_t bytes);
  /// Of any content, without waiting.
  static Expected<DeviceBuffer> allocate(size_t bytes);

  template <typename T>
  [[nodiscard]] T* as(size_t offset_bytes = 0) const {
    return reinterpret_cast<T*>(static_cast<std::byte*>(memory.get()) + offset_bytes);
  }
};

/// Host memory that the GPU reads and writes through a mapping.
struct MappedBuffer {
  device::Handle<void*, cudaFreeHost> memory;
  size_t bytes = 0;
  std::byte* device = nullptr;  // the same bytes, as kernels address them

  static Expected<MappedBuffer> create(size_t bytes);
  [[nodiscard]] std::byte* host() const { return static_cast<std::byte*>(memory.get()); }
};

/// Scratch memory of a pass, borrowed by operations in stack order. It grows while a pass is warmed up. Once it
/// is frozen its addresses are in graphs and it should be large enough; a step that needs more waits for more.
class Arena {
 public:
  /// Everything taken through a Frame is given back when it goes out of scope. Frames nest.
  class Frame {
   public:
    explicit Frame(Arena& arena) : arena_(arena), chunk_(arena.chunk_), used_(arena.used_) {}
    ~Frame() {
      arena_.chunk_ = chunk_;
      arena_.used_ = used_;
    }
    Frame(const Frame&) = delete;
    Frame& operator=(const Frame&) = delete;

    /// Aligned to 256 bytes; zeros, or what other operations left.
    template <typename T>
    Expected<T*> take(int64_t count) {
      TESSERA_ASSIGN_OR_RETURN(std::byte* const bytes, arena_.take(static_cast<size_t>(count) * sizeof(T)));
      return reinterpret_cast<T*>(bytes);
    }

   private:
    Arena& arena_;
    size_t chunk_, used_;
  };

  void freeze() { frozen_ = true; }
  /// From now on takes addresses without memory.
  void move_nowhere() { nowhere_ = true; }
  [[nodiscard]] bool frozen() const { return frozen_; }
  [[nodiscard]] size_t bytes() const;

 private:
  Expected<std::byte*> take(size_t bytes);

  std::vector<DeviceBuffer> chunks_;
  size_t chunk_ = 0;  // chunk being filled
  size_t used_ = 0;   // bytes used of it
  bool frozen_ = false;
  bool nowhere_ = false;
};

}  // namespace tessera::kernels::cuda
