#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <numeric>
#include <optional>
#include <random>
#include <span>
#include <string>
#include <vector>

#include "device/cuda.h"
#include "kernels/atom.h"
#include "kernels/cuda/moe.h"
#include "kernels/cuda/on_device.h"
#include "kernels/matrix_fixture.h"
#include "kernels/reference/moe_reference.h"
#include "kernels/spelt_math.h"
#include "plan/candidates.h"

// A random mixture-of-experts layer in device memory, and the reference that rounds where kernels/moe.h says.
namespace tessera::kernels::cuda {

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

/// An fp32 that BF16 rounds to `bf16`.
inline float nearly(float bf16, uint32_t random) {
  return bf16 * (1 + (static_cast<float>(random % 256) - 128) * 0x1p-17F);
}

/// Logits with many ties, once they are rounded to BF16.
inline std::vector<float> random_logits(const plan::Desc& d, Pattern pattern, uint32_t seed) {
  std::mt19937 random(seed);
  std::vector<float> logits(static_cast<size_t>(d.tokens * d.experts));
  for (size_t i = 0; i < logits.size(); ++i) {
    logits[i] = static_cast<float>(random() % 64) / 16.0F;
    const auto expert = static_cast<int>(i % static_cast<size_t>(d.experts));
    if (pattern == Pattern::one_expert && expert < d.experts_per_token) logits[i] += 8;
    if (pattern == Pattern::few_experts && expert < 2 * d.experts_per_token) logits[i] += 8;
    logits[i] = nearly(logits[i], random());
  }
  return logits;
}

/// The weights of a layer, packed and uploaded.
struct Layer {
  plan::Desc desc;
  std::vector<float> gate_up_scales, down_scales;  // input scales of W4A4
  std::vector<Expert> experts;
  OnDevice<std::byte> gate_up, down;
  OnDevice<float> gate_up_alpha, down_alpha, gate_up_input_scales, down_input_scales;

  explicit Layer(const plan::Desc& d, uint32_t seed = 1)
      : desc(d),
        gate_up_scales(input_scales(d, 0)),
        down_scales(input_scales(d, 1)),
        experts(make(d, seed)),
        gate_up(std::span<const std::byte>(pack(d, experts, true))),
        down(std::span<const std::byte>(pack(d, experts, false))),
        gate_up_alpha(std::span<const float>(alphas(experts, true))),
        down_alpha(std::span<const float>(alphas(experts, false))),
        gate_up_input_scales(std::span<const float>(gate_up_scales)),
        down_input_scales(std::span<const float>(down_scales)) {}

  /// Of each expert another, as far apart as factors of 2 can be and keep most codes in range.
  static std::vector<float> input_scales(const plan::Desc& d, int product) {
    std::vector<float> scales(static_cast<size_t>(d.experts), 1.0F);
    if (d.path != plan::Path::w4a4 || d.format != WeightFormat::nvfp4) return scales;
    for (int e = 0; e < d.experts; ++e) {
      scales[static_cast<size_t>(e)] = std::ldexp(1.125F, (e + product) % 5 - 9);
    }
    return scales;
  }

  static std::vector<Expert> make(const plan::Desc& d, uint32_t seed) {
    std::vector<Expert> all;
    for (int e = 0; e < d.experts; ++e) {
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
    std::vector<float> out;
    for (size_t i = 0; i < all.size(); ++i) {
      const float input_scale = first ? gate_up_scales[i] : down_scales[i];
      const auto alpha = [&](const RandomMatrix& m) {
        return desc.path == plan::Path::w4a4 ? m.scale * input_scale : atom_alpha(desc.format, m.scale);
      };
      out.push_back(alpha(first ? all[i].gate : all[i].down));
      out.push_back(alpha(first ? all[i].up : all[i].down));
    }
    return out;
  }
};

struct MoeInput {
  std::vector<uint16_t> x, shared_rows;
  std::vector<float> logits, shared_gate;  // [tokens, experts], [tokens]
  MoeInput(const plan::Desc& d, Pattern pattern, uint32_t seed)
      : x(random_bf16(static_cast<size_t>(d.tokens * d.hidden), seed)),
        shared_rows(random_bf16(static_cast<size_t>(d.tokens * d.hidden), seed + 1)),
        logits(random_logits(d, pattern, seed + 2)) {
    for (const uint16_t v : random_bf16(static_cast<size_t>(d.tokens), seed + 3)) {
      shared_gate.push_back(nearly(bf16_to_float(v), v));
    }
  }

  /// `count` tokens from `first` on.
  [[nodiscard]] MoeInput tokens(const plan::Desc& d, int64_t first, int64_t count) const {
    const auto rows = [&](const auto& all, int64_t width) {
      return std::vector(all.begin() + first * width, all.begin() + (first + count) * width);
    };
    MoeInput some = *this;
    some.x = rows(x, d.hidden);
    some.shared_rows = rows(shared_rows, d.hidden);
    some.logits = rows(logits, d.experts);
    some.shared_gate = rows(shared_gate, 1);
    return some;
  }

