#include "model/load_weights.h"

#include <cmath>
#include <cstring>
#include <string>

#include "format/decode_floats.h"

namespace tessera::model {
namespace {

using format::Checkpoint;
using format::MatrixView;
using kernels::MatrixSource;
using kernels::SwigluSource;

class Loader {
 public:
  Loader(const Checkpoint& checkpoint, const ModelConfig& config, kernels::Backend& backend,
         const LoadProgress& progress)
      : checkpoint_(&checkpoint),
        config_(config),
        backend_(backend),
        progress_(progress),
        total_bytes_(checkpoint.tensor_bytes()) {}
  /// Without a checkpoint: views without bytes, which a backend fills as it likes.
  Loader(const KindFormats& dummy_formats, const ModelConfig& config, kernels::Backend& backend)
      : dummy_formats_(dummy_formats), config_(config), backend_(backend) {}

  Expected<Layers> model();

 private:
  Expected<MatrixView> view(const std::string& module, int64_t rows, int64_t cols);
  Status read(const std::string& module, int64_t rows, int64_t cols, MatrixSource& source);
  Status read(const std::string& name, int64_t size, std::vector<float>& values);
  Status read_swiglu(const std::string& prefix, int64_t inner, SwigluSource& source);
  Status read_fused_expert(const std::string& prefix, int64_t expert, SwigluSource& source);
  Status read_experts(const std::string& prefix, std::vector<SwigluSource>& experts);

  Status load_attention(const std::string& prefix, Layer& layer);
  Status load_delta_net(const std::string& prefix, Layer& layer);
  Status load_moe(const std::string& prefix, Layer& layer);
  Status load_mlp(const std::string& prefix, Layer& layer);
  Expected<Layer> load_layer(const std::string& prefix, LayerType type);
  Expected<std::unique_ptr<Mtp>> load_mtp();
  Expected<std::unique_ptr<kernels::Head>> load_head(const std::string& norm);
  Expected<std::unique_ptr<kernels::Embedding>> load_embedding();
  template <typename Block, typename Source>
  Status load(const Source& source, std::unique_ptr<Block>& block);

