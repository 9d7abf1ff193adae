#include "kernels/moe.h"

#include <algorithm>
#include <array>
#include <bit>

#include "base/check.h"
#include "kernels/cpu/lanes.h"
#include "kernels/cpu/matmul.h"
#include "kernels/cpu/parallel.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/cpu/moe.cpp"
#include "hwy/foreach_target.h"
#include "kernels/cpu/simd_math-inl.h"

HWY_BEFORE_NAMESPACE();
namespace tessera::kernels::cpu {
namespace HWY_NAMESPACE {

// out = silu(gate) * up for one row of gate_up[2 * inner]. out may be gate_up.
void swiglu_row(const float* gate_up, int64_t inner, bool to_bf16, float* out) {
  for (int64_t i = 0; i < inner; i += 16) {
    const int64_t n = inner - i;
    const F32x16 gate = round_if(to_bf16, silu(load_n(gate_up + i, n)));
    store_n(round_if(to_bf16, mul(gate, load_n(gate_up + inner + i, n))), n, out + i);
  }
}

// logits[experts] become softmax probabilities in place, the sum in 16 lanes and the tree; all NaN if a logit is NaN or
// +infinity.
void softmax_row(float* logits, int64_t experts) {
  const float lowest = -std::numeric_limits<float>::infinity();
  const auto load_padded = [&](int64_t i)
                               HWY_ATTR { return first_n_or(load_n(logits + i, experts - i), experts - i, lowest); };
  F32x16 largest = set(lowest);
  for (int64_t i = 0; i < experts; i += 16) largest = max(largest, load_padded(i));
  const F32x16 shift = set(max_lane(largest));
  F32x16 total = set(0.0F);
  for (int64_t i = 0; i < experts; i += 16) {
    const F32x16 p = exp(sub(load_padded(i), shift));
    store_n(p, experts - i, logits + i);
    total = add(total, p);
  }
  const F32x16 divisor = set(sum(total));
  for (int64_t i = 0; i < experts; i += 16) {
    store_n(div(load_n(logits + i, experts - i), divisor), experts - i, logits + i);
  }
}

// out = round(sum over j of weights[j] * rows[j], serially (fma), the last being the shared expert's).
void reduce_row(const float* const* rows, const float* weights, int64_t count, int64_t hidden, bool to_bf16,
                float* out) {
  for (int64_t i = 0; i < hidden; i += 16) {
    const int64_t n = hidden - i;
    F32x16 total = set(0.0F);
    for (int64_t j = 0; j < count; ++j) total = fma(set(weights[j]), load_n(rows[j] + i, n), total);
    store_n(round_if(to_bf16, total), n, out + i);
  }
}

float sigmoid_of(float x) {
  alignas(64) float lanes[16];
  store(sigmoid(set(x)), lanes);
  return lanes[0];
}

}  // namespace HWY_NAMESPACE
}  // namespace tessera::kernels::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tessera::kernels {
namespace cpu {

HWY_EXPORT(swiglu_row);
HWY_EXPORT(softmax_row);
HWY_EXPORT(reduce_row);
HWY_EXPORT(sigmoid_of);

namespace {

/// Sorts by falling logit, then rising id; NaN last. 0 is below every key.
uint64_t rank_key(float logit, int64_t id) {
  const auto bits = std::bit_cast<uint32_t>(logit == 0 ? 0.0F : logit);  // -0 ties with 0
  const uint32_t ordered = (bits >> 31) != 0 ? ~bits : bits | 0x80000000U;
  return uint64_t{logit != logit ? 0 : ordered} << 32 | (0xffffffffU - static_cast<uint32_t>(id));
}

/// Ids of the k largest logits, descending.
void top_k(const float* logits, int64_t experts, int64_t k, uint64_t* keys, int32_t* ids) {
  int64_t kept = 0;
  for (int64_t id = 0; id < experts; ++id) {
    const uint64_t key = rank_key(logits[id], id);
    if (kept == k && key < keys[k - 1]) continue;
    int64_t place = kept < k ? kept++ : k - 1;
    for (; place > 0 && keys[place - 1] < key; --place) keys[place] = keys[place - 1];
    keys[place] = key;
  }
  for (int64_t i = 0; i < k; ++i) ids[i] = static_cast<int32_t>(0xffffffffU - static_cast<uint32_t>(keys[i]));
}

/// Where each (row, expert) pair goes: slots are sorted by expert, then row.
struct Routing {
  int32_t* ids = nullptr;         // [rows, k], ascending
  float* weights = nullptr;       // [rows, k], of ids
  int32_t* slots = nullptr;       // [rows, k], of ids
  int32_t* slot_row = nullptr;    // [rows * k]
  int32_t* first_slot = nullptr;  // [experts + 1]
};

/// Fills ids and weights; logits [rows, experts] become probabilities.
void choose(const Context& context, const MoeArgs& args, float* logits, const Routing& out) {
  Workspace::Frame frame(*context.workspace);
  const auto experts = static_cast<int64_t>(args.experts.size());
  const int64_t k = args.experts_per_token;
  uint64_t* all_keys = frame.take<uint64_t>(static_cast<size_t>(k * context.pool->size()));
  const auto softmax = HWY_DYNAMIC_DISPATCH(softmax_row);
  parallel_ranges(context, args.rows, [&](int64_t begin, int64_t end, int thread) {
    for (int64_t row = begin; row < end; ++row) {
      float* p = logits + row * experts;
      int32_t* ids = out.ids + row * k;
      top_k(p, experts, k, all_keys + k * thread, ids);
      if (args.chosen != nullptr) std::copy_n(ids, k, args.chosen + row * k);
      softmax(p, experts);
      float total = 0;
      for (int64_t j = 0; j < k; ++j) total += p[ids[j]];
      std::sort(ids, ids + k);
      for (int64_t j = 0; j < k; ++j) out.weights[row * k + j] = p[ids[j]] / total;
    }
  });
}

/// Fills the slots, by counting.
void assign_slots(const Context& context, const MoeArgs& args, const Routing& out) {
  Workspace::Frame frame(*context.workspace);
  const auto experts = static_cast<int64_t>(args.experts.size());
  const int64_t pairs = args.rows * args.experts_per_token;
  int32_t* next = frame.take<int32_t>(static_cast<size_t>(experts));
  std::fill_n(out.first_slot, experts + 1, 0);
  for (int64_t i = 0; i < pairs; ++i) ++out.first_slot[out.ids[i] + 1];
  for (int64_t e = 0; e < experts; ++e) out.first_slot[e + 1] += out.first_slot[e];
  std::copy_n(out.first_slot, experts, next);
  for (int64_t i = 0; i < pairs; ++i) {
    out.slots[i] = next[out.ids[i]]++;
    out.slot_row[out.slots[i]] = static_cast<int32_t>(i / args.experts_per_token);
  }
}

void swiglu(const Context& context, const float* gate_up, int64_t rows, int64_t inner, float* out) {
  const auto swiglu_one = HWY_DYNAMIC_DISPATCH(swiglu_row);
  parallel_ranges(context, rows, [&](int64_t begin, int64_t end, int) {
    for (int64_t row = begin; row < end; ++row) {
      swiglu_one(gate_up + row * 2 * inner, inner, context.compute == Compute::bf16, out + row * inner);
    }
  });
}

void check_swiglu(const SwigluWeights& w, int64_t hidden, int64_t inner) {
  TESSERA_CHECK_EQ(w.gate_up.rows, 2 * inner);
  TESSERA_CHECK_EQ(w.gate_up.cols, hidden);
  TESSERA_CHECK_EQ(w.down.rows, hidden);
  TESSERA_CHECK_EQ(w.down.cols, inner);
}

/// The buffers of one call. Slots hold the rows of the routed experts; the shared expert has one row a token.
struct MoeStep {
  const Context& context;
  const MoeArgs& args;
  int64_t inner = 0, shared_inner = 0;
  float* shared_gate = nullptr;  // [rows]
  Routing routing;
  float* slot_rows = nullptr;       // [slots, hidden]: inputs, then (they are dead once multiplied) outputs
  float* gate_up = nullptr;         // [slots, 2 inner]
  float* gated = nullptr;           // [slots, inner]
  float* shared_gate_up = nullptr;  // [rows, 2 shared_inner]
  float* shared_gated = nullptr;    // [rows, shared_inner]
  float* shared_out = nullptr;      // [rows, hidden]

