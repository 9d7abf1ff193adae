#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <numeric>
#include <random>
#include <span>
#include <vector>

#include "device/cuda.h"
#include "kernels/atom.h"
#include "kernels/cpu/moe_reference.h"
#include "kernels/cuda/moe.h"
#include "kernels/matrix_fixture.h"
#include "kernels/spelt_math.h"

// A random mixture-of-experts layer in device memory, and the reference that rounds where kernels/moe.h says.
namespace tessera::kernels::cuda {

/// Device memory with a host copy's contents.
template <typename T>
class OnDevice {
 public:
  explicit OnDevice(std::span<const T> values) : count_(values.size()) {
    EXPECT_EQ(cudaMalloc(memory_.fill(), std::max<size_t>(values.size_bytes(), 16)), cudaSuccess);
    EXPECT_EQ(cudaMemcpy(memory_.get(), values.data(), values.size_bytes(), cudaMemcpyHostToDevice), cudaSuccess);
  }
  explicit OnDevice(size_t count) : OnDevice(std::span<const T>(std::vector<T>(count))) {}
  [[nodiscard]] T* get() const { return static_cast<T*>(memory_.get()); }
  [[nodiscard]] std::vector<T> read() const {
    std::vector<T> values(count_);
    EXPECT_EQ(cudaMemcpy(values.data(), memory_.get(), count_ * sizeof(T), cudaMemcpyDeviceToHost), cudaSuccess);
    return values;
  }

 private:
  device::DeviceMemory memory_;
  size_t count_;
};

/// Weights that give activations of order 1: random codes, scales near 1 (subnormal and negative ones among them in
/// NVFP4), matrix scale 1 / (2.5 sqrt(K)).
struct Expert {
  RandomMatrix gate, up, down;
  Expert(WeightFormat format, int64_t hidden, int64_t inner, uint32_t seed)
      : gate(format, inner, hidden, seed), up(format, inner, hidden, seed + 1), down(format, hidden, inner, seed + 2) {
    std::mt19937 random(seed + 3);
    for (RandomMatrix* m : {&gate, &up, &down}) {
      m->scale = 0.4F / std::sqrt(static_cast<float>(m->cols));
      for (auto& s : m->block_scales) {
        const uint32_t any = random();
        s = static_cast<std::byte>(format == WeightFormat::mxfp4 ? 126 + any % 2
                                   : any % 16 == 0               ? any % 8
                                                                 : 0x30 + any % 16 + (any % 7 == 0 ? 0x80 : 0));
      }
    }
    up.scale *= 1.25F;  // gate and up have scales of their own
  }
};

enum class Pattern { random, one_expert, few_experts };

inline std::vector<uint16_t> random_bf16(size_t count, uint32_t seed) {
  std::vector<uint16_t> out(count);
  std::mt19937 random(seed);
  std::normal_distribution<float> normal;
  for (auto& v : out) v = float_to_bf16(normal(random));
  return out;
}

/// Logits with many ties: BF16 of few values.
inline std::vector<float> random_logits(const plan::Desc& d, Pattern pattern, uint32_t seed) {
  std::mt19937 random(seed);
  std::vector<float> logits(static_cast<size_t>(d.tokens * d.experts));
  for (size_t i = 0; i < logits.size(); ++i) {
    logits[i] = static_cast<float>(random() % 64) / 16.0F;
    const auto expert = static_cast<int>(i % static_cast<size_t>(d.experts));
    if (pattern == Pattern::one_expert && expert < d.experts_per_token) logits[i] += 8;
    if (pattern == Pattern::few_experts && expert < 2 * d.experts_per_token) logits[i] += 8;
  }
  return logits;
}

/// The weights of a layer, packed and uploaded.
struct Layer {
  plan::Desc desc;
  float input_scale;            // of W4A4, both products
  std::vector<Expert> experts;  // the shared one last
  OnDevice<std::byte> gate_up, down;
  OnDevice<float> gate_up_alpha, down_alpha;

  explicit Layer(const plan::Desc& d, uint32_t seed = 1)
      : desc(d),
        input_scale(d.path == plan::Path::w4a4 && d.format == WeightFormat::nvfp4 ? 0x1.2p-8F : 1.0F),
        experts(make(d, seed)),
        gate_up(std::span<const std::byte>(pack(d, experts, true))),
        down(std::span<const std::byte>(pack(d, experts, false))),
        gate_up_alpha(std::span<const float>(alphas(experts, true))),
        down_alpha(std::span<const float>(alphas(experts, false))) {}

