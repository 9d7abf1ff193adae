#include <algorithm>
#include <string>
#include <vector>

#include "device/symbol.h"
#include "kernels/cuda/backend.h"
#include "kernels/cuda/dense_gemm.h"
#include "kernels/cuda/grouped_gemm.h"
#include "kernels/cuda/planned_blocks.h"
#include "kernels/step_plan.h"
#include "plan/candidates.h"

namespace tessera::kernels::cuda {
namespace {

/// The tile of a product's kernel; empty for others.
std::string tile_of(const void* kernel) {
  const auto find = [&](const auto& kernels) -> std::string {
    for (const auto& k : kernels) {
      if (reinterpret_cast<const void*>(k.function) == kernel) return plan::shape_name(k.tile);
    }
    return {};
  };
  for (const auto format : plan::kDenseFormats) {
    std::string tile = find(dense_kernels(format));
    for (const auto path : {plan::Path::w4a16, plan::Path::w4a4}) {
      if (tile.empty()) tile = find(kernels(path, format));
    }
    if (!tile.empty()) return tile;
  }
  return {};
}

PlannedKernel planned_kernel(const device::PlannedLaunch& launch) {
  PlannedKernel kernel;
  kernel.tile = tile_of(launch.kernel);
  kernel.name = device::short_name(device::symbol_at(launch.kernel), /*with_arguments=*/kernel.tile.empty());
  kernel.blocks = int64_t{launch.grid.x} * launch.grid.y * launch.grid.z;
  kernel.threads = int64_t{launch.block.x} * launch.block.y * launch.block.z;
  kernel.smem_bytes = static_cast<int64_t>(launch.smem_bytes);
  return kernel;
}

/// The backend over blocks, caches and passes without memory.
class PlanningBackend final : public CudaBackend {
 public:
  PlanningBackend(CudaBackendOptions options, const plan::DeviceFacts& facts, std::vector<PlannedOperation>& operations)
      : CudaBackend(std::move(options), facts, {}), operations_(operations) {}

  Expected<std::unique_ptr<AttentionBlock>> load(const AttentionSource& s) override {
    return plan_as<AttentionBlock>(s);
  }
  Expected<std::unique_ptr<DeltaNetBlock>> load(const DeltaNetSource& s) override { return plan_as<DeltaNetBlock>(s); }
  Expected<std::unique_ptr<MlpBlock>> load(const MlpSource& s) override { return plan_as<MlpBlock>(s); }
  Expected<std::unique_ptr<MoeBlock>> load(const MoeSource& s) override { return plan_as<MoeBlock>(s); }
  Expected<std::unique_ptr<Embedding>> load(const EmbeddingSource& s) override { return plan_as<Embedding>(s); }
  Expected<std::unique_ptr<Head>> load(const HeadSource& s) override { return plan_as<Head>(s); }
  Expected<std::unique_ptr<MtpInput>> load(const MtpInputSource& s) override { return plan_as<MtpInput>(s); }
  Status read_ahead(const format::Checkpoint& /*checkpoint*/,
                    std::span<const BlockSource* const> /*sources*/) override {
    return {};
  }
  Expected<std::unique_ptr<kernels::Cache>> make_cache(const CacheShape& shape) override {
    return std::unique_ptr<kernels::Cache>(Cache::nowhere(shape));
  }
  Expected<std::unique_ptr<HostPages>> make_host_pages(const CacheShape& /*shape*/, int32_t /*pages*/) override {
    return nothing_ran();
  }
  Expected<std::unique_ptr<kernels::Pass>> make_pass(const PassShape& shape) override {
    return std::unique_ptr<kernels::Pass>(Pass::planned(shape, launches_));
  }

