#include "kernels/cuda/planned_blocks.h"

#include "kernels/cuda/attention.h"
#include "kernels/cuda/delta_net.h"
#include "plan/routing.h"

namespace tessera::kernels::cuda {
namespace {

Expected<DeviceMatrix> plan_matrix(const std::string& name, std::span<const format::MatrixView> parts, RowOrder order) {
  const auto shape = atom_shape(parts, order);
  if (!shape.ok()) return shape.status().with_context(name);
  DeviceMatrix matrix;
  matrix.format = shape->format;
  matrix.rows = shape->rows;
  matrix.depth = shape->cols;
  matrix.weights = DeviceBuffer::nowhere(atom_matrix_bytes(*shape));
  matrix.row_alpha = DeviceBuffer::nowhere(0);
  return matrix;
}

Status plan_to(const MatrixSource& source, DeviceMatrix& matrix) {
  TESSERA_ASSIGN_OR_RETURN(matrix, plan_matrix(source.name, source.parts, RowOrder::stacked));
  return {};
}

/// Gate and up are two parts, or one of twice the rows.
Status plan_to(const SwigluSource& source, CudaSwiglu& swiglu) {
  std::vector<format::MatrixView> parts = source.gate_up.parts;
  if (parts.size() == 1) {
    parts[0].rows = source.inner;
    parts.push_back(parts[0]);
  }
  swiglu.inner = source.inner;
  TESSERA_ASSIGN_OR_RETURN(swiglu.gate_up, plan_matrix(source.gate_up.name, parts, RowOrder::interleaved));
  return plan_to(source.down, swiglu.down);
}

void place(std::initializer_list<DeviceBuffer*> buffers) {
  for (DeviceBuffer* buffer : buffers) *buffer = DeviceBuffer::nowhere(0);
}

double bytes_of(std::initializer_list<const DeviceMatrix*> matrices) {
  double bytes = 0;
  for (const DeviceMatrix* matrix : matrices) bytes += static_cast<double>(matrix->weights.bytes);
  return bytes;
}

}  // namespace

Expected<std::unique_ptr<CudaAttention>> plan_block(const AttentionSource& source) {
  TESSERA_RETURN_IF_ERROR(supports(source.shape, DType::bf16).with_context(source.q_gate.name));
  auto block = std::make_unique<CudaAttention>();
  block->shape = source.shape;
  block->hidden = source.hidden;
  place({&block->inv_freq, &block->input_norm, &block->q_norm, &block->k_norm});
  TESSERA_RETURN_IF_ERROR(plan_to(source.q_gate, block->q_gate));
  TESSERA_RETURN_IF_ERROR(plan_to(source.k, block->k));
  TESSERA_RETURN_IF_ERROR(plan_to(source.v, block->v));
  TESSERA_RETURN_IF_ERROR(plan_to(source.o, block->o));
  return block;
}

Expected<std::unique_ptr<CudaDeltaNet>> plan_block(const DeltaNetSource& source) {
  TESSERA_RETURN_IF_ERROR(supports(source.shape).with_context(source.qkv.name));
  auto block = std::make_unique<CudaDeltaNet>();
  block->shape = source.shape;
  block->hidden = source.hidden;
  place({&block->input_norm, &block->conv, &block->a_log, &block->dt_bias, &block->norm});
  TESSERA_RETURN_IF_ERROR(plan_to(source.qkv, block->qkv));
  TESSERA_RETURN_IF_ERROR(plan_to(source.z, block->z));
  TESSERA_RETURN_IF_ERROR(plan_to(source.b, block->b));
  TESSERA_RETURN_IF_ERROR(plan_to(source.a, block->a));
  TESSERA_RETURN_IF_ERROR(plan_to(source.out, block->out));
  return block;
}

Expected<std::unique_ptr<CudaMlp>> plan_block(const MlpSource& source) {
  auto block = std::make_unique<CudaMlp>();
  block->hidden = source.hidden;
  block->norm_eps = source.norm_eps;
  place({&block->norm});
  TESSERA_RETURN_IF_ERROR(plan_to(source.mlp, block->mlp));
  return block;
}

Expected<std::unique_ptr<CudaMoe>> plan_block(const MoeSource& source) {
  auto block = std::make_unique<CudaMoe>();
  block->hidden = source.hidden;
  block->norm_eps = source.norm_eps;
  block->experts_per_token = source.experts_per_token;
  place({&block->norm});
  TESSERA_RETURN_IF_ERROR(plan_to(source.router, block->router));
  CudaSwiglu expert;
  TESSERA_RETURN_IF_ERROR(plan_to(source.experts[0], expert));
  DeviceExperts& experts = block->experts;
  experts.format = expert.gate_up.format;
  experts.experts = static_cast<int64_t>(source.experts.size());
  experts.hidden = source.hidden;
  experts.inner = expert.inner;
  experts.gate_up = DeviceBuffer::nowhere(source.experts.size() * expert.gate_up.weights.bytes);
  experts.down = DeviceBuffer::nowhere(source.experts.size() * expert.down.weights.bytes);
  place({&experts.gate_up_alpha, &experts.down_alpha});
  if (source.shared) {
    TESSERA_RETURN_IF_ERROR(plan_to(*source.shared, block->shared.emplace()));
    TESSERA_RETURN_IF_ERROR(plan_to(source.shared_gate, block->shared_gate));
  }
  return block;
}

Expected<std::unique_ptr<CudaEmbedding>> plan_block(const EmbeddingSource& source) {
  auto block = std::make_unique<CudaEmbedding>();
  TESSERA_RETURN_IF_ERROR(plan_to(source.table, block->table));
  if (!source.lm_head.parts.empty()) TESSERA_RETURN_IF_ERROR(plan_to(source.lm_head, block->lm_head.emplace()));
  block->head_first = source.head_first;
  return block;
}

Expected<std::unique_ptr<CudaHead>> plan_block(const HeadSource& source) {
  auto block = std::make_unique<CudaHead>();
  block->norm_eps = source.norm_eps;
  place({&block->norm});
  if (!source.lm_head.parts.empty()) TESSERA_RETURN_IF_ERROR(plan_to(source.lm_head, block->lm_head.emplace()));
  return block;
}

Expected<std::unique_ptr<CudaMtpInput>> plan_block(const MtpInputSource& source) {
  auto block = std::make_unique<CudaMtpInput>();
  block->norm_eps = source.norm_eps;
  place({&block->embedding_norm, &block->hidden_norm});
  TESSERA_RETURN_IF_ERROR(plan_to(source.fc, block->fc));
  return block;
}

double bytes_read(const CudaAttention& b) { return bytes_of({&b.q_gate, &b.k, &b.v, &b.o}); }
double bytes_read(const CudaDeltaNet& b) { return bytes_of({&b.qkv, &b.z, &b.b, &b.a, &b.out}); }
double bytes_read(const CudaMlp& b) { return bytes_of({&b.mlp.gate_up, &b.mlp.down}); }

double bytes_read(const CudaMoe& b, int64_t rows) {
  plan::Desc desc;
  desc.format = b.experts.format;
  desc.hidden = b.hidden;
  desc.intermediate = b.experts.inner;
  desc.experts = static_cast<int>(b.experts.experts);
  desc.experts_per_token = b.experts_per_token;
  desc.tokens = rows;
  const double chosen = plan::Routing(desc).distinct_experts() / static_cast<double>(b.experts.experts);
  const double shared = b.shared ? bytes_of({&b.shared_gate, &b.shared->gate_up, &b.shared->down}) : 0;
  return bytes_of({&b.router}) + shared + chosen * static_cast<double>(b.experts.gate_up.bytes + b.experts.down.bytes);
}

}  // namespace tessera::kernels::cuda
