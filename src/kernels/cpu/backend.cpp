#include "kernels/cpu/backend.h"

#include <algorithm>
#include <array>
#include <cstring>

#include "base/aligned_buffer.h"
#include "base/check.h"
#include "base/status.h"
#include "kernels/cpu/cache.h"
#include "kernels/embed.h"
#include "kernels/linear.h"
#include "kernels/moe.h"
#include "kernels/source_matrices.h"
#include "kernels/weight.h"

namespace tessera::kernels::cpu {
namespace {

struct CpuAttention final : AttentionBlock {
  AttentionShape shape;
  int64_t hidden = 0;
  std::vector<float> inv_freq;
  float rope_scale = 1.0F;
  std::vector<float> input_norm, q_norm, k_norm;
  Weight q_gate, k, v, o;
};

struct CpuDeltaNet final : DeltaNetBlock {
  DeltaNetShape shape;
  int64_t hidden = 0;
  std::vector<float> input_norm, conv, a_log, dt_bias, norm;
  Weight qkv, z, b, a, out;
};

struct CpuMlp final : MlpBlock {
  int64_t hidden = 0;
  float norm_eps = 0;
  std::vector<float> norm;
  SwigluWeights mlp;
};

struct CpuMoe final : MoeBlock {
  int64_t hidden = 0;
  float norm_eps = 0;
  int experts_per_token = 0;
  std::vector<float> norm;
  Weight router, shared_gate;
  std::vector<SwigluWeights> experts;
  std::optional<SwigluWeights> shared;
};

struct CpuEmbedding final : Embedding {
  Weight table, lm_head;
  int64_t head_first = 0;

  [[nodiscard]] const Weight& head() const { return lm_head.empty() ? table : lm_head; }
};

struct CpuHead final : Head {
  float norm_eps = 0;
  std::vector<float> norm;
  Weight lm_head;  // empty: the embedding's
};

struct CpuMtpInput final : MtpInput {
  float norm_eps = 0;
  std::vector<float> embedding_norm, hidden_norm;
  Weight fc;
};

struct CpuPass final : Pass {
  explicit CpuPass(const PassShape& s)
      : shape(s),
        residual(static_cast<size_t>(s.rows_max * s.hidden)),
        delta(residual.size()),
        hidden(s.keeps_hidden ? residual.size() : 0),
        logits(static_cast<size_t>(s.logit_rows_max * s.vocab)) {}

  PassShape shape;
  Batch batch;
  cpu::Cache* cache = nullptr;
  std::span<const int32_t> logit_rows;
  AlignedBuffer<float> residual;  // [rows_max, hidden]
  AlignedBuffer<float> delta;     // [rows_max, hidden]
  AlignedBuffer<float> hidden;    // [rows_max, hidden]
  AlignedBuffer<float> logits;    // [logit_rows_max, vocab]
  bool has_delta = false;

  [[nodiscard]] int64_t rows() const { return batch.rows(); }
};

class CpuBackend final : public kernels::Backend {
 public:
  explicit CpuBackend(const Context& context) : context_(context) { context_.comm = comm_of_many(context.comm); }

  [[nodiscard]] std::string_view name() const override { return "cpu"; }
  [[nodiscard]] Rank rank() const override { return context_.comm == nullptr ? Rank{} : context_.comm->rank(); }

  Expected<std::unique_ptr<AttentionBlock>> load(const AttentionSource& source) override;
  Expected<std::unique_ptr<DeltaNetBlock>> load(const DeltaNetSource& source) override;
  Expected<std::unique_ptr<MlpBlock>> load(const MlpSource& source) override;
  Expected<std::unique_ptr<MoeBlock>> load(const MoeSource& source) override;
  Expected<std::unique_ptr<Embedding>> load(const EmbeddingSource& source) override;
  Expected<std::unique_ptr<Head>> load(const HeadSource& source) override;
  Expected<std::unique_ptr<MtpInput>> load(const MtpInputSource& source) override;
  [[nodiscard]] size_t weight_bytes() const override { return weight_bytes_; }
  [[nodiscard]] size_t weight_bytes(const BlockSource& source) const override;
  /// A panel of each thread: nothing beside a step's workspace, which it is taken from.
  [[nodiscard]] size_t staging_bytes(const BlockSource& /*source*/) const override { return 0; }
  /// Files are read as their matrices are packed.
  Status read_ahead(const format::Checkpoint& /*checkpoint*/,
                    std::span<const BlockSource* const> /*sources*/) override {
    return {};
  }

