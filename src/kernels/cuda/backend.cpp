#include "kernels/cuda/backend.h"

#include <algorithm>
#include <array>
#include <span>
#include <utility>

#include "base/check.h"
#include "base/status.h"
#include "kernels/cuda/attention.h"
#include "kernels/cuda/delta_net.h"
#include "kernels/cuda/embed.h"
#include "kernels/cuda/moe.h"
#include "kernels/cuda/mtp_input.h"
#include "kernels/cuda/norm.h"

namespace tessera::kernels::cuda {
namespace {

/// Rows of a step up to which the norm after experts sums what they leave: a launch less, and the product behind it
/// finds its rows normed. Of more rows their outputs, a quarter of a GB for 8,192 of 35B, would have to be kept beside
/// the next block's. Between ranks it is rows that are summed.
constexpr int64_t kNormSumsExpertsMax = 128;

/// Elements of a row of BF16 or fp32 that is read 16 bytes at a time.
constexpr int64_t padded(int64_t columns) { return (columns + 7) / 8 * 8; }

Expected<Columns> take_columns(Arena::Frame& frame, const Pass& pass, int64_t columns) {
  Columns taken{.stride = padded(columns)};
  TESSERA_ASSIGN_OR_RETURN(taken.data, frame.take<uint16_t>(pass.tables.rows_max * taken.stride));
  return taken;
}

}  // namespace

// ---- memory ----

Expected<std::unique_ptr<kernels::Cache>> CudaBackend::make_cache(const CacheShape& shape) {
  TESSERA_CUDA_RETURN_IF_ERROR(cudaSetDevice(options_.gpu));
  TESSERA_RETURN_IF_ERROR(uploader_.rest());  // a cache takes what weights leave
  TESSERA_ASSIGN_OR_RETURN(auto cache, Cache::create(shape));
  return std::unique_ptr<kernels::Cache>(std::move(cache));
}

Expected<std::unique_ptr<HostPages>> CudaBackend::make_host_pages(const CacheShape& shape, int32_t pages) {
  TESSERA_CUDA_RETURN_IF_ERROR(cudaSetDevice(options_.gpu));
  return PinnedPages::create(cache_bytes(shape).kv_block, pages);
}

Expected<std::unique_ptr<kernels::Pass>> CudaBackend::make_pass(const PassShape& shape) {
  TESSERA_CUDA_RETURN_IF_ERROR(cudaSetDevice(options_.gpu));
  TESSERA_ASSIGN_OR_RETURN(auto pass, Pass::create(shape, options_.pdl));
  return std::unique_ptr<kernels::Pass>(std::move(pass));
}

// ---- a pass ----

Status CudaBackend::finish(Pass& pass) const {
  if (pass.ended < pass.begun) TESSERA_RETURN_IF_ERROR(pass.end());
  TESSERA_CUDA_RETURN_IF_ERROR(cudaStreamSynchronize(pass.stream.get()));
  return {};
}

Status CudaBackend::begin(kernels::Pass& pass, kernels::Cache& cache, const Batch& batch,
                          std::span<const int32_t> logit_rows) {
  Pass& p = of(pass);
  TESSERA_RETURN_IF_ERROR(finish(p));
  p.cache = &static_cast<Cache&>(cache);
  TESSERA_RETURN_IF_ERROR(p.stage(batch, logit_rows));
  p.tables = step_tables(p.step_memory, bounds_of(batch, static_cast<int64_t>(logit_rows.size())));
  return p.begin();
}

namespace {

EmbedTable table_of(const Embedding& embedding) {
  const DeviceMatrix& table = static_cast<const CudaEmbedding&>(embedding).table;
  return {.format = table.format,
          .data = table.weights.as<std::byte>(),
          .row_alpha = table.row_alpha.as<float>(),
          .vocab = table.rows,
          .hidden = table.depth};
}

}  // namespace

Status CudaBackend::embed(kernels::Pass& pass, const Embedding& embedding) {
  Pass& p = of(pass);
  EmbedArgs args;
  args.table = table_of(embedding);
  args.tokens = p.tables.tokens;
  args.live_rows = &p.tables.counts->rows;
  args.rows_max = p.tables.rows_max;
  args.out = p.residual[p.current].as<uint16_t>();
  args.out_stride = p.shape.hidden;
  return cuda::embed(args, p.queue);
}

DenseArgs CudaBackend::rows_of(const Pass& pass, int64_t depth) const {
  DenseArgs args;
  args.depth = static_cast<int32_t>(depth);
  args.live_rows = &pass.tables.counts->rows;
  args.rows_max = pass.tables.rows_max;
  return args;
}

/// norm(residual + delta) as the rows of a product; the delta is of all ranks. The sum goes to the other buffer, which
/// is the residual from then on: blocks of one launch read the one while a block of it writes the other. What experts
/// left is summed by the launch of the norm, which has to be the next.
Expected<DenseArgs> CudaBackend::normed_rows(Pass& pass, const DeviceBuffer& norm, float eps) const {
  if (options_.comm != nullptr && pass.delta_kind != DeltaKind::none) {
    const CommRows delta{.data = pass.delta.memory.get(),
                         .dtype = DType::bf16,
                         .rows = pass.tables.rows_max,
                         .columns = pass.shape.hidden,
                         .stride = pass.shape.hidden,
                         .live_rows = &pass.tables.counts->rows,
                         .queue = &pass.queue};
    TESSERA_RETURN_IF_ERROR(options_.comm->all_reduce(delta, /*round=*/true));
  }
  DenseArgs args = rows_of(pass, pass.shape.hidden);
  args.norm.residual = pass.residual[pass.current].as<uint16_t>();
  args.norm.weight = norm.as<float>();
  args.norm.eps = eps;
  const DeltaKind delta = std::exchange(pass.delta_kind, DeltaKind::none);
  if (delta == DeltaKind::none) return args;
  if (delta == DeltaKind::rows) args.norm.delta = pass.delta.as<uint16_t>();
  if (delta == DeltaKind::experts) args.norm.experts = pass.experts;
  pass.current ^= 1;
  args.norm.residual_out = pass.residual[pass.current].as<uint16_t>();
  return args;
}

Status CudaBackend::multiply(Pass& pass, DenseArgs& args) const {
  Arena::Frame frame(pass.arena);
  TESSERA_ASSIGN_OR_RETURN(args.workspace, frame.take<std::byte>(static_cast<int64_t>(dense_workspace_bytes(args))));
  return dense(args, facts_, pass.queue);
}

/// Products of norm(residual + delta).
Status CudaBackend::project(Pass& pass, const DeviceBuffer& norm, float eps,
                            std::span<const Projection> projections) const {
  TESSERA_ASSIGN_OR_RETURN(DenseArgs args, normed_rows(pass, norm, eps));
  for (const auto& [matrix, out] : projections) {
    args.matrices[args.count++] = matrix->product(Epilogue::bf16, out.data, out.stride);
  }
  return multiply(pass, args);
}

/// delta = weight x.
Status CudaBackend::write_delta(Pass& pass, const DeviceMatrix& weight, const uint16_t* x) const {
  DenseArgs args = rows_of(pass, weight.depth);
  args.x = x;
  args.x_stride = weight.depth;
  args.matrices[args.count++] = weight.product(Epilogue::bf16, pass.delta.as<uint16_t>(), pass.shape.hidden);
  pass.delta_kind = DeltaKind::rows;
  return multiply(pass, args);
}

Status CudaBackend::attention(kernels::Pass& pass, const AttentionBlock& block, int layer) {
  Pass& p = of(pass);
  const auto& w = static_cast<const CudaAttention&>(block);
  Arena::Frame frame(p.arena);
  TESSERA_ASSIGN_OR_RETURN(const Columns query_gate, take_columns(frame, p, w.q_gate.rows));
  TESSERA_ASSIGN_OR_RETURN(const Columns key, take_columns(frame, p, w.k.rows));
  TESSERA_ASSIGN_OR_RETURN(const Columns value, take_columns(frame, p, w.v.rows));
  TESSERA_ASSIGN_OR_RETURN(auto* const mixed, frame.take<uint16_t>(p.tables.rows_max * w.o.depth));
  const std::array projections = {Projection{&w.q_gate, query_gate}, Projection{&w.k, key}, Projection{&w.v, value}};
  TESSERA_RETURN_IF_ERROR(project(p, w.input_norm, w.shape.norm_eps, projections));

  AttentionArgs args;
  args.kv = p.cache->kv_pool(layer);
  TESSERA_ASSIGN_OR_RETURN(args.plan, plan_attention(w.shape, args.kv.dtype, p.tables, facts_.sm_count));
  size_t workspace_bytes = args.plan.workspace_bytes;
  if (!p.arena.frozen()) {
    StepTables widest = p.tables;
    widest.rows_max = p.shape.rows_max;
    widest.sequences_max = p.shape.sequences_max;
    workspace_bytes = attention_workspace_bytes_max(w.shape, args.kv.dtype, widest, facts_.sm_count);
  }
  TESSERA_ASSIGN_OR_RETURN(args.workspace, p.attention_memory(workspace_bytes));
  args.tables = p.tables;
  args.query_gate = query_gate.data;
  args.key = key.data;
  args.value = value.data;
  args.query_gate_stride = query_gate.stride;
  args.key_stride = key.stride;
  args.value_stride = value.stride;
  args.q_norm = w.q_norm.as<float>();
  args.k_norm = w.k_norm.as<float>();
  args.inv_freq = w.inv_freq.as<float>();
  args.rope_scale = w.rope_scale;
  args.out = mixed;
  TESSERA_RETURN_IF_ERROR(cuda::attention(args, p.queue));
  return write_delta(p, w.o, mixed);
}

Status CudaBackend::delta_net(kernels::Pass& pass, const DeltaNetBlock& block, int layer) {
  Pass& p = of(pass);
  const auto& w = static_cast<const CudaDeltaNet&>(block);
  Arena::Frame frame(p.arena);
  TESSERA_ASSIGN_OR_RETURN(const Columns qkv, take_columns(frame, p, w.qkv.rows));
  TESSERA_ASSIGN_OR_RETURN(const Columns z, take_columns(frame, p, w.z.rows));
  TESSERA_ASSIGN_OR_RETURN(const Columns b, take_columns(frame, p, w.b.rows));
  TESSERA_ASSIGN_OR_RETURN(const Columns a, take_columns(frame, p, w.a.rows));
  TESSERA_ASSIGN_OR_RETURN(auto* const mixed, frame.take<uint16_t>(p.tables.rows_max * w.out.depth));
  const std::array projections = {Projection{&w.qkv, qkv}, Projection{&w.z, z}, Projection{&w.b, b},
                                  Projection{&w.a, a}};
  TESSERA_RETURN_IF_ERROR(project(p, w.input_norm, w.shape.norm_eps, projections));

  DeltaNetArgs args;
  args.shape = w.shape;
  args.tables = p.tables;
  args.qkv = qkv.data;
  args.z = z.data;
  args.b = b.data;
  args.a = a.data;
  args.qkv_stride = qkv.stride;
  args.z_stride = z.stride;
  args.b_stride = b.stride;
  args.a_stride = a.stride;
  args.conv_weight = w.conv.as<float>();
  args.a_log = w.a_log.as<float>();
  args.dt_bias = w.dt_bias.as<float>();
  args.norm_weight = w.norm.as<float>();
  args.states = p.cache->states(layer);
  args.windows = p.cache->windows(layer);
  args.records = p.cache->records(layer);
  args.record_rows = p.cache->shape().record_rows;
  args.out = mixed;
  TESSERA_ASSIGN_OR_RETURN(args.workspace,
                           frame.take<std::byte>(static_cast<int64_t>(delta_net_workspace_bytes(w.shape, p.tables))));
  TESSERA_RETURN_IF_ERROR(cuda::delta_net(args, p.queue));
  return write_delta(p, w.out, mixed);
}

/// out = down(gated). overlaps_previous: DenseArgs.
Status CudaBackend::swiglu_down(Pass& pass, const CudaSwiglu& weights, const uint16_t* gated, uint16_t* out,
                                bool overlaps_previous) const {
  DenseArgs args = rows_of(pass, weights.inner);
  args.overlaps_previous = overlaps_previous;
  args.x = gated;
  args.x_stride = padded(weights.inner);
  args.matrices[args.count++] = weights.down.product(Epilogue::bf16, out, pass.shape.hidden);
  return multiply(pass, args);
}

Status CudaBackend::mlp(kernels::Pass& pass, const MlpBlock& block) {
  Pass& p = of(pass);
  const auto& w = static_cast<const CudaMlp&>(block);
  Arena::Frame frame(p.arena);
  TESSERA_ASSIGN_OR_RETURN(const Columns gated, take_columns(frame, p, w.mlp.inner));
  TESSERA_ASSIGN_OR_RETURN(DenseArgs args, normed_rows(p, w.norm, w.norm_eps));
  args.matrices[args.count++] = w.mlp.gate_up.product(Epilogue::swiglu, gated.data, gated.stride);
  TESSERA_RETURN_IF_ERROR(multiply(p, args));
  p.delta_kind = DeltaKind::rows;
  return swiglu_down(p, w.mlp, gated.data, p.delta.as<uint16_t>());
}

/// What experts left becomes rows, and their memory is free.
Status CudaBackend::sum_delta(Pass& pass) const {
  pass.delta_kind = DeltaKind::rows;
  pass.experts_frame.reset();
  return sum_experts({.experts = pass.experts,
                      .live_tokens = &pass.tables.counts->rows,
                      .delta = pass.delta.as<uint16_t>(),
                      .tokens = pass.tables.rows_max,
                      .hidden = static_cast<int32_t>(pass.shape.hidden)},
                     pass.queue);
}

Status CudaBackend::moe(kernels::Pass& pass, const MoeBlock& block) {
  Pass& p = of(pass);
  const auto& w = static_cast<const CudaMoe&>(block);
  if (p.delta_kind == DeltaKind::experts) TESSERA_RETURN_IF_ERROR(sum_delta(p));  // this block takes their memory
  Arena::Frame& frame = p.experts_frame.emplace(p.arena);
  const int64_t rows = p.tables.rows_max, logits_stride = padded(w.router.rows + 1);
  TESSERA_ASSIGN_OR_RETURN(auto* const normed, frame.take<uint16_t>(rows * w.hidden));
  TESSERA_ASSIGN_OR_RETURN(auto* const logits, frame.take<float>(rows * logits_stride));
  // The router, the shared expert's gate, and its gate_up, which needs no routing, in one launch.
  TESSERA_ASSIGN_OR_RETURN(DenseArgs args, normed_rows(p, w.norm, w.norm_eps));
  args.norm.normed_out = normed;
  args.matrices[args.count++] = w.router.product(Epilogue::f32, logits, logits_stride);
  uint16_t* shared_rows = nullptr;
  Columns gated;
  if (w.shared) {
    TESSERA_ASSIGN_OR_RETURN(shared_rows, frame.take<uint16_t>(rows * w.hidden));
    TESSERA_ASSIGN_OR_RETURN(gated, take_columns(frame, p, w.shared->inner));
    args.matrices[args.count++] = w.shared_gate.product(Epilogue::f32, logits + w.router.rows, logits_stride);
    args.matrices[args.count++] = w.shared->gate_up.product(Epilogue::swiglu, gated.data, gated.stride);
  }
  TESSERA_RETURN_IF_ERROR(multiply(p, args));

  plan::Desc desc;
  desc.format = w.experts.format;
  desc.path = plan::Path::w4a16;
  desc.hidden = w.hidden;
  desc.intermediate = w.experts.inner;
  desc.experts = static_cast<int>(w.experts.experts);
  desc.experts_per_token = w.experts_per_token;
  desc.tokens = rows;
  TESSERA_ASSIGN_OR_RETURN(const MoePlan plan, plan_moe(desc, facts_, options_.tuning));
  MoeArgs moe;
  moe.x = normed;
  moe.live_tokens = &p.tables.counts->rows;
  moe.logits = logits;
  moe.logits_stride = logits_stride;
  moe.shared_gate = w.shared ? logits + w.router.rows : nullptr;
  moe.shared_rows = shared_rows;
  moe.gate_up = w.experts.gate_up.as<std::byte>();
  moe.down = w.experts.down.as<std::byte>();
  moe.gate_up_alpha = w.experts.gate_up_alpha.as<float>();
  moe.down_alpha = w.experts.down_alpha.as<float>();
  TESSERA_ASSIGN_OR_RETURN(moe.workspace, frame.take<std::byte>(static_cast<int64_t>(moe_workspace(plan).bytes)));
  TESSERA_RETURN_IF_ERROR(moe_route(plan, moe, p.queue));
  // Beside the routing, which it has nothing to do with.
  if (w.shared) TESSERA_RETURN_IF_ERROR(swiglu_down(p, *w.shared, gated.data, shared_rows, true));
  TESSERA_RETURN_IF_ERROR(moe_products(plan, moe, p.queue));
  p.experts = expert_sum(plan, moe);
  p.delta_kind = DeltaKind::experts;
  if (rows > kNormSumsExpertsMax || options_.comm != nullptr) TESSERA_RETURN_IF_ERROR(sum_delta(p));
  if (options_.experts_read == nullptr || !options_.experts_read->on) return {};
  return count_experts(p, moe.workspace + moe_workspace(plan).first_slot, desc.experts);
}

/// first_slots: int32 [experts + 1], RouteArgs::first_slot of the layer that has just been enqueued.
Status CudaBackend::count_experts(const Pass& pass, const std::byte* first_slots, int experts) const {
  std::vector<int32_t> first(static_cast<size_t>(experts) + 1);
  TESSERA_CUDA_RETURN_IF_ERROR(cudaMemcpyAsync(first.data(), first_slots, first.size() * sizeof(int32_t),
                                               cudaMemcpyDeviceToHost, pass.queue.stream));
  TESSERA_CUDA_RETURN_IF_ERROR(cudaStreamSynchronize(pass.queue.stream));
  ++options_.experts_read->layers;
  for (size_t e = 0; e + 1 < first.size(); ++e) options_.experts_read->experts += first[e + 1] > first[e] ? 1 : 0;
  return {};
}

Status CudaBackend::head(kernels::Pass& pass, const Head& head, const Embedding& embedding) {
  Pass& p = of(pass);
  const auto& w = static_cast<const CudaHead&>(head);
  const auto& vocabulary = static_cast<const CudaEmbedding&>(embedding);
  Arena::Frame frame(p.arena);
  uint16_t* normed = p.hidden.as<uint16_t>();
  if (!p.shape.keeps_hidden) {
    TESSERA_ASSIGN_OR_RETURN(normed, frame.take<uint16_t>(p.tables.rows_max * p.shape.hidden));
  }
  TESSERA_ASSIGN_OR_RETURN(const DenseArgs rows, normed_rows(p, w.norm, w.norm_eps));
  AddNormArgs norm;
  norm.norm = rows.norm;
  norm.norm.normed_out = normed;
  norm.hidden = static_cast<int32_t>(p.shape.hidden);
  norm.live_rows = &p.tables.counts->rows;
  norm.rows_max = p.tables.rows_max;
  TESSERA_RETURN_IF_ERROR(add_norm(norm, p.queue));
  if (p.tables.logit_rows_max == 0) return {};
  DenseArgs args;
  args.depth = static_cast<int32_t>(p.shape.hidden);
  args.x = normed;
  args.x_stride = p.shape.hidden;
  args.row_index = p.tables.logit_rows;
  args.live_rows = &p.tables.counts->logit_rows;
  args.rows_max = p.tables.logit_rows_max;
  float* const own_logits = p.logits.as<float>() + vocabulary.head_first;
  const DeviceMatrix& lm_head = w.lm_head ? *w.lm_head : vocabulary.head();
  args.matrices[args.count++] = lm_head.product(Epilogue::f32, own_logits, p.shape.vocab);
  TESSERA_RETURN_IF_ERROR(multiply(p, args));
  if (options_.comm == nullptr) return {};
  return options_.comm->all_gather({.data = p.logits.memory.get(),
                                    .rows = p.tables.logit_rows_max,
                                    .columns = p.shape.vocab,
                                    .stride = p.shape.vocab,
                                    .live_rows = &p.tables.counts->logit_rows,
                                    .queue = &p.queue});
}

Status CudaBackend::select_hidden(kernels::Pass& pass, std::span<const int32_t> rows) {
  return of(pass).select_hidden(rows);
}

Status CudaBackend::mtp_input(kernels::Pass& pass, const MtpInput& input, const Embedding& embedding) {
  Pass& p = of(pass);
  const auto& w = static_cast<const CudaMtpInput&>(input);
  TESSERA_CHECK(p.shape.keeps_hidden);
  Arena::Frame frame(p.arena);
  const int64_t size = p.shape.hidden;
  TESSERA_ASSIGN_OR_RETURN(auto* const both, frame.take<uint16_t>(p.tables.rows_max * 2 * size));
  MtpInputArgs rows;
  rows.table = table_of(embedding);
  rows.tokens = p.tables.tokens;
  rows.hidden = p.hidden.as<uint16_t>();
  rows.hidden_rows = p.hidden_rows;
  rows.embedding_norm = w.embedding_norm.as<float>();
  rows.hidden_norm = w.hidden_norm.as<float>();
  rows.eps = w.norm_eps;
  rows.live_rows = &p.tables.counts->rows;
  rows.rows_max = p.tables.rows_max;
  rows.out = both;
  TESSERA_RETURN_IF_ERROR(cuda::mtp_input(rows, p.queue));
  DenseArgs args = rows_of(p, 2 * size);
  args.x = both;
  args.x_stride = 2 * size;
  args.matrices[args.count++] = w.fc.product(Epilogue::bf16, p.residual[p.current].as<uint16_t>(), size);
  return multiply(p, args);
}

Status CudaBackend::read_logits(kernels::Pass& pass, std::span<float> logits) {
  Pass& p = of(pass);
  TESSERA_CHECK_EQ(static_cast<int64_t>(logits.size()), p.tables.logit_rows_max * p.shape.vocab);
  TESSERA_RETURN_IF_ERROR(finish(p));
  TESSERA_CUDA_RETURN_IF_ERROR(
      cudaMemcpy(logits.data(), p.logits.memory.get(), logits.size_bytes(), cudaMemcpyDeviceToHost));
  return {};
}

Status CudaBackend::read_hidden(kernels::Pass& pass, std::span<float> hidden) {
  Pass& p = of(pass);
  TESSERA_CHECK(p.shape.keeps_hidden);
  TESSERA_CHECK_EQ(static_cast<int64_t>(hidden.size()), p.tables.rows_max * p.shape.hidden);
  TESSERA_RETURN_IF_ERROR(finish(p));
  std::vector<uint16_t> rows(hidden.size());
  TESSERA_CUDA_RETURN_IF_ERROR(
      cudaMemcpy(rows.data(), p.hidden.memory.get(), rows.size() * sizeof(uint16_t), cudaMemcpyDeviceToHost));
  std::transform(rows.begin(), rows.end(), hidden.begin(), bf16_to_float);
  return {};
}

}  // namespace tessera::kernels::cuda
