#include "model/weight_plan.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <set>
#include <string_view>

#include "format/row_copy.h"

namespace tessera::model {
namespace {

using format::Checkpoint;
using format::MatrixView;
using format::WeightFormat;
using kernels::MatrixSource;
using kernels::SwigluSource;

size_t bytes_of(const MatrixView& view) { return format::element_bytes(view) + format::block_scale_bytes(view); }

Status check_shape(const std::string& module, const MatrixView& found, int64_t rows, int64_t cols) {
  if (found.rows == rows && found.cols == cols) return {};
  return error(StatusCode::corrupt_data, "{} is [{}, {}], expected [{}, {}] from config.json", module, found.rows,
               found.cols, rows, cols);
}

constexpr int64_t kDraftHeadUnit = 16;  // columns with one scale in NVFP4

bool is_plain(WeightFormat format) {
  return format == WeightFormat::bf16 || format == WeightFormat::f16 || format == WeightFormat::f32;
}

bool is_projection(TensorKind kind) {
  return kind == TensorKind::attention || kind == TensorKind::delta_net || kind == TensorKind::shared_expert;
}

/// A matrix of the model, and what this rank has of it.
struct Cut {
  int64_t rows = 0, cols = 0;     // of the matrix
  std::vector<Range> row_ranges;  // ascending
  Range columns;
};

Cut all(int64_t rows, int64_t cols) { return {rows, cols, {whole(rows)}, whole(cols)}; }
Cut rows_of(int64_t rows, int64_t cols, std::vector<Range> ranges) {
  return {rows, cols, std::move(ranges), whole(cols)};
}
Cut columns_of(int64_t rows, int64_t cols, const Range& columns) { return {rows, cols, {whole(rows)}, columns}; }

/// Whether the embedding is the head.
bool is_one_copy(const WeightPlan& plan) { return plan.config.tie_word_embeddings && plan.rank.world == 1; }

int64_t size_of(const std::vector<Range>& ranges) {
  int64_t size = 0;
  for (const Range& range : ranges) size += range.size();
  return size;
}

class WeightPlanner {
 public:
  /// checkpoint null: dummy weights of `formats`.
  WeightPlanner(const Checkpoint* checkpoint, const KindFormats& formats, const ModelConfig& config,
                const PlanOptions& options)
      : checkpoint_(checkpoint), formats_(formats), options_(options), config_(config) {
    plan_.config = config;
    plan_.rank = options.rank;
  }

  Expected<WeightPlan> plan() {
    TESSERA_ASSIGN_OR_RETURN(shard_, make_shard(config_, options_.rank));
    TESSERA_RETURN_IF_ERROR(embedding());
    for (int i = 0; i < config_.num_layers(); ++i) {
      TESSERA_RETURN_IF_ERROR(layer(fmt::format("model.layers.{}.", i), config_.layer_types[static_cast<size_t>(i)]));
    }
    TESSERA_RETURN_IF_ERROR(check_layers());
    TESSERA_RETURN_IF_ERROR(head("model.norm.weight"));
    // A checkpoint without MTP tensors loads without the head, whatever its config says.
    const bool has_mtp = checkpoint_ == nullptr || checkpoint_->has_matrix("mtp.fc");
    if (options_.with_mtp && config_.mtp_layers > 0 && has_mtp) TESSERA_RETURN_IF_ERROR(mtp_head());
    return std::move(plan_);
  }

 private:
  /// A checkpoint with more layers than config.json says is of another model than would be run.
  Status check_layers() const {
    static constexpr std::string_view kPrefix = "model.layers.";
    if (checkpoint_ == nullptr) return {};
    const auto& tensors = checkpoint_->tensors();
    for (auto it = tensors.lower_bound(kPrefix); it != tensors.end() && it->first.starts_with(kPrefix); ++it) {
      int layer = -1;
      (void)std::from_chars(it->first.data() + kPrefix.size(), it->first.data() + it->first.size(), layer);
      if (layer < config_.num_layers()) continue;
      return error(StatusCode::invalid_argument,
                   "config.json says num_hidden_layers is {}, and the checkpoint has {}; expected tensors of layers 0 "
                   "to {} alone",
                   config_.num_layers(), it->first, config_.num_layers() - 1);
    }
    return {};
  }