  [[nodiscard]] CacheBytes cache_bytes(const CacheShape& shape) const override { return cpu::cache_bytes(shape); }
  Expected<std::unique_ptr<kernels::Cache>> make_cache(const CacheShape& shape) override {
    return std::unique_ptr<kernels::Cache>(std::make_unique<cpu::Cache>(shape));
  }
  Expected<std::unique_ptr<HostPages>> make_host_pages(const CacheShape& shape, int32_t pages) override {
    const size_t page_bytes = cpu::cache_bytes(shape).kv_block;
    return std::unique_ptr<HostPages>(
        std::make_unique<cpu::PlainPages>(ZeroedPages(static_cast<size_t>(pages) * page_bytes), page_bytes, pages));
  }
  Expected<std::unique_ptr<Pass>> make_pass(const PassShape& shape) override {
    return std::unique_ptr<Pass>(std::make_unique<CpuPass>(shape));
  }

  Status begin(Pass& pass, kernels::Cache& cache, const Batch& batch, std::span<const int32_t> logit_rows) override;
  Status embed(Pass& pass, const Embedding& embedding) override;
  Status attention(Pass& pass, const AttentionBlock& block, int layer) override;
  Status delta_net(Pass& pass, const DeltaNetBlock& block, int layer) override;
  Status mlp(Pass& pass, const MlpBlock& block) override;
  Status moe(Pass& pass, const MoeBlock& block) override;
  Status head(Pass& pass, const Head& head, const Embedding& embedding) override;
  Status select_hidden(Pass& pass, std::span<const int32_t> rows) override;
  Status mtp_input(Pass& pass, const MtpInput& input, const Embedding& embedding) override;
  Status read_logits(Pass& pass, std::span<float> logits) override;
  Status read_hidden(Pass& pass, std::span<float> hidden) override;

 private:
  Status pack(const MatrixSource& source, Weight& weight);
  Status pack(const SwigluSource& source, SwigluWeights& weights);
  Expected<const float*> take_normed(Workspace::Frame& frame, CpuPass& pass, const std::vector<float>& norm,
                                     float eps) const;
  void project(const float* x, int64_t rows, int64_t cols, std::span<const LinearOutput> outputs) const;
  void write_delta(CpuPass& pass, const Weight& weight, const float* x) const;

