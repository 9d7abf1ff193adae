#include "selftest/moe_timer.h"

#include <algorithm>
#include <chrono>
#include <functional>
#include <random>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "base/dtype.h"
#include "device/cuda.h"
#include "kernels/atom.h"
#include "kernels/cuda/moe.h"

namespace tessera::kernels {
namespace {

using cuda::MoeArgs;
using cuda::MoePlan;
using device::DeviceMemory;

constexpr int kWarmUps = 3, kRepeats = 20;
constexpr size_t kCopiesMin = 2, kCopiesMax = 16;
constexpr double kL2Times = 4;
constexpr auto kDeadline = std::chrono::seconds(10);
constexpr float kWeightScale = 0.01F;
constexpr float kInputScale = 0x1p-8F;  // of W4A4 in NVFP4: activations here are below 0.5

using Graph = device::Handle<cudaGraph_t, cudaGraphDestroy>;
using GraphExec = device::Handle<cudaGraphExec_t, cudaGraphExecDestroy>;

/// Random codes, all scales one value near 1: time depends on bytes, not on values.
__global__ void fill_atoms(uint32_t* words, size_t count, int slice_words, uint32_t scale, uint32_t seed) {
  const size_t step = static_cast<size_t>(gridDim.x) * blockDim.x;
  for (size_t i = static_cast<size_t>(blockIdx.x) * blockDim.x + threadIdx.x; i < count; i += step) {
    uint32_t x = static_cast<uint32_t>(i) * 2654435761U + seed;
    x ^= x >> 15;
    x *= 2246822519U;
    words[i] = static_cast<int>(i % slice_words) < kSliceCodeBytes / 4 ? x ^ x >> 13 : scale;
  }
}

Status allocate(DeviceMemory& memory, size_t bytes, cudaStream_t stream) {
  TESSERA_CUDA_RETURN_IF_ERROR(cudaMalloc(memory.fill(), std::max<size_t>(bytes, 256)));
  return device::cuda_status(cudaMemsetAsync(memory.get(), 0, std::max<size_t>(bytes, 256), stream), "cudaMemsetAsync");
}

/// `values` may go as soon as this returns: it waits.
template <typename T>
Status upload(DeviceMemory& memory, const std::vector<T>& values, cudaStream_t stream) {
  TESSERA_RETURN_IF_ERROR(allocate(memory, values.size() * sizeof(T), stream));
  TESSERA_CUDA_RETURN_IF_ERROR(
      cudaMemcpyAsync(memory.get(), values.data(), values.size() * sizeof(T), cudaMemcpyHostToDevice, stream));
  return device::cuda_status(cudaStreamSynchronize(stream), "cudaStreamSynchronize");
}

Status random_atoms(DeviceMemory& memory, const AtomShape& shape, int groups, uint32_t seed, cudaStream_t stream) {
  const size_t bytes = atom_matrix_bytes(shape) * static_cast<size_t>(groups);
  TESSERA_RETURN_IF_ERROR(allocate(memory, bytes, stream));
  const uint32_t one = shape.format == WeightFormat::nvfp4 ? 0x38383838U : 0x7f7f7f7fU;
  return device::launch(fill_atoms, {.grid = 4096, .block = 256, .stream = stream},
                        static_cast<uint32_t*>(memory.get()), bytes / 4, plan::weight_slice_bytes(shape.format) / 4,
                        one, seed);
}

AtomShape gate_up_shape(const plan::Desc& d) { return {d.format, 2 * d.intermediate, d.hidden, 2}; }
AtomShape down_shape(const plan::Desc& d) { return {d.format, d.hidden, d.intermediate, 1}; }

double expert_bytes(const plan::Desc& d) {
  return static_cast<double>(atom_matrix_bytes(gate_up_shape(d)) + atom_matrix_bytes(down_shape(d)));
}

/// A layer's weights, inputs and result.
struct Copy {
  DeviceMemory gate_up, down, alpha, input_scales, x, delta, logits;
  std::vector<float> host_logits;
};

Status fill(Copy& copy, const plan::Desc& d, uint32_t seed, cudaStream_t stream) {
  const auto experts = static_cast<size_t>(d.experts);
  TESSERA_RETURN_IF_ERROR(random_atoms(copy.gate_up, gate_up_shape(d), d.experts, seed, stream));
  TESSERA_RETURN_IF_ERROR(random_atoms(copy.down, down_shape(d), d.experts, seed + 1, stream));
  const float input_scale = d.format == WeightFormat::nvfp4 ? kInputScale : 1.0F;
  const float alpha = d.path == plan::Path::w4a4 ? kWeightScale * input_scale : atom_alpha(d.format, kWeightScale);
  TESSERA_RETURN_IF_ERROR(upload(copy.alpha, std::vector<float>(2 * experts, alpha), stream));
  TESSERA_RETURN_IF_ERROR(upload(copy.input_scales, std::vector<float>(experts, input_scale), stream));
  std::mt19937 random(seed);
  std::vector<uint16_t> x(static_cast<size_t>(d.tokens * d.hidden));
  for (uint16_t& v : x) v = static_cast<uint16_t>((random() & 0x80ffU) | 0x3e00U);  // 0.125 to 0.5, either sign
  TESSERA_RETURN_IF_ERROR(upload(copy.x, x, stream));
  TESSERA_RETURN_IF_ERROR(allocate(copy.delta, x.size() * sizeof(uint16_t), stream));
  std::uniform_real_distribution<float> uniform(-4.0F, 4.0F);
  copy.host_logits.resize(static_cast<size_t>(d.tokens * d.experts));
  for (float& logit : copy.host_logits) logit = round_to_bf16(uniform(random));
  return upload(copy.logits, copy.host_logits, stream);
}

/// How many experts the first `tokens` rows of logits choose.
int64_t distinct_experts(const plan::Desc& d, const std::vector<float>& logits, int64_t tokens) {
  std::vector<bool> used(static_cast<size_t>(d.experts));
  std::vector<int> ids(static_cast<size_t>(d.experts));
  for (int64_t t = 0; t < tokens; ++t) {
    const float* row = logits.data() + t * d.experts;
    for (int e = 0; e < d.experts; ++e) ids[static_cast<size_t>(e)] = e;
    std::partial_sort(ids.begin(), ids.begin() + d.experts_per_token, ids.end(),
                      [&](int a, int b) { return row[a] > row[b] || (row[a] == row[b] && a < b); });
    for (int j = 0; j < d.experts_per_token; ++j) used[static_cast<size_t>(ids[static_cast<size_t>(j)])] = true;
  }
  return std::count(used.begin(), used.end(), true);
}

/// Waits for the event, not for ever.
Status wait_for(cudaEvent_t event) {
  const auto end = std::chrono::steady_clock::now() + kDeadline;
  for (;;) {
    const WatchedCall watched("cudaEventQuery");
    const cudaError_t code = cudaEventQuery(event);
    if (code != cudaErrorNotReady) return device::cuda_status(code, "a kernel of the layer");
    if (std::chrono::steady_clock::now() > end) {
      return {StatusCode::unavailable, "the GPU has not finished a layer after ten seconds"};
    }
    std::this_thread::sleep_for(std::chrono::microseconds(50));
  }
}

}  // namespace

struct MoeTimer::State {
  plan::Desc desc;
  plan::DeviceFacts device;
  int gpu = 0;
  device::Stream stream;
  device::Event begin, end;
  std::vector<Copy> copies;

