#include "device/peer_copy.h"

#include <chrono>
#include <cstdint>
#include <memory>
#include <random>
#include <thread>

#include "device/cuda.h"

namespace tessera::device {
namespace {

constexpr std::chrono::seconds kArrivalMax{5};
constexpr int kTimedCopies = 3;  // after one that is not

/// What a pair needs; given up, not given back, where the copy hangs.
struct Buffers {
  DeviceMemory source, target;
  Stream stream;
  Event begin, end;
};

std::vector<uint32_t> noise(size_t bytes, int seed) {
  std::mt19937 random(static_cast<unsigned>(seed));
  std::vector<uint32_t> words(bytes / sizeof(uint32_t));
  for (uint32_t& word : words) word = static_cast<uint32_t>(random());
  return words;
}

Status allocate(const PeerCopy& pair, size_t bytes, Buffers& buffers) {
  TESSERA_CUDA_RETURN_IF_ERROR(cudaSetDevice(pair.to));
  TESSERA_CUDA_RETURN_IF_ERROR(cudaMalloc(buffers.target.fill(), bytes));
  TESSERA_CUDA_RETURN_IF_ERROR(cudaMemset(buffers.target.get(), 0, bytes));
  TESSERA_CUDA_RETURN_IF_ERROR(cudaDeviceSynchronize());
  TESSERA_CUDA_RETURN_IF_ERROR(cudaSetDevice(pair.from));
  TESSERA_CUDA_RETURN_IF_ERROR(cudaMalloc(buffers.source.fill(), bytes));
  TESSERA_CUDA_RETURN_IF_ERROR(cudaStreamCreateWithFlags(buffers.stream.fill(), cudaStreamNonBlocking));
  TESSERA_CUDA_RETURN_IF_ERROR(cudaEventCreate(buffers.begin.fill()));
  TESSERA_CUDA_RETURN_IF_ERROR(cudaEventCreate(buffers.end.fill()));
  return {};
}

Status enable(const PeerCopy& pair) {
  const cudaError_t code = cudaDeviceEnablePeerAccess(pair.to, 0);
  if (code == cudaErrorPeerAccessAlreadyEnabled) {
    (void)cudaGetLastError();  // not an error of what comes next
    return {};
  }
  return cuda_status(code, "cudaDeviceEnablePeerAccess");
}

/// Whether the event comes to pass in time.
Expected<bool> arrives(cudaEvent_t event) {
  const auto deadline = std::chrono::steady_clock::now() + kArrivalMax;
  for (;;) {
    const cudaError_t code = cudaEventQuery(event);
    if (code == cudaSuccess) return true;
    if (code != cudaErrorNotReady) return cuda_status(code, "cudaEventQuery");
    if (std::chrono::steady_clock::now() > deadline) return false;
    std::this_thread::sleep_for(std::chrono::microseconds(50));
  }
}

Status copy(PeerCopy& pair, size_t bytes, Buffers& buffers) {
  TESSERA_RETURN_IF_ERROR(allocate(pair, bytes, buffers));
  if (pair.direct) TESSERA_RETURN_IF_ERROR(enable(pair));
  const std::vector<uint32_t> sent = noise(bytes, pair.from * 1000 + pair.to);
  TESSERA_CUDA_RETURN_IF_ERROR(
      cudaMemcpy(buffers.source.get(), sent.data(), sent.size() * sizeof(uint32_t), cudaMemcpyHostToDevice));
  for (int i = 0; i <= kTimedCopies; ++i) {
    if (i == 1) TESSERA_CUDA_RETURN_IF_ERROR(cudaEventRecord(buffers.begin.get(), buffers.stream.get()));
    TESSERA_CUDA_RETURN_IF_ERROR(cudaMemcpyPeerAsync(buffers.target.get(), pair.to, buffers.source.get(), pair.from,
                                                     bytes, buffers.stream.get()));
  }
  TESSERA_CUDA_RETURN_IF_ERROR(cudaEventRecord(buffers.end.get(), buffers.stream.get()));
  TESSERA_ASSIGN_OR_RETURN(const bool arrived, arrives(buffers.end.get()));
  if (!arrived) {
    pair.result = PeerCopy::Result::hangs;
    return {};
  }
  float milliseconds = 0;
  TESSERA_CUDA_RETURN_IF_ERROR(cudaEventElapsedTime(&milliseconds, buffers.begin.get(), buffers.end.get()));
  pair.bytes_per_second = kTimedCopies * static_cast<double>(bytes) / (milliseconds * 1e-3);
  std::vector<uint32_t> received(sent.size());
  TESSERA_CUDA_RETURN_IF_ERROR(cudaSetDevice(pair.to));
  TESSERA_CUDA_RETURN_IF_ERROR(
      cudaMemcpy(received.data(), buffers.target.get(), received.size() * sizeof(uint32_t), cudaMemcpyDeviceToHost));
  pair.result = received == sent ? PeerCopy::Result::equal : PeerCopy::Result::differs;
  return {};
}

}  // namespace

Expected<std::vector<PeerCopy>> try_peer_copies(size_t bytes) {
  int count = 0;
  TESSERA_CUDA_RETURN_IF_ERROR(cudaGetDeviceCount(&count));
  std::vector<PeerCopy> pairs;
  for (int from = 0; from < count; ++from) {
    for (int to = 0; to < count; ++to) {
      if (from == to) continue;
      PeerCopy& pair = pairs.emplace_back(PeerCopy{.from = from, .to = to, .error = {}});
      int can = 0;
      TESSERA_CUDA_RETURN_IF_ERROR(cudaDeviceCanAccessPeer(&can, from, to));
      pair.direct = can != 0;
      auto buffers = std::make_unique<Buffers>();
      const Status status = copy(pair, bytes, *buffers);
      if (!status.ok()) pair.error = status.message();
      if (pair.result != PeerCopy::Result::hangs) continue;
      (void)buffers.release();
      return pairs;
    }
  }
  return pairs;
}

}  // namespace tessera::device