  static constexpr int64_t kColumnsBefore = 3, kColumnsAfter = 4;
  static int64_t stride(const plan::Desc& d) { return kColumnsBefore + d.experts + kColumnsAfter; }
  /// Rows of a wider product, NaN beside the logits and, right behind them, the gate.
  [[nodiscard]] std::vector<float> wide_logits(const plan::Desc& d) const {
    std::vector<float> wide(static_cast<size_t>(d.tokens * stride(d)), std::nanf(""));
    for (int64_t t = 0; t < d.tokens; ++t) {
      const auto to = wide.begin() + t * stride(d) + kColumnsBefore;
      std::copy_n(logits.begin() + t * d.experts, d.experts, to);
      to[d.experts] = shared_gate[static_cast<size_t>(t)];
    }
    return wide;
  }
};

/// Where a call has written nothing.
inline constexpr uint16_t kUntouched = 0x7fc1;

/// Garbage: a call must not read what it has not written.
inline std::vector<std::byte> fresh_workspace(const MoePlan& plan) {
  return std::vector<std::byte>(moe_workspace(plan).bytes, std::byte{0xa5});
}

/// A layer's call with its buffers. run() may be captured.
struct MoeCall {
  MoePlan plan;
  OnDevice<uint16_t> x, shared_rows, delta;
  OnDevice<float> logits;
  OnDevice<std::byte> workspace;
  OnDevice<int32_t> chosen, live_tokens;
  MoeArgs args;

