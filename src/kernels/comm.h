#pragma once

#include <cstdint>

#include "base/dtype.h"
#include "tessera/status.h"

namespace tessera::device {
struct Queue;
}

// What the ranks of tensor parallelism say to each other in a pass.
//
// Each rank runs the same model code on its own backend and thread, over its own share of every layer's weights. A
// block's delta is then a part of a sum, which the next block's norm needs whole; and the head makes logits of a part
// of the vocabulary, which a sampler needs whole. All else is the same on every rank: hidden rows, routing, what is
// drawn.
namespace tessera::kernels {

struct Rank {
  int index = 0;
  int world = 1;

  bool operator==(const Rank&) const = default;
};

/// Rows in a backend's memory: [rows, columns], rows `stride` elements apart.
struct CommRows {
  void* data = nullptr;
  DType dtype = DType::f32;  // on the CPU f32; on a GPU deltas are bf16 and logits f32
  int64_t rows = 0;
  int64_t columns = 0;
  int64_t stride = 0;
  const int32_t* live_rows = nullptr;  // GPU: how many rows count, on the device; null: all of them
  device::Queue* queue = nullptr;      // GPU: what follows is enqueued here; null: it has happened when a call returns
};

/// One rank's end. All ranks make the same calls in the same order, with rows of one shape. On a GPU calls enqueue,
/// wait for nothing and may be captured in a graph, unless an implementation says otherwise. A rank that fails leaves
/// the others waiting: whoever waits has a deadline, and an error of a call ends the pass.
class Comm {
 public:
  virtual ~Comm() = default;

  [[nodiscard]] virtual Rank rank() const = 0;

  /// rows = the sum of all ranks' rows: in fp32, in the order of ranks from 0 on, at every size, rounded once to BF16
  /// if `round`. So the bits are the same on every rank.
  virtual Status all_reduce(const CommRows& rows, bool round) = 0;
  /// Columns are cut into `world` equal parts, and rank r has written the r-th; afterwards each rank has all of them.
  virtual Status all_gather(const CommRows& rows) = 0;
};

/// Whether there is anybody to talk to. With one rank nothing is called, copied or launched.
inline Comm* comm_of_many(Comm* comm) { return comm != nullptr && comm->rank().world > 1 ? comm : nullptr; }

}  // namespace tessera::kernels
