#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <span>
#include <vector>

#include "base/status.h"
#include "format/matrix.h"
#include "kernels/comm.h"
#include "model/config.h"

// A model cut for tensor parallelism: what each rank has of it. Heads, channels of Gated DeltaNet, columns of experts
// and of dense networks, and rows of the head are cut; norms, the router, the shared expert's gate, the embedding and
// the MTP head's input are on every rank.
namespace tessera::model {

/// Rows or columns [begin, end) of a matrix, or elements of a vector.
struct Range {
  int64_t begin = 0;
  int64_t end = 0;

  [[nodiscard]] int64_t size() const { return end - begin; }
  bool operator==(const Range&) const = default;
};

/// All of `count`.
constexpr Range whole(int64_t count) { return {0, count}; }
/// The same range of things that have `unit` elements each.
constexpr Range scaled(const Range& range, int64_t unit) { return {range.begin * unit, range.end * unit}; }

/// A rank's share. With one rank it is everything.
struct Shard {
  kernels::Rank rank;
  kernels::AttentionShape attention;  // of this rank's heads
  kernels::DeltaNetShape delta_net;   // of this rank's heads
  Range heads, kv_heads;              // with fewer KV heads than ranks, several ranks have the same one
  Range key_heads, value_heads;       // of Gated DeltaNet
  Range expert, shared_expert, mlp;   // intermediate channels
  Range vocab;                        // of the head

  /// Rows of in_proj_qkv, and channels of the convolution: q, k and v of this rank's heads; one range where they are
  /// neighbours.
  [[nodiscard]] std::vector<Range> delta_net_channels(const kernels::DeltaNetShape& whole_net) const;
};

/// invalid_argument names the number of config.json that so many ranks cannot share.
Expected<Shard> make_shard(const ModelConfig& config, kernels::Rank rank);

/// A cut along K lies between groups of so many columns: no block scale is cut, nor the 16 columns that a backend's
/// products take at a time.
constexpr int64_t column_unit(format::WeightFormat format) {
  return format::group_size(format) > 16 ? format::group_size(format) : 16;
}

/// Columns of matrices, copied together: a view has whole rows.
class ColumnCuts {
 public:
  /// Columns `columns` of `view`, at multiples of column_unit(); all of them: the view itself. Good until clear().
  /// unavailable: a file has become shorter, or cannot be read.
  Expected<format::MatrixView> cut(const format::MatrixView& view, const Range& columns);
  void clear() { copies_.clear(); }

 private:
  std::deque<std::vector<std::byte>> copies_;
};

}  // namespace tessera::model