  [[nodiscard]] int64_t slots() const { return args.rows * args.experts_per_token; }

  void route() const;
  void gather() const;
  void multiply(bool down) const;
  void reduce() const;
};

void MoeStep::route() const {
  Workspace::Frame frame(*context.workspace);
  const auto experts = static_cast<int64_t>(args.experts.size());
  float* logits = frame.take<float>(static_cast<size_t>(args.rows * experts));
  const std::array<Matmul, 2> products{Matmul{args.router, args.x, args.hidden, args.rows, logits, experts},
                                       Matmul{args.shared_gate, args.x, args.hidden, args.rows, shared_gate, 1}};
  matmul(context, {products.data(), args.shared != nullptr ? 2U : 1U});
  choose(context, args, logits, routing);
  assign_slots(context, args, routing);
}

void MoeStep::gather() const {
  if (args.rows == 1) return;  // every slot's input is the one row
  parallel_ranges(context, slots(), [&](int64_t begin, int64_t end, int) {
    for (int64_t s = begin; s < end; ++s) {
      std::copy_n(args.x + routing.slot_row[s] * args.hidden, args.hidden, slot_rows + s * args.hidden);
    }
  });
}

/// The gate and up products of all experts, or the down products.
void MoeStep::multiply(bool down) const {
  Workspace::Frame frame(*context.workspace);
  Matmul* products = frame.take<Matmul>(args.experts.size() + 1);
  size_t count = 0;
  for (size_t e = 0; e < args.experts.size(); ++e) {
    const int64_t first = routing.first_slot[e], rows = routing.first_slot[e + 1] - first;
    if (rows == 0) continue;
    const SwigluWeights& w = args.experts[e];
    check_swiglu(w, args.hidden, inner);
    const float* input = args.rows == 1 ? args.x : slot_rows + first * args.hidden;
    products[count++] =
        down ? Matmul{&w.down, gated + first * inner, inner, rows, slot_rows + first * args.hidden, args.hidden}
             : Matmul{&w.gate_up, input, args.hidden, rows, gate_up + first * 2 * inner, 2 * inner};
  }
  if (args.shared != nullptr) {
    const SwigluWeights& w = *args.shared;
    products[count++] = down ? Matmul{&w.down, shared_gated, shared_inner, args.rows, shared_out, args.hidden}
                             : Matmul{&w.gate_up, args.x, args.hidden, args.rows, shared_gate_up, 2 * shared_inner};
  }
  matmul(context, {products, count});
}

void MoeStep::reduce() const {
  Workspace::Frame frame(*context.workspace);
  const int64_t k = args.experts_per_token, terms = k + (args.shared != nullptr ? 1 : 0);
  const auto total_terms = static_cast<size_t>(terms * context.pool->size());
  const float** all_rows = frame.take<const float*>(total_terms);
  float* all_weights = frame.take<float>(total_terms);
  const auto reduce_one = HWY_DYNAMIC_DISPATCH(reduce_row);
  parallel_ranges(context, args.rows, [&](int64_t begin, int64_t end, int thread) {
    const float** rows = all_rows + terms * thread;
    float* weights = all_weights + terms * thread;
    for (int64_t row = begin; row < end; ++row) {
      for (int64_t j = 0; j < k; ++j) {
        rows[j] = slot_rows + routing.slots[row * k + j] * args.hidden;
        weights[j] = routing.weights[row * k + j];
      }
      if (args.shared != nullptr) {
        rows[k] = shared_out + row * args.hidden;
        weights[k] = HWY_DYNAMIC_DISPATCH(sigmoid_of)(shared_gate[row]);
      }
      reduce_one(rows, weights, terms, args.hidden, context.compute == Compute::bf16, args.out + row * args.hidden);
    }
  });
}

}  // namespace
}  // namespace cpu

