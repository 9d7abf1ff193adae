#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <random>
#include <string>
#include <vector>

#include "device/cuda.h"
#include "device/device.h"
#include "kernels/atom.h"
#include "kernels/cuda/moe.h"
#include "plan/model_shapes.h"

// One mixture-of-experts layer, W4A16, inside a CUDA graph, weights cold in L2: a table of microseconds against the
// floor that reading its distinct experts' bytes at the floor rate takes.
//
//   moe_bench [model keys ...]        397b 397b-tp4 122b 35b deepseek-v3 unless named
//   moe_bench --tokens 1,8 --format mxfp4 --floor-tb-s 4.5
//
// A graph runs the layer on one copy of the weights after another, over more bytes than four times the L2; random
// routing, another for each copy.
namespace tessera {
namespace {

using device::DeviceMemory;
using kernels::cuda::MoeArgs;
using kernels::cuda::MoePlan;

struct Options {
  std::vector<std::string> models;
  std::vector<int64_t> tokens = {1, 8, 64, 512, 4096};
  plan::WeightFormat format = plan::WeightFormat::nvfp4;
  double floor_tb_s = 4.5;
};

Expected<DeviceMemory> allocate(size_t bytes) {
  DeviceMemory memory;
  TESSERA_CUDA_RETURN_IF_ERROR(cudaMalloc(memory.fill(), std::max<size_t>(bytes, 256)));
  TESSERA_CUDA_RETURN_IF_ERROR(cudaMemset(memory.get(), 0, std::max<size_t>(bytes, 256)));
  return memory;
}

/// Random codes, scales all of one value near 1: the bytes that matter to time are the codes'.
__global__ void fill_atoms(uint32_t* words, size_t count, int slice_words, uint32_t scale) {
  const size_t step = static_cast<size_t>(gridDim.x) * blockDim.x;
  for (size_t i = static_cast<size_t>(blockIdx.x) * blockDim.x + threadIdx.x; i < count; i += step) {
    uint32_t x = static_cast<uint32_t>(i) * 2654435761U + 12345;
    x ^= x >> 15;
    x *= 2246822519U;
    words[i] = static_cast<int>(i % slice_words) < kernels::kSliceCodeBytes / 4 ? x ^ x >> 13 : scale;
  }
}

template <typename T>
Expected<DeviceMemory> upload(const std::vector<T>& values) {
  TESSERA_ASSIGN_OR_RETURN(DeviceMemory memory, allocate(values.size() * sizeof(T)));
  TESSERA_CUDA_RETURN_IF_ERROR(
      cudaMemcpy(memory.get(), values.data(), values.size() * sizeof(T), cudaMemcpyHostToDevice));
  return memory;
}

Expected<DeviceMemory> random_atoms(const kernels::AtomShape& shape, int groups, cudaStream_t stream) {
  const size_t bytes = kernels::atom_matrix_bytes(shape) * static_cast<size_t>(groups);
  TESSERA_ASSIGN_OR_RETURN(DeviceMemory memory, allocate(bytes));
  const bool nvfp4 = shape.format == plan::WeightFormat::nvfp4;
  TESSERA_RETURN_IF_ERROR(
      device::launch(fill_atoms, {.grid = 4096, .block = 256, .stream = stream}, static_cast<uint32_t*>(memory.get()),
                     bytes / 4, plan::weight_slice_bytes(shape.format) / 4, nvfp4 ? 0x38383838U : 0x7f7f7f7fU));
  return memory;
}

struct Buffers {
  DeviceMemory gate_up, down, alpha, x, logits, shared_gate, residual, workspace;
  int64_t distinct = 0;  // experts that the logits choose, with the shared one
};

/// Logits and how many experts they choose.
std::vector<float> random_logits(const plan::Desc& d, uint32_t seed, int64_t& distinct) {
  std::mt19937 random(seed);
  std::uniform_real_distribution<float> uniform(-4.0F, 4.0F);
  std::vector<float> logits(static_cast<size_t>(d.tokens * d.experts));
  for (float& logit : logits) logit = uniform(random);
  std::vector<bool> used(static_cast<size_t>(d.experts));
  std::vector<int> ids(static_cast<size_t>(d.experts));
  for (int64_t t = 0; t < d.tokens; ++t) {
    const float* row = logits.data() + t * d.experts;
    for (int e = 0; e < d.experts; ++e) ids[static_cast<size_t>(e)] = e;
    std::partial_sort(ids.begin(), ids.begin() + d.experts_per_token, ids.end(),
                      [&](int a, int b) { return row[a] > row[b]; });
    for (int j = 0; j < d.experts_per_token; ++j) used[static_cast<size_t>(ids[static_cast<size_t>(j)])] = true;
  }
  distinct = std::count(used.begin(), used.end(), true) + d.shared_experts;
  return logits;
}

Expected<Buffers> make_buffers(const MoePlan& plan, uint32_t seed, cudaStream_t stream) {
  const plan::Desc& d = plan.desc;
  const int groups = d.experts + d.shared_experts;
  Buffers b;
  TESSERA_ASSIGN_OR_RETURN(b.gate_up, random_atoms({d.format, 2 * d.intermediate, d.hidden, 2}, groups, stream));
  TESSERA_ASSIGN_OR_RETURN(b.down, random_atoms({d.format, d.hidden, d.intermediate, 1}, groups, stream));
  const float alpha = kernels::atom_alpha(d.format, 0.01F);
  TESSERA_ASSIGN_OR_RETURN(b.alpha, upload(std::vector<float>(static_cast<size_t>(2 * groups), alpha)));
  std::vector<uint16_t> x(static_cast<size_t>(d.tokens * d.hidden));
  std::mt19937 random(seed);
  for (uint16_t& v : x) v = static_cast<uint16_t>((random() & 0x80ffU) | 0x3e00U);  // 0.125 to 0.5, either sign
  TESSERA_ASSIGN_OR_RETURN(b.x, upload(x));
  TESSERA_ASSIGN_OR_RETURN(b.residual, upload(x));
  TESSERA_ASSIGN_OR_RETURN(b.logits, upload(random_logits(d, seed, b.distinct)));
  TESSERA_ASSIGN_OR_RETURN(b.shared_gate, upload(std::vector<float>(static_cast<size_t>(d.tokens))));
  TESSERA_ASSIGN_OR_RETURN(b.workspace, allocate(kernels::cuda::moe_workspace(plan).bytes));
  return b;
}

MoeArgs args_of(const Buffers& b) {
  MoeArgs args;
  args.x = static_cast<const uint16_t*>(b.x.get());
  args.logits = static_cast<const float*>(b.logits.get());
  args.shared_gate = static_cast<const float*>(b.shared_gate.get());
  args.residual = static_cast<uint16_t*>(b.residual.get());
  args.gate_up = static_cast<const std::byte*>(b.gate_up.get());
  args.gate_up_alpha = static_cast<const float*>(b.alpha.get());
  args.down = static_cast<const std::byte*>(b.down.get());
  args.down_alpha = static_cast<const float*>(b.alpha.get());
  args.workspace = static_cast<std::byte*>(b.workspace.get());
  return args;
}

/// Bytes of one expert's atoms.
double expert_bytes(const plan::Desc& d) {
  return static_cast<double>(kernels::atom_matrix_bytes({d.format, 2 * d.intermediate, d.hidden, 2}) +
                             kernels::atom_matrix_bytes({d.format, d.hidden, d.intermediate, 1}));
}

using Graph = device::Handle<cudaGraph_t, cudaGraphDestroy>;
using GraphExec = device::Handle<cudaGraphExec_t, cudaGraphExecDestroy>;

struct Result {
  double us = 0, floor_us = 0;
};

Expected<Result> measure(const MoePlan& plan, const device::GpuFacts& gpu, const Options& options) {
  constexpr int kRepeats = 20;
  const plan::Desc& d = plan.desc;
  device::Stream stream;
  device::Event begin, end;
  TESSERA_CUDA_RETURN_IF_ERROR(cudaStreamCreateWithFlags(stream.fill(), cudaStreamNonBlocking));
  TESSERA_CUDA_RETURN_IF_ERROR(cudaEventCreate(begin.fill()));
  TESSERA_CUDA_RETURN_IF_ERROR(cudaEventCreate(end.fill()));
  std::vector<Buffers> copies;
  double bytes = 0;
  while (copies.size() < 2 || (bytes < 4.0 * static_cast<double>(gpu.l2_bytes) && copies.size() < 16)) {
    TESSERA_ASSIGN_OR_RETURN(Buffers copy, make_buffers(plan, static_cast<uint32_t>(copies.size() + 1), stream.get()));
    bytes += static_cast<double>(copy.distinct) * expert_bytes(d);
    copies.push_back(std::move(copy));
  }
  const double layer_bytes = bytes / static_cast<double>(copies.size());
  Graph graph;
  GraphExec exec;
  TESSERA_CUDA_RETURN_IF_ERROR(cudaStreamBeginCapture(stream.get(), cudaStreamCaptureModeThreadLocal));
  for (const Buffers& copy : copies) TESSERA_RETURN_IF_ERROR(kernels::cuda::moe(plan, args_of(copy), stream.get()));
  TESSERA_CUDA_RETURN_IF_ERROR(cudaStreamEndCapture(stream.get(), graph.fill()));
  TESSERA_CUDA_RETURN_IF_ERROR(cudaGraphInstantiate(exec.fill(), graph.get(), 0));
  std::vector<double> us;
  for (int repeat = 0; repeat < kRepeats + 3; ++repeat) {
    TESSERA_CUDA_RETURN_IF_ERROR(cudaEventRecord(begin.get(), stream.get()));
    TESSERA_CUDA_RETURN_IF_ERROR(cudaGraphLaunch(exec.get(), stream.get()));
    TESSERA_CUDA_RETURN_IF_ERROR(cudaEventRecord(end.get(), stream.get()));
    TESSERA_CUDA_RETURN_IF_ERROR(cudaEventSynchronize(end.get()));
    float ms = 0;
    TESSERA_CUDA_RETURN_IF_ERROR(cudaEventElapsedTime(&ms, begin.get(), end.get()));
    if (repeat >= 3) us.push_back(double{ms} * 1e3 / static_cast<double>(copies.size()));
  }
  std::sort(us.begin(), us.end());
  return Result{us[us.size() / 2], layer_bytes / (options.floor_tb_s * 1e6)};
}

Status print_table(const Options& options) {
  TESSERA_ASSIGN_OR_RETURN(const auto gpus, device::list_gpus());
  if (gpus.empty()) return {StatusCode::not_found, "no GPU"};
  const device::GpuFacts& gpu = gpus[0];
  const plan::DeviceFacts facts =
      plan::live_facts({.name = gpu.name,
                        .compute_major = gpu.compute_major,
                        .compute_minor = gpu.compute_minor,
                        .sm_count = gpu.sm_count,
                        .smem_per_block_bytes = static_cast<int64_t>(gpu.smem_per_block_bytes_max),
                        .smem_per_sm_bytes = static_cast<int64_t>(gpu.smem_per_sm_bytes),
                        .l2_bytes = static_cast<int64_t>(gpu.l2_bytes),
                        .memory_bytes = static_cast<int64_t>(gpu.memory_bytes)});
  std::printf("%s, %s, W4A16, floor at %.2f TB/s\n", gpu.name.c_str(),
              std::string(format::name(options.format)).c_str(), options.floor_tb_s);
  std::printf("%-12s %7s  %-12s %-12s %9s %9s %6s\n", "model", "tokens", "gate_up", "down", "us", "floor us", "share");
  for (const std::string& key : options.models) {
    const plan::ModelShape* shape = plan::find_model_shape(key);
    if (shape == nullptr) return {StatusCode::not_found, "no model shape " + key};
    for (const int64_t tokens : options.tokens) {
      const plan::Desc desc = plan::layer_desc(*shape, plan::Op::gate_up, options.format, plan::Path::w4a16, tokens);
      TESSERA_ASSIGN_OR_RETURN(const MoePlan plan, kernels::cuda::plan_moe(desc, facts));
      TESSERA_ASSIGN_OR_RETURN(const Result result, measure(plan, gpu, options));
      const auto tile = [](const plan::Tile& t) {
        return std::to_string(t.m) + "x" + std::to_string(t.n) + "x" + std::to_string(t.k);
      };
      std::printf("%-12s %7lld  %-12s %-12s %9.1f %9.1f %5.0f%%\n", key.c_str(), static_cast<long long>(tokens),
                  tile(plan.gate_up.tile).c_str(), tile(plan.down.tile).c_str(), result.us, result.floor_us,
                  100 * result.floor_us / result.us);
      std::fflush(stdout);
    }
  }
  return {};
}

Expected<Options> parse(int argc, char** argv) {
  Options options;
  for (int i = 1; i < argc; ++i) {
    const std::string argument = argv[i];
    const std::string value = i + 1 < argc ? argv[i + 1] : "";
    if (!argument.starts_with("--")) {
      options.models.push_back(argument);
      continue;
    }
    ++i;
    if (argument == "--format") {
      options.format = value == "mxfp4" ? plan::WeightFormat::mxfp4 : plan::WeightFormat::nvfp4;
    } else if (argument == "--floor-tb-s") {
      options.floor_tb_s = std::strtod(value.c_str(), nullptr);
    } else if (argument == "--tokens") {
      options.tokens.clear();
      for (size_t at = 0; at < value.size(); at = std::min(value.find(',', at), value.size() - 1) + 1) {
        options.tokens.push_back(std::strtoll(value.c_str() + at, nullptr, 10));
      }
    } else {
      return Status(StatusCode::invalid_argument, "unknown option " + argument);
    }
  }
  if (options.models.empty()) options.models = {"397b", "397b-tp4", "122b", "35b", "deepseek-v3"};
  return options;
}

Status run(int argc, char** argv) {
  TESSERA_ASSIGN_OR_RETURN(const Options options, parse(argc, argv));
  return print_table(options);
}

}  // namespace
}  // namespace tessera

int main(int argc, char** argv) {
  const tessera::Status status = tessera::run(argc, argv);
  if (!status.ok()) std::fprintf(stderr, "moe_bench: %s\n", status.message().c_str());
  return status.ok() ? 0 : 1;
}
