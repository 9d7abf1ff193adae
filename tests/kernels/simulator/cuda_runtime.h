#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <deque>
#include <functional>
#include <set>
#include <utility>
#include <vector>

#include "kernels/simulator/block.h"

// As much of the CUDA language and runtime as the kernels and their host code use, on the simulator. It stands in
// <cuda_runtime.h>'s place on the include path, so that the sources are compiled as they are.

// ---- the language ----

#define __device__
#define __global__
#define __host__
#define __noinline__
#define __shared__ static  // one block runs at a time
#define __grid_constant__
#define __launch_bounds__(...)
#define __align__(bytes) __attribute__((aligned(bytes)))

struct uint3 {
  unsigned x, y, z;
};
struct alignas(8) uint2 {
  unsigned x, y;
};
struct alignas(16) uint4 {
  unsigned x, y, z, w;
};
struct alignas(16) int4 {
  int x, y, z, w;
};
struct alignas(8) float2 {
  float x, y;
};
struct alignas(16) float4 {
  float x, y, z, w;
};
struct dim3 {
  unsigned x, y, z;
  // NOLINTNEXTLINE(google-explicit-constructor): as CUDA's
  constexpr dim3(unsigned x_ = 1, unsigned y_ = 1, unsigned z_ = 1) : x(x_), y(y_), z(z_) {}
};
extern uint3 threadIdx, blockIdx;
extern dim3 blockDim, gridDim;

inline int min(int a, int b) { return a < b ? a : b; }
inline int max(int a, int b) { return a > b ? a : b; }
inline uint32_t max(uint32_t a, uint32_t b) { return a > b ? a : b; }

inline void __syncthreads() { tessera::simulator::block_barrier(0, tessera::simulator::block_threads()); }
inline int __syncthreads_or(int value) {
  static int any;
  __syncthreads();  // the last one's result has been read
  if (threadIdx.x == 0) any = 0;
  __syncthreads();
  if (value != 0) any = 1;
  __syncthreads();
  return any;
}
inline void __syncwarp() { tessera::simulator::exchange("__syncwarp", "", 1); }
inline void __threadfence() {}
inline void __threadfence_system() {}

// ---- arithmetic, spelt ----

inline float __fmul_rn(float a, float b) { return a * b; }
inline float __fadd_rn(float a, float b) { return a + b; }
inline float __fsub_rn(float a, float b) { return a - b; }
inline float __fdiv_rn(float a, float b) { return a / b; }
inline float __fsqrt_rn(float a) { return std::sqrt(a); }
inline float __fmaf_rn(float a, float b, float c) { return std::fma(a, b, c); }
inline uint32_t __float_as_uint(float x) { return std::bit_cast<uint32_t>(x); }
inline float __uint_as_float(uint32_t x) { return std::bit_cast<float>(x); }
inline int __popc(uint32_t x) { return std::popcount(x); }
inline int __ffs(int x) { return x == 0 ? 0 : 1 + std::countr_zero(static_cast<unsigned>(x)); }
inline int __clzll(long long x) { return std::countl_zero(static_cast<unsigned long long>(x)); }
inline uint32_t __funnelshift_r(uint32_t low, uint32_t high, uint32_t by) {
  return static_cast<uint32_t>((uint64_t{high} << 32 | low) >> (by & 31U));
}
inline uint32_t __funnelshift_l(uint32_t low, uint32_t high, uint32_t by) {
  return static_cast<uint32_t>((uint64_t{high} << 32 | low) << (by & 31U) >> 32);
}
inline uint32_t __byte_perm(uint32_t x, uint32_t y, uint32_t selector) {
  uint32_t result = 0;
  for (unsigned i = 0; i < 4; ++i) {
    const uint32_t from = selector >> (4 * i) & 7U;
    result |= ((uint64_t{y} << 32 | x) >> (8 * from) & 0xffU) << (8 * i);
  }
  return result;
}
inline int __dp4a(int a, int b, int sum) {
  for (int i = 0; i < 4; ++i) sum += static_cast<int8_t>(a >> (8 * i)) * static_cast<int8_t>(b >> (8 * i));
  return sum;
}

// ---- memory ----

