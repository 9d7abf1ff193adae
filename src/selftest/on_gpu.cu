#include "selftest/on_gpu.h"

#include <algorithm>
#include <cstring>

#include "device/cuda.h"
#include "kernels/cuda/quantize.h"
#include "kernels/cuda/route.h"
#include "kernels/fp4_activation.h"
#include "kernels/ptx/mma_fp4.cuh"

namespace tessera::kernels::cuda {
namespace {

constexpr int kWarp = 32;

__global__ void say_native(int* native) { *native = TESSERA_NATIVE_FP4_MMA; }

/// One warp a block.
template <ptx::ScaleVec vec, int byte_a, int thread_a, int byte_b, int thread_b>
__global__ void multiply_fragments(const cpu::Fp4Lane* lanes, float4* results, bool emulated) {
  const size_t i = static_cast<size_t>(blockIdx.x) * kWarp + threadIdx.x;
  const auto* words = reinterpret_cast<const uint32_t*>(lanes + i);
  static_assert(sizeof(cpu::Fp4Lane) == 12 * sizeof(uint32_t));
  const uint4 a{words[0], words[1], words[2], words[3]};
  const uint2 b{words[4], words[5]};
  float4 d{__uint_as_float(words[6]), __uint_as_float(words[7]), __uint_as_float(words[8]), __uint_as_float(words[9])};
  if (emulated) {
    ptx::mma_fp4_emulated<vec, byte_a, thread_a, byte_b, thread_b>(d, a, b, words[10], words[11]);
  } else {
    ptx::mma_fp4<vec, byte_a, thread_a, byte_b, thread_b>(d, a, b, words[10], words[11]);
  }
  results[i] = d;
}

using FragmentKernel = void (*)(const cpu::Fp4Lane*, float4*, bool);

template <ptx::ScaleVec vec, int byte_a, int thread_a, int byte_b>
FragmentKernel pick_thread_b(int thread_b) {
  switch (thread_b) {
    case 0: return multiply_fragments<vec, byte_a, thread_a, byte_b, 0>;
    case 1: return multiply_fragments<vec, byte_a, thread_a, byte_b, 1>;
    case 2: return multiply_fragments<vec, byte_a, thread_a, byte_b, 2>;
    case 3: return multiply_fragments<vec, byte_a, thread_a, byte_b, 3>;
    default: return nullptr;
  }
}

template <ptx::ScaleVec vec, int byte_a, int byte_b>
FragmentKernel pick_threads(const cpu::Fp4Selectors& s) {
  if (s.thread_a == 0) return pick_thread_b<vec, byte_a, 0, byte_b>(s.thread_b);
  return s.thread_a == 1 ? pick_thread_b<vec, byte_a, 1, byte_b>(s.thread_b) : nullptr;
}

FragmentKernel pick_kernel(WeightFormat format, const cpu::Fp4Selectors& s) {
  if (format == WeightFormat::nvfp4) {
    return s.byte_a == 0 && s.byte_b == 0 ? pick_threads<ptx::ScaleVec::x4_ue4m3, 0, 0>(s) : nullptr;
  }
  constexpr auto kVec = ptx::ScaleVec::x2_ue8m0;
  if (s.byte_a == 0 && s.byte_b == 0) return pick_threads<kVec, 0, 0>(s);
  if (s.byte_a == 0 && s.byte_b == 2) return pick_threads<kVec, 0, 2>(s);
  if (s.byte_a == 2 && s.byte_b == 0) return pick_threads<kVec, 2, 0>(s);
  return s.byte_a == 2 && s.byte_b == 2 ? pick_threads<kVec, 2, 2>(s) : nullptr;
}

/// Device memory filled with 0xff, so that what is read without having been written is NaN.
template <typename T>
Status allocate(device::DeviceMemory& memory, size_t count, const device::Stream& stream, T*& pointer) {
  const size_t bytes = std::max<size_t>(count * sizeof(T), 16);
  TESSERA_CUDA_RETURN_IF_ERROR(cudaMalloc(memory.fill(), bytes));
  TESSERA_CUDA_RETURN_IF_ERROR(cudaMemsetAsync(memory.get(), 0xff, bytes, stream.get()));
  pointer = static_cast<T*>(memory.get());
  return {};
}

template <typename T>
Status upload(device::DeviceMemory& memory, std::span<const T> from, const device::Stream& stream, const T*& pointer) {
  T* to = nullptr;
  TESSERA_RETURN_IF_ERROR(allocate(memory, from.size(), stream, to));
  pointer = to;
  if (from.empty()) return {};
  TESSERA_CUDA_RETURN_IF_ERROR(
      cudaMemcpyAsync(to, from.data(), from.size_bytes(), cudaMemcpyHostToDevice, stream.get()));
  return {};
}

/// Waits for what the stream still has to do.
template <typename T>
Status download(const T* from, std::span<T> to, const device::Stream& stream) {
  TESSERA_CUDA_RETURN_IF_ERROR(cudaMemcpyAsync(to.data(), from, to.size_bytes(), cudaMemcpyDeviceToHost, stream.get()));
  TESSERA_CUDA_RETURN_IF_ERROR(cudaStreamSynchronize(stream.get()));
  return {};
}

std::vector<SlotTile> slot_tiles(std::span<const int32_t> first_slot, int n) {
  std::vector<SlotTile> tiles;
  for (size_t group = 0; group + 1 < first_slot.size(); ++group) {
    for (int slot = first_slot[group]; slot < first_slot[group + 1]; slot += n) {
      tiles.push_back({static_cast<int32_t>(group), slot, std::min(n, first_slot[group + 1] - slot), 0});
    }
  }
  return tiles;
}

std::string version(int cuda) { return std::to_string(cuda / 1000) + "." + std::to_string(cuda % 1000 / 10); }

}  // namespace

Expected<std::string> describe_cuda(int gpu) {
  int driver = 0, runtime = 0, native = 0;
  TESSERA_CUDA_RETURN_IF_ERROR(cudaSetDevice(gpu));
  TESSERA_CUDA_RETURN_IF_ERROR(cudaDriverGetVersion(&driver));
  TESSERA_CUDA_RETURN_IF_ERROR(cudaRuntimeGetVersion(&runtime));
  device::Stream stream;
  device::DeviceMemory memory;
  int* word = nullptr;
  TESSERA_CUDA_RETURN_IF_ERROR(cudaStreamCreateWithFlags(stream.fill(), cudaStreamNonBlocking));
  TESSERA_RETURN_IF_ERROR(allocate(memory, 1, stream, word));
  TESSERA_RETURN_IF_ERROR(device::launch(say_native, {.stream = stream.get()}, word));
  TESSERA_RETURN_IF_ERROR(download(word, std::span(&native, 1), stream));
  return "driver " + version(driver) + ", runtime " + version(runtime) + ", FP4 MMA " +
         (native == 1 ? "native" : "emulated");
}

Expected<std::vector<Fp4Result>> run_mma_fp4(int gpu, WeightFormat format, const cpu::Fp4Selectors& selectors,
                                             bool emulated, std::span<const Fp4Warp> warps) {
  const FragmentKernel kernel = pick_kernel(format, selectors);
  if (kernel == nullptr) return Status(StatusCode::invalid_argument, "the FP4 MMA has no such scale selectors");
  TESSERA_CUDA_RETURN_IF_ERROR(cudaSetDevice(gpu));
  std::vector<Fp4Result> results(warps.size());
  if (warps.empty()) return results;
  device::Stream stream;
  device::DeviceMemory lane_memory, result_memory;
  const Fp4Warp* lanes = nullptr;
  Fp4Result* out = nullptr;
  TESSERA_CUDA_RETURN_IF_ERROR(cudaStreamCreateWithFlags(stream.fill(), cudaStreamNonBlocking));
  TESSERA_RETURN_IF_ERROR(upload(lane_memory, warps, stream, lanes));
  TESSERA_RETURN_IF_ERROR(allocate(result_memory, warps.size(), stream, out));
  TESSERA_RETURN_IF_ERROR(
      device::launch(kernel, {.grid = static_cast<unsigned>(warps.size()), .block = kWarp, .stream = stream.get()},
                     reinterpret_cast<const cpu::Fp4Lane*>(lanes), reinterpret_cast<float4*>(out), emulated));
  TESSERA_RETURN_IF_ERROR(download(out, std::span(results), stream));
  return results;
}

Expected<GemmOutcome> run_gemm(int gpu, const GemmProblem& p) {
  TESSERA_CUDA_RETURN_IF_ERROR(cudaSetDevice(gpu));
  const auto groups = static_cast<int64_t>(p.first_slot.size()) - 1;
  const int64_t slots = p.first_slot.back();
  std::vector<SlotTile> tiles = slot_tiles(p.first_slot, p.tile.n);
  const auto tile_count = static_cast<int32_t>(tiles.size());
  // As an engine would, which knows the number of slots and not where they go.
  const int64_t tiles_max = slot_tiles_max(slots, groups, p.tile.n);
  tiles.resize(static_cast<size_t>(tiles_max));
  const int64_t slices = fp4_slices(p.shape.cols);
  GemmOutcome outcome;
  const bool w4a4 = p.tile.path == plan::Path::w4a4;
  if (w4a4) {
    outcome.slices.resize(
        static_cast<size_t>(column_blocks_max(slots, groups) * slices * fp4_slice_bytes(p.tile.format)));
  }
  outcome.out.resize(static_cast<size_t>(slots * p.shape.rows / p.shape.parts));

  device::Stream stream;
  struct {
    device::DeviceMemory weights, alpha, x, x_rows, tiles, tile_count, slices, out, input_scales;
  } memory;
  QuantizeArgs quantize{.format = p.tile.format, .depth = static_cast<int32_t>(p.shape.cols)};
  GemmArgs gemm{.group_bytes = static_cast<int64_t>(atom_matrix_bytes(p.shape)),
                .strips = static_cast<int32_t>(strips(p.shape)),
                .depth = static_cast<int32_t>(p.shape.cols),
                .width = static_cast<int32_t>(p.shape.rows / p.shape.parts),
                .swiglu = p.shape.parts == 2};
  TESSERA_CUDA_RETURN_IF_ERROR(cudaStreamCreateWithFlags(stream.fill(), cudaStreamNonBlocking));
  TESSERA_RETURN_IF_ERROR(upload(memory.weights, p.atoms, stream, gemm.weights));
  TESSERA_RETURN_IF_ERROR(upload(memory.alpha, p.alpha, stream, gemm.alpha));
  TESSERA_RETURN_IF_ERROR(upload(memory.x, p.x, stream, quantize.x));
  TESSERA_RETURN_IF_ERROR(upload(memory.x_rows, p.x_rows, stream, quantize.x_rows));
  TESSERA_RETURN_IF_ERROR(upload(memory.tiles, std::span<const SlotTile>(tiles), stream, gemm.tiles));
  TESSERA_RETURN_IF_ERROR(upload(memory.tile_count, std::span(&tile_count, 1), stream, gemm.tile_count));
  TESSERA_RETURN_IF_ERROR(allocate(memory.slices, outcome.slices.size(), stream, quantize.out));
  TESSERA_RETURN_IF_ERROR(allocate(memory.out, outcome.out.size(), stream, gemm.out));
  TESSERA_RETURN_IF_ERROR(upload(memory.input_scales, p.input_scales, stream, quantize.input_scales));
  quantize.tiles = gemm.tiles;
  quantize.tile_count = gemm.tile_count;
  gemm.activations = quantize.out;
  gemm.x = quantize.x;
  gemm.x_rows = quantize.x_rows;
  TESSERA_CUDA_RETURN_IF_ERROR(cudaMemsetAsync(quantize.out, 0, outcome.slices.size(), stream.get()));
  if (w4a4) TESSERA_RETURN_IF_ERROR(quantize_activations(quantize, tiles_max, {.stream = stream.get()}));
  for (int repeat = 0; repeat < p.repeats; ++repeat) {
    TESSERA_RETURN_IF_ERROR(grouped_gemm(p.tile, gemm, tiles_max, {.stream = stream.get()}));
    std::vector<uint16_t> out(outcome.out.size());
    TESSERA_RETURN_IF_ERROR(download(gemm.out, std::span(out), stream));
    if (repeat > 0 && out != outcome.out) {
      return Status(StatusCode::internal, "run " + std::to_string(repeat) + " of one product differs from the first");
    }
    outcome.out = std::move(out);
    TESSERA_CUDA_RETURN_IF_ERROR(cudaMemsetAsync(gemm.out, 0xff, outcome.out.size() * sizeof(uint16_t), stream.get()));
  }
  TESSERA_RETURN_IF_ERROR(download(quantize.out, std::span(outcome.slices), stream));
  return outcome;
}

}  // namespace tessera::kernels::cuda
