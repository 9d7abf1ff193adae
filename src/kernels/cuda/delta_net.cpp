#include "kernels/cuda/delta_net.h"

#include <algorithm>

#include "base/status.h"
#include "kernels/cuda/delta_net_launch.h"

namespace tessera::kernels::cuda {
namespace {

/// Chunks that a step within the bounds can have: every sequence's last one may be short.
int64_t chunks_max(const StepTables& bounds) {
  const int64_t whole = bounds.rows_max / kChunk;
  return std::min<int64_t>(whole + bounds.sequences_max, bounds.rows_max);
}

bool has_prefill(const StepTables& bounds) { return bounds.rows_max > bounds.decode_rows_max; }

/// The buffers of so many chunks from address `base` on; their bytes.
size_t lay_out(const DeltaNetShape& shape, int64_t chunks, const std::byte* base, ChunkBuffers& buffers) {
  const int64_t key_dim = padded_dim(shape.key_dim), value_dim = padded_dim(shape.value_dim);
  const auto begin = reinterpret_cast<uintptr_t>(base);
  uintptr_t at = begin;
  const auto take = [&](auto*& to, int64_t values_per_chunk) {
    using T = std::remove_reference_t<decltype(*to)>;
    to = reinterpret_cast<T*>(at);
    at += static_cast<size_t>(chunks * values_per_chunk) * sizeof(T);
  };
  take(buffers.q, shape.key_heads * kChunk * key_dim);
  take(buffers.k, shape.key_heads * kChunk * key_dim);
  take(buffers.k_transposed, shape.key_heads * kChunk * key_dim);
  take(buffers.v_transposed, shape.value_heads * kChunk * value_dim);
  take(buffers.w, shape.value_heads * kChunk * key_dim);
  take(buffers.mix, int64_t{shape.value_heads} * kChunk * kChunk);
  take(buffers.u, shape.value_heads * kChunk * value_dim);
  take(buffers.log_decay, int64_t{shape.value_heads} * kChunk);
  return at - begin;
}

bool is_aligned(const void* p) { return reinterpret_cast<uintptr_t>(p) % 16 == 0; }

Status check(const DeltaNetArgs& args) {
  TESSERA_RETURN_IF_ERROR(supports(args.shape));
  if (args.record_rows > kRecordRowsMax) {
    return error(StatusCode::unsupported, "Gated DeltaNet: records of {} rows of a sequence; at most {} can be kept",
                 args.record_rows, kRecordRowsMax);
  }
  if (args.qkv_stride % 8 != 0 || args.z_stride % 8 != 0) {
    return error(StatusCode::invalid_argument,
                 "Gated DeltaNet: row strides of qkv ({}) and z ({}) must be multiples of 8", args.qkv_stride,
                 args.z_stride);
  }
  for (const void* p :
       std::initializer_list<const void*>{args.qkv, args.z, args.conv_weight, args.norm_weight, args.states,
                                          args.windows, args.records, args.out, args.workspace}) {
    if (is_aligned(p)) continue;
    return error(
        StatusCode::invalid_argument,
        "Gated DeltaNet: qkv, z, conv_weight, norm_weight, states, windows, records, out and workspace must be "
        "aligned to 16 bytes");
  }
  return {};
}

}  // namespace

Status supports(const DeltaNetShape& shape) {
  const auto is_dim = [](int dim) { return dim > 0 && dim <= kHeadDimMax && dim % 8 == 0; };
  if (shape.key_heads > 0 && shape.value_heads > 0 && shape.value_heads % shape.key_heads == 0 &&
      is_dim(shape.key_dim) && is_dim(shape.value_dim) && shape.conv_width >= 2 && shape.conv_width <= 4) {
    return {};
  }
  return error(
      StatusCode::unsupported,
      "no Gated DeltaNet kernel for {} key heads of {}, {} value heads of {}, convolution width {}; there are for "
      "head sizes up to {} in multiples of 8, value heads a multiple of key heads, widths 2 to 4",
      shape.key_heads, shape.key_dim, shape.value_heads, shape.value_dim, shape.conv_width, kHeadDimMax);
}

size_t delta_net_workspace_bytes(const DeltaNetShape& shape, const StepTables& bounds) {
  if (!has_prefill(bounds)) return 0;
  ChunkBuffers unused;
  return lay_out(shape, std::min<int64_t>(chunks_max(bounds), kSegmentChunks), nullptr, unused);
}

Status delta_net(const DeltaNetArgs& args, const device::Queue& queue) {
  TESSERA_RETURN_IF_ERROR(check(args));
  if (args.tables.decode_sequences_max > 0) TESSERA_RETURN_IF_ERROR(decode_rows(args, queue));
  if (!has_prefill(args.tables)) return {};
  const auto chunks = static_cast<int>(chunks_max(args.tables));
  PrefillArgs prefill;
  prefill.net = args;
  (void)lay_out(args.shape, std::min(chunks, kSegmentChunks), args.workspace, prefill.buffers);
  for (int first = 0; first < chunks; first += kSegmentChunks) {
    prefill.first_chunk = first;
    prefill.chunks = std::min(kSegmentChunks, chunks - first);
    TESSERA_RETURN_IF_ERROR(prepare_chunks(prefill, queue));
    TESSERA_RETURN_IF_ERROR(solve_chunks(prefill, queue));
    TESSERA_RETURN_IF_ERROR(advance_states(prefill, queue));
  }
  return norm_outputs(args, queue);
}

}  // namespace tessera::kernels::cuda