template <typename T>
T __ldcg(const T* p) {
  tessera::simulator::check_global(p, sizeof(T));
  return *p;
}
template <typename T>
void __stcg(T* p, T value) {
  tessera::simulator::check_global(p, sizeof(T));
  *p = value;
}
inline int32_t atomicAdd(int32_t* p, int32_t value) {
  tessera::simulator::check_global(p, sizeof *p);
  return std::exchange(*p, *p + value);
}
inline int32_t atomicMin(int32_t* p, int32_t value) {
  tessera::simulator::check_global(p, sizeof *p);
  return std::exchange(*p, std::min(*p, value));
}
inline uint32_t atomicOr(uint32_t* p, uint32_t value) { return std::exchange(*p, *p | value); }
inline uint32_t atomicAdd(uint32_t* p, uint32_t value) { return std::exchange(*p, *p + value); }
inline unsigned long long atomicAdd(unsigned long long* p, unsigned long long value) {
  return std::exchange(*p, *p + value);
}
inline uint32_t atomicInc(uint32_t* p, uint32_t last) { return std::exchange(*p, *p >= last ? 0 : *p + 1); }
inline uint32_t atomicCAS(uint32_t* p, uint32_t expected, uint32_t value) {
  return std::exchange(*p, *p == expected ? value : *p);
}

// ---- a warp ----

namespace tessera::simulator {
/// What lane `lane` brought to the exchange.
template <typename T>
T of_lane(const std::byte* slots, int lane) {
  T value;
  std::memcpy(&value, slots + static_cast<size_t>(lane) * kExchangeBytes, sizeof value);
  return value;
}
inline void check_mask(uint32_t mask) {
  if (mask != 0xffffffffU) fail("a warp operation with the mask %#x", mask);
}
template <typename T, typename From>
T shuffle(const char* what, uint32_t mask, T value, From&& from) {
  check_mask(mask);
  const int lane = static_cast<int>(threadIdx.x) % 32;
  const std::byte* slots = exchange(what, &value, sizeof value);
  const int source = from(lane);
  return source < 0 || source > 31 ? value : of_lane<T>(slots, source);
}
template <typename T, typename Combine>
T reduce(const char* what, uint32_t mask, T value, Combine&& combine) {
  check_mask(mask);
  const std::byte* slots = exchange(what, &value, sizeof value);
  T result = of_lane<T>(slots, 0);
  for (int i = 1; i < 32; ++i) result = combine(result, of_lane<T>(slots, i));
  return result;
}
}  // namespace tessera::simulator

template <typename T>
T __shfl_sync(uint32_t mask, T value, int source) {
  return tessera::simulator::shuffle("__shfl_sync", mask, value, [&](int) { return source & 31; });
}
template <typename T>
T __shfl_up_sync(uint32_t mask, T value, int by) {
  return tessera::simulator::shuffle("__shfl_up_sync", mask, value, [&](int lane) { return lane - by; });
}
template <typename T>
T __shfl_down_sync(uint32_t mask, T value, int by) {
  return tessera::simulator::shuffle("__shfl_down_sync", mask, value, [&](int lane) { return lane + by; });
}
template <typename T>
T __shfl_xor_sync(uint32_t mask, T value, int by) {
  return tessera::simulator::shuffle("__shfl_xor_sync", mask, value, [&](int lane) { return lane ^ by; });
}
template <typename T>
T __reduce_max_sync(uint32_t mask, T value) {
  return tessera::simulator::reduce("__reduce_max_sync", mask, value, [](T a, T b) { return a > b ? a : b; });
}
template <typename T>
T __reduce_min_sync(uint32_t mask, T value) {
  return tessera::simulator::reduce("__reduce_min_sync", mask, value, [](T a, T b) { return a < b ? a : b; });
}
inline int __any_sync(uint32_t mask, int value) {
  return tessera::simulator::reduce("__any_sync", mask, value, [](int a, int b) { return a | b; });
}

inline uint32_t __ballot_sync(uint32_t mask, bool value) {
  const uint32_t bit = value ? 1U << (threadIdx.x % 32) : 0U;
  return tessera::simulator::reduce("__ballot_sync", mask, bit, [](uint32_t a, uint32_t b) { return a | b; });
}

// ---- the runtime ----

enum cudaError_t {
  cudaSuccess = 0,
  cudaErrorInvalidValue = 1,
  cudaErrorMemoryAllocation = 2,
  cudaErrorInvalidPitchValue = 12,
  cudaErrorInsufficientDriver = 35,
  cudaErrorDevicesUnavailable = 46,
  cudaErrorInvalidDeviceFunction = 98,
  cudaErrorNoDevice = 100,
  cudaErrorInvalidDevice = 101,
  cudaErrorNoKernelImageForDevice = 209,
  cudaErrorNotReady = 600,
  cudaErrorPeerAccessAlreadyEnabled = 704,
  cudaErrorLaunchFailure = 719
};
enum cudaMemcpyKind { cudaMemcpyHostToDevice, cudaMemcpyDeviceToHost };
enum cudaStreamCaptureStatus { cudaStreamCaptureStatusNone, cudaStreamCaptureStatusActive };
enum cudaFuncAttribute { cudaFuncAttributeMaxDynamicSharedMemorySize };
enum cudaLaunchAttributeID { cudaLaunchAttributeProgrammaticStreamSerialization };
enum cudaStreamCaptureMode { cudaStreamCaptureModeThreadLocal };
inline constexpr unsigned cudaStreamNonBlocking = 1;

