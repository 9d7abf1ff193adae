#include "model/pass_graphs.h"

#include <algorithm>

#include "base/call_watch.h"

namespace tessera::model {
namespace {

/// Of a GPU's memory, what graphs captured ahead leave free of what the fit keeps in reserve (engine/fit.cpp).
constexpr size_t kLeftFreeBytes = size_t{1} << 29;

}  // namespace

std::optional<PassSize> PassGraphs::size_of(const PassSize& pass) const {
  const std::optional<PassSize> size = sizes_.of(pass);
  return size && std::ranges::find(without_, *size) != without_.end() ? std::nullopt : size;
}

cudaGraphExec_t PassGraphs::find(const PassSize& size) const {
  const auto kept = std::ranges::find(kept_, size, &Kept::size);
  return kept == kept_.end() ? nullptr : kept->graph.get();
}

Expected<std::optional<PassSize>> PassGraphs::next_wanted() {
  std::erase_if(wanted_, [this](const PassSize& size) { return find(size) != nullptr; });
  if (wanted_.empty()) return std::optional<PassSize>();
  size_t free_bytes = 0, bytes = 0;
  TESSERA_CUDA_RETURN_IF_ERROR(cudaMemGetInfo(&free_bytes, &bytes));
  if (!without_.empty() || free_bytes < kLeftFreeBytes) wanted_.clear();
  return wanted_.empty() ? std::nullopt : std::optional(wanted_.front());
}

Status PassGraphs::capture(const PassSize& size, cudaStream_t stream, const std::function<Status()>& enqueue) {
  TESSERA_CUDA_RETURN_IF_ERROR(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
  const Status enqueued = enqueue();
  Graph graph;
  const cudaError_t ended = [&] {
    const WatchedCall watched("cudaStreamEndCapture");
    return cudaStreamEndCapture(stream, graph.fill());
  }();
  TESSERA_RETURN_IF_ERROR(enqueued);  // says more
  TESSERA_RETURN_IF_ERROR(device::cuda_status(ended, "cudaStreamEndCapture"));
  Kept kept{.size = size, .graph = {}};
  cudaError_t made = cudaGraphInstantiate(kept.graph.fill(), graph.get(), 0);
  // What its first launch would take is taken now.
  if (made == cudaSuccess) made = cudaGraphUpload(kept.graph.get(), stream);
  if (made == cudaErrorMemoryAllocation) {
    static_cast<void>(cudaGetLastError());
    without_.push_back(size);
    return {};
  }
  TESSERA_RETURN_IF_ERROR(device::cuda_status(made, "the graph of a pass"));
  kept_.push_back(std::move(kept));
  return {};
}

}  // namespace tessera::model