  /// live: of plan.desc.tokens.
  MoeCall(const MoePlan& p, const Layer& layer, const MoeInput& input, int32_t live)
      : plan(p),
        x(std::span<const uint16_t>(input.x)),
        shared_rows(std::span<const uint16_t>(input.shared_rows)),
        delta(std::span<const uint16_t>(std::vector<uint16_t>(input.x.size(), kUntouched))),
        logits(std::span<const float>(input.wide_logits(p.desc))),
        workspace(std::span<const std::byte>(fresh_workspace(p))),
        chosen(static_cast<size_t>(plan::slots(p.desc))),
        live_tokens(std::span<const int32_t>(&live, 1)) {
    args.x = x.get();
    args.live_tokens = live_tokens.get();
    args.logits = logits.get() + MoeInput::kColumnsBefore;
    args.shared_gate = args.logits + p.desc.experts;
    args.logits_stride = MoeInput::stride(p.desc);
    args.shared_rows = shared_rows.get();
    args.delta = delta.get();
    args.chosen = chosen.get();
    args.gate_up = layer.gate_up.get();
    args.down = layer.down.get();
    args.gate_up_alpha = layer.gate_up_alpha.get();
    args.down_alpha = layer.down_alpha.get();
    if (p.desc.path == plan::Path::w4a4 && p.desc.format == WeightFormat::nvfp4) {
      args.gate_up_input_scales = layer.gate_up_input_scales.get();
      args.down_input_scales = layer.down_input_scales.get();
    }
    args.workspace = workspace.get();
  }
  /// All tokens count.
  MoeCall(const MoePlan& p, const Layer& layer, const MoeInput& input)
      : MoeCall(p, layer, input, static_cast<int32_t>(p.desc.tokens)) {
    args.live_tokens = nullptr;
  }
  [[nodiscard]] Status run(cudaStream_t stream, bool pdl = true) const { return moe(plan, args, {stream, pdl}); }
};

/// One run, to its end.
inline void run_and_wait(const MoeCall& call, bool pdl = true) {
  device::Stream stream;
  ASSERT_EQ(cudaStreamCreateWithFlags(stream.fill(), cudaStreamNonBlocking), cudaSuccess);
  const Status status = call.run(stream.get(), pdl);
  ASSERT_TRUE(status.ok()) << status.message();
  ASSERT_EQ(cudaStreamSynchronize(stream.get()), cudaSuccess);
}

/// The delta of one run.
inline std::vector<uint16_t> run_moe(const MoePlan& plan, const Layer& layer, const MoeInput& input) {
  const MoeCall call(plan, layer, input);
  run_and_wait(call);
  return call.delta.read();
}

/// Experts of a token, ascending, with their weights: the router's definition, in double.
inline std::vector<std::pair<int, double>> reference_route(const plan::Desc& d, const float* exact) {
  std::vector<float> logits(exact, exact + d.experts);
  for (float& logit : logits) logit = round_to_bf16(logit);
  std::vector<int> ids(static_cast<size_t>(d.experts));
  std::iota(ids.begin(), ids.end(), 0);
  std::stable_sort(ids.begin(), ids.end(),
                   [&](int a, int b) { return logits[static_cast<size_t>(a)] > logits[static_cast<size_t>(b)]; });
  ids.resize(static_cast<size_t>(d.experts_per_token));
  const auto p = [&](int id) {
    return std::exp(double{logits[static_cast<size_t>(id)]} - logits[static_cast<size_t>(ids[0])]);
  };
  double total = 0;
  for (const int id : ids) total += p(id);
  std::vector<std::pair<int, double>> chosen;
  for (const int id : ids) chosen.emplace_back(id, p(id) / total);
  std::sort(chosen.begin(), chosen.end());
  return chosen;
}

/// Where the weight of the shared expert's row comes from.
enum class Shared { gated, whole, none };

/// delta of token t, which takes these experts (ascending) with these weights.
inline std::vector<float> reference_token(const Layer& layer, const MoeInput& input, int64_t t,
                                          std::span<const int32_t> ids, std::span<const float> weights,
                                          Shared shared = Shared::gated) {
  const plan::Desc& d = layer.desc;
  std::vector<cpu::ReferenceExpert> experts;
  for (size_t i = 0; i < layer.experts.size(); ++i) {
    const Expert& e = layer.experts[i];
    experts.push_back({e.gate.view(), e.up.view(), e.down.view(), {layer.gate_up_scales[i], layer.down_scales[i]}});
  }
  std::vector<cpu::ReferenceSlot> slots;
  for (size_t i = 0; i < ids.size(); ++i) slots.push_back({&experts[static_cast<size_t>(ids[i])], weights[i]});
  const auto row = [&](const std::vector<uint16_t>& all) {
    std::vector<float> values;
    for (int64_t i = t * d.hidden; i < (t + 1) * d.hidden; ++i) {
      values.push_back(bf16_to_float(all[static_cast<size_t>(i)]));
    }
    return values;
  };
  const std::vector<float> shared_row = row(input.shared_rows);
  const float gate = spelt::sigmoid(round_to_bf16(input.shared_gate[static_cast<size_t>(t)]));
  cpu::ReferenceShared last;
  if (shared != Shared::none) last = {shared_row, shared == Shared::gated ? gate : 1.0F};
  return cpu::reference_moe(d.path, slots, last, row(input.x));
}

/// The same by the reference's own choice of experts.
inline std::vector<float> reference_token(const Layer& layer, const MoeInput& input, int64_t t,
                                          Shared shared = Shared::gated) {
  std::vector<int32_t> ids;
  std::vector<float> weights;
  for (const auto& [id, weight] : reference_route(layer.desc, input.logits.data() + t * layer.desc.experts)) {
    ids.push_back(id);
    weights.push_back(static_cast<float>(weight));
  }
  return reference_token(layer, input, t, ids, weights, shared);
}

// ---- layers of a test, and what is expected of them ----

inline constexpr WeightFormat kFormats[] = {WeightFormat::nvfp4, WeightFormat::mxfp4};

inline plan::Desc make_desc(WeightFormat format, int64_t hidden, int64_t inner, int experts, int k, int64_t tokens) {
  return {.op = plan::Op::gate_up,
          .format = format,
          .path = plan::Path::w4a16,
          .hidden = hidden,
          .intermediate = inner,
          .experts = experts,
          .experts_per_token = k,
          .tokens = tokens};
}

inline plan::Tile first_tile() { return kernels(plan::Path::w4a16, WeightFormat::nvfp4)[0].tile; }

inline plan::Desc with_tokens(plan::Desc d, int64_t tokens) {
  d.tokens = tokens;
  return d;
}

/// The same tile for both products; nothing where it is not compiled.
inline std::optional<MoePlan> plan_of(const plan::Desc& d, const plan::Tile& tile) {
  const auto plan = plan_moe(d, tile, tile);
  if (plan.ok()) return *plan;
  EXPECT_EQ(plan.status().code(), StatusCode::unsupported) << plan.status().message();
  return std::nullopt;
}

inline void expect_close(const Layer& layer, const MoeInput& input, const std::vector<uint16_t>& got, int64_t tokens,
                         int64_t stride, const std::string& what, Shared shared = Shared::gated) {
  const auto hidden = static_cast<size_t>(layer.desc.hidden);
  double difference = 0, size = 0;
  for (int64_t t = 0; t < tokens; t += stride) {
    const auto row = static_cast<size_t>(t);
    const auto want = reference_token(layer, input, t, shared);
    for (size_t i = 0; i < hidden; ++i) {
      const double d = double{bf16_to_float(got[row * hidden + i])} - want[i];
      difference += d * d;
      size += double{want[i]} * want[i];
    }
  }
  ASSERT_GT(size, 0) << what;
  EXPECT_LE(std::sqrt(difference / size), 1e-3) << what;
}

inline void expect_equal(const std::vector<uint16_t>& got, const std::vector<uint16_t>& want, const std::string& what) {
  const auto at = std::mismatch(got.begin(), got.end(), want.begin());
  ASSERT_EQ(got.size(), want.size()) << what;
  ASSERT_TRUE(at.first == got.end()) << what << ": element " << at.first - got.begin() << " is " << *at.first
                                     << ", want " << *at.second;
}

// H is no multiple of 256, and I none of 64 nor of any tile.
inline plan::Desc odd_desc(WeightFormat format) {
  return make_desc(format, 448, format == WeightFormat::nvfp4 ? 176 : 160, 24, 5, 0);
}

}  // namespace tessera::kernels::cuda
