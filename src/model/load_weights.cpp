#include "model/load_weights.h"

#include <cmath>
#include <cstring>
#include <string>

#include "format/decode_floats.h"

namespace tessera::model {
namespace {

using format::Checkpoint;
using format::MatrixView;
using kernels::SwigluWeights;
using kernels::Weight;

class Loader {
 public:
  Loader(const Checkpoint& checkpoint, const ModelConfig& config, const kernels::Context& context,
         const LoadProgress& progress)
      : checkpoint_(checkpoint),
        config_(config),
        context_(context),
        progress_(progress),
        total_bytes_(checkpoint.tensor_bytes()) {}

  Expected<ModelWeights> model();

 private:
  Expected<MatrixView> view(const std::string& module, int64_t rows, int64_t cols);
  Expected<Weight> matrix(const std::string& module, int64_t rows, int64_t cols);
  Expected<Weight> pack(const std::string& what, std::span<const MatrixView> parts);
  Expected<std::vector<float>> vector(const std::string& name, int64_t size);

  Expected<LayerWeights> layer(const std::string& prefix, LayerType type);
  Expected<AttentionWeights> attention(const std::string& prefix);
  Expected<DeltaNetWeights> delta_net(const std::string& prefix);
  Expected<MoeWeights> moe(const std::string& prefix);
  Expected<SwigluWeights> swiglu(const std::string& prefix, int64_t inner);
  Expected<SwigluWeights> fused_expert(const std::string& prefix, int64_t expert);
  Expected<MtpWeights> mtp();

