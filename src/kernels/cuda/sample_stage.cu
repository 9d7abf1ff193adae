#include "device/cuda.h"
#include "kernels/cuda/sample.h"
#include "kernels/ptx/griddepcontrol.cuh"

namespace tessera::kernels::cuda {
namespace {

constexpr int kThreads = 256;
constexpr unsigned kCopyBlocks = 32;  // enough for a bus; most steps copy one page
constexpr int kHistoryThreads = 1024;

__global__ void __launch_bounds__(kThreads) copy_tables(const __grid_constant__ StageSampleTablesArgs args) {
  ptx::griddepcontrol_wait();
  ptx::griddepcontrol_launch_dependents();
  const auto* header = reinterpret_cast<const SampleHeader*>(args.from);
  const int32_t rows = __ldcg(&header->rows);
  const uint32_t pool_words = __ldcg(&header->pool_words);
  const auto first = static_cast<int>(blockIdx.x) * kThreads + static_cast<int>(threadIdx.x);
  const auto copy = [&](size_t offset, int64_t words) {
    const auto* from = reinterpret_cast<const uint32_t*>(args.from + offset);
    auto* to = reinterpret_cast<uint32_t*>(args.to + offset);
    for (int64_t i = first; i < words; i += int64_t{kThreads} * gridDim.x) to[i] = __ldcg(from + i);
  };
  copy(0, static_cast<int64_t>((sizeof(SampleHeader) + sizeof(SampleEntry) * static_cast<size_t>(rows)) / 4));
  copy(args.capacity.pool_offset(), pool_words);
}

/// f(word, shift) with the 32-bit word that holds a token's count, and where in it.
template <typename F>
__device__ void for_tokens(const SetHistoryArgs& args, const int32_t* tokens, int64_t count, F&& f) {
  auto* words = reinterpret_cast<uint32_t*>(args.counts);
  for (int64_t i = threadIdx.x; i < count; i += kHistoryThreads) {
    const int32_t token = __ldcg(tokens + i);
    if (token < 0 || token >= args.vocab) continue;
    const int64_t at = args.slot * args.vocab + token;
    f(words + at / 2, static_cast<int>(at % 2) * 16);
  }
}

/// By one thread block: the row is cleared before it is written to. 32-bit atomics leave the other half of a word,
/// which may be another slot's, as it is.
__global__ void __launch_bounds__(kHistoryThreads) write_history(const __grid_constant__ SetHistoryArgs args) {
  ptx::griddepcontrol_wait();
  ptx::griddepcontrol_launch_dependents();
  uint16_t* counts = args.counts + args.slot * args.vocab;
  if (!args.adds) {
    for (int64_t i = threadIdx.x; i < args.vocab; i += kHistoryThreads) counts[i] = 0;
  }
  __syncthreads();
  for_tokens(args, args.prompt, args.prompt_tokens,
             [](uint32_t* word, int shift) { atomicOr(word, 0x8000U << shift); });
  for_tokens(args, args.output, args.output_tokens, [](uint32_t* word, int shift) {
    uint32_t old = __ldcg(word), seen = 0;
    do {
      seen = old;
      if ((seen >> shift & 0x7fffU) == 0x7fffU) return;
      old = atomicCAS(word, seen, seen + (1U << shift));
    } while (old != seen);
  });
}

}  // namespace

Status stage_sample_tables(const StageSampleTablesArgs& args, const device::Queue& queue) {
  if (args.from == nullptr || args.to == nullptr || reinterpret_cast<uintptr_t>(args.from) % 16 != 0 ||
      reinterpret_cast<uintptr_t>(args.to) % 16 != 0) {
    return {StatusCode::invalid_argument, "sample tables need two memories aligned to 16 bytes"};
  }
  return device::launch(copy_tables, queue, kCopyBlocks, kThreads, 0, args);
}

Status set_history(const SetHistoryArgs& args, const device::Queue& queue) {
  if (args.counts == nullptr || args.vocab < 1 || args.slot < 0 || args.prompt_tokens < 0 || args.output_tokens < 0 ||
      (args.prompt_tokens > 0 && args.prompt == nullptr) || (args.output_tokens > 0 && args.output == nullptr)) {
    return {StatusCode::invalid_argument, "a history of " + std::to_string(args.prompt_tokens) + " and " +
                                              std::to_string(args.output_tokens) + " tokens for slot " +
                                              std::to_string(args.slot) + " of vocab " + std::to_string(args.vocab) +
                                              " needs counts and tokens"};
  }
  return device::launch(write_history, queue, 1, kHistoryThreads, 0, args);
}

}  // namespace tessera::kernels::cuda
