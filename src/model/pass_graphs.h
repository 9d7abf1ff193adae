#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "base/status.h"
#include "device/cuda.h"
#include "model/pass_size.h"

namespace tessera::model {

/// The CUDA graphs that a runner keeps, by the size of the pass that each runs.
class PassGraphs {
 public:
  explicit PassGraphs(GraphSizes sizes) : sizes_(std::move(sizes)) {}

  [[nodiscard]] const GraphSizes& sizes() const { return sizes_; }
  /// Of the graph that runs such a pass, captured or not; nullopt: there can be none.
  [[nodiscard]] std::optional<PassSize> size_of(const PassSize& pass) const;
  /// Null: it has not been captured.
  [[nodiscard]] cudaGraphExec_t find(const PassSize& size) const;
  /// Graphs of these sizes are to be captured ahead, in their order.
  void want(std::vector<PassSize> sizes) { wanted_ = std::move(sizes); }
  /// The next of those that is not there; nullopt: there is none, or they would take memory that others may need.
  Expected<std::optional<PassSize>> next_wanted();
  /// Keeps what `enqueue` puts into the stream, on which nothing runs. Where there is no memory for a graph, such
  /// passes go on without one.
  Status capture(const PassSize& size, cudaStream_t stream, const std::function<Status()>& enqueue);

 private:
  using Graph = device::Handle<cudaGraph_t, cudaGraphDestroy>;
  using GraphExec = device::Handle<cudaGraphExec_t, cudaGraphExecDestroy>;
  struct Kept {
    PassSize size;
    GraphExec graph;
  };

  GraphSizes sizes_;
  std::vector<Kept> kept_;
  std::vector<PassSize> wanted_;
  std::vector<PassSize> without_;  // there was no memory for one
};

}  // namespace tessera::model