  [[nodiscard]] MoeArgs args_of(const Copy& c, void* workspace) const {
    MoeArgs args;
    args.x = static_cast<const uint16_t*>(c.x.get());
    args.logits = static_cast<const float*>(c.logits.get());
    args.logits_stride = desc.experts;
    args.delta = static_cast<uint16_t*>(c.delta.get());
    args.gate_up = static_cast<const std::byte*>(c.gate_up.get());
    args.down = static_cast<const std::byte*>(c.down.get());
    args.gate_up_alpha = args.down_alpha = static_cast<const float*>(c.alpha.get());
    args.gate_up_input_scales = args.down_input_scales = static_cast<const float*>(c.input_scales.get());
    args.workspace = static_cast<std::byte*>(workspace);
    return args;
  }

  /// One run over the first copy: the bits of its result.
  [[nodiscard]] Expected<uint64_t> hash_of_a_run(const MoePlan& plan, void* workspace) const {
    std::vector<uint16_t> delta(static_cast<size_t>(plan.desc.tokens * plan.desc.hidden));
    TESSERA_RETURN_IF_ERROR(cuda::moe(plan, args_of(copies[0], workspace), {.stream = stream.get()}));
    TESSERA_CUDA_RETURN_IF_ERROR(cudaEventRecord(end.get(), stream.get()));
    TESSERA_RETURN_IF_ERROR(wait_for(end.get()));
    TESSERA_CUDA_RETURN_IF_ERROR(
        cudaMemcpy(delta.data(), copies[0].delta.get(), delta.size() * sizeof(uint16_t), cudaMemcpyDeviceToHost));
    return std::hash<std::string_view>()(
        {reinterpret_cast<const char*>(delta.data()), delta.size() * sizeof(uint16_t)});
  }

