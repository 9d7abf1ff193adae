#pragma once

#include <optional>

#include "kernels/backend.h"
#include "kernels/cuda/upload.h"

// What the CUDA backend makes of a model's blocks.
namespace tessera::kernels::cuda {

struct CudaAttention final : AttentionBlock {
  AttentionShape shape;
  int64_t hidden = 0;
  float rope_scale = 1.0F;
  DeviceBuffer inv_freq, input_norm, q_norm, k_norm;
  DeviceMatrix q_gate, k, v, o;
};

struct CudaDeltaNet final : DeltaNetBlock {
  DeltaNetShape shape;
  int64_t hidden = 0;
  DeviceBuffer input_norm, conv, a_log, dt_bias, norm;
  DeviceMatrix qkv, z, b, a, out;
};

struct CudaSwiglu {
  int64_t inner = 0;
  DeviceMatrix gate_up, down;
};

struct CudaMlp final : MlpBlock {
  int64_t hidden = 0;
  float norm_eps = 0;
  DeviceBuffer norm;
  CudaSwiglu mlp;
};

struct CudaMoe final : MoeBlock {
  int64_t hidden = 0;
  float norm_eps = 0;
  int experts_per_token = 0;
  DeviceBuffer norm;
  DeviceMatrix router, shared_gate;
  DeviceExperts experts;
  std::optional<CudaSwiglu> shared;
};

struct CudaEmbedding final : Embedding {
  DeviceMatrix table;
  std::optional<DeviceMatrix> lm_head;  // none: the table, tied
  int64_t head_first = 0;               // id of the head's first row

  [[nodiscard]] const DeviceMatrix& head() const { return lm_head ? *lm_head : table; }
};

struct CudaHead final : Head {
  float norm_eps = 0;
  DeviceBuffer norm;
  std::optional<DeviceMatrix> lm_head;  // none: the embedding's
};

struct CudaMtpInput final : MtpInput {
  float norm_eps = 0;
  DeviceBuffer embedding_norm, hidden_norm;
  DeviceMatrix fc;
};

/// Re-lays a block's weights on the GPU. Errors: supports() of its operation, and those of Uploader.
Expected<std::unique_ptr<CudaAttention>> load_block(Uploader& uploader, const AttentionSource& source);
Expected<std::unique_ptr<CudaDeltaNet>> load_block(Uploader& uploader, const DeltaNetSource& source);
Expected<std::unique_ptr<CudaMlp>> load_block(Uploader& uploader, const MlpSource& source);
Expected<std::unique_ptr<CudaMoe>> load_block(Uploader& uploader, const MoeSource& source);
Expected<std::unique_ptr<CudaEmbedding>> load_block(Uploader& uploader, const EmbeddingSource& source);
Expected<std::unique_ptr<CudaHead>> load_block(Uploader& uploader, const HeadSource& source);
Expected<std::unique_ptr<CudaMtpInput>> load_block(Uploader& uploader, const MtpInputSource& source);

}  // namespace tessera::kernels::cuda
