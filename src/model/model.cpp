#include "model/model.h"

#include <array>
#include <cstring>

#include "base/check.h"
#include "kernels/embed.h"
#include "kernels/gated_attention.h"
#include "kernels/gated_delta_net.h"
#include "kernels/linear.h"
#include "kernels/moe.h"
#include "model/layers.h"
#include "model/load_weights.h"

namespace tessera::model {

using kernels::Batch;
using kernels::Context;
using kernels::LinearOutput;
using kernels::Workspace;

struct Model::Impl {
  Context context;
  ModelConfig config;
  ModelWeights weights;
  KvScales kv_scales;
  bool fp8_kv = false;

  void project(const LayerWeights& layer, int64_t rows, const float* h, std::span<const LinearOutput> outputs) const;
  void add_product(const kernels::Weight& weight, const float* x, int64_t rows, float* h) const;
  void attention(const LayerWeights& layer, const Batch& batch, kernels::KvLayer kv, float* h) const;
  void delta_net(const LayerWeights& layer, const Batch& batch, float* states, float* h) const;
  void feed_forward(const LayerWeights& layer, int64_t rows, float* h) const;
  void head(const std::vector<float>& norm, int64_t rows, const float* h, std::span<const int32_t> logit_rows,
            float* logits, float* hidden) const;
};

/// What a mixer works on: products of norm(h).
void Model::Impl::project(const LayerWeights& layer, int64_t rows, const float* h,
                          std::span<const LinearOutput> outputs) const {
  kernels::linear(context, {.x = h,
                            .x_stride = config.hidden_size,
                            .rows = rows,
                            .norm_weight = layer.input_norm.data(),
                            .norm_eps = config.rms_norm_eps,
                            .outputs = outputs});
}

/// h = h + weight x; x: [rows, weight.cols].
void Model::Impl::add_product(const kernels::Weight& weight, const float* x, int64_t rows, float* h) const {
  const LinearOutput residual{.weight = &weight, .out = h, .stride = config.hidden_size, .accumulate = true};
  kernels::linear(context, {.x = x, .x_stride = weight.cols, .rows = rows, .outputs = {&residual, 1}});
}

/// h = h + o_proj(gated_attention(projections(norm(h)))); h: [rows, hidden].
void Model::Impl::attention(const LayerWeights& layer, const Batch& batch, kernels::KvLayer kv, float* h) const {
  const AttentionWeights& w = *layer.attention;
  const auto& shape = config.attention;
  const int64_t rows = batch.rows();
  const int64_t queries = int64_t{shape.heads} * shape.head_dim;
  const int64_t keys = int64_t{shape.kv_heads} * shape.head_dim;
  Workspace::Frame frame(*context.workspace);
  auto* query_gate = frame.take<float>(static_cast<size_t>(rows * 2 * queries));
  auto* key = frame.take<float>(static_cast<size_t>(rows * keys));
  auto* value = frame.take<float>(static_cast<size_t>(rows * keys));
  auto* mixed = frame.take<float>(static_cast<size_t>(rows * queries));
  const std::array projections = {LinearOutput{.weight = &w.q_gate, .out = query_gate, .stride = 2 * queries},
                                  LinearOutput{.weight = &w.k, .out = key, .stride = keys},
                                  LinearOutput{.weight = &w.v, .out = value, .stride = keys}};
  project(layer, rows, h, projections);
  kernels::gated_attention(context, {.shape = shape,
                                     .batch = &batch,
                                     .query_gate = query_gate,
                                     .key = key,
                                     .value = value,
                                     .q_norm = w.q_norm.data(),
                                     .k_norm = w.k_norm.data(),
                                     .inv_freq = config.inv_freq.data(),
                                     .rope_scale = config.rope_scale,
                                     .kv = kv,
                                     .out = mixed});
  add_product(w.o, mixed, rows, h);
}

/// h = h + out_proj(gated_delta_net(projections(norm(h)))); h: [rows, hidden].
void Model::Impl::delta_net(const LayerWeights& layer, const Batch& batch, float* states, float* h) const {
  const DeltaNetWeights& w = *layer.delta_net;
  const auto& shape = config.delta_net;
  const int64_t rows = batch.rows();
  const int64_t heads = shape.value_heads;
  const int64_t values = heads * shape.value_dim;
  Workspace::Frame frame(*context.workspace);
  auto* qkv = frame.take<float>(static_cast<size_t>(rows * shape.channels()));
  auto* z = frame.take<float>(static_cast<size_t>(rows * values));
  auto* b = frame.take<float>(static_cast<size_t>(rows * heads));
  auto* a = frame.take<float>(static_cast<size_t>(rows * heads));
  auto* mixed = frame.take<float>(static_cast<size_t>(rows * values));
  const std::array projections = {LinearOutput{.weight = &w.qkv, .out = qkv, .stride = shape.channels()},
                                  LinearOutput{.weight = &w.z, .out = z, .stride = values},
                                  LinearOutput{.weight = &w.b, .out = b, .stride = heads},
                                  LinearOutput{.weight = &w.a, .out = a, .stride = heads}};
  project(layer, rows, h, projections);
  kernels::gated_delta_net(context, {.shape = shape,
                                     .batch = &batch,
                                     .qkv = qkv,
                                     .z = z,
                                     .b = b,
                                     .a = a,
                                     .conv_weight = w.conv.data(),
                                     .a_log = w.a_log.data(),
                                     .dt_bias = w.dt_bias.data(),
                                     .norm_weight = w.norm.data(),
                                     .states = states,
                                     .out = mixed});
  add_product(w.out, mixed, rows, h);
}

void Model::Impl::feed_forward(const LayerWeights& layer, int64_t rows, float* h) const {
  if (layer.mlp) {
    kernels::mlp(context, {.x = h,
                           .rows = rows,
                           .hidden = config.hidden_size,
                           .norm_weight = layer.post_attention_norm.data(),
                           .norm_eps = config.rms_norm_eps,
                           .weights = &*layer.mlp});
    return;
  }
  const MoeWeights& w = *layer.moe;
  kernels::moe(context, {.x = h,
                         .rows = rows,
                         .hidden = config.hidden_size,
                         .norm_weight = layer.post_attention_norm.data(),
                         .norm_eps = config.rms_norm_eps,
                         .experts_per_token = config.experts_per_token,
                         .router = &w.router,
                         .experts = w.experts,
                         .shared = w.shared ? &*w.shared : nullptr,
                         .shared_gate = w.shared ? &w.shared_gate : nullptr});
}

/// Final norm and lm_head of the rows that need logits; all normed rows into `hidden` if it is asked for.
void Model::Impl::head(const std::vector<float>& norm, int64_t rows, const float* h,
                       std::span<const int32_t> logit_rows, float* logits, float* hidden) const {
  if (hidden != nullptr) {
    kernels::rms_norm(context, {.x = h,
                                .x_stride = config.hidden_size,
                                .rows = rows,
                                .n = config.hidden_size,
                                .weight = norm.data(),
                                .eps = config.rms_norm_eps,
                                .out = hidden});
  }
  if (logit_rows.empty()) return;
  const LinearOutput output{.weight = &weights.head(), .out = logits, .stride = config.vocab_size};
  kernels::linear(context, {.x = hidden != nullptr ? hidden : h,
                            .x_stride = config.hidden_size,
                            .rows = static_cast<int64_t>(logit_rows.size()),
                            .row_index = logit_rows,
                            .norm_weight = hidden != nullptr ? nullptr : norm.data(),
                            .norm_eps = config.rms_norm_eps,
                            .outputs = {&output, 1},
                            .round_output = false});
}

Model::Model(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Model::~Model() = default;

Expected<std::unique_ptr<Model>> Model::load(const format::Checkpoint& checkpoint, const ModelConfig& config,
                                             const Context& context, const LoadProgress& progress) {
  auto impl = std::make_unique<Impl>();
  impl->context = context;
  impl->config = config;
  TESSERA_ASSIGN_OR_RETURN(const auto quantization, format::read_quantization_info(checkpoint));
  impl->fp8_kv = quantization.fp8_kv_cache;
  TESSERA_ASSIGN_OR_RETURN(impl->kv_scales, load_kv_scales(checkpoint, config));
  TESSERA_ASSIGN_OR_RETURN(impl->weights, load_weights(checkpoint, config, context, progress));
  return std::unique_ptr<Model>(new Model(std::move(impl)));
}

const ModelConfig& Model::config() const { return impl_->config; }
bool Model::has_mtp() const { return impl_->weights.mtp.has_value(); }
const std::vector<float>& Model::k_scales() const { return impl_->kv_scales.k; }
const std::vector<float>& Model::v_scales() const { return impl_->kv_scales.v; }
bool Model::wants_fp8_kv() const { return impl_->fp8_kv; }

size_t Model::weight_bytes() const {
  const ModelWeights& w = impl_->weights;
  size_t bytes = w.embed.data.size() + w.lm_head.data.size();
  const auto add = [&](const kernels::Weight& weight, int /*experts*/) { bytes += weight.data.size(); };
  for (const auto& layer : w.layers) for_each_weight(layer, add);
  if (w.mtp) {
    bytes += w.mtp->fc.data.size();
    for (const auto& layer : w.mtp->layers) for_each_weight(layer, add);
  }
  return bytes;
}

size_t Model::bytes_per_token() const {
  const auto& config = impl_->config;
  size_t bytes = impl_->weights.head().data.size();
  for (const auto& layer : impl_->weights.layers) {
    for_each_weight(layer, [&](const kernels::Weight& weight, int experts) {
      const size_t read = experts == 1 ? 1 : static_cast<size_t>(config.experts_per_token);
      bytes += weight.data.size() * read / static_cast<size_t>(experts);
    });
  }
  return bytes;
}

void Model::forward(const Batch& batch, Cache& cache, std::span<const int32_t> logit_rows, float* logits,
                    float* hidden) {
  const Impl& m = *impl_;
  Workspace::Frame frame(*m.context.workspace);
  auto* h = frame.take<float>(static_cast<size_t>(batch.rows() * m.config.hidden_size));
  kernels::embed(m.context, {.table = &m.weights.embed, .tokens = batch.tokens, .out = h});
  int attention_layer = 0;
  int linear_layer = 0;
  for (const LayerWeights& layer : m.weights.layers) {
    if (layer.attention) {
      m.attention(layer, batch, cache.kv_layer(attention_layer++), h);
    } else {
      m.delta_net(layer, batch, cache.states(linear_layer++), h);
    }
    m.feed_forward(layer, batch.rows(), h);
  }
  m.head(m.weights.norm, batch.rows(), h, logit_rows, logits, hidden);
}

void Model::forward_mtp(const Batch& batch, const float* hidden, Cache& cache, std::span<const int32_t> logit_rows,
                        float* logits, float* hidden_out, int mtp_layer) {
  TESSERA_CHECK(has_mtp());
  const Impl& m = *impl_;
  const MtpWeights& w = *m.weights.mtp;
  const LayerWeights& layer = w.layers[static_cast<size_t>(mtp_layer)];
  const int64_t rows = batch.rows();
  const int64_t size = m.config.hidden_size;
  const auto count = static_cast<size_t>(rows * size);
  Workspace::Frame frame(*m.context.workspace);
  auto* h = frame.take<float>(count);
  auto* embedding = frame.take<float>(count);
  auto* previous = frame.take<float>(count);
  auto* both = frame.take<float>(2 * count);  // [rows, 2 * hidden]: embedding half first
  kernels::embed(m.context, {.table = &m.weights.embed, .tokens = batch.tokens, .out = h});
  const auto norm = [&](const float* x, const std::vector<float>& weight, float* out) {
    kernels::rms_norm(m.context, {.x = x,
                                  .x_stride = size,
                                  .rows = rows,
                                  .n = size,
                                  .weight = weight.data(),
                                  .eps = m.config.rms_norm_eps,
                                  .out = out});
  };
  norm(h, w.embedding_norm, embedding);
  norm(hidden, w.hidden_norm, previous);
  for (int64_t t = 0; t < rows; ++t) {
    std::memcpy(both + 2 * t * size, embedding + t * size, static_cast<size_t>(size) * sizeof(float));
    std::memcpy(both + (2 * t + 1) * size, previous + t * size, static_cast<size_t>(size) * sizeof(float));
  }
  const LinearOutput fc{.weight = &w.fc, .out = h, .stride = size};
  kernels::linear(m.context, {.x = both, .x_stride = 2 * size, .rows = rows, .outputs = {&fc, 1}});
  m.attention(layer, batch, cache.kv_layer(m.config.count(LayerType::full_attention) + mtp_layer), h);
  m.feed_forward(layer, rows, h);
  m.head(w.norm, rows, h, logit_rows, logits, hidden_out);
}

}  // namespace tessera::model