  const Checkpoint& checkpoint_;
  const ModelConfig& config_;
  const kernels::Context& context_;
  const LoadProgress& progress_;
  size_t total_bytes_;
  size_t done_bytes_ = 0;
};

Status check_shape(const std::string& module, const MatrixView& found, int64_t rows, int64_t cols) {
  if (found.rows == rows && found.cols == cols) return {};
  return error(StatusCode::corrupt_data, "{} is [{}, {}], expected [{}, {}] from config.json", module, found.rows,
               found.cols, rows, cols);
}

Expected<MatrixView> Loader::view(const std::string& module, int64_t rows, int64_t cols) {
  TESSERA_ASSIGN_OR_RETURN(const MatrixView found, checkpoint_.matrix(module));
  TESSERA_RETURN_IF_ERROR(check_shape(module, found, rows, cols));
  return found;
}

Expected<Weight> Loader::pack(const std::string& what, std::span<const MatrixView> parts) {
  auto packed = kernels::pack_weight(context_, parts);
  if (!packed.ok()) return packed.status().with_context(what);
  for (const MatrixView& part : parts) {
    checkpoint_.drop_pages(part);  // the mapped bytes are not needed again: one copy in memory, not two
    done_bytes_ += static_cast<size_t>(part.rows) * format::row_bytes(part.format, part.cols);
    if (part.block_scales != nullptr)
      done_bytes_ += static_cast<size_t>(part.rows * part.cols / format::group_size(part.format));
  }
  if (progress_) progress_(std::min(done_bytes_, total_bytes_), total_bytes_);
  return packed;
}

Expected<Weight> Loader::matrix(const std::string& module, int64_t rows, int64_t cols) {
  TESSERA_ASSIGN_OR_RETURN(const MatrixView found, view(module, rows, cols));
  return pack(module, {&found, 1});
}

Expected<std::vector<float>> Loader::vector(const std::string& name, int64_t size) {
  TESSERA_ASSIGN_OR_RETURN(const format::TensorView tensor, checkpoint_.tensor(name));
  int64_t count = 1;
  for (const int64_t d : tensor.shape) count *= d;
  if (count != size) {
    return error(StatusCode::corrupt_data, "{} has {} elements, expected {} from config.json", name, count, size);
  }
  std::vector<float> values(static_cast<size_t>(size));
  TESSERA_RETURN_IF_ERROR(format::decode_floats(tensor, values).with_context(name));
  for (size_t i = 0; i < values.size(); ++i) {
    if (!std::isfinite(values[i])) {
      return error(StatusCode::corrupt_data, "{}: element {} is {}; the checkpoint is damaged", name, i, values[i]);
    }
  }
  return values;
}

Expected<AttentionWeights> Loader::attention(const std::string& prefix) {
  const auto& shape = config_.attention;
  const int64_t hidden = config_.hidden_size;
  const int64_t queries = int64_t{shape.heads} * shape.head_dim;
  const int64_t keys = int64_t{shape.kv_heads} * shape.head_dim;
  AttentionWeights w;
  TESSERA_ASSIGN_OR_RETURN(w.q_gate, matrix(prefix + "q_proj", 2 * queries, hidden));
  TESSERA_ASSIGN_OR_RETURN(w.k, matrix(prefix + "k_proj", keys, hidden));
  TESSERA_ASSIGN_OR_RETURN(w.v, matrix(prefix + "v_proj", keys, hidden));
  TESSERA_ASSIGN_OR_RETURN(w.o, matrix(prefix + "o_proj", hidden, queries));
  TESSERA_ASSIGN_OR_RETURN(w.q_norm, vector(prefix + "q_norm.weight", shape.head_dim));
  TESSERA_ASSIGN_OR_RETURN(w.k_norm, vector(prefix + "k_norm.weight", shape.head_dim));
  return w;
}

Expected<DeltaNetWeights> Loader::delta_net(const std::string& prefix) {
  const auto& shape = config_.delta_net;
  const int64_t hidden = config_.hidden_size;
  const int64_t values = int64_t{shape.value_heads} * shape.value_dim;
  DeltaNetWeights w;
  TESSERA_ASSIGN_OR_RETURN(w.qkv, matrix(prefix + "in_proj_qkv", shape.channels(), hidden));
  TESSERA_ASSIGN_OR_RETURN(w.z, matrix(prefix + "in_proj_z", values, hidden));
  TESSERA_ASSIGN_OR_RETURN(w.b, matrix(prefix + "in_proj_b", shape.value_heads, hidden));
  TESSERA_ASSIGN_OR_RETURN(w.a, matrix(prefix + "in_proj_a", shape.value_heads, hidden));
  TESSERA_ASSIGN_OR_RETURN(w.out, matrix(prefix + "out_proj", hidden, values));
  TESSERA_ASSIGN_OR_RETURN(w.conv, vector(prefix + "conv1d.weight", shape.channels() * shape.conv_width));
  TESSERA_ASSIGN_OR_RETURN(w.a_log, vector(prefix + "A_log", shape.value_heads));
  TESSERA_ASSIGN_OR_RETURN(w.dt_bias, vector(prefix + "dt_bias", shape.value_heads));
  TESSERA_ASSIGN_OR_RETURN(w.norm, vector(prefix + "norm.weight", shape.value_dim));
  return w;
}

Expected<SwigluWeights> Loader::swiglu(const std::string& prefix, int64_t inner) {
  const int64_t hidden = config_.hidden_size;
  TESSERA_ASSIGN_OR_RETURN(const MatrixView gate, view(prefix + "gate_proj", inner, hidden));
  TESSERA_ASSIGN_OR_RETURN(const MatrixView up, view(prefix + "up_proj", inner, hidden));
  SwigluWeights w;
  const MatrixView parts[] = {gate, up};
  TESSERA_ASSIGN_OR_RETURN(w.gate_up, pack(prefix + "{gate,up}_proj", parts));
  TESSERA_ASSIGN_OR_RETURN(w.down, matrix(prefix + "down_proj", hidden, inner));
  return w;
}

Expected<SwigluWeights> Loader::fused_expert(const std::string& prefix, int64_t expert) {
  const int64_t inner = config_.moe_intermediate_size;
  const auto read = [&](const std::string& name, int64_t rows, int64_t cols) -> Expected<Weight> {
    TESSERA_ASSIGN_OR_RETURN(const MatrixView found, checkpoint_.fused_matrix(name, expert, 0, rows));
    TESSERA_RETURN_IF_ERROR(check_shape(name, found, rows, cols));
    return pack(name, {&found, 1});
  };
  SwigluWeights w;
  TESSERA_ASSIGN_OR_RETURN(w.gate_up, read(prefix + "gate_up_proj", 2 * inner, config_.hidden_size));
  TESSERA_ASSIGN_OR_RETURN(w.down, read(prefix + "down_proj", config_.hidden_size, inner));
  return w;
}

Expected<MoeWeights> Loader::moe(const std::string& prefix) {
  MoeWeights w;
  TESSERA_ASSIGN_OR_RETURN(w.router, matrix(prefix + "gate", config_.num_experts, config_.hidden_size));
  const bool fused = checkpoint_.has(prefix + "experts.gate_up_proj");
  if (fused) {
    TESSERA_ASSIGN_OR_RETURN(const format::TensorView all, checkpoint_.tensor(prefix + "experts.gate_up_proj"));
    if (all.shape.empty() || all.shape[0] != config_.num_experts) {
      return error(StatusCode::corrupt_data, "{}experts.gate_up_proj holds {} experts, expected num_experts = {}",
                   prefix, all.shape.empty() ? 0 : all.shape[0], config_.num_experts);
    }
  }
  for (int64_t e = 0; e < config_.num_experts; ++e) {
    TESSERA_ASSIGN_OR_RETURN(auto expert,
                             fused ? fused_expert(prefix + "experts.", e)
                                   : swiglu(fmt::format("{}experts.{}.", prefix, e), config_.moe_intermediate_size));
    w.experts.push_back(std::move(expert));
  }
  if (config_.shared_expert_intermediate_size > 0) {
    TESSERA_ASSIGN_OR_RETURN(w.shared, swiglu(prefix + "shared_expert.", config_.shared_expert_intermediate_size));
    TESSERA_ASSIGN_OR_RETURN(w.shared_gate, matrix(prefix + "shared_expert_gate", 1, config_.hidden_size));
  }
  return w;
}

Expected<LayerWeights> Loader::layer(const std::string& prefix, LayerType type) {
  LayerWeights w;
  TESSERA_ASSIGN_OR_RETURN(w.input_norm, vector(prefix + "input_layernorm.weight", config_.hidden_size));
  TESSERA_ASSIGN_OR_RETURN(w.post_attention_norm,
                           vector(prefix + "post_attention_layernorm.weight", config_.hidden_size));
  if (type == LayerType::full_attention) {
    TESSERA_ASSIGN_OR_RETURN(w.attention, attention(prefix + "self_attn."));
  } else {
    TESSERA_ASSIGN_OR_RETURN(w.delta_net, delta_net(prefix + "linear_attn."));
  }
  if (config_.is_moe) {
    TESSERA_ASSIGN_OR_RETURN(w.moe, moe(prefix + "mlp."));
  } else {
    TESSERA_ASSIGN_OR_RETURN(w.mlp, swiglu(prefix + "mlp.", config_.intermediate_size));
  }
  return w;
}

Expected<MtpWeights> Loader::mtp() {
  const int64_t hidden = config_.hidden_size;
  MtpWeights w;
  TESSERA_ASSIGN_OR_RETURN(w.embedding_norm, vector("mtp.pre_fc_norm_embedding.weight", hidden));
  TESSERA_ASSIGN_OR_RETURN(w.hidden_norm, vector("mtp.pre_fc_norm_hidden.weight", hidden));
  TESSERA_ASSIGN_OR_RETURN(w.norm, vector("mtp.norm.weight", hidden));
  TESSERA_ASSIGN_OR_RETURN(w.fc, matrix("mtp.fc", hidden, 2 * hidden));
  for (int i = 0; i < config_.mtp_layers; ++i) {
    TESSERA_ASSIGN_OR_RETURN(auto mtp_layer, layer(fmt::format("mtp.layers.{}.", i), LayerType::full_attention));
    w.layers.push_back(std::move(mtp_layer));
  }
  return w;
}

Expected<ModelWeights> Loader::model() {
  ModelWeights w;
  TESSERA_ASSIGN_OR_RETURN(w.embed, matrix("model.embed_tokens", config_.vocab_size, config_.hidden_size));
  for (int i = 0; i < config_.num_layers(); ++i) {
    TESSERA_ASSIGN_OR_RETURN(auto decoder_layer,
                             layer(fmt::format("model.layers.{}.", i), config_.layer_types[static_cast<size_t>(i)]));
    w.layers.push_back(std::move(decoder_layer));
  }
  TESSERA_ASSIGN_OR_RETURN(w.norm, vector("model.norm.weight", config_.hidden_size));
  // A tied checkpoint may still store the head: it is then the same bytes, and one copy is enough.
  if (!config_.tie_word_embeddings) {
    TESSERA_ASSIGN_OR_RETURN(w.lm_head, matrix("lm_head", config_.vocab_size, config_.hidden_size));
  }
  if (config_.mtp_layers > 0 && checkpoint_.has_matrix("mtp.fc")) {
    TESSERA_ASSIGN_OR_RETURN(w.mtp, mtp());
  }
  if (progress_) progress_(total_bytes_, total_bytes_);
  return w;
}

}  // namespace

Expected<ModelWeights> load_weights(const Checkpoint& checkpoint, const ModelConfig& config,
                                    const kernels::Context& context, const LoadProgress& progress) {
  return Loader(checkpoint, config, context, progress).model();
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
