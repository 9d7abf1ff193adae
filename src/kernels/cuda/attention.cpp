#include "kernels/cuda/attention.h"

#include <algorithm>
#include <cmath>

#include "base/ceil_div.h"
#include "base/status.h"
#include "kernels/cuda/attention_shape.h"

// Host decisions of attention: what can run, grids, memory. No device code.
namespace tessera::kernels::cuda {
namespace {

using namespace attn;

// Enough states that the GPU is full while each block takes one split: more would only take memory.
constexpr int64_t kDecodeStateBytesMax = int64_t{64} << 20;
constexpr int64_t kPrefillStateBytesMax = int64_t{96} << 20;

std::string describe(const AttentionShape& s, DType kv) {
  return fmt::format("heads {}, kv_heads {}, head_dim {}, rotary_dim {}, norm_eps {}, KV cache {}", s.heads, s.kv_heads,
                     s.head_dim, s.rotary_dim, s.norm_eps, name(kv));
}

int group_of(const AttentionShape& shape) { return shape.heads / shape.kv_heads; }

int choose_row_blocks(const AttentionShape& shape, const StepTables& bounds) {
  const int64_t rows_each = ceil_div(bounds.decode_rows_max, bounds.decode_sequences_max);
  return group_of(shape) * rows_each > 16 ? decode_row_blocks_max(padded_head_dim(shape.head_dim)) : 1;
}

void plan_decode(AttentionPlan& plan, const StepTables& bounds, int sm_count, int row_blocks) {
  const int group = group_of(plan.shape);
  const int dim = padded_head_dim(plan.shape.head_dim);
  plan.decode_row_blocks = row_blocks;
  const int64_t splits = ceil_div(bounds.block_table_stride * kBlockTokens, kDecodeSplitTokens);
  const int64_t row_groups =
      bounds.decode_sequences_max + bounds.decode_rows_max / decode_group_rows(group, plan.decode_row_blocks);
  const int64_t units = row_groups * plan.shape.kv_heads * splits;
  plan.decode_blocks = static_cast<int>(std::min<int64_t>(units, int64_t{2} * sm_count));
  if (splits == 1) return;
  // At the least two for each block: of the superblock that it is in, and of those before.
  const int64_t bytes = decode_slot_bytes(dim, plan.decode_row_blocks);
  const int64_t most = std::max<int64_t>(std::min<int64_t>(kDecodeSlotsMax, kDecodeStateBytesMax / bytes),
                                         int64_t{2} * plan.decode_blocks);
  plan.decode_slots = static_cast<int>(std::min(std::max(units, int64_t{2} * plan.decode_blocks), most));
}

void plan_prefill(AttentionPlan& plan, const StepTables& bounds, int sm_count) {
  const int group = group_of(plan.shape);
  const int64_t splits = ceil_div(bounds.block_table_stride * kBlockTokens, kPrefillSplitTokens);
  const int64_t tiles = bounds.sequences_max + bounds.rows_max / prefill_tile_positions(group);
  const int64_t units = tiles * plan.shape.kv_heads * splits;
  plan.prefill_blocks = static_cast<int>(std::min<int64_t>(units, sm_count));
  if (splits == 1) return;
  // At the least two for each block, as above.
  const int64_t bytes = prefill_slot_bytes(padded_head_dim(plan.shape.head_dim));
  plan.prefill_slots = static_cast<int>(std::max<int64_t>(
      std::min({units, int64_t{kPrefillSlotsMax}, kPrefillStateBytesMax / bytes}), int64_t{2} * plan.prefill_blocks));
}

size_t workspace_bytes(const AttentionPlan& plan) {
  const int dim = padded_head_dim(plan.shape.head_dim);
  const int64_t decode = plan.decode_slots * decode_slot_bytes(dim, plan.decode_row_blocks);
  const int64_t prefill = plan.prefill_slots * prefill_slot_bytes(dim);
  return kAttentionCounterBytes + static_cast<size_t>(std::max(decode, prefill));
}

bool aligned(const void* p) { return reinterpret_cast<uintptr_t>(p) % 16 == 0; }

}  // namespace

size_t kv_block_bytes(DType dtype, const AttentionShape& shape) {
  return size_bytes(dtype) * static_cast<size_t>(kBlockTokens) * static_cast<size_t>(shape.kv_heads) *
         static_cast<size_t>(padded_head_dim(shape.head_dim));
}

Status supports(const AttentionShape& s, DType kv) {
  const auto refuse = [&](const char* why) {
    return error(StatusCode::unsupported, "attention on the GPU: {}: {}", why, describe(s, kv));
  };
  if (kv != DType::bf16 && kv != DType::f8_e4m3) return refuse("the KV cache is neither BF16 nor F8_E4M3");
  if (s.kv_heads < 1 || s.heads < 1 || s.heads % s.kv_heads != 0) return refuse("kv_heads does not divide heads");
  if (s.heads / s.kv_heads > kGroupMax) return refuse("more than 16 query heads for a KV head");
  if (s.head_dim < 8 || s.head_dim > 256 || s.head_dim % 8 != 0) {
    return refuse("head_dim is not a multiple of 8 from 8 to 256");
  }
  if (s.rotary_dim < 0 || s.rotary_dim > s.head_dim || s.rotary_dim % 2 != 0) {
    return refuse("rotary_dim is not an even number up to head_dim");
  }
  return {};
}

Expected<AttentionPlan> plan_attention(const AttentionShape& shape, DType kv, const StepTables& bounds, int sm_count) {
  TESSERA_RETURN_IF_ERROR(supports(shape, kv));
  if (sm_count < 1 || bounds.block_table_stride < 1) {
    return error(StatusCode::invalid_argument, "attention on the GPU: {} SMs, block tables of {} entries", sm_count,
                 bounds.block_table_stride);
  }
  AttentionPlan plan{.shape = shape, .kv = kv};
  if (bounds.decode_sequences_max > 0 && bounds.decode_rows_max > 0) {
    plan_decode(plan, bounds, sm_count, choose_row_blocks(shape, bounds));
  }
  if (bounds.rows_max > bounds.decode_rows_max) plan_prefill(plan, bounds, sm_count);
  if (plan.decode_slots > kDecodeSlotsMax || plan.prefill_slots > kPrefillSlotsMax) {
    return error(StatusCode::unsupported, "attention on the GPU: {} SMs, of at most {}", sm_count,
                 kPrefillSlotsMax / 2);
  }
  plan.workspace_bytes = workspace_bytes(plan);
  return plan;
}

size_t attention_workspace_bytes_max(const AttentionShape& shape, DType kv, const StepTables& bounds, int sm_count) {
  StepTables widest = bounds;
  widest.decode_rows_max = bounds.rows_max;
  widest.decode_sequences_max = bounds.sequences_max;
  size_t bytes = 0;
  for (const int row_blocks : {1, decode_row_blocks_max(padded_head_dim(shape.head_dim))}) {
    AttentionPlan plan{.shape = shape, .kv = kv};
    plan_decode(plan, widest, sm_count, row_blocks);
    plan_prefill(plan, widest, sm_count);
    bytes = std::max(bytes, workspace_bytes(plan));
  }
  return bytes;
}

namespace {

Status check(const AttentionArgs& args) {
  const AttentionPlan& plan = args.plan;
  TESSERA_RETURN_IF_ERROR(supports(plan.shape, plan.kv));
  if (args.kv.dtype != plan.kv) {
    return error(StatusCode::invalid_argument, "attention on the GPU: a KV pool of {}, planned for {}",
                 name(args.kv.dtype), name(plan.kv));
  }
  const auto positive = [](float scale) { return scale > 0 && std::isfinite(scale); };
  if (!positive(args.kv.k_scale) || !positive(args.kv.v_scale)) {
    return error(StatusCode::invalid_argument, "attention on the GPU: KV scales {} and {}; both must be positive",
                 args.kv.k_scale, args.kv.v_scale);
  }
  for (const void* p : {static_cast<const void*>(args.query_gate), static_cast<const void*>(args.key),
                        static_cast<const void*>(args.value), static_cast<const void*>(args.q_norm),
                        static_cast<const void*>(args.k_norm), static_cast<const void*>(args.out),
                        static_cast<const void*>(args.kv.keys), static_cast<const void*>(args.kv.values),
                        static_cast<const void*>(args.workspace)}) {
    if (!aligned(p)) return error(StatusCode::invalid_argument, "attention on the GPU: {} is not aligned to 16", p);
  }
  if (args.query_gate_stride % 8 != 0 || args.key_stride % 8 != 0 || args.value_stride % 8 != 0) {
    return error(StatusCode::invalid_argument,
                 "attention on the GPU: strides {}, {} and {}; all must be multiples of 8 elements",
                 args.query_gate_stride, args.key_stride, args.value_stride);
  }
  return {};
}

LaunchArgs with_factors(const AttentionArgs& args) {
  const AttentionShape& shape = args.plan.shape;
  const float scale = 1.0F / std::sqrt(static_cast<float>(shape.head_dim));
  const float scaled = args.kv.dtype == DType::f8_e4m3 ? scale * args.kv.k_scale : scale;
  constexpr float kLog2E = 1.44269504F;
  return {args, shape.heads / shape.kv_heads, scaled * kLog2E};
}

}  // namespace

Status attention(const AttentionArgs& args, const device::Queue& queue) {
  TESSERA_RETURN_IF_ERROR(check(args));
  const AttentionPlan& plan = args.plan;
  const LaunchArgs launch = with_factors(args);
  const bool e4m3 = plan.kv == DType::f8_e4m3;
  if (plan.decode_blocks > 0) TESSERA_RETURN_IF_ERROR(e4m3 ? decode_e4m3(launch, queue) : decode_bf16(launch, queue));
  if (plan.prefill_blocks > 0)
    TESSERA_RETURN_IF_ERROR(e4m3 ? prefill_e4m3(launch, queue) : prefill_bf16(launch, queue));
  return {};
}

}  // namespace tessera::kernels::cuda