  const Checkpoint* checkpoint_ = nullptr;  // null: dummy weights
  KindFormats dummy_formats_;
  const ModelConfig& config_;
  kernels::Backend& backend_;
  LoadProgress progress_;
  size_t total_bytes_ = 0;
  size_t done_bytes_ = 0;
  std::vector<MatrixView> views_;  // read since the last load()
};

Status check_shape(const std::string& module, const MatrixView& found, int64_t rows, int64_t cols) {
  if (found.rows == rows && found.cols == cols) return {};
  return error(StatusCode::corrupt_data, "{} is [{}, {}], expected [{}, {}] from config.json", module, found.rows,
               found.cols, rows, cols);
}

MatrixView dummy_view(const KindFormats& formats, const std::string& module, int64_t rows, int64_t cols) {
  const auto listed = formats.find(classify(module + "."));
  MatrixView view;
  view.format = listed == formats.end() ? format::WeightFormat::bf16 : listed->second;
  view.rows = rows;
  view.cols = cols;
  view.scale = 1.0F / std::sqrt(static_cast<float>(cols));
  return view;
}

/// Norms that change nothing, a short memory for Gated DeltaNet.
float dummy_value(std::string_view name) {
  if (name.ends_with("linear_attn.norm.weight")) return 1;
  return name.ends_with("conv1d.weight") ? 0.25F : 0;
}

Expected<MatrixView> Loader::view(const std::string& module, int64_t rows, int64_t cols) {
  if (checkpoint_ == nullptr) return dummy_view(dummy_formats_, module, rows, cols);
  TESSERA_ASSIGN_OR_RETURN(const MatrixView found, checkpoint_->matrix(module));
  TESSERA_RETURN_IF_ERROR(check_shape(module, found, rows, cols));
  views_.push_back(found);
  return found;
}

Status Loader::read(const std::string& module, int64_t rows, int64_t cols, MatrixSource& source) {
  TESSERA_ASSIGN_OR_RETURN(const MatrixView found, view(module, rows, cols));
  source = {.name = module, .parts = {found}};
  return {};
}

Status Loader::read(const std::string& name, int64_t size, std::vector<float>& values) {
  if (checkpoint_ == nullptr) {
    values.assign(static_cast<size_t>(size), dummy_value(name));
    return {};
  }
  TESSERA_ASSIGN_OR_RETURN(const format::TensorView tensor, checkpoint_->tensor(name));
  int64_t count = 1;
  for (const int64_t d : tensor.shape) count *= d;
  if (count != size) {
    return error(StatusCode::corrupt_data, "{} has {} elements, expected {} from config.json", name, count, size);
  }
  values.resize(static_cast<size_t>(size));
  TESSERA_RETURN_IF_ERROR(format::decode_floats(tensor, values).with_context(name));
  for (size_t i = 0; i < values.size(); ++i) {
    if (!std::isfinite(values[i])) {
      return error(StatusCode::corrupt_data, "{}: element {} is {}; the checkpoint is damaged", name, i, values[i]);
    }
  }
  return {};
}

/// Has the backend re-lay what was read. The mapped bytes are not needed again then: one copy in memory, not two.
template <typename Block, typename Source>
Status Loader::load(const Source& source, std::unique_ptr<Block>& block) {
  TESSERA_ASSIGN_OR_RETURN(block, backend_.load(source));
  for (const MatrixView& view : views_) {
    if (checkpoint_ == nullptr) continue;
    checkpoint_->drop_pages(view);
    done_bytes_ += static_cast<size_t>(view.rows) * format::row_bytes(view.format, view.cols);
    if (view.block_scales != nullptr) {
      done_bytes_ += static_cast<size_t>(view.rows * view.cols / format::group_size(view.format));
    }
  }
  views_.clear();
  if (progress_) progress_(std::min(done_bytes_, total_bytes_), total_bytes_);
  return {};
}

Status Loader::load_attention(const std::string& prefix, Layer& layer) {
  const auto& shape = config_.attention;
  const int64_t hidden = config_.hidden_size;
  const int64_t queries = int64_t{shape.heads} * shape.head_dim;
  const int64_t keys = int64_t{shape.kv_heads} * shape.head_dim;
  const std::string attention = prefix + "self_attn.";
  kernels::AttentionSource source;
  source.shape = shape;
  source.hidden = hidden;
  source.inv_freq = config_.inv_freq;
  source.rope_scale = config_.rope_scale;
  TESSERA_RETURN_IF_ERROR(read(prefix + "input_layernorm.weight", hidden, source.input_norm));
  TESSERA_RETURN_IF_ERROR(read(attention + "q_proj", 2 * queries, hidden, source.q_gate));
  TESSERA_RETURN_IF_ERROR(read(attention + "k_proj", keys, hidden, source.k));
  TESSERA_RETURN_IF_ERROR(read(attention + "v_proj", keys, hidden, source.v));
  TESSERA_RETURN_IF_ERROR(read(attention + "o_proj", hidden, queries, source.o));
  TESSERA_RETURN_IF_ERROR(read(attention + "q_norm.weight", shape.head_dim, source.q_norm));
  TESSERA_RETURN_IF_ERROR(read(attention + "k_norm.weight", shape.head_dim, source.k_norm));
  return load(source, layer.attention);
}

Status Loader::load_delta_net(const std::string& prefix, Layer& layer) {
  const auto& shape = config_.delta_net;
  const int64_t hidden = config_.hidden_size;
  const int64_t values = int64_t{shape.value_heads} * shape.value_dim;
  const std::string net = prefix + "linear_attn.";
  kernels::DeltaNetSource source;
  source.shape = shape;
  source.hidden = hidden;
  TESSERA_RETURN_IF_ERROR(read(prefix + "input_layernorm.weight", hidden, source.input_norm));
  TESSERA_RETURN_IF_ERROR(read(net + "in_proj_qkv", shape.channels(), hidden, source.qkv));
  TESSERA_RETURN_IF_ERROR(read(net + "in_proj_z", values, hidden, source.z));
  TESSERA_RETURN_IF_ERROR(read(net + "in_proj_b", shape.value_heads, hidden, source.b));
  TESSERA_RETURN_IF_ERROR(read(net + "in_proj_a", shape.value_heads, hidden, source.a));
  TESSERA_RETURN_IF_ERROR(read(net + "out_proj", hidden, values, source.out));
  TESSERA_RETURN_IF_ERROR(read(net + "conv1d.weight", shape.channels() * shape.conv_width, source.conv));
  TESSERA_RETURN_IF_ERROR(read(net + "A_log", shape.value_heads, source.a_log));
  TESSERA_RETURN_IF_ERROR(read(net + "dt_bias", shape.value_heads, source.dt_bias));
  TESSERA_RETURN_IF_ERROR(read(net + "norm.weight", shape.value_dim, source.norm));
  return load(source, layer.delta_net);
}

Status Loader::read_swiglu(const std::string& prefix, int64_t inner, SwigluSource& source) {
  const int64_t hidden = config_.hidden_size;
  TESSERA_ASSIGN_OR_RETURN(const MatrixView gate, view(prefix + "gate_proj", inner, hidden));
  TESSERA_ASSIGN_OR_RETURN(const MatrixView up, view(prefix + "up_proj", inner, hidden));
  source.inner = inner;
  source.gate_up = {.name = prefix + "{gate,up}_proj", .parts = {gate, up}};
  return read(prefix + "down_proj", hidden, inner, source.down);
}

Status Loader::read_fused_expert(const std::string& prefix, int64_t expert, SwigluSource& source) {
  const int64_t inner = config_.moe_intermediate_size;
  const auto read_part = [&](const std::string& name, int64_t rows, int64_t cols, MatrixSource& part) -> Status {
    TESSERA_ASSIGN_OR_RETURN(const MatrixView found, checkpoint_->fused_matrix(name, expert, 0, rows));
    TESSERA_RETURN_IF_ERROR(check_shape(name, found, rows, cols));
    views_.push_back(found);
    part = {.name = name, .parts = {found}};
    return {};
  };
  source.inner = inner;
  TESSERA_RETURN_IF_ERROR(read_part(prefix + "gate_up_proj", 2 * inner, config_.hidden_size, source.gate_up));
  return read_part(prefix + "down_proj", config_.hidden_size, inner, source.down);
}

Status Loader::read_experts(const std::string& prefix, std::vector<SwigluSource>& experts) {
  const bool fused = checkpoint_ != nullptr && checkpoint_->has(prefix + "gate_up_proj");
  if (fused) {
    TESSERA_ASSIGN_OR_RETURN(const format::TensorView all, checkpoint_->tensor(prefix + "gate_up_proj"));
    if (all.shape.empty() || all.shape[0] != config_.num_experts) {
      return error(StatusCode::corrupt_data, "{}gate_up_proj holds {} experts, expected num_experts = {}", prefix,
                   all.shape.empty() ? 0 : all.shape[0], config_.num_experts);
    }
  }
  experts.resize(static_cast<size_t>(config_.num_experts));
  for (int64_t e = 0; e < config_.num_experts; ++e) {
    SwigluSource& expert = experts[static_cast<size_t>(e)];
    TESSERA_RETURN_IF_ERROR(fused
                                ? read_fused_expert(prefix, e, expert)
                                : read_swiglu(fmt::format("{}{}.", prefix, e), config_.moe_intermediate_size, expert));
  }
  return {};
}

Status Loader::load_moe(const std::string& prefix, Layer& layer) {
  const int64_t hidden = config_.hidden_size;
  const std::string mlp = prefix + "mlp.";
  kernels::MoeSource source;
  source.hidden = hidden;
  source.norm_eps = config_.rms_norm_eps;
  source.experts_per_token = config_.experts_per_token;
  TESSERA_RETURN_IF_ERROR(read(prefix + "post_attention_layernorm.weight", hidden, source.norm));
  TESSERA_RETURN_IF_ERROR(read(mlp + "gate", config_.num_experts, hidden, source.router));
  TESSERA_RETURN_IF_ERROR(read_experts(mlp + "experts.", source.experts));
  if (config_.shared_expert_intermediate_size > 0) {
    TESSERA_RETURN_IF_ERROR(
        read_swiglu(mlp + "shared_expert.", config_.shared_expert_intermediate_size, source.shared.emplace()));
    TESSERA_RETURN_IF_ERROR(read(mlp + "shared_expert_gate", 1, hidden, source.shared_gate));
  }
  return load(source, layer.moe);
}

Status Loader::load_mlp(const std::string& prefix, Layer& layer) {
  kernels::MlpSource source;
  source.hidden = config_.hidden_size;
  source.norm_eps = config_.rms_norm_eps;
  TESSERA_RETURN_IF_ERROR(read(prefix + "post_attention_layernorm.weight", config_.hidden_size, source.norm));
  TESSERA_RETURN_IF_ERROR(read_swiglu(prefix + "mlp.", config_.intermediate_size, source.mlp));
  return load(source, layer.mlp);
}

Expected<Layer> Loader::load_layer(const std::string& prefix, LayerType type) {
  Layer layer;
  TESSERA_RETURN_IF_ERROR(type == LayerType::full_attention ? load_attention(prefix, layer)
                                                            : load_delta_net(prefix, layer));
  TESSERA_RETURN_IF_ERROR(config_.is_moe ? load_moe(prefix, layer) : load_mlp(prefix, layer));
  return layer;
}

Expected<std::unique_ptr<kernels::Head>> Loader::load_head(const std::string& norm) {
  kernels::HeadSource source{.norm_eps = config_.rms_norm_eps, .norm = {}};
  TESSERA_RETURN_IF_ERROR(read(norm, config_.hidden_size, source.norm));
  std::unique_ptr<kernels::Head> head;
  TESSERA_RETURN_IF_ERROR(load(source, head));
  return head;
}

Expected<std::unique_ptr<kernels::Embedding>> Loader::load_embedding() {
  kernels::EmbeddingSource source;
  TESSERA_RETURN_IF_ERROR(read("model.embed_tokens", config_.vocab_size, config_.hidden_size, source.table));
  // A tied checkpoint may still store the head: it is then the same bytes, and one copy is enough.
  if (!config_.tie_word_embeddings) {
    TESSERA_RETURN_IF_ERROR(read("lm_head", config_.vocab_size, config_.hidden_size, source.lm_head));
  }
  std::unique_ptr<kernels::Embedding> embedding;
  TESSERA_RETURN_IF_ERROR(load(source, embedding));
  return embedding;
}

Expected<std::unique_ptr<Mtp>> Loader::load_mtp() {
  const int64_t hidden = config_.hidden_size;
  auto mtp = std::make_unique<Mtp>();
  kernels::MtpInputSource source;
  source.norm_eps = config_.rms_norm_eps;
  TESSERA_RETURN_IF_ERROR(read("mtp.pre_fc_norm_embedding.weight", hidden, source.embedding_norm));
  TESSERA_RETURN_IF_ERROR(read("mtp.pre_fc_norm_hidden.weight", hidden, source.hidden_norm));
  TESSERA_RETURN_IF_ERROR(read("mtp.fc", hidden, 2 * hidden, source.fc));
  TESSERA_RETURN_IF_ERROR(load(source, mtp->input));
  TESSERA_ASSIGN_OR_RETURN(mtp->head, load_head("mtp.norm.weight"));
  for (int i = 0; i < config_.mtp_layers; ++i) {
    TESSERA_ASSIGN_OR_RETURN(auto layer, load_layer(fmt::format("mtp.layers.{}.", i), LayerType::full_attention));
    mtp->layers.push_back(std::move(layer));
  }
  return mtp;
}

Expected<Layers> Loader::model() {
  Layers layers;
  TESSERA_ASSIGN_OR_RETURN(layers.embedding, load_embedding());
  for (int i = 0; i < config_.num_layers(); ++i) {
    TESSERA_ASSIGN_OR_RETURN(
        auto layer, load_layer(fmt::format("model.layers.{}.", i), config_.layer_types[static_cast<size_t>(i)]));
    layers.layers.push_back(std::move(layer));
  }
  TESSERA_ASSIGN_OR_RETURN(layers.head, load_head("model.norm.weight"));
  if (config_.mtp_layers > 0 && checkpoint_ != nullptr && checkpoint_->has_matrix("mtp.fc")) {
    TESSERA_ASSIGN_OR_RETURN(layers.mtp, load_mtp());
  }
  if (progress_) progress_(total_bytes_, total_bytes_);
  return layers;
}

}  // namespace

Expected<Layers> load_weights(const Checkpoint& checkpoint, const ModelConfig& config, kernels::Backend& backend,
                              const LoadProgress& progress) {
  return Loader(checkpoint, config, backend, progress).model();
}

Expected<Layers> dummy_weights(const ModelConfig& config, const KindFormats& formats, kernels::Backend& backend) {
  return Loader(formats, config, backend).model();
}

Expected<KvScales> load_kv_scales(const Checkpoint& checkpoint, const ModelConfig& config) {
  KvScales scales;
  const auto read = [&](const std::string& name) -> Expected<float> {
    if (!checkpoint.has(name)) return 1.0F;
    TESSERA_ASSIGN_OR_RETURN(const format::TensorView tensor, checkpoint.tensor(name));
    float scale = 0;
    TESSERA_RETURN_IF_ERROR(format::decode_floats(tensor, {&scale, 1}).with_context(name));
    if (!(std::isfinite(scale) && scale > 0)) {
      return error(StatusCode::corrupt_data, "{} is {}, expected a positive number", name, scale);
    }
    return scale;
  };
  const auto add = [&](const std::string& prefix) -> Status {
    TESSERA_ASSIGN_OR_RETURN(const float k, read(prefix + "self_attn.k_proj.k_scale"));
    TESSERA_ASSIGN_OR_RETURN(const float v, read(prefix + "self_attn.v_proj.v_scale"));
    scales.k.push_back(k);
    scales.v.push_back(v);
    return {};
  };
  for (int i = 0; i < config.num_layers(); ++i) {
    if (config.layer_types[static_cast<size_t>(i)] == LayerType::full_attention)
      TESSERA_RETURN_IF_ERROR(add(fmt::format("model.layers.{}.", i)));
  }
  for (int i = 0; i < config.mtp_layers; ++i) TESSERA_RETURN_IF_ERROR(add(fmt::format("mtp.layers.{}.", i)));
  return scales;
}

}  // namespace tessera::model