  [[nodiscard]] Status run_all(const MoePlan& plan, void* workspace) const {
    for (const Copy& copy : copies) {
      TESSERA_RETURN_IF_ERROR(cuda::moe(plan, args_of(copy, workspace), {.stream = stream.get()}));
    }
    return {};
  }

  /// Microseconds of a layer.
  [[nodiscard]] Expected<double> median_us(const MoePlan& plan, void* workspace) const {
    Graph graph;
    GraphExec exec;
    TESSERA_CUDA_RETURN_IF_ERROR(cudaStreamBeginCapture(stream.get(), cudaStreamCaptureModeThreadLocal));
    const Status captured = run_all(plan, workspace);
    TESSERA_CUDA_RETURN_IF_ERROR(cudaStreamEndCapture(stream.get(), graph.fill()));
    TESSERA_RETURN_IF_ERROR(captured);
    TESSERA_CUDA_RETURN_IF_ERROR(cudaGraphInstantiate(exec.fill(), graph.get(), 0));
    std::vector<double> us;
    for (int repeat = 0; repeat < kWarmUps + kRepeats; ++repeat) {
      TESSERA_CUDA_RETURN_IF_ERROR(cudaEventRecord(begin.get(), stream.get()));
      TESSERA_CUDA_RETURN_IF_ERROR(cudaGraphLaunch(exec.get(), stream.get()));
      TESSERA_CUDA_RETURN_IF_ERROR(cudaEventRecord(end.get(), stream.get()));
      TESSERA_RETURN_IF_ERROR(wait_for(end.get()));
      float ms = 0;
      TESSERA_CUDA_RETURN_IF_ERROR(cudaEventElapsedTime(&ms, begin.get(), end.get()));
      if (repeat >= kWarmUps) us.push_back(double{ms} * 1e3 / static_cast<double>(copies.size()));
    }
    std::nth_element(us.begin(), us.begin() + kRepeats / 2, us.end());
    return us[kRepeats / 2];
  }

  [[nodiscard]] Expected<MoeTime> time(const MoePlan& plan) const {
    TESSERA_CUDA_RETURN_IF_ERROR(cudaSetDevice(gpu));
    DeviceMemory workspace;
    TESSERA_RETURN_IF_ERROR(allocate(workspace, cuda::moe_workspace(plan).bytes, stream.get()));
    MoeTime time{plan.gate_up, plan.down};
    TESSERA_ASSIGN_OR_RETURN(time.result_hash, hash_of_a_run(plan, workspace.get()));
    TESSERA_ASSIGN_OR_RETURN(time.us, median_us(plan, workspace.get()));
    return time;
  }

