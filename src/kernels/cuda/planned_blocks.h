#pragma once

#include "kernels/cuda/blocks.h"

// A model's blocks without memory, for steps that are planned: formats and sizes as load_block makes them.
namespace tessera::kernels::cuda {

Expected<std::unique_ptr<CudaAttention>> plan_block(const AttentionSource& source);
Expected<std::unique_ptr<CudaDeltaNet>> plan_block(const DeltaNetSource& source);
Expected<std::unique_ptr<CudaMlp>> plan_block(const MlpSource& source);
Expected<std::unique_ptr<CudaMoe>> plan_block(const MoeSource& source);
Expected<std::unique_ptr<CudaEmbedding>> plan_block(const EmbeddingSource& source);
Expected<std::unique_ptr<CudaHead>> plan_block(const HeadSource& source);
Expected<std::unique_ptr<CudaMtpInput>> plan_block(const MtpInputSource& source);

/// Bytes of matrices that a step of `rows` rows reads of a block; of routed experts in expectation.
double bytes_read(const CudaAttention& block);
double bytes_read(const CudaDeltaNet& block);
double bytes_read(const CudaMlp& block);
double bytes_read(const CudaMoe& block, int64_t rows);

}  // namespace tessera::kernels::cuda