  Context context_;
  size_t weight_bytes_ = 0;
};

// ---- loading ----

size_t CpuBackend::weight_bytes(const BlockSource& source) const {
  size_t bytes = 0;
  for_each_matrix(source, [&](const MatrixSource& matrix, MatrixUse) {
    int64_t rows = 0;
    for (const format::MatrixView& part : matrix.parts) rows += part.rows;
    bytes += packed_bytes(matrix.parts[0].format, rows, matrix.parts[0].cols);
  });
  return bytes;
}

Status CpuBackend::pack(const MatrixSource& source, Weight& weight) {
  for (const format::MatrixView& part : source.parts) {
    if (part.data != nullptr) continue;
    return error(StatusCode::unsupported,
                 "{} has no bytes: dummy weights are for GPUs; write a checkpoint with "
                 "`tessera synth` instead",
                 source.name);
  }
  auto packed = pack_weight(context_, source.parts);
  if (!packed.ok()) return packed.status().with_context(source.name);
  weight = *std::move(packed);
  weight_bytes_ += weight.data.size() + weight.alpha.size() * sizeof(float);
  return {};
}

Status CpuBackend::pack(const SwigluSource& source, SwigluWeights& weights) {
  TESSERA_RETURN_IF_ERROR(pack(source.gate_up, weights.gate_up));
  return pack(source.down, weights.down);
}

Expected<std::unique_ptr<AttentionBlock>> CpuBackend::load(const AttentionSource& source) {
  auto block = std::make_unique<CpuAttention>();
  block->shape = source.shape;
  block->hidden = source.hidden;
  block->inv_freq = source.inv_freq;
  block->rope_scale = source.rope_scale;
  block->input_norm = source.input_norm;
  block->q_norm = source.q_norm;
  block->k_norm = source.k_norm;
  TESSERA_RETURN_IF_ERROR(pack(source.q_gate, block->q_gate));
  TESSERA_RETURN_IF_ERROR(pack(source.k, block->k));
  TESSERA_RETURN_IF_ERROR(pack(source.v, block->v));
  TESSERA_RETURN_IF_ERROR(pack(source.o, block->o));
  return std::unique_ptr<AttentionBlock>(std::move(block));
}

Expected<std::unique_ptr<DeltaNetBlock>> CpuBackend::load(const DeltaNetSource& source) {
  auto block = std::make_unique<CpuDeltaNet>();
  block->shape = source.shape;
  block->hidden = source.hidden;
  block->input_norm = source.input_norm;
  block->conv = source.conv;
  block->a_log = source.a_log;
  block->dt_bias = source.dt_bias;
  block->norm = source.norm;
  TESSERA_RETURN_IF_ERROR(pack(source.qkv, block->qkv));
  TESSERA_RETURN_IF_ERROR(pack(source.z, block->z));
  TESSERA_RETURN_IF_ERROR(pack(source.b, block->b));
  TESSERA_RETURN_IF_ERROR(pack(source.a, block->a));
  TESSERA_RETURN_IF_ERROR(pack(source.out, block->out));
  return std::unique_ptr<DeltaNetBlock>(std::move(block));
}

Expected<std::unique_ptr<MlpBlock>> CpuBackend::load(const MlpSource& source) {
  auto block = std::make_unique<CpuMlp>();
  block->hidden = source.hidden;
  block->norm_eps = source.norm_eps;
  block->norm = source.norm;
  TESSERA_RETURN_IF_ERROR(pack(source.mlp, block->mlp));
  return std::unique_ptr<MlpBlock>(std::move(block));
}

Expected<std::unique_ptr<MoeBlock>> CpuBackend::load(const MoeSource& source) {
  auto block = std::make_unique<CpuMoe>();
  block->hidden = source.hidden;
  block->norm_eps = source.norm_eps;
  block->experts_per_token = source.experts_per_token;
  block->norm = source.norm;
  TESSERA_RETURN_IF_ERROR(pack(source.router, block->router));
  block->experts.resize(source.experts.size());
  for (size_t e = 0; e < source.experts.size(); ++e) {
    TESSERA_RETURN_IF_ERROR(pack(source.experts[e], block->experts[e]));
  }
  if (source.shared) {
    TESSERA_RETURN_IF_ERROR(pack(*source.shared, block->shared.emplace()));
    TESSERA_RETURN_IF_ERROR(pack(source.shared_gate, block->shared_gate));
  }
  return std::unique_ptr<MoeBlock>(std::move(block));
}

Expected<std::unique_ptr<Embedding>> CpuBackend::load(const EmbeddingSource& source) {
  auto embedding = std::make_unique<CpuEmbedding>();
  TESSERA_RETURN_IF_ERROR(pack(source.table, embedding->table));
  if (!source.lm_head.parts.empty()) TESSERA_RETURN_IF_ERROR(pack(source.lm_head, embedding->lm_head));
  embedding->head_first = source.head_first;
  return std::unique_ptr<Embedding>(std::move(embedding));
}

Expected<std::unique_ptr<Head>> CpuBackend::load(const HeadSource& source) {
  auto head = std::make_unique<CpuHead>();
  head->norm_eps = source.norm_eps;
  head->norm = source.norm;
  if (!source.lm_head.parts.empty()) TESSERA_RETURN_IF_ERROR(pack(source.lm_head, head->lm_head));
  return std::unique_ptr<Head>(std::move(head));
}

Expected<std::unique_ptr<MtpInput>> CpuBackend::load(const MtpInputSource& source) {
  auto input = std::make_unique<CpuMtpInput>();
  input->norm_eps = source.norm_eps;
  input->embedding_norm = source.embedding_norm;
  input->hidden_norm = source.hidden_norm;
  TESSERA_RETURN_IF_ERROR(pack(source.fc, input->fc));
  return std::unique_ptr<MtpInput>(std::move(input));
}

// ---- a pass ----

Status CpuBackend::begin(Pass& pass, kernels::Cache& cache, const Batch& batch, std::span<const int32_t> logit_rows) {
  auto& p = static_cast<CpuPass&>(pass);
  TESSERA_CHECK_LE(batch.rows(), p.shape.rows_max);
  TESSERA_CHECK_LE(static_cast<int64_t>(logit_rows.size()), int64_t{p.shape.logit_rows_max});
  p.batch = batch;
  p.cache = static_cast<cpu::Cache*>(&cache);
  p.logit_rows = logit_rows;
  p.has_delta = false;
  return {};
}

Status CpuBackend::embed(Pass& pass, const Embedding& embedding) {
  auto& p = static_cast<CpuPass&>(pass);
  const auto& table = static_cast<const CpuEmbedding&>(embedding).table;
  kernels::embed(context_, {.table = &table, .tokens = p.batch.tokens, .out = p.residual.data()});
  return {};
}

/// norm(residual + delta), [rows, hidden]. The delta is of all ranks.
Expected<const float*> CpuBackend::take_normed(Workspace::Frame& frame, CpuPass& pass, const std::vector<float>& norm,
                                               float eps) const {
  if (context_.comm != nullptr && pass.has_delta) {
    const int64_t hidden = pass.shape.hidden;
    const CommRows delta{.data = pass.delta.data(), .rows = pass.rows(), .columns = hidden, .stride = hidden};
    TESSERA_RETURN_IF_ERROR(context_.comm->all_reduce(delta, /*round=*/context_.compute == Compute::bf16));
  }
  auto* normed = frame.take<float>(static_cast<size_t>(pass.rows() * pass.shape.hidden));
  add_norm(context_, {.residual = pass.residual.data(),
                      .delta = pass.has_delta ? pass.delta.data() : nullptr,
                      .rows = pass.rows(),
                      .n = pass.shape.hidden,
                      .weight = norm.data(),
                      .eps = eps,
                      .out = normed});
  return normed;
}

void CpuBackend::project(const float* x, int64_t rows, int64_t cols, std::span<const LinearOutput> outputs) const {
  linear(context_, {.x = x, .x_stride = cols, .rows = rows, .outputs = outputs});
}

/// delta = weight x; x: [rows, weight.cols].
void CpuBackend::write_delta(CpuPass& pass, const Weight& weight, const float* x) const {
  const LinearOutput output{.weight = &weight, .out = pass.delta.data(), .stride = pass.shape.hidden};
  project(x, pass.rows(), weight.cols, {&output, 1});
  pass.has_delta = true;
}

Status CpuBackend::attention(Pass& pass, const AttentionBlock& block, int layer) {
  auto& p = static_cast<CpuPass&>(pass);
  const auto& w = static_cast<const CpuAttention&>(block);
  const int64_t rows = p.rows();
  const int64_t queries = int64_t{w.shape.heads} * w.shape.head_dim;
  const int64_t keys = int64_t{w.shape.kv_heads} * w.shape.head_dim;
  Workspace::Frame frame(*context_.workspace);
  TESSERA_ASSIGN_OR_RETURN(const float* normed, take_normed(frame, p, w.input_norm, w.shape.norm_eps));
  auto* query_gate = frame.take<float>(static_cast<size_t>(rows * 2 * queries));
  auto* key = frame.take<float>(static_cast<size_t>(rows * keys));
  auto* value = frame.take<float>(static_cast<size_t>(rows * keys));
  auto* mixed = frame.take<float>(static_cast<size_t>(rows * queries));
  const std::array projections = {LinearOutput{.weight = &w.q_gate, .out = query_gate, .stride = 2 * queries},
                                  LinearOutput{.weight = &w.k, .out = key, .stride = keys},
                                  LinearOutput{.weight = &w.v, .out = value, .stride = keys}};
  project(normed, rows, w.hidden, projections);
  gated_attention(context_, {.shape = w.shape,
                             .batch = &p.batch,
                             .query_gate = query_gate,
                             .key = key,
                             .value = value,
                             .q_norm = w.q_norm.data(),
                             .k_norm = w.k_norm.data(),
                             .inv_freq = w.inv_freq.data(),
                             .rope_scale = w.rope_scale,
                             .kv = p.cache->kv_layer(layer),
                             .out = mixed});
  write_delta(p, w.o, mixed);
  return {};
}

Status CpuBackend::delta_net(Pass& pass, const DeltaNetBlock& block, int layer) {
  auto& p = static_cast<CpuPass&>(pass);
  const auto& w = static_cast<const CpuDeltaNet&>(block);
  const int64_t rows = p.rows(), heads = w.shape.value_heads, values = heads * w.shape.value_dim;
  Workspace::Frame frame(*context_.workspace);
  TESSERA_ASSIGN_OR_RETURN(const float* normed, take_normed(frame, p, w.input_norm, w.shape.norm_eps));
  auto* qkv = frame.take<float>(static_cast<size_t>(rows * w.shape.channels()));
  auto* z = frame.take<float>(static_cast<size_t>(rows * values));
  auto* b = frame.take<float>(static_cast<size_t>(rows * heads));
  auto* a = frame.take<float>(static_cast<size_t>(rows * heads));
  auto* mixed = frame.take<float>(static_cast<size_t>(rows * values));
  const std::array projections = {LinearOutput{.weight = &w.qkv, .out = qkv, .stride = w.shape.channels()},
                                  LinearOutput{.weight = &w.z, .out = z, .stride = values},
                                  LinearOutput{.weight = &w.b, .out = b, .stride = heads},
                                  LinearOutput{.weight = &w.a, .out = a, .stride = heads}};
  project(normed, rows, w.hidden, projections);
  gated_delta_net(context_, {.shape = w.shape,
                             .batch = &p.batch,
                             .qkv = qkv,
                             .z = z,
                             .b = b,
                             .a = a,
                             .conv_weight = w.conv.data(),
                             .a_log = w.a_log.data(),
                             .dt_bias = w.dt_bias.data(),
                             .norm_weight = w.norm.data(),
                             .states = p.cache->states(layer),
                             .records = p.cache->records(layer),
                             .record_rows = p.cache->shape().record_rows,
                             .out = mixed});
  write_delta(p, w.out, mixed);
  return {};
}

Status CpuBackend::mlp(Pass& pass, const MlpBlock& block) {
  auto& p = static_cast<CpuPass&>(pass);
  const auto& w = static_cast<const CpuMlp&>(block);
  Workspace::Frame frame(*context_.workspace);
  TESSERA_ASSIGN_OR_RETURN(const float* normed, take_normed(frame, p, w.norm, w.norm_eps));
  kernels::mlp(context_, {.x = normed, .rows = p.rows(), .hidden = w.hidden, .weights = &w.mlp, .out = p.delta.data()});
  p.has_delta = true;
  return {};
}

Status CpuBackend::moe(Pass& pass, const MoeBlock& block) {
  auto& p = static_cast<CpuPass&>(pass);
  const auto& w = static_cast<const CpuMoe&>(block);
  Workspace::Frame frame(*context_.workspace);
  TESSERA_ASSIGN_OR_RETURN(const float* normed, take_normed(frame, p, w.norm, w.norm_eps));
  kernels::moe(context_, {.x = normed,
                          .rows = p.rows(),
                          .hidden = w.hidden,
                          .experts_per_token = w.experts_per_token,
                          .router = &w.router,
                          .experts = w.experts,
                          .shared = w.shared ? &*w.shared : nullptr,
                          .shared_gate = w.shared ? &w.shared_gate : nullptr,
                          .out = p.delta.data()});
  p.has_delta = true;
  return {};
}

Status CpuBackend::head(Pass& pass, const Head& head, const Embedding& embedding) {
  auto& p = static_cast<CpuPass&>(pass);
  const auto& w = static_cast<const CpuHead&>(head);
  Workspace::Frame frame(*context_.workspace);
  TESSERA_ASSIGN_OR_RETURN(const float* normed, take_normed(frame, p, w.norm, w.norm_eps));
  if (p.shape.keeps_hidden) {
    std::memcpy(p.hidden.data(), normed, static_cast<size_t>(p.rows() * p.shape.hidden) * sizeof(float));
  }
  if (p.logit_rows.empty()) return {};
  const auto& vocabulary = static_cast<const CpuEmbedding&>(embedding);
  const LinearOutput output{.weight = w.lm_head.empty() ? &vocabulary.head() : &w.lm_head,
                            .out = p.logits.data() + vocabulary.head_first,
                            .stride = p.shape.vocab};
  linear(context_, {.x = normed,
                    .x_stride = p.shape.hidden,
                    .rows = static_cast<int64_t>(p.logit_rows.size()),
                    .row_index = p.logit_rows,
                    .outputs = {&output, 1},
                    .round_output = false});
  if (context_.comm == nullptr) return {};
  return context_.comm->all_gather({.data = p.logits.data(),
                                    .rows = static_cast<int64_t>(p.logit_rows.size()),
                                    .columns = p.shape.vocab,
                                    .stride = p.shape.vocab});
}

Status CpuBackend::select_hidden(Pass& pass, std::span<const int32_t> rows) {
  auto& p = static_cast<CpuPass&>(pass);
  TESSERA_CHECK(p.shape.keeps_hidden);
  const auto size = static_cast<size_t>(p.shape.hidden);
  Workspace::Frame frame(*context_.workspace);
  auto* selected = frame.take<float>(rows.size() * size);
  for (size_t i = 0; i < rows.size(); ++i) {
    std::copy_n(p.hidden.data() + static_cast<size_t>(rows[i]) * size, size, selected + i * size);
  }
  std::copy_n(selected, rows.size() * size, p.hidden.data());
  return {};
}

Status CpuBackend::mtp_input(Pass& pass, const MtpInput& input, const Embedding& embedding) {
  auto& p = static_cast<CpuPass&>(pass);
  const auto& w = static_cast<const CpuMtpInput&>(input);
  TESSERA_CHECK(p.shape.keeps_hidden);
  TESSERA_RETURN_IF_ERROR(embed(pass, embedding));
  const int64_t rows = p.rows(), size = p.shape.hidden;
  const auto count = static_cast<size_t>(rows * size);
  Workspace::Frame frame(*context_.workspace);
  auto* one = frame.take<float>(count);
  auto* both = frame.take<float>(2 * count);  // [rows, 2 * hidden]: embedding half first
  const auto norm_into = [&](const float* x, const std::vector<float>& weight, float* half) {
    rms_norm(
        context_,
        {.x = x, .x_stride = size, .rows = rows, .n = size, .weight = weight.data(), .eps = w.norm_eps, .out = one});
    for (int64_t t = 0; t < rows; ++t) std::copy_n(one + t * size, size, half + 2 * t * size);
  };
  norm_into(p.residual.data(), w.embedding_norm, both);
  norm_into(p.hidden.data(), w.hidden_norm, both + size);
  const LinearOutput output{.weight = &w.fc, .out = p.residual.data(), .stride = size};
  project(both, rows, 2 * size, {&output, 1});
  return {};
}

Status CpuBackend::read_logits(Pass& pass, std::span<float> logits) {
  const auto& p = static_cast<CpuPass&>(pass);
  TESSERA_CHECK_EQ(logits.size(), p.logit_rows.size() * static_cast<size_t>(p.shape.vocab));
  std::copy_n(p.logits.data(), logits.size(), logits.data());
  return {};
}

Status CpuBackend::read_hidden(Pass& pass, std::span<float> hidden) {
  const auto& p = static_cast<CpuPass&>(pass);
  TESSERA_CHECK(p.shape.keeps_hidden);
  TESSERA_CHECK_EQ(static_cast<int64_t>(hidden.size()), p.rows() * p.shape.hidden);
  std::copy_n(p.hidden.data(), hidden.size(), hidden.data());
  return {};
}

}  // namespace

std::unique_ptr<kernels::Backend> make_backend(const Context& context) { return std::make_unique<CpuBackend>(context); }

std::span<float> logits(Pass& pass) {
  auto& p = static_cast<CpuPass&>(pass);
  return {p.logits.data(), p.logits.size()};
}

}  // namespace tessera::kernels::cpu
