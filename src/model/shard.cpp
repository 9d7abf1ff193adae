#include "model/shard.h"

#include <algorithm>
#include <cstring>

#include "base/check.h"
#include "format/row_copy.h"

namespace tessera::model {
namespace {

/// A rank's equal part of `count`.
Expected<Range> part(const char* key, int64_t count, const kernels::Rank& rank) {
  if (count % rank.world != 0) {
    return error(StatusCode::invalid_argument, "{} is {}, which {} ranks cannot share: expected a multiple of {}", key,
                 count, rank.world, rank.world);
  }
  const int64_t each = count / rank.world;
  return Range{rank.index * each, (rank.index + 1) * each};
}

/// KV heads are cut as long as there are enough, then given to several ranks.
Expected<Range> kv_part(int64_t kv_heads, const kernels::Rank& rank) {
  if (kv_heads >= rank.world) return part("num_key_value_heads", kv_heads, rank);
  if (kv_heads == 0) return Range{};
  if (rank.world % kv_heads != 0) {
    return error(StatusCode::invalid_argument,
                 "num_key_value_heads is {}, which {} ranks cannot share: expected a multiple or a divisor of {}",
                 kv_heads, rank.world, rank.world);
  }
  const int64_t head = rank.index / (rank.world / kv_heads);
  return Range{head, head + 1};
}

}  // namespace

std::vector<Range> Shard::delta_net_channels(const kernels::DeltaNetShape& whole_net) const {
  const int64_t keys = int64_t{whole_net.key_heads} * whole_net.key_dim;
  const Range q = scaled(key_heads, whole_net.key_dim), v = scaled(value_heads, whole_net.value_dim);
  std::vector<Range> ranges;
  for (const Range& next : {q, Range{keys + q.begin, keys + q.end}, Range{2 * keys + v.begin, 2 * keys + v.end}}) {
    if (!ranges.empty() && ranges.back().end == next.begin) {
      ranges.back().end = next.end;
    } else {
      ranges.push_back(next);
    }
  }
  return ranges;
}

Expected<Shard> make_shard(const ModelConfig& config, kernels::Rank rank) {
  if (rank.index < 0 || rank.index >= rank.world) {
    return error(StatusCode::invalid_argument, "rank {} of {}: expected one from 0 to one less than their number",
                 rank.index, rank.world);
  }
  Shard shard;
  shard.rank = rank;
  shard.attention = config.attention;
  shard.delta_net = config.delta_net;
  TESSERA_ASSIGN_OR_RETURN(shard.heads, part("num_attention_heads", config.attention.heads, rank));
  TESSERA_ASSIGN_OR_RETURN(shard.kv_heads, kv_part(config.attention.kv_heads, rank));
  TESSERA_ASSIGN_OR_RETURN(shard.key_heads, part("linear_num_key_heads", config.delta_net.key_heads, rank));
  TESSERA_ASSIGN_OR_RETURN(shard.value_heads, part("linear_num_value_heads", config.delta_net.value_heads, rank));
  if (config.is_moe) {
    TESSERA_ASSIGN_OR_RETURN(shard.expert, part("moe_intermediate_size", config.moe_intermediate_size, rank));
    TESSERA_ASSIGN_OR_RETURN(shard.shared_expert,
                             part("shared_expert_intermediate_size", config.shared_expert_intermediate_size, rank));
  } else {
    TESSERA_ASSIGN_OR_RETURN(shard.mlp, part("intermediate_size", config.intermediate_size, rank));
  }
  TESSERA_ASSIGN_OR_RETURN(shard.vocab, part("vocab_size", config.vocab_size, rank));
  shard.attention.heads = static_cast<int>(shard.heads.size());
  shard.attention.kv_heads = static_cast<int>(shard.kv_heads.size());
  shard.delta_net.key_heads = static_cast<int>(shard.key_heads.size());
  shard.delta_net.value_heads = static_cast<int>(shard.value_heads.size());
  return shard;
}

Expected<format::MatrixView> ColumnCuts::cut(const format::MatrixView& view, const Range& columns) {
  constexpr int64_t kChunkRows = 64;
  if (columns == whole(view.cols)) return view;
  const int64_t unit = column_unit(view.format), group = format::group_size(view.format);
  TESSERA_CHECK(columns.begin % unit == 0 && columns.end % unit == 0 && columns.end <= view.cols);
  const auto element_bytes = [&](int64_t cols) { return format::row_bytes(view.format, cols); };
  const auto scale_bytes = [&](int64_t cols) { return static_cast<size_t>(cols / group); };
  // The columns of `rows` rows of `bytes_of(cols)` bytes each, one after another.
  const auto cut_rows = [&](const std::byte* from, int64_t rows, const auto& bytes_of, std::byte* to) {
    const size_t stride = bytes_of(view.cols), begin = bytes_of(columns.begin), bytes = bytes_of(columns.size());
    for (size_t row = 0; row < static_cast<size_t>(rows); ++row) {
      std::memcpy(to + row * bytes, from + row * stride + begin, bytes);
    }
  };
  format::MatrixView part = view;
  part.cols = columns.size();
  part.file = part.scales_file = nullptr;
  std::vector<std::byte>& elements = copies_.emplace_back(format::element_bytes(part));
  std::vector<std::byte>& scales = copies_.emplace_back(format::block_scale_bytes(part));
  part.data = elements.data();
  if (group != 0) part.block_scales = scales.data();
  format::RowCopy copy;
  for (int64_t first = 0; first < view.rows; first += kChunkRows) {
    const int64_t rows = std::min(kChunkRows, view.rows - first);
    TESSERA_ASSIGN_OR_RETURN(const format::MatrixView stored, copy.rows(view, first, rows));
    cut_rows(stored.data, rows, element_bytes, elements.data() + format::element_bytes(part, first));
    if (group == 0) continue;
    cut_rows(stored.block_scales, rows, scale_bytes, scales.data() + format::block_scale_bytes(part, first));
  }
  return part;
}

}  // namespace tessera::model
