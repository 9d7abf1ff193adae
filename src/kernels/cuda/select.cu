#include "kernels/cuda/select.h"

#include <string>

#include "device/cuda.h"
#include "kernels/ptx/griddepcontrol.cuh"

namespace tessera::kernels::cuda {
namespace {

constexpr int kThreads = 64;
constexpr int kChunk = 8;       // elements: 16 bytes
constexpr int kRowsAtOnce = 8;  // of a thread, so that it seldom waits

/// A thread has a chunk of all rows, and goes through them upwards.
__global__ void __launch_bounds__(kThreads) move_rows(const __grid_constant__ SelectRowsArgs args) {
  ptx::griddepcontrol_wait();
  ptx::griddepcontrol_launch_dependents();
  const int64_t chunk = int64_t{blockIdx.x} * kThreads + threadIdx.x;
  const int rows = args.count;
  if (chunk >= args.columns / kChunk) return;
  uint16_t* x = args.x + chunk * kChunk;
  for (int first = 0; first < rows; first += kRowsAtOnce) {
    uint4 values[kRowsAtOnce];
#pragma unroll
    for (int i = 0; i < kRowsAtOnce; ++i) {
      if (first + i >= rows) continue;
      values[i] = __ldcg(reinterpret_cast<const uint4*>(x + __ldcg(args.rows + first + i) * args.columns));
    }
#pragma unroll
    for (int i = 0; i < kRowsAtOnce; ++i) {
      if (first + i < rows) *reinterpret_cast<uint4*>(x + (first + i) * args.columns) = values[i];
    }
  }
}

}  // namespace

Status select_rows(const SelectRowsArgs& args, const device::Queue& queue) {
  if (args.x == nullptr || args.rows == nullptr || reinterpret_cast<uintptr_t>(args.x) % 16 != 0 || args.columns <= 0 ||
      args.columns % kChunk != 0 || args.count < 0) {
    return {StatusCode::invalid_argument, "selecting " + std::to_string(args.count) + " rows of " +
                                              std::to_string(args.columns) +
                                              " columns needs rows aligned to 16 bytes, a multiple of 8 columns, and "
                                              "row numbers"};
  }
  if (args.count == 0) return {};
  const auto blocks = static_cast<unsigned>((args.columns / kChunk + kThreads - 1) / kThreads);
  return device::launch(move_rows, queue, blocks, kThreads, size_t{0}, args);
}

}  // namespace tessera::kernels::cuda
