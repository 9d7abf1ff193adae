#pragma once

#include <cuda_runtime.h>

#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "base/call_watch.h"
#include "base/propagate.h"
#include "device/symbol.h"

// CUDA plumbing for .cu files: errors, move-only handles, the one launch function.
namespace tessera::device {

/// resource_exhausted: no memory, already for a context, or another process has the GPU to itself; internal: all else.
inline Status cuda_status(cudaError_t code, const char* call) {
  if (code == cudaSuccess) return {};
  const bool taken = code == cudaErrorMemoryAllocation || code == cudaErrorDevicesUnavailable;
  return {taken ? StatusCode::resource_exhausted : StatusCode::internal,
          std::string(call) + " failed: " + cudaGetErrorString(code) + " (" + cudaGetErrorName(code) + ")"};
}

/// The same of a kernel's launch, with its name as far as the program's symbols tell it.
inline Status launch_status(cudaError_t code, const void* kernel) {
  if (code == cudaSuccess) return {};
  const std::string name = short_name(symbol_at(kernel), /*with_arguments=*/true);
  return cuda_status(code, ("the launch of " + (name.empty() ? "a kernel" : name)).c_str());
}

/// Makes a call into the driver, which may wait for a kernel for ever: who watches calls (base/call_watch.h) hears of
/// it. Returns the failed call, quoted, from the enclosing function.
#define TESSERA_CUDA_RETURN_IF_ERROR(call) \
  TESSERA_RETURN_IF_ERROR(((void)::tessera::WatchedCall(#call), ::tessera::device::cuda_status((call), #call)))

/// A CUDA object that is destroyed once: Handle<cudaStream_t, cudaStreamDestroy>.
template <typename T, auto destroy>
class Handle {
 public:
  Handle() = default;
  explicit Handle(T value) : value_(value) {}
  Handle(Handle&& other) noexcept : value_(std::exchange(other.value_, T{})) {}
  Handle& operator=(Handle&& other) noexcept {
    std::swap(value_, other.value_);
    return *this;
  }
  ~Handle() {
    if (value_ == T{}) return;
    const WatchedCall watched("giving back what is a GPU's");  // some of it waits for the kernels that run
    (void)destroy(value_);
  }
  [[nodiscard]] T get() const { return value_; }
  /// For create functions: the address to fill. What the handle held is destroyed.
  T* fill() {
    *this = Handle();
    return &value_;
  }

 private:
  T value_{};
};

using Stream = Handle<cudaStream_t, cudaStreamDestroy>;
using Event = Handle<cudaEvent_t, cudaEventDestroy>;
using DeviceMemory = Handle<void*, cudaFree>;

/// A launch that was written down.
struct PlannedLaunch {
  const void* kernel = nullptr;
  dim3 grid{1, 1, 1};
  dim3 block{1, 1, 1};
  size_t smem_bytes = 0;  // dynamic
};

/// Where a step's kernels go, one after another. Never the default stream.
struct Queue {
  cudaStream_t stream = nullptr;
  bool pdl = true;  // a kernel's blocks may start before the kernel before it has ended; changes no bit
  std::vector<PlannedLaunch>* plan = nullptr;  // not null: kernels are written down here and none is launched
};

/// How a kernel is launched. Never the default stream.
struct Launch {
  dim3 grid{1, 1, 1};
  dim3 block{1, 1, 1};
  size_t smem_bytes = 0;
  /// The kernel must call griddepcontrol.wait before it reads what the kernel before it writes.
  bool programmatic_dependent_launch = false;
  cudaStream_t stream = nullptr;
};

/// Held from a kernel's shared-memory opt-in to its launch: the opt-in is the kernel's, not the launch's, and another
/// thread's, of less, would come between.
inline std::mutex& opt_in_mutex() {
  static std::mutex mutex;
  return mutex;
}

/// The one way to launch: sets the shared-memory opt-in and PDL, and checks the result. From any thread.
template <typename... Parameters, typename... Arguments>
Status launch(void (*kernel)(Parameters...), const Launch& how, Arguments&&... arguments) {
  constexpr size_t kSmemWithoutOptIn = 48 * 1024;
  std::unique_lock opt_in(opt_in_mutex(), std::defer_lock);
  if (how.smem_bytes > kSmemWithoutOptIn) {
    opt_in.lock();
    TESSERA_CUDA_RETURN_IF_ERROR(cudaFuncSetAttribute(reinterpret_cast<const void*>(kernel),
                                                      cudaFuncAttributeMaxDynamicSharedMemorySize,
                                                      static_cast<int>(how.smem_bytes)));
  }
  cudaLaunchAttribute attribute{};
  attribute.id = cudaLaunchAttributeProgrammaticStreamSerialization;
  attribute.val.programmaticStreamSerializationAllowed = 1;
  cudaLaunchConfig_t config{};
  config.gridDim = how.grid;
  config.blockDim = how.block;
  config.dynamicSmemBytes = how.smem_bytes;
  config.stream = how.stream;
  config.attrs = &attribute;
  config.numAttrs = how.programmatic_dependent_launch ? 1 : 0;
  const WatchedCall watched("cudaLaunchKernelEx");  // waits where more launches are waiting than the driver queues
  return launch_status(cudaLaunchKernelEx(&config, kernel, std::forward<Arguments>(arguments)...),
                       reinterpret_cast<const void*>(kernel));
}

/// A kernel of a step. It is launched for programmatic dependent launch, so it must follow the rule of
/// kernels/cuda/step_tables.h.
template <typename... Parameters, typename... Arguments>
Status launch(void (*kernel)(Parameters...), const Queue& queue, dim3 grid, dim3 block, size_t smem_bytes,
              Arguments&&... arguments) {
  if (queue.plan != nullptr) {
    queue.plan->push_back({reinterpret_cast<const void*>(kernel), grid, block, smem_bytes});
    return {};
  }
  return launch(kernel,
                {.grid = grid,
                 .block = block,
                 .smem_bytes = smem_bytes,
                 .programmatic_dependent_launch = queue.pdl,
                 .stream = queue.stream},
                std::forward<Arguments>(arguments)...);
}

}  // namespace tessera::device
