#include "model/weight_plan.h"

#include <algorithm>
#include <cmath>

#include "base/check.h"

namespace tessera::model {
namespace {

using format::Checkpoint;
using format::MatrixView;
using format::WeightFormat;
using kernels::MatrixSource;
using kernels::SwigluSource;

size_t bytes_of(const MatrixView& view) {
  const int64_t group = format::group_size(view.format);
  const auto scales = group == 0 ? size_t{0} : static_cast<size_t>(view.rows * (view.cols / group));
  return static_cast<size_t>(view.rows) * format::row_bytes(view.format, view.cols) + scales;
}

Status check_shape(const std::string& module, const MatrixView& found, int64_t rows, int64_t cols) {
  if (found.rows == rows && found.cols == cols) return {};
  return error(StatusCode::corrupt_data, "{} is [{}, {}], expected [{}, {}] from config.json", module, found.rows,
               found.cols, rows, cols);
}

bool is_plain(WeightFormat format) {
  return format == WeightFormat::bf16 || format == WeightFormat::f16 || format == WeightFormat::f32;
}

bool is_projection(TensorKind kind) {
  return kind == TensorKind::attention || kind == TensorKind::delta_net || kind == TensorKind::shared_expert;
}

class Planner {
 public:
  /// checkpoint null: dummy weights of `formats`.
  Planner(const Checkpoint* checkpoint, const KindFormats& formats, const ModelConfig& config,
          const PlanOptions& options)
      : checkpoint_(checkpoint), formats_(formats), options_(options), config_(config) {
    plan_.config = config;
  }

  Expected<WeightPlan> plan() {
    TESSERA_RETURN_IF_ERROR(embedding());
    for (int i = 0; i < config_.num_layers(); ++i) {
      TESSERA_RETURN_IF_ERROR(layer(fmt::format("model.layers.{}.", i), config_.layer_types[static_cast<size_t>(i)]));
    }
    TESSERA_RETURN_IF_ERROR(head("model.norm.weight"));
    // A checkpoint without MTP tensors loads without the head, whatever its config says.
    const bool has_mtp = checkpoint_ == nullptr || checkpoint_->has_matrix("mtp.fc");
    if (options_.with_mtp && config_.mtp_layers > 0 && has_mtp) TESSERA_RETURN_IF_ERROR(mtp_head());
    return std::move(plan_);
  }

 private:
  template <typename Source>
  Source& add_block() {
    block_ = plan_.blocks.emplace_back(std::make_unique<PlannedBlock>()).get();
    block_->mtp = in_mtp_;
    return block_->source.emplace<Source>();
  }
  Status place(const std::string& module, int64_t rows, int64_t cols, MatrixView& view);
  Status place_fused(const std::string& tensor, int64_t expert, int64_t rows, int64_t cols, MatrixSource& source);
  void place(const std::string& name, const MatrixView& stored, bool fused, MatrixView& view);
  Status matrix(const std::string& module, int64_t rows, int64_t cols, MatrixSource& source);
  Status vector(const std::string& tensor, int64_t size, std::vector<float>& values);
  Status swiglu(const std::string& prefix, int64_t inner, SwigluSource& source);
  Status fused_expert(const std::string& prefix, int64_t expert, SwigluSource& source);
  Status experts(const std::string& prefix, std::vector<SwigluSource>& experts);

  Status embedding();
  Status attention(const std::string& prefix);
  Status delta_net(const std::string& prefix);
  Status moe(const std::string& prefix);
  Status mlp(const std::string& prefix);
  Status layer(const std::string& prefix, LayerType type);
  Status head(const std::string& norm);
  Status mtp_head();