void mlp(const Context& context, const MlpArgs& args) {
  using namespace cpu;
  if (args.rows == 0) return;
  Workspace::Frame frame(*context.workspace);
  const auto rows = static_cast<size_t>(args.rows);
  const int64_t inner = args.weights->down.cols;
  check_swiglu(*args.weights, args.hidden, inner);
  float* gate_up = frame.take<float>(rows * static_cast<size_t>(2 * inner));
  float* gated = frame.take<float>(rows * static_cast<size_t>(inner));
  const Matmul up{&args.weights->gate_up, args.x, args.hidden, args.rows, gate_up, 2 * inner};
  matmul(context, {&up, 1});
  swiglu(context, gate_up, args.rows, inner, gated);
  const Matmul down{&args.weights->down, gated, inner, args.rows, args.out, args.hidden};
  matmul(context, {&down, 1});
}

void moe(const Context& context, const MoeArgs& args) {
  using namespace cpu;
  const int64_t rows = args.rows, hidden = args.hidden, k = args.experts_per_token;
  const auto experts = static_cast<int64_t>(args.experts.size());
  TESSERA_CHECK_GE(k, 1);
  TESSERA_CHECK_LE(k, experts);
  TESSERA_CHECK_EQ(args.router->rows, experts);
  if (rows == 0) return;
  const int64_t inner = args.experts[0].down.cols;
  const int64_t shared_rows = args.shared != nullptr ? rows : 0;
  const int64_t shared_inner = args.shared != nullptr ? args.shared->down.cols : 0;
  if (args.shared != nullptr) check_swiglu(*args.shared, hidden, shared_inner);

  Workspace::Frame frame(*context.workspace);
  const auto floats = [&](int64_t count) { return frame.take<float>(static_cast<size_t>(count)); };
  const auto ints = [&](int64_t count) { return frame.take<int32_t>(static_cast<size_t>(count)); };
  const MoeStep step{.context = context,
                     .args = args,
                     .inner = inner,
                     .shared_inner = shared_inner,
                     .shared_gate = floats(rows),
                     .routing = {ints(rows * k), floats(rows * k), ints(rows * k), ints(rows * k), ints(experts + 1)},
                     .slot_rows = floats(rows * k * hidden),
                     .gate_up = floats(rows * k * 2 * inner),
                     .gated = floats(rows * k * inner),
                     .shared_gate_up = floats(shared_rows * 2 * shared_inner),
                     .shared_gated = floats(shared_rows * shared_inner),
                     .shared_out = floats(shared_rows * hidden)};
  step.route();
  step.gather();
  step.multiply(/*down=*/false);
  swiglu(context, step.gate_up, step.slots(), inner, step.gated);
  swiglu(context, step.shared_gate_up, shared_rows, shared_inner, step.shared_gated);
  step.multiply(/*down=*/true);
  step.reduce();
}

}  // namespace tessera::kernels
#endif