  static std::vector<Expert> make(const plan::Desc& d, uint32_t seed) {
    std::vector<Expert> all;
    for (int e = 0; e < d.experts + d.shared_experts; ++e) {
      all.emplace_back(d.format, d.hidden, d.intermediate, seed + static_cast<uint32_t>(e) * 10);
    }
    return all;
  }
  static std::vector<std::byte> pack(const plan::Desc&, const std::vector<Expert>& experts, bool first) {
    std::vector<std::byte> out;
    for (const Expert& e : experts) {
      const format::MatrixView two[] = {e.gate.view(), e.up.view()};
      const format::MatrixView one[] = {e.down.view()};
      const auto parts = first ? std::span<const format::MatrixView>(two) : std::span<const format::MatrixView>(one);
      const size_t at = out.size();
      out.resize(at + atom_matrix_bytes(*atom_shape(parts)));
      EXPECT_TRUE(kernels::pack_atoms(parts, out.data() + at).ok());
    }
    return out;
  }
  [[nodiscard]] std::vector<float> alphas(const std::vector<Expert>& all, bool first) const {
    const auto alpha = [&](const RandomMatrix& m) {
      return desc.path == plan::Path::w4a4 ? m.scale * input_scale : atom_alpha(desc.format, m.scale);
    };
    std::vector<float> out;
    for (const Expert& e : all) {
      out.push_back(alpha(first ? e.gate : e.down));
      out.push_back(alpha(first ? e.up : e.down));
    }
    return out;
  }
};

struct MoeInput {
  std::vector<uint16_t> x, residual;
  std::vector<float> logits, shared_gate;
  MoeInput(const plan::Desc& d, Pattern pattern, uint32_t seed)
      : x(random_bf16(static_cast<size_t>(d.tokens * d.hidden), seed)),
        residual(random_bf16(static_cast<size_t>(d.tokens * d.hidden), seed + 1)),
        logits(random_logits(d, pattern, seed + 2)) {
    for (const uint16_t v : random_bf16(static_cast<size_t>(d.tokens), seed + 3)) {
      shared_gate.push_back(bf16_to_float(v));
    }
  }
};

/// A layer's call with its buffers. run() may be captured.
struct MoeCall {
  MoePlan plan;
  OnDevice<uint16_t> x, residual;
  OnDevice<float> logits, shared_gate;
  OnDevice<std::byte> workspace;
  OnDevice<int32_t> chosen;
  MoeArgs args;

  MoeCall(const MoePlan& p, const Layer& layer, const MoeInput& input)
      : plan(p),
        x(std::span<const uint16_t>(input.x)),
        residual(std::span<const uint16_t>(input.residual)),
        logits(std::span<const float>(input.logits)),
        shared_gate(std::span<const float>(input.shared_gate)),
        workspace(moe_workspace(p).bytes),
        chosen(static_cast<size_t>(p.desc.tokens * p.desc.experts_per_token)) {
    args.x = x.get();
    args.logits = logits.get();
    args.shared_gate = shared_gate.get();
    args.residual = residual.get();
    args.chosen = chosen.get();
    args.gate_up = layer.gate_up.get();
    args.down = layer.down.get();
    args.gate_up_alpha = layer.gate_up_alpha.get();
    args.down_alpha = layer.down_alpha.get();
    args.gate_up_input_scale = args.down_input_scale = layer.input_scale;
    args.workspace = workspace.get();
  }
  [[nodiscard]] Status run(cudaStream_t stream, bool pdl = true) const { return moe(plan, args, {stream, pdl}); }
};

/// One run, to its end.
inline void run_and_wait(const MoeCall& call) {
  device::Stream stream;
  ASSERT_EQ(cudaStreamCreateWithFlags(stream.fill(), cudaStreamNonBlocking), cudaSuccess);
  const Status status = call.run(stream.get());
  ASSERT_TRUE(status.ok()) << status.message();
  ASSERT_EQ(cudaStreamSynchronize(stream.get()), cudaSuccess);
}

/// Tile by tile: what one run leaves in the residual.
inline std::vector<uint16_t> run_moe(const MoePlan& plan, const Layer& layer, const MoeInput& input) {
  const MoeCall call(plan, layer, input);
  run_and_wait(call);
  return call.residual.read();
}

/// Experts of a token, ascending, with their weights: the router's definition, in double.
inline std::vector<std::pair<int, double>> reference_route(const plan::Desc& d, const float* logits) {
  std::vector<int> ids(static_cast<size_t>(d.experts));
  std::iota(ids.begin(), ids.end(), 0);
  std::stable_sort(ids.begin(), ids.end(), [&](int a, int b) { return logits[a] > logits[b]; });
  ids.resize(static_cast<size_t>(d.experts_per_token));
  double total = 0;
  for (const int id : ids) total += std::exp(double{logits[id]} - logits[ids[0]]);
  std::vector<std::pair<int, double>> chosen;
  for (const int id : ids) chosen.emplace_back(id, std::exp(double{logits[id]} - logits[ids[0]]) / total);
  std::sort(chosen.begin(), chosen.end());
  return chosen;
}

/// What the layer adds to the residual of token t, which takes these experts (ascending) with these weights.
inline std::vector<float> reference_token(const Layer& layer, const MoeInput& input, int64_t t,
                                          std::span<const int32_t> ids, std::span<const float> weights) {
  const plan::Desc& d = layer.desc;
  std::vector<cpu::ReferenceExpert> experts;
  for (const Expert& e : layer.experts) experts.push_back({e.gate.view(), e.up.view(), e.down.view()});
  std::vector<cpu::ReferenceSlot> slots;
  for (size_t i = 0; i < ids.size(); ++i) slots.push_back({&experts[static_cast<size_t>(ids[i])], weights[i]});
  if (d.shared_experts > 0) {
    slots.push_back({&experts.back(), spelt::sigmoid(input.shared_gate[static_cast<size_t>(t)])});
  }
  std::vector<float> x(static_cast<size_t>(d.hidden));
  for (size_t i = 0; i < x.size(); ++i) x[i] = bf16_to_float(input.x[static_cast<size_t>(t) * x.size() + i]);
  return cpu::reference_moe(d.path, slots, {layer.input_scale, layer.input_scale}, x);
}

/// The same by the reference's own choice of experts.
inline std::vector<float> reference_token(const Layer& layer, const MoeInput& input, int64_t t) {
  std::vector<int32_t> ids;
  std::vector<float> weights;
  for (const auto& [id, weight] : reference_route(layer.desc, input.logits.data() + t * layer.desc.experts)) {
    ids.push_back(id);
    weights.push_back(static_cast<float>(weight));
  }
  return reference_token(layer, input, t, ids, weights);
}

}  // namespace tessera::kernels::cuda