  const Checkpoint* checkpoint_;
  const KindFormats& formats_;
  const PlanOptions& options_;
  const ModelConfig& config_;
  WeightPlan plan_;
  PlannedBlock* block_ = nullptr;
  bool in_mtp_ = false;
};

void Planner::place(const std::string& name, const MatrixView& stored, bool fused, MatrixView& view) {
  Placement placement{.name = name, .kind = classify(name), .matrix = &view, .stored = stored, .fused = fused};
  placement.weights = stored.rows * stored.cols;
  placement.stored_bytes = bytes_of(stored);
  placement.requantize = options_.requantize_projections && is_projection(placement.kind) && is_plain(stored.format);
  view = stored;
  if (placement.requantize) {
    view.format = WeightFormat::fp8_e4m3;
    view.data = nullptr;  // there is none yet
  }
  block_->placements.push_back(std::move(placement));
}

Status Planner::place(const std::string& module, int64_t rows, int64_t cols, MatrixView& view) {
  MatrixView stored;
  if (checkpoint_ != nullptr) {
    TESSERA_ASSIGN_OR_RETURN(stored, checkpoint_->stored_matrix(module));
    TESSERA_RETURN_IF_ERROR(check_shape(module, stored, rows, cols));
  } else {
    const auto listed = formats_.find(classify(module));
    stored.format = listed == formats_.end() ? WeightFormat::bf16 : listed->second;
    stored.rows = rows;
    stored.cols = cols;
  }
  place(module, stored, /*fused=*/false, view);
  return {};
}

Status Planner::matrix(const std::string& module, int64_t rows, int64_t cols, MatrixSource& source) {
  source.name = module;
  source.parts.resize(1);
  return place(module, rows, cols, source.parts[0]);
}

Status Planner::vector(const std::string& tensor, int64_t size, std::vector<float>& values) {
  Placement placement{.name = tensor, .kind = classify(tensor), .vector = &values, .stored = {}};
  placement.weights = size;
  placement.stored_bytes = static_cast<size_t>(size) * size_bytes(DType::bf16);
  if (checkpoint_ != nullptr) {
    TESSERA_ASSIGN_OR_RETURN(const format::TensorView found, checkpoint_->tensor(tensor));
    int64_t count = 1;
    for (const int64_t d : found.shape) count *= d;
    if (count != size) {
      return error(StatusCode::corrupt_data, "{} has {} elements, expected {} from config.json", tensor, count, size);
    }
    placement.stored_bytes = found.bytes.size();
  }
  values.assign(static_cast<size_t>(size), 0.0F);
  block_->placements.push_back(std::move(placement));
  return {};
}

Status Planner::embedding() {
  auto& source = add_block<kernels::EmbeddingSource>();
  TESSERA_RETURN_IF_ERROR(matrix("model.embed_tokens", config_.vocab_size, config_.hidden_size, source.table));
  // A tied checkpoint may still store the head: it is then the same bytes, and one copy is enough.
  if (config_.tie_word_embeddings) return {};
  return matrix("lm_head", config_.vocab_size, config_.hidden_size, source.lm_head);
}

Status Planner::attention(const std::string& prefix) {
  const auto& shape = config_.attention;
  const int64_t hidden = config_.hidden_size;
  const int64_t queries = int64_t{shape.heads} * shape.head_dim;
  const int64_t keys = int64_t{shape.kv_heads} * shape.head_dim;
  const std::string attention = prefix + "self_attn.";
  auto& source = add_block<kernels::AttentionSource>();
  source.shape = shape;
  source.hidden = hidden;
  source.inv_freq = config_.inv_freq;
  source.rope_scale = config_.rope_scale;
  TESSERA_RETURN_IF_ERROR(vector(prefix + "input_layernorm.weight", hidden, source.input_norm));
  TESSERA_RETURN_IF_ERROR(matrix(attention + "q_proj", 2 * queries, hidden, source.q_gate));
  TESSERA_RETURN_IF_ERROR(matrix(attention + "k_proj", keys, hidden, source.k));
  TESSERA_RETURN_IF_ERROR(matrix(attention + "v_proj", keys, hidden, source.v));
  TESSERA_RETURN_IF_ERROR(matrix(attention + "o_proj", hidden, queries, source.o));
  TESSERA_RETURN_IF_ERROR(vector(attention + "q_norm.weight", shape.head_dim, source.q_norm));
  return vector(attention + "k_norm.weight", shape.head_dim, source.k_norm);
}

Status Planner::delta_net(const std::string& prefix) {
  const auto& shape = config_.delta_net;
  const int64_t hidden = config_.hidden_size;
  const int64_t values = int64_t{shape.value_heads} * shape.value_dim;
  const std::string net = prefix + "linear_attn.";
  auto& source = add_block<kernels::DeltaNetSource>();
  source.shape = shape;
  source.hidden = hidden;
  TESSERA_RETURN_IF_ERROR(vector(prefix + "input_layernorm.weight", hidden, source.input_norm));
  TESSERA_RETURN_IF_ERROR(matrix(net + "in_proj_qkv", shape.channels(), hidden, source.qkv));
  TESSERA_RETURN_IF_ERROR(matrix(net + "in_proj_z", values, hidden, source.z));
  TESSERA_RETURN_IF_ERROR(matrix(net + "in_proj_b", shape.value_heads, hidden, source.b));
  TESSERA_RETURN_IF_ERROR(matrix(net + "in_proj_a", shape.value_heads, hidden, source.a));
  TESSERA_RETURN_IF_ERROR(matrix(net + "out_proj", hidden, values, source.out));
  TESSERA_RETURN_IF_ERROR(vector(net + "conv1d.weight", shape.channels() * shape.conv_width, source.conv));
  TESSERA_RETURN_IF_ERROR(vector(net + "A_log", shape.value_heads, source.a_log));
  TESSERA_RETURN_IF_ERROR(vector(net + "dt_bias", shape.value_heads, source.dt_bias));
  return vector(net + "norm.weight", shape.value_dim, source.norm);
}

Status Planner::swiglu(const std::string& prefix, int64_t inner, SwigluSource& source) {
  const int64_t hidden = config_.hidden_size;
  source.inner = inner;
  source.gate_up.name = prefix + "{gate,up}_proj";
  source.gate_up.parts.resize(2);
  TESSERA_RETURN_IF_ERROR(place(prefix + "gate_proj", inner, hidden, source.gate_up.parts[0]));
  TESSERA_RETURN_IF_ERROR(place(prefix + "up_proj", inner, hidden, source.gate_up.parts[1]));
  return matrix(prefix + "down_proj", hidden, inner, source.down);
}

Status Planner::place_fused(const std::string& tensor, int64_t expert, int64_t rows, int64_t cols,
                            MatrixSource& source) {
  TESSERA_ASSIGN_OR_RETURN(const format::TensorView all, checkpoint_->tensor(tensor));
  // All of it, before an expert is cut out: rows that are too many would make other rows gate and up.
  if (all.shape != std::vector<int64_t>{config_.num_experts, rows, cols}) {
    return error(StatusCode::corrupt_data, "{} is [{}], expected [{}, {}, {}] from config.json", tensor,
                 fmt::join(all.shape, ", "), config_.num_experts, rows, cols);
  }
  TESSERA_ASSIGN_OR_RETURN(const MatrixView found, checkpoint_->fused_matrix(tensor, expert, 0, rows));
  source.name = fmt::format("{}, expert {}", tensor, expert);
  source.parts.resize(1);
  place(tensor, found, /*fused=*/true, source.parts[0]);
  return {};
}

Status Planner::fused_expert(const std::string& prefix, int64_t expert, SwigluSource& source) {
  source.inner = config_.moe_intermediate_size;
  TESSERA_RETURN_IF_ERROR(
      place_fused(prefix + "gate_up_proj", expert, 2 * source.inner, config_.hidden_size, source.gate_up));
  return place_fused(prefix + "down_proj", expert, config_.hidden_size, source.inner, source.down);
}

Status Planner::experts(const std::string& prefix, std::vector<SwigluSource>& experts) {
  const bool fused = checkpoint_ != nullptr && checkpoint_->has(prefix + "gate_up_proj");
  experts.resize(static_cast<size_t>(config_.num_experts));
  for (int64_t e = 0; e < config_.num_experts; ++e) {
    SwigluSource& expert = experts[static_cast<size_t>(e)];
    TESSERA_RETURN_IF_ERROR(fused ? fused_expert(prefix, e, expert)
                                  : swiglu(fmt::format("{}{}.", prefix, e), config_.moe_intermediate_size, expert));
  }
  return {};
}

Status Planner::moe(const std::string& prefix) {
  const int64_t hidden = config_.hidden_size;
  const std::string mlp = prefix + "mlp.";
  auto& source = add_block<kernels::MoeSource>();
  source.hidden = hidden;
  source.norm_eps = config_.rms_norm_eps;
  source.experts_per_token = config_.experts_per_token;
  TESSERA_RETURN_IF_ERROR(vector(prefix + "post_attention_layernorm.weight", hidden, source.norm));
  TESSERA_RETURN_IF_ERROR(matrix(mlp + "gate", config_.num_experts, hidden, source.router));
  TESSERA_RETURN_IF_ERROR(experts(mlp + "experts.", source.experts));
  if (config_.shared_expert_intermediate_size == 0) return {};
  TESSERA_RETURN_IF_ERROR(
      swiglu(mlp + "shared_expert.", config_.shared_expert_intermediate_size, source.shared.emplace()));
  return matrix(mlp + "shared_expert_gate", 1, hidden, source.shared_gate);
}

Status Planner::mlp(const std::string& prefix) {
  auto& source = add_block<kernels::MlpSource>();
  source.hidden = config_.hidden_size;
  source.norm_eps = config_.rms_norm_eps;
  TESSERA_RETURN_IF_ERROR(vector(prefix + "post_attention_layernorm.weight", config_.hidden_size, source.norm));
  return swiglu(prefix + "mlp.", config_.intermediate_size, source.mlp);
}

Status Planner::layer(const std::string& prefix, LayerType type) {
  TESSERA_RETURN_IF_ERROR(type == LayerType::full_attention ? attention(prefix) : delta_net(prefix));
  return config_.is_moe ? moe(prefix) : mlp(prefix);
}

Status Planner::head(const std::string& norm) {
  auto& source = add_block<kernels::HeadSource>();
  source.norm_eps = config_.rms_norm_eps;
  return vector(norm, config_.hidden_size, source.norm);
}

Status Planner::mtp_head() {
  in_mtp_ = true;
  const int64_t hidden = config_.hidden_size;
  auto& source = add_block<kernels::MtpInputSource>();
  source.norm_eps = config_.rms_norm_eps;
  TESSERA_RETURN_IF_ERROR(vector("mtp.pre_fc_norm_embedding.weight", hidden, source.embedding_norm));
  TESSERA_RETURN_IF_ERROR(vector("mtp.pre_fc_norm_hidden.weight", hidden, source.hidden_norm));
  TESSERA_RETURN_IF_ERROR(matrix("mtp.fc", hidden, 2 * hidden, source.fc));
  for (int i = 0; i < config_.mtp_layers; ++i) {
    TESSERA_RETURN_IF_ERROR(layer(fmt::format("mtp.layers.{}.", i), LayerType::full_attention));
  }
  return head("mtp.norm.weight");
}

/// Where the weights that a token reads are found. Tied models read the embedding as their head.
enum class Reading { never, every_step, by_expert };

Reading reading(const PlannedBlock& block, TensorKind kind, bool tied) {
  if (block.mtp) return Reading::never;
  if (kind == TensorKind::embed) return tied ? Reading::every_step : Reading::never;
  return kind == TensorKind::routed_expert ? Reading::by_expert : Reading::every_step;
}

}  // namespace

double WeightTraffic::distinct_experts(int64_t batch) const {
  if (experts == 0) return 0;
  const double unread = 1.0 - static_cast<double>(experts_per_token) / experts;
  return experts * (1.0 - std::pow(unread, static_cast<double>(batch)));
}

double WeightTraffic::bytes_per_step(int64_t batch) const {
  return experts == 0 ? fixed_bytes : fixed_bytes + routed_bytes * distinct_experts(batch) / experts;
}

size_t WeightPlan::stored_bytes() const {
  size_t bytes = 0;
  for_each([&](const PlannedBlock&, const Placement& p) { bytes += p.stored_bytes; });
  return bytes;
}

WeightPlan::Requantized WeightPlan::requantized() const {
  Requantized sum;
  for_each([&](const PlannedBlock&, const Placement& p) {
    if (!p.requantize) return;
    ++sum.matrices;
    sum.stored_bytes += p.stored_bytes;
  });
  return sum;
}

size_t WeightPlan::placed_bytes(const kernels::Backend& backend) const {
  size_t bytes = 0;
  for (const auto& block : blocks) bytes += backend.weight_bytes(block->source);
  return bytes;
}

size_t WeightPlan::staging_bytes(const kernels::Backend& backend) const {
  bool made_up = false;
  for_each([&](const PlannedBlock&, const Placement& p) {
    made_up = made_up || (p.matrix != nullptr && p.stored.data == nullptr);
  });
  if (made_up) return 0;
  size_t most = 0;
  for (const auto& block : blocks) most = std::max(most, backend.staging_bytes(block->source));
  return most;
}

WeightTraffic WeightPlan::traffic() const {
  WeightTraffic traffic;
  if (config.is_moe) traffic = {0, 0, config.num_experts, config.experts_per_token};
  for_each([&](const PlannedBlock& block, const Placement& p) {
    const Reading how = reading(block, p.kind, config.tie_word_embeddings);
    const auto bytes = static_cast<double>(p.matrix != nullptr ? bytes_of(*p.matrix) : p.stored_bytes);
    if (how == Reading::every_step) traffic.fixed_bytes += bytes;
    if (how == Reading::by_expert) traffic.routed_bytes += bytes;
  });
  return traffic;
}

double WeightPlan::active_weights() const {
  double every_step = 0, routed = 0;
  for_each([&](const PlannedBlock& block, const Placement& p) {
    const Reading how = reading(block, p.kind, config.tie_word_embeddings);
    if (how == Reading::every_step) every_step += static_cast<double>(p.weights);
    if (how == Reading::by_expert) routed += static_cast<double>(p.weights);
  });
  return config.is_moe ? every_step + routed * config.experts_per_token / config.num_experts : every_step;
}

std::map<TensorKind, int64_t> WeightPlan::weights_by_kind() const {
  std::map<TensorKind, int64_t> weights;
  for_each([&](const PlannedBlock& block, const Placement& p) {
    weights[block.mtp ? TensorKind::mtp : p.kind] += p.weights;
  });
  return weights;
}

Expected<WeightPlan> plan_weights(const Checkpoint& checkpoint, const ModelConfig& config, const PlanOptions& options) {
  return Planner(&checkpoint, {}, config, options).plan();
}

WeightPlan plan_dummy_weights(const ModelConfig& config, const KindFormats& formats, const PlanOptions& options) {
  auto plan = Planner(nullptr, formats, config, options).plan();
  TESSERA_CHECK(plan.ok());  // there is nothing that could be wrong
  return *std::move(plan);
}

}  // namespace tessera::model