  Status begin(kernels::Pass& pass, kernels::Cache& cache, const Batch& batch,
               std::span<const int32_t> logit_rows) override {
    Pass& p = of(pass);
    p.cache = &static_cast<Cache&>(cache);
    p.tables = step_tables(p.step_memory, bounds_of(batch, static_cast<int64_t>(logit_rows.size())));
    return note("fetch the step", 0, p.begin());
  }
  Status embed(kernels::Pass& pass, const Embedding& embedding) override {
    const DeviceMatrix& table = static_cast<const CudaEmbedding&>(embedding).table;
    const int64_t rows = std::min<int64_t>(of(pass).tables.rows_max, table.rows);
    const double share = static_cast<double>(rows) / static_cast<double>(table.rows);
    return note("embedding", share * static_cast<double>(table.weights.bytes), CudaBackend::embed(pass, embedding));
  }
  Status attention(kernels::Pass& pass, const AttentionBlock& block, int layer) override {
    return note("attention", bytes_read(static_cast<const CudaAttention&>(block)),
                CudaBackend::attention(pass, block, layer));
  }
  Status delta_net(kernels::Pass& pass, const DeltaNetBlock& block, int layer) override {
    return note("Gated DeltaNet", bytes_read(static_cast<const CudaDeltaNet&>(block)),
                CudaBackend::delta_net(pass, block, layer));
  }
  Status mlp(kernels::Pass& pass, const MlpBlock& block) override {
    return note("MLP", bytes_read(static_cast<const CudaMlp&>(block)), CudaBackend::mlp(pass, block));
  }
  Status moe(kernels::Pass& pass, const MoeBlock& block) override {
    return note("experts", bytes_read(static_cast<const CudaMoe&>(block), of(pass).tables.rows_max),
                CudaBackend::moe(pass, block));
  }
  Status head(kernels::Pass& pass, const Head& head, const Embedding& embedding) override {
    const auto& own = static_cast<const CudaHead&>(head).lm_head;
    const DeviceMatrix& matrix = own ? *own : static_cast<const CudaEmbedding&>(embedding).head();
    TESSERA_RETURN_IF_ERROR(
        note("head", static_cast<double>(matrix.weights.bytes), CudaBackend::head(pass, head, embedding)));
    return note("announce the end", 0, of(pass).end());
  }
  Status mtp_input(kernels::Pass& pass, const MtpInput& input, const Embedding& embedding) override {
    const DeviceMatrix& fc = static_cast<const CudaMtpInput&>(input).fc;
    return note("MTP input", static_cast<double>(fc.weights.bytes), CudaBackend::mtp_input(pass, input, embedding));
  }
  Status read_logits(kernels::Pass& /*pass*/, std::span<float> /*logits*/) override { return nothing_ran(); }
  Status read_hidden(kernels::Pass& /*pass*/, std::span<float> /*hidden*/) override { return nothing_ran(); }

 private:
  template <typename Base, typename Source>
  Expected<std::unique_ptr<Base>> plan_as(const Source& source) {
    TESSERA_ASSIGN_OR_RETURN(auto block, plan_block(source));
    return std::unique_ptr<Base>(std::move(block));
  }
  static Status nothing_ran() { return {StatusCode::internal, "a planned step has no results"}; }

  /// What has been written down since the last operation is this one's.
  Status note(const char* name, double weight_bytes, const Status& status) {
    PlannedOperation& operation = operations_.emplace_back();
    operation.name = name;
    operation.weight_bytes = weight_bytes;
    for (const device::PlannedLaunch& launch : launches_) operation.kernels.push_back(planned_kernel(launch));
    launches_.clear();
    return status;
  }

  std::vector<device::PlannedLaunch> launches_;  // of the operation that is under way
  std::vector<PlannedOperation>& operations_;
};

}  // namespace
}  // namespace tessera::kernels::cuda

namespace tessera::kernels {

Expected<std::unique_ptr<Backend>> make_planning_backend(const plan::DeviceFacts& gpu, plan::TuningCache tuning,
                                                         std::vector<PlannedOperation>& operations, Comm* comm) {
  CudaBackendOptions options{.tuning = std::move(tuning), .comm = comm};
  return std::unique_ptr<Backend>(std::make_unique<cuda::PlanningBackend>(std::move(options), gpu, operations));
}

}  // namespace tessera::kernels
