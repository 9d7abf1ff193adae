#include "kernels/cuda/blocks.h"

#include "kernels/cuda/attention.h"
#include "kernels/cuda/delta_net.h"

namespace tessera::kernels::cuda {
namespace {

Status load_swiglu(Uploader& uploader, const SwigluSource& source, CudaSwiglu& swiglu) {
  swiglu.inner = source.inner;
  TESSERA_ASSIGN_OR_RETURN(swiglu.gate_up, uploader.gate_up(source));
  TESSERA_ASSIGN_OR_RETURN(swiglu.down, uploader.matrix(source.down));
  return {};
}

}  // namespace

Expected<std::unique_ptr<CudaAttention>> load_block(Uploader& uploader, const AttentionSource& source) {
  TESSERA_RETURN_IF_ERROR(supports(source.shape, DType::bf16).with_context(source.q_gate.name));
  auto block = std::make_unique<CudaAttention>();
  block->shape = source.shape;
  block->hidden = source.hidden;
  block->rope_scale = source.rope_scale;
  TESSERA_ASSIGN_OR_RETURN(block->inv_freq, uploader.floats(source.inv_freq));
  TESSERA_ASSIGN_OR_RETURN(block->input_norm, uploader.floats(source.input_norm));
  TESSERA_ASSIGN_OR_RETURN(block->q_norm, uploader.floats(source.q_norm));
  TESSERA_ASSIGN_OR_RETURN(block->k_norm, uploader.floats(source.k_norm));
  TESSERA_ASSIGN_OR_RETURN(block->q_gate, uploader.matrix(source.q_gate));
  TESSERA_ASSIGN_OR_RETURN(block->k, uploader.matrix(source.k));
  TESSERA_ASSIGN_OR_RETURN(block->v, uploader.matrix(source.v));
  TESSERA_ASSIGN_OR_RETURN(block->o, uploader.matrix(source.o));
  return block;
}

Expected<std::unique_ptr<CudaDeltaNet>> load_block(Uploader& uploader, const DeltaNetSource& source) {
  TESSERA_RETURN_IF_ERROR(supports(source.shape).with_context(source.qkv.name));
  auto block = std::make_unique<CudaDeltaNet>();
  block->shape = source.shape;
  block->hidden = source.hidden;
  TESSERA_ASSIGN_OR_RETURN(block->input_norm, uploader.floats(source.input_norm));
  TESSERA_ASSIGN_OR_RETURN(block->conv, uploader.floats(source.conv));
  TESSERA_ASSIGN_OR_RETURN(block->a_log, uploader.floats(source.a_log));
  TESSERA_ASSIGN_OR_RETURN(block->dt_bias, uploader.floats(source.dt_bias));
  TESSERA_ASSIGN_OR_RETURN(block->norm, uploader.floats(source.norm));
  TESSERA_ASSIGN_OR_RETURN(block->qkv, uploader.matrix(source.qkv));
  TESSERA_ASSIGN_OR_RETURN(block->z, uploader.matrix(source.z));
  TESSERA_ASSIGN_OR_RETURN(block->b, uploader.matrix(source.b));
  TESSERA_ASSIGN_OR_RETURN(block->a, uploader.matrix(source.a));
  TESSERA_ASSIGN_OR_RETURN(block->out, uploader.matrix(source.out));
  return block;
}

Expected<std::unique_ptr<CudaMlp>> load_block(Uploader& uploader, const MlpSource& source) {
  auto block = std::make_unique<CudaMlp>();
  block->hidden = source.hidden;
  block->norm_eps = source.norm_eps;
  TESSERA_ASSIGN_OR_RETURN(block->norm, uploader.floats(source.norm));
  TESSERA_RETURN_IF_ERROR(load_swiglu(uploader, source.mlp, block->mlp));
  return block;
}

Expected<std::unique_ptr<CudaMoe>> load_block(Uploader& uploader, const MoeSource& source) {
  auto block = std::make_unique<CudaMoe>();
  block->hidden = source.hidden;
  block->norm_eps = source.norm_eps;
  block->experts_per_token = source.experts_per_token;
  TESSERA_ASSIGN_OR_RETURN(block->norm, uploader.floats(source.norm));
  TESSERA_ASSIGN_OR_RETURN(block->router, uploader.matrix(source.router));
  TESSERA_ASSIGN_OR_RETURN(block->experts, uploader.experts(source.experts, source.hidden));
  if (source.shared) {
    TESSERA_RETURN_IF_ERROR(load_swiglu(uploader, *source.shared, block->shared.emplace()));
    TESSERA_ASSIGN_OR_RETURN(block->shared_gate, uploader.matrix(source.shared_gate));
  }
  return block;
}

Expected<std::unique_ptr<CudaEmbedding>> load_block(Uploader& uploader, const EmbeddingSource& source) {
  auto block = std::make_unique<CudaEmbedding>();
  TESSERA_ASSIGN_OR_RETURN(block->table, uploader.matrix(source.table));
  if (!source.lm_head.parts.empty()) {
    TESSERA_ASSIGN_OR_RETURN(block->lm_head, uploader.matrix(source.lm_head));
  }
  block->head_first = source.head_first;
  return block;
}

Expected<std::unique_ptr<CudaHead>> load_block(Uploader& uploader, const HeadSource& source) {
  auto block = std::make_unique<CudaHead>();
  block->norm_eps = source.norm_eps;
  TESSERA_ASSIGN_OR_RETURN(block->norm, uploader.floats(source.norm));
  if (!source.lm_head.parts.empty()) {
    TESSERA_ASSIGN_OR_RETURN(block->lm_head, uploader.matrix(source.lm_head));
  }
  return block;
}

Expected<std::unique_ptr<CudaMtpInput>> load_block(Uploader& uploader, const MtpInputSource& source) {
  auto block = std::make_unique<CudaMtpInput>();
  block->norm_eps = source.norm_eps;
  TESSERA_ASSIGN_OR_RETURN(block->embedding_norm, uploader.floats(source.embedding_norm));
  TESSERA_ASSIGN_OR_RETURN(block->hidden_norm, uploader.floats(source.hidden_norm));
  TESSERA_ASSIGN_OR_RETURN(block->fc, uploader.matrix(source.fc));
  return block;
}

}  // namespace tessera::kernels::cuda