/// Work of a stream is done at once, or kept while the stream is being captured; or, where streams are late, when the
/// host waits for it, a piece each time it asks.
struct CapturedLaunches {
  std::vector<std::function<void()>> launches;
  size_t bytes = 0;  // that it takes while it runs
};
using cudaGraph_t = CapturedLaunches*;
using cudaGraphExec_t = CapturedLaunches*;
struct SimulatedStream {
  cudaGraph_t capturing = nullptr;
  std::deque<std::function<void()>> late = {};
  uint64_t done = 0;  // of what was late
};
using cudaStream_t = SimulatedStream*;
struct SimulatedEvent {
  cudaStream_t stream = nullptr;
  uint64_t at = 0;
};
using cudaEvent_t = SimulatedEvent*;

namespace tessera::simulator {

/// What tests make of the machine.
struct Machine {
  bool late_streams = false;
  int gpus = 1;
  size_t free_bytes = size_t{1} << 35;           // of a GPU's memory
  cudaError_t kernels = cudaSuccess;             // what the question for a kernel ends with
  cudaError_t last = cudaSuccess;                // cudaGetLastError's
  cudaError_t asked = cudaSuccess;               // what the host hears that asks for a stream's state
  bool peers = true;                             // GPUs may write each other's memory
  cudaError_t peers_enabled = cudaSuccess;       // what the permission to ends with
  cudaError_t peer_copied = cudaSuccess;         // what a copy ends with at once
  std::function<void(void*, size_t)> peer_copy;  // what becomes of the bytes that have arrived
};
inline Machine machine;
inline std::set<cudaStream_t> streams;

/// Does a piece of what is late; false: there is none.
inline bool go_on(cudaStream_t stream) {
  if (stream == nullptr || stream->late.empty()) return false;
  const auto next = std::move(stream->late.front());
  stream->late.pop_front();
  next();
  ++stream->done;
  return true;
}
inline void finish(cudaStream_t stream) {
  while (go_on(stream)) {
  }
}
inline cudaError_t enqueue(cudaStream_t stream, std::function<void()> work) {
  if (stream != nullptr && stream->capturing != nullptr) {
    stream->capturing->launches.push_back(std::move(work));
  } else if (stream != nullptr && machine.late_streams) {
    stream->late.push_back(std::move(work));
  } else {
    work();
  }
  return cudaSuccess;
}

}  // namespace tessera::simulator

inline constexpr cudaStream_t cudaStreamPerThread = nullptr;
struct cudaFuncAttributes {};

/// Small, of the newest kind that kernels are for.
struct cudaDeviceProp {
  char name[256] = "simulated";
  int major = 12, minor = 0, multiProcessorCount = 4, l2CacheSize = 1 << 20;
  size_t sharedMemPerBlockOptin = 101376, sharedMemPerMultiprocessor = 102400, totalGlobalMem = size_t{1} << 36;
};

struct cudaLaunchAttribute {
  cudaLaunchAttributeID id;
  struct {
    int programmaticStreamSerializationAllowed;
  } val;
};
struct cudaLaunchConfig_t {
  dim3 gridDim, blockDim;
  size_t dynamicSmemBytes = 0;
  cudaStream_t stream = nullptr;
  cudaLaunchAttribute* attrs = nullptr;
  unsigned numAttrs = 0;
};

