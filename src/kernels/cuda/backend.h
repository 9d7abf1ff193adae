#pragma once

#include <memory>
#include <span>
#include <string_view>
#include <utility>

#include "kernels/cuda/blocks.h"
#include "kernels/cuda/dense.h"
#include "kernels/cuda/device_bytes.h"
#include "kernels/cuda/pass.h"
#include "kernels/cuda_backend.h"
#include "kernels/skewed_router.h"

// kernels/backend.h on a GPU: backend.cpp enqueues kernels, planning_backend.cpp writes down which they would be.
namespace tessera::kernels::cuda {

/// Columns of a product that a block keeps for itself.
struct Columns {
  uint16_t* data = nullptr;
  int64_t stride = 0;
};

struct Projection {
  const DeviceMatrix* matrix = nullptr;
  Columns out;
};

/// Composes the kernels of a model's blocks. Nothing waits for the device but read_logits() and read_hidden().
class CudaBackend : public kernels::Backend {
 public:
  CudaBackend(CudaBackendOptions options, const plan::DeviceFacts& facts, Uploader uploader)
      : options_(std::move(options)), facts_(facts), uploader_(std::move(uploader)) {
    options_.comm = comm_of_many(options_.comm);
  }

  [[nodiscard]] std::string_view name() const override { return "cuda"; }
  [[nodiscard]] Rank rank() const override { return options_.comm == nullptr ? Rank{} : options_.comm->rank(); }

  Expected<std::unique_ptr<AttentionBlock>> load(const AttentionSource& s) override {
    return load_as<AttentionBlock>(s);
  }
  Expected<std::unique_ptr<DeltaNetBlock>> load(const DeltaNetSource& s) override { return load_as<DeltaNetBlock>(s); }
  Expected<std::unique_ptr<MlpBlock>> load(const MlpSource& s) override { return load_as<MlpBlock>(s); }
  Expected<std::unique_ptr<MoeBlock>> load(const MoeSource& s) override {
    if (!options_.skewed_routers) return load_as<MoeBlock>(s);
    MoeSource skewed = s;
    skew_dummy_router(skewed.router);
    return load_as<MoeBlock>(skewed);
  }
  Expected<std::unique_ptr<Embedding>> load(const EmbeddingSource& s) override { return load_as<Embedding>(s); }
  Expected<std::unique_ptr<Head>> load(const HeadSource& s) override { return load_as<Head>(s); }
  Expected<std::unique_ptr<MtpInput>> load(const MtpInputSource& s) override { return load_as<MtpInput>(s); }
  [[nodiscard]] size_t weight_bytes() const override { return uploader_.weight_bytes(); }
  [[nodiscard]] size_t weight_bytes(const BlockSource& source) const override { return device_bytes(source); }
  [[nodiscard]] size_t staging_bytes(const BlockSource& source) const override { return cuda::staging_bytes(source); }
  Status read_ahead(const format::Checkpoint& checkpoint, std::span<const BlockSource* const> sources) override {
    return uploader_.read_ahead(checkpoint, sources);
  }

  [[nodiscard]] CacheBytes cache_bytes(const CacheShape& shape) const override { return cuda::cache_bytes(shape); }
  Expected<std::unique_ptr<kernels::Cache>> make_cache(const CacheShape& shape) override;
  Expected<std::unique_ptr<HostPages>> make_host_pages(const CacheShape& shape, int32_t pages) override;
  Expected<std::unique_ptr<kernels::Pass>> make_pass(const PassShape& shape) override;

  Status begin(kernels::Pass& pass, kernels::Cache& cache, const Batch& batch,
               std::span<const int32_t> logit_rows) override;
  Status embed(kernels::Pass& pass, const Embedding& embedding) override;
  Status attention(kernels::Pass& pass, const AttentionBlock& block, int layer) override;
  Status delta_net(kernels::Pass& pass, const DeltaNetBlock& block, int layer) override;
  Status mlp(kernels::Pass& pass, const MlpBlock& block) override;
  Status moe(kernels::Pass& pass, const MoeBlock& block) override;
  Status head(kernels::Pass& pass, const Head& head, const Embedding& embedding) override;
  Status select_hidden(kernels::Pass& pass, std::span<const int32_t> rows) override;
  Status mtp_input(kernels::Pass& pass, const MtpInput& input, const Embedding& embedding) override;
  Status read_logits(kernels::Pass& pass, std::span<float> logits) override;
  Status read_hidden(kernels::Pass& pass, std::span<float> hidden) override;

 private:
  template <typename Base, typename Source>
  Expected<std::unique_ptr<Base>> load_as(const Source& source) {
    TESSERA_ASSIGN_OR_RETURN(auto block, load_block(uploader_, source));
    TESSERA_RETURN_IF_ERROR(uploader_.settle());
    return std::unique_ptr<Base>(std::move(block));
  }
  DenseArgs rows_of(const Pass& pass, int64_t depth) const;
  Expected<DenseArgs> normed_rows(Pass& pass, const DeviceBuffer& norm, float eps) const;
  Status multiply(Pass& pass, DenseArgs& args) const;
  Status project(Pass& pass, const DeviceBuffer& norm, float eps, std::span<const Projection> projections) const;
  Status write_delta(Pass& pass, const DeviceMatrix& weight, const uint16_t* x) const;
  Status swiglu_down(Pass& pass, const CudaSwiglu& weights, const uint16_t* gated, uint16_t* out,
                     bool overlaps_previous = false) const;
  Status sum_delta(Pass& pass) const;
  Status finish(Pass& pass) const;
  Status count_experts(const Pass& pass, const std::byte* first_slots, int experts) const;

  CudaBackendOptions options_;
  plan::DeviceFacts facts_;
  Uploader uploader_;
};

/// A pass of this backend.
inline Pass& of(kernels::Pass& pass) { return static_cast<Pass&>(pass); }

}  // namespace tessera::kernels::cuda