  template <typename Source>
  Source& add_block() {
    block_ = plan_.blocks.emplace_back(std::make_unique<PlannedBlock>()).get();
    block_->mtp = in_mtp_;
    return block_->source.emplace<Source>();
  }
  Expected<MatrixView> stored_matrix(const std::string& module, int64_t rows, int64_t cols) const;
  Status place_fused(const std::string& tensor, int64_t expert, const Cut& cut, MatrixSource& source);
  Status place(const std::string& name, const MatrixView& stored, bool fused, const Cut& cut,
               std::span<MatrixView> parts);
  Status matrix(const std::string& module, const Cut& cut, MatrixSource& source);
  Status vector(const std::string& tensor, int64_t size, const std::vector<Range>& ranges, std::vector<float>& values);
  Status vector(const std::string& tensor, int64_t size, std::vector<float>& values) {
    return vector(tensor, size, {whole(size)}, values);
  }
  Status swiglu(const std::string& prefix, int64_t inner, const Range& channels, SwigluSource& source);
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
  Status draft_head();
  [[nodiscard]] std::optional<WeightFormat> target(TensorKind kind) const;

  const Checkpoint* checkpoint_;
  const KindFormats& formats_;
  const PlanOptions& options_;
  const ModelConfig& config_;
  WeightPlan plan_;
  Shard shard_;
  PlannedBlock* block_ = nullptr;
  bool in_mtp_ = false, in_draft_head_ = false;
};

/// Notes the pieces of a matrix that this rank has: one for each range of rows.
Status WeightPlanner::place(const std::string& name, const MatrixView& stored, bool fused, const Cut& cut,
                            std::span<MatrixView> parts) {
  const int64_t unit = column_unit(stored.format);
  if (cut.columns != whole(cut.cols) && (cut.columns.begin % unit != 0 || cut.columns.end % unit != 0)) {
    return error(StatusCode::invalid_argument,
                 "{} has {} columns in {}, of which rank {} of {} would have {} to {}: expected a cut at multiples of "
                 "{}; use fewer ranks",
                 name, cut.cols, format::name(stored.format), shard_.rank.index, shard_.rank.world, cut.columns.begin,
                 cut.columns.end, unit);
  }
  for (size_t i = 0; i < parts.size(); ++i) {
    MatrixView& view = parts[i];
    const Range& rows = cut.row_ranges[i];
    Placement placement{.name = name,
                        .kind = classify(name),
                        .matrix = &view,
                        .values = {},
                        .rows = rows,
                        .columns = cut.columns,
                        .stored = stored,
                        .fused = fused};
    if (is_plain(stored.format)) placement.becomes = target(placement.kind);
    placement.weights = rows.size() * cut.columns.size();
    view = format::rows_of(stored, rows.begin, rows.size());
    view.cols = cut.columns.size();
    placement.stored_bytes = bytes_of(view);
    if (placement.becomes) view.format = *placement.becomes;
    if (placement.becomes || cut.columns != whole(cut.cols)) {
      view.data = view.block_scales = nullptr;  // there are none yet
      view.file = view.scales_file = nullptr;
    }
    block_->placements.push_back(std::move(placement));
  }
  return {};
}

Expected<MatrixView> WeightPlanner::stored_matrix(const std::string& module, int64_t rows, int64_t cols) const {
  MatrixView stored;
  if (checkpoint_ != nullptr) {
    TESSERA_ASSIGN_OR_RETURN(stored, checkpoint_->stored_matrix(module));
    TESSERA_RETURN_IF_ERROR(check_shape(module, stored, rows, cols));
    return stored;
  }
  const auto listed = formats_.find(classify(module));
  stored.format = listed == formats_.end() ? WeightFormat::bf16 : listed->second;
  stored.rows = rows;
  stored.cols = cols;
  return stored;
}

Status WeightPlanner::matrix(const std::string& module, const Cut& cut, MatrixSource& source) {
  TESSERA_ASSIGN_OR_RETURN(const MatrixView stored, stored_matrix(module, cut.rows, cut.cols));
  source.name = module;
  source.parts.resize(cut.row_ranges.size());
  return place(module, stored, /*fused=*/false, cut, source.parts);
}

Status WeightPlanner::vector(const std::string& tensor, int64_t size, const std::vector<Range>& ranges,
                             std::vector<float>& values) {
  size_t element_bytes = size_bytes(DType::bf16);
  if (checkpoint_ != nullptr) {
    TESSERA_ASSIGN_OR_RETURN(const format::TensorView found, checkpoint_->tensor(tensor));
    int64_t count = 1;
    for (const int64_t d : found.shape) count *= d;
    if (count != size) {
      return error(StatusCode::corrupt_data, "{} has {} elements, expected {} from config.json", tensor, count, size);
    }
    element_bytes = size_bytes(found.dtype);
  }
  values.assign(static_cast<size_t>(size_of(ranges)), 0.0F);
  size_t first = 0;
  for (const Range& range : ranges) {
    const auto count = static_cast<size_t>(range.size());
    block_->placements.push_back({.name = tensor,
                                  .kind = classify(tensor),
                                  .values = std::span(values).subspan(first, count),
                                  .rows = range,
                                  .columns = {},
                                  .stored = {},
                                  .weights = range.size(),
                                  .stored_bytes = count * element_bytes});
    first += count;
  }
  return {};
}

Status WeightPlanner::embedding() {
  const int64_t vocab = config_.vocab_size, hidden = config_.hidden_size;
  auto& source = add_block<kernels::EmbeddingSource>();
  TESSERA_RETURN_IF_ERROR(matrix("model.embed_tokens", all(vocab, hidden), source.table));
  // A tied checkpoint may still store the head: it is then the same bytes, and one copy is enough. Of several ranks
  // each has its rows once more.
  if (is_one_copy(plan_)) return {};
  source.head_first = shard_.vocab.begin;
  const std::string head = config_.tie_word_embeddings ? "model.embed_tokens" : "lm_head";
  TESSERA_RETURN_IF_ERROR(matrix(head, rows_of(vocab, hidden, {shard_.vocab}), source.lm_head));
  block_->placements.back().kind = TensorKind::lm_head;
  return {};
}

Status WeightPlanner::attention(const std::string& prefix) {
  const auto& shape = config_.attention;
  const int64_t hidden = config_.hidden_size, dim = shape.head_dim;
  const int64_t queries = shape.heads * dim, keys = shape.kv_heads * dim;
  const std::string attention = prefix + "self_attn.";
  const Cut kv = rows_of(keys, hidden, {scaled(shard_.kv_heads, dim)});
  auto& source = add_block<kernels::AttentionSource>();
  source.shape = shard_.attention;
  source.hidden = hidden;
  source.inv_freq = config_.inv_freq;
  source.rope_scale = config_.rope_scale;
  TESSERA_RETURN_IF_ERROR(vector(prefix + "input_layernorm.weight", hidden, source.input_norm));
  TESSERA_RETURN_IF_ERROR(
      matrix(attention + "q_proj", rows_of(2 * queries, hidden, {scaled(shard_.heads, 2 * dim)}), source.q_gate));
  TESSERA_RETURN_IF_ERROR(matrix(attention + "k_proj", kv, source.k));
  TESSERA_RETURN_IF_ERROR(matrix(attention + "v_proj", kv, source.v));
  TESSERA_RETURN_IF_ERROR(
      matrix(attention + "o_proj", columns_of(hidden, queries, scaled(shard_.heads, dim)), source.o));
  TESSERA_RETURN_IF_ERROR(vector(attention + "q_norm.weight", dim, source.q_norm));
  return vector(attention + "k_norm.weight", dim, source.k_norm);
}

Status WeightPlanner::delta_net(const std::string& prefix) {
  const auto& shape = config_.delta_net;
  const int64_t hidden = config_.hidden_size, width = shape.conv_width;
  const int64_t heads = shape.value_heads, values = heads * shape.value_dim;
  const std::string net = prefix + "linear_attn.";
  const std::vector<Range> channels = shard_.delta_net_channels(shape);
  const Range own_values = scaled(shard_.value_heads, shape.value_dim);
  const Cut per_head = rows_of(heads, hidden, {shard_.value_heads});
  std::vector<Range> taps;
  for (const Range& range : channels) taps.push_back(scaled(range, width));
  auto& source = add_block<kernels::DeltaNetSource>();
  source.shape = shard_.delta_net;
  source.hidden = hidden;
  TESSERA_RETURN_IF_ERROR(vector(prefix + "input_layernorm.weight", hidden, source.input_norm));
  TESSERA_RETURN_IF_ERROR(matrix(net + "in_proj_qkv", rows_of(shape.channels(), hidden, channels), source.qkv));
  TESSERA_RETURN_IF_ERROR(matrix(net + "in_proj_z", rows_of(values, hidden, {own_values}), source.z));
  TESSERA_RETURN_IF_ERROR(matrix(net + "in_proj_b", per_head, source.b));
  TESSERA_RETURN_IF_ERROR(matrix(net + "in_proj_a", per_head, source.a));
  TESSERA_RETURN_IF_ERROR(matrix(net + "out_proj", columns_of(hidden, values, own_values), source.out));
  TESSERA_RETURN_IF_ERROR(vector(net + "conv1d.weight", shape.channels() * width, taps, source.conv));
  TESSERA_RETURN_IF_ERROR(vector(net + "A_log", heads, {shard_.value_heads}, source.a_log));
  TESSERA_RETURN_IF_ERROR(vector(net + "dt_bias", heads, {shard_.value_heads}, source.dt_bias));
  return vector(net + "norm.weight", shape.value_dim, source.norm);
}

/// inner: of the whole network.
Status WeightPlanner::swiglu(const std::string& prefix, int64_t inner, const Range& channels, SwigluSource& source) {
  const int64_t hidden = config_.hidden_size;
  const Cut up = rows_of(inner, hidden, {channels});
  source.inner = channels.size();
  source.gate_up.name = prefix + "{gate,up}_proj";
  source.gate_up.parts.resize(2);
  for (size_t i = 0; i < 2; ++i) {
    const std::string module = prefix + (i == 0 ? "gate_proj" : "up_proj");
    TESSERA_ASSIGN_OR_RETURN(const MatrixView stored, stored_matrix(module, inner, hidden));
    TESSERA_RETURN_IF_ERROR(place(module, stored, /*fused=*/false, up, std::span(source.gate_up.parts).subspan(i, 1)));
  }
  return matrix(prefix + "down_proj", columns_of(hidden, inner, channels), source.down);
}

Status WeightPlanner::place_fused(const std::string& tensor, int64_t expert, const Cut& cut, MatrixSource& source) {
  TESSERA_ASSIGN_OR_RETURN(const format::TensorView all, checkpoint_->tensor(tensor));
  // All of it, before an expert is cut out: rows that are too many would make other rows gate and up.
  if (all.shape != std::vector<int64_t>{config_.num_experts, cut.rows, cut.cols}) {
    return error(StatusCode::corrupt_data, "{} is [{}], expected [{}, {}, {}] from config.json", tensor,
                 fmt::join(all.shape, ", "), config_.num_experts, cut.rows, cut.cols);
  }
  TESSERA_ASSIGN_OR_RETURN(const MatrixView found, checkpoint_->fused_matrix(tensor, expert, 0, cut.rows));
  source.name = fmt::format("{}, expert {}", tensor, expert);
  source.parts.resize(cut.row_ranges.size());
  return place(tensor, found, /*fused=*/true, cut, source.parts);
}

Status WeightPlanner::fused_expert(const std::string& prefix, int64_t expert, SwigluSource& source) {
  const int64_t hidden = config_.hidden_size, inner = config_.moe_intermediate_size;
  const Range& gate = shard_.expert;
  std::vector<Range> gate_up = {whole(2 * inner)};
  if (gate != whole(inner)) gate_up = {gate, {inner + gate.begin, inner + gate.end}};
  source.inner = gate.size();
  TESSERA_RETURN_IF_ERROR(
      place_fused(prefix + "gate_up_proj", expert, rows_of(2 * inner, hidden, std::move(gate_up)), source.gate_up));
  return place_fused(prefix + "down_proj", expert, columns_of(hidden, inner, gate), source.down);
}

Status WeightPlanner::experts(const std::string& prefix, std::vector<SwigluSource>& experts) {
  const bool fused = checkpoint_ != nullptr && checkpoint_->has(prefix + "gate_up_proj");
  experts.resize(static_cast<size_t>(config_.num_experts));
  for (int64_t e = 0; e < config_.num_experts; ++e) {
    SwigluSource& expert = experts[static_cast<size_t>(e)];
    TESSERA_RETURN_IF_ERROR(
        fused ? fused_expert(prefix, e, expert)
              : swiglu(fmt::format("{}{}.", prefix, e), config_.moe_intermediate_size, shard_.expert, expert));
  }
  return {};
}

Status WeightPlanner::moe(const std::string& prefix) {
  const int64_t hidden = config_.hidden_size;
  const std::string mlp = prefix + "mlp.";
  auto& source = add_block<kernels::MoeSource>();
  source.hidden = hidden;
  source.norm_eps = config_.rms_norm_eps;
  source.experts_per_token = config_.experts_per_token;
  TESSERA_RETURN_IF_ERROR(vector(prefix + "post_attention_layernorm.weight", hidden, source.norm));
  TESSERA_RETURN_IF_ERROR(matrix(mlp + "gate", all(config_.num_experts, hidden), source.router));
  TESSERA_RETURN_IF_ERROR(experts(mlp + "experts.", source.experts));
  if (config_.shared_expert_intermediate_size == 0) return {};
  TESSERA_RETURN_IF_ERROR(swiglu(mlp + "shared_expert.", config_.shared_expert_intermediate_size, shard_.shared_expert,
                                 source.shared.emplace()));
  return matrix(mlp + "shared_expert_gate", all(1, hidden), source.shared_gate);
}

Status WeightPlanner::mlp(const std::string& prefix) {
  auto& source = add_block<kernels::MlpSource>();
  source.hidden = config_.hidden_size;
  source.norm_eps = config_.rms_norm_eps;
  TESSERA_RETURN_IF_ERROR(vector(prefix + "post_attention_layernorm.weight", config_.hidden_size, source.norm));
  return swiglu(prefix + "mlp.", config_.intermediate_size, shard_.mlp, source.mlp);
}

Status WeightPlanner::layer(const std::string& prefix, LayerType type) {
  TESSERA_RETURN_IF_ERROR(type == LayerType::full_attention ? attention(prefix) : delta_net(prefix));
  return config_.is_moe ? moe(prefix) : mlp(prefix);
}

Status WeightPlanner::head(const std::string& norm) {
  auto& source = add_block<kernels::HeadSource>();
  source.norm_eps = config_.rms_norm_eps;
  return vector(norm, config_.hidden_size, source.norm);
}

Status WeightPlanner::mtp_head() {
  in_mtp_ = true;
  const int64_t hidden = config_.hidden_size;
  auto& source = add_block<kernels::MtpInputSource>();
  source.norm_eps = config_.rms_norm_eps;
  TESSERA_RETURN_IF_ERROR(vector("mtp.pre_fc_norm_embedding.weight", hidden, source.embedding_norm));
  TESSERA_RETURN_IF_ERROR(vector("mtp.pre_fc_norm_hidden.weight", hidden, source.hidden_norm));
  TESSERA_RETURN_IF_ERROR(matrix("mtp.fc", all(hidden, 2 * hidden), source.fc));
  for (int i = 0; i < config_.mtp_layers; ++i) {
    TESSERA_RETURN_IF_ERROR(layer(fmt::format("mtp.layers.{}.", i), LayerType::full_attention));
  }
  TESSERA_RETURN_IF_ERROR(head("mtp.norm.weight"));
  return options_.draft_head ? draft_head() : Status();
}

/// What the head is for the model, in fewer bytes, if it is stored in more.
Status WeightPlanner::draft_head() {
  const int64_t vocab = config_.vocab_size, hidden = config_.hidden_size;
  const std::string module = config_.tie_word_embeddings ? "model.embed_tokens" : "lm_head";
  TESSERA_ASSIGN_OR_RETURN(const MatrixView stored, stored_matrix(module, vocab, hidden));
  if (!is_plain(stored.format) || hidden % kDraftHeadUnit != 0) return {};
  auto& source = std::get<kernels::HeadSource>(block_->source);
  in_draft_head_ = true;
  return matrix(module, rows_of(vocab, hidden, {shard_.vocab}), source.lm_head);
}

/// What a matrix of plain numbers becomes; nullopt: it stays.
std::optional<WeightFormat> WeightPlanner::target(TensorKind kind) const {
  if (in_draft_head_) return options_.draft_head;
  if (options_.requantize_projections && is_projection(kind)) return WeightFormat::fp8_e4m3;
  return std::nullopt;
}

/// Where the weights that a token reads are found. Of one copy the embedding is read as the head.
enum class Reading { never, every_step, by_expert };

Reading reading(const PlannedBlock& block, TensorKind kind, bool one_copy) {
  if (block.mtp) return Reading::never;
  if (kind == TensorKind::embed) return one_copy ? Reading::every_step : Reading::never;
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
  std::set<std::string_view> matrices;
  for_each([&](const PlannedBlock&, const Placement& p) {
    if (!p.becomes || !is_projection(p.kind)) return;
    matrices.insert(p.name);
    sum.stored_bytes += p.stored_bytes;
  });
  sum.matrices = static_cast<int>(matrices.size());
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
    const Reading how = reading(block, p.kind, is_one_copy(*this));
    const auto bytes = static_cast<double>(p.matrix != nullptr ? bytes_of(*p.matrix) : p.stored_bytes);
    if (how == Reading::every_step) traffic.fixed_bytes += bytes;
    if (how == Reading::by_expert) traffic.routed_bytes += bytes;
  });
  return traffic;
}

double WeightPlan::active_weights() const {
  double every_step = 0, routed = 0;
  for_each([&](const PlannedBlock& block, const Placement& p) {
    const Reading how = reading(block, p.kind, is_one_copy(*this));
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
  return WeightPlanner(&checkpoint, {}, config, options).plan();
}

Expected<WeightPlan> plan_dummy_weights(const ModelConfig& config, const KindFormats& formats,
                                        const PlanOptions& options) {
  return WeightPlanner(nullptr, formats, config, options).plan();
}

}  // namespace tessera::model