inline const char* cudaGetErrorString(cudaError_t) { return "no error"; }
inline const char* cudaGetErrorName(cudaError_t) { return "cudaSuccess"; }
inline cudaError_t cudaGetLastError() { return std::exchange(tessera::simulator::machine.last, cudaSuccess); }
inline cudaError_t cudaPeekAtLastError() { return tessera::simulator::machine.last; }
inline cudaError_t cudaSetDevice(int device) {
  return device < tessera::simulator::machine.gpus ? cudaSuccess : cudaErrorInvalidDevice;
}
inline cudaError_t cudaGetDeviceCount(int* count) { return *count = tessera::simulator::machine.gpus, cudaSuccess; }
inline cudaError_t cudaGetDeviceProperties(cudaDeviceProp* p, int) { return *p = {}, cudaSuccess; }
inline cudaError_t cudaDeviceGetPCIBusId(char* id, int bytes, int) {
  return std::strncpy(id, "00000000:19:00.0", static_cast<size_t>(bytes)), cudaSuccess;
}
template <typename Kernel>
cudaError_t cudaFuncGetAttributes(cudaFuncAttributes*, Kernel*) {
  return tessera::simulator::machine.last = tessera::simulator::machine.kernels;
}
inline cudaError_t cudaMemGetInfo(size_t* free_bytes, size_t* bytes) {
  *bytes = cudaDeviceProp{}.totalGlobalMem;
  return *free_bytes = tessera::simulator::machine.free_bytes, cudaSuccess;
}
inline cudaError_t cudaDriverGetVersion(int* version) { return *version = 0, cudaSuccess; }
inline cudaError_t cudaRuntimeGetVersion(int* version) { return *version = 0, cudaSuccess; }
inline cudaError_t cudaMalloc(void** p, size_t bytes) {
  if (bytes > tessera::simulator::machine.free_bytes) return cudaErrorMemoryAllocation;
  return *p = tessera::simulator::allocate(bytes), cudaSuccess;
}
inline cudaError_t cudaDeviceSynchronize() {
  for (cudaStream_t stream : tessera::simulator::streams) tessera::simulator::finish(stream);
  return cudaSuccess;
}
inline cudaError_t cudaFree(void* p) {
  cudaDeviceSynchronize();
  return tessera::simulator::release(p), cudaSuccess;
}
inline constexpr unsigned cudaHostAllocDefault = 0, cudaHostAllocPortable = 1, cudaHostAllocMapped = 2;
inline cudaError_t cudaHostAlloc(void** p, size_t bytes, unsigned) {
  return *p = tessera::simulator::allocate(bytes, 4096), cudaSuccess;
}
inline cudaError_t cudaFreeHost(void* p) { return cudaFree(p); }
inline cudaError_t cudaHostGetDevicePointer(void** device, void* p, unsigned) { return *device = p, cudaSuccess; }
inline cudaError_t cudaMemset(void* p, int value, size_t bytes) { return std::memset(p, value, bytes), cudaSuccess; }
inline cudaError_t cudaMemcpy(void* to, const void* from, size_t bytes, cudaMemcpyKind) {
  if (bytes > 0) std::memcpy(to, from, bytes);
  return cudaSuccess;
}
inline cudaError_t cudaMemsetAsync(void* p, int value, size_t bytes, cudaStream_t stream) {
  return tessera::simulator::enqueue(stream, [=] { cudaMemset(p, value, bytes); });
}
inline cudaError_t cudaMemcpyAsync(void* to, const void* from, size_t bytes, cudaMemcpyKind kind, cudaStream_t stream) {
  return tessera::simulator::enqueue(stream, [=] { cudaMemcpy(to, from, bytes, kind); });
}
inline cudaError_t cudaMemcpy2DAsync(void* to, size_t to_pitch, const void* from, size_t from_pitch, size_t width,
                                     size_t rows, cudaMemcpyKind kind, cudaStream_t stream) {
  if (width > to_pitch || width > from_pitch) return cudaErrorInvalidPitchValue;
  return tessera::simulator::enqueue(stream, [=] {
    for (size_t row = 0; row < rows; ++row) {
      cudaMemcpy(static_cast<char*>(to) + row * to_pitch, static_cast<const char*>(from) + row * from_pitch, width,
                 kind);
    }
  });
}
inline cudaError_t cudaDeviceCanAccessPeer(int* can, int, int) {
  return *can = tessera::simulator::machine.peers ? 1 : 0, cudaSuccess;
}
inline cudaError_t cudaDeviceEnablePeerAccess(int, unsigned) { return tessera::simulator::machine.peers_enabled; }
inline cudaError_t cudaMemcpyPeerAsync(void* to, int, const void* from, int, size_t bytes, cudaStream_t stream) {
  if (tessera::simulator::machine.peer_copied != cudaSuccess) return tessera::simulator::machine.peer_copied;
  return tessera::simulator::enqueue(stream, [=] {
    std::memcpy(to, from, bytes);
    if (tessera::simulator::machine.peer_copy) tessera::simulator::machine.peer_copy(to, bytes);
  });
}
inline cudaError_t cudaStreamCreate(cudaStream_t* s) {
  tessera::simulator::streams.insert(*s = new SimulatedStream);
  return cudaSuccess;
}
inline cudaError_t cudaStreamCreateWithFlags(cudaStream_t* s, unsigned) { return cudaStreamCreate(s); }
inline cudaError_t cudaStreamSynchronize(cudaStream_t s) { return tessera::simulator::finish(s), cudaSuccess; }
inline cudaError_t cudaStreamDestroy(cudaStream_t s) {
  cudaStreamSynchronize(s);
  tessera::simulator::streams.erase(s);
  return delete s, cudaSuccess;
}
inline cudaError_t cudaStreamQuery(cudaStream_t s) {
  if (tessera::simulator::machine.asked != cudaSuccess) return tessera::simulator::machine.asked;
  return tessera::simulator::go_on(s) ? cudaErrorNotReady : cudaSuccess;
}
inline constexpr unsigned cudaEventDisableTiming = 2;
inline cudaError_t cudaEventCreate(cudaEvent_t* e) { return *e = new SimulatedEvent, cudaSuccess; }
inline cudaError_t cudaEventCreateWithFlags(cudaEvent_t* e, unsigned) { return cudaEventCreate(e); }
inline cudaError_t cudaEventRecord(cudaEvent_t e, cudaStream_t s) {
  return *e = {s, s == nullptr ? 0 : s->done + s->late.size()}, cudaSuccess;
}
inline cudaError_t cudaEventQuery(cudaEvent_t e) {
  if (tessera::simulator::machine.asked != cudaSuccess) return tessera::simulator::machine.asked;
  if (e->stream == nullptr || e->stream->done >= e->at) return cudaSuccess;
  return tessera::simulator::go_on(e->stream), cudaErrorNotReady;
}
inline cudaError_t cudaEventSynchronize(cudaEvent_t e) {
  while (cudaEventQuery(e) == cudaErrorNotReady) {
  }
  return cudaSuccess;
}
inline cudaError_t cudaEventElapsedTime(float* milliseconds, cudaEvent_t, cudaEvent_t) {
  return *milliseconds = 1, cudaSuccess;
}
inline cudaError_t cudaEventDestroy(cudaEvent_t e) { return delete e, cudaSuccess; }
inline cudaError_t cudaStreamBeginCapture(cudaStream_t s, cudaStreamCaptureMode) {
  return s->capturing = new CapturedLaunches, cudaSuccess;
}
inline cudaError_t cudaStreamEndCapture(cudaStream_t s, cudaGraph_t* graph) {
  return *graph = std::exchange(s->capturing, nullptr), cudaSuccess;
}
inline cudaError_t cudaStreamIsCapturing(cudaStream_t s, cudaStreamCaptureStatus* status) {
  *status = s->capturing == nullptr ? cudaStreamCaptureStatusNone : cudaStreamCaptureStatusActive;
  return cudaSuccess;
}
inline cudaError_t cudaGraphInstantiate(cudaGraphExec_t* exec, cudaGraph_t graph, unsigned) {
  return *exec = new CapturedLaunches(*graph), cudaSuccess;
}
inline cudaError_t cudaMallocAsync(void**, size_t bytes, cudaStream_t s) {
  return s->capturing->bytes += bytes, cudaSuccess;
}
inline cudaError_t cudaFreeAsync(void*, cudaStream_t) { return cudaSuccess; }
inline cudaError_t cudaDeviceGraphMemTrim(int) { return cudaSuccess; }
inline cudaError_t cudaGraphUpload(cudaGraphExec_t exec, cudaStream_t) {
  return exec->bytes > tessera::simulator::machine.free_bytes ? cudaErrorMemoryAllocation : cudaSuccess;
}
inline cudaError_t cudaGraphLaunch(cudaGraphExec_t exec, cudaStream_t stream) {
  for (const auto& launch : exec->launches) tessera::simulator::enqueue(stream, launch);
  return cudaSuccess;
}
inline cudaError_t cudaGraphDestroy(cudaGraph_t graph) { return delete graph, cudaSuccess; }
inline cudaError_t cudaGraphExecDestroy(cudaGraphExec_t exec) { return delete exec, cudaSuccess; }
inline cudaError_t cudaFuncSetAttribute(const void*, cudaFuncAttribute, int) { return cudaSuccess; }

template <typename... Parameters, typename... Arguments>
cudaError_t cudaLaunchKernelEx(const cudaLaunchConfig_t* config, void (*kernel)(Parameters...),
                               Arguments&&... arguments) {
  const dim3 grid = config->gridDim, threads = config->blockDim;
  const size_t smem_bytes = config->dynamicSmemBytes;
  const bool dependent = config->numAttrs > 0;  // programmaticStreamSerialization is the only attribute
  const auto launch = [=] {
    tessera::simulator::run_grid({grid.x, grid.y, grid.z}, {threads.x, threads.y, threads.z}, smem_bytes, dependent,
                                 [&] { kernel(arguments...); });
  };
  return tessera::simulator::enqueue(config->stream, launch);
}