  [[nodiscard]] Expected<plan::Desc> with_tokens(int64_t tokens) const {
    if (tokens < 1 || tokens > desc.tokens) {
      return Status(StatusCode::invalid_argument,
                    std::to_string(tokens) + " tokens, of a layer made for 1 to " + std::to_string(desc.tokens));
    }
    plan::Desc d = desc;
    d.tokens = tokens;
    return d;
  }
};

MoeTimer::MoeTimer(std::unique_ptr<State> state) : state_(std::move(state)) {}
MoeTimer::MoeTimer(MoeTimer&&) noexcept = default;
MoeTimer::~MoeTimer() = default;

Expected<MoeTimer> MoeTimer::make(int gpu, const plan::DeviceFacts& device, const plan::Desc& desc) {
  TESSERA_RETURN_IF_ERROR(cuda::supports(desc));
  auto state = std::make_unique<State>();
  state->desc = desc;
  state->device = device;
  state->gpu = gpu;
  TESSERA_CUDA_RETURN_IF_ERROR(cudaSetDevice(gpu));
  TESSERA_CUDA_RETURN_IF_ERROR(cudaStreamCreateWithFlags(state->stream.fill(), cudaStreamNonBlocking));
  TESSERA_CUDA_RETURN_IF_ERROR(cudaEventCreate(state->begin.fill()));
  TESSERA_CUDA_RETURN_IF_ERROR(cudaEventCreate(state->end.fill()));
  // A run of one token reads the least.
  const double least = desc.experts_per_token * expert_bytes(desc);
  while (state->copies.size() < kCopiesMin ||
         (static_cast<double>(state->copies.size()) * least < kL2Times * static_cast<double>(device.l2_bytes) &&
          state->copies.size() < kCopiesMax)) {
    size_t free_bytes = 0, total_bytes = 0;
    TESSERA_CUDA_RETURN_IF_ERROR(cudaMemGetInfo(&free_bytes, &total_bytes));
    const double needed = desc.experts * expert_bytes(desc) * 1.25;
    if (static_cast<double>(free_bytes) < needed) {
      if (state->copies.size() >= kCopiesMin) break;
      return Status(StatusCode::resource_exhausted,
                    "a copy of the layer takes " + std::to_string(static_cast<int64_t>(needed / 1e6)) + " MB, " +
                        std::to_string(free_bytes / 1000000) + " MB are free on the GPU; two copies are needed");
    }
    Copy copy;
    const auto seed = static_cast<uint32_t>(state->copies.size() * 2 + 1);
    TESSERA_RETURN_IF_ERROR(fill(copy, desc, seed, state->stream.get()));
    state->copies.push_back(std::move(copy));
  }
  TESSERA_CUDA_RETURN_IF_ERROR(cudaStreamSynchronize(state->stream.get()));
  return MoeTimer(std::move(state));
}

Expected<MoeTime> MoeTimer::time(int64_t tokens, const plan::TuningCache& tuning) const {
  TESSERA_ASSIGN_OR_RETURN(const plan::Desc desc, state_->with_tokens(tokens));
  TESSERA_ASSIGN_OR_RETURN(const MoePlan plan, cuda::plan_moe(desc, state_->device, tuning));
  return state_->time(plan);
}

Expected<MoeTime> MoeTimer::time(int64_t tokens, const plan::Tile& gate_up, const plan::Tile& down) const {
  TESSERA_ASSIGN_OR_RETURN(const plan::Desc desc, state_->with_tokens(tokens));
  TESSERA_ASSIGN_OR_RETURN(const MoePlan plan, cuda::plan_moe(desc, gate_up, down));
  return state_->time(plan);
}

double MoeTimer::weight_bytes(int64_t tokens) const {
  double bytes = 0;
  for (const Copy& copy : state_->copies) {
    bytes += static_cast<double>(distinct_experts(state_->desc, copy.host_logits, tokens)) * expert_bytes(state_->desc);
  }
  return bytes / static_cast<double>(state_->copies.size());
}

bool MoeTimer::can_run(const plan::Desc& desc, const plan::Tile& tile) { return cuda::can_run(desc, tile); }

}  // namespace tessera::kernels
