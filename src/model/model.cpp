#include "model/model.h"

#include "base/check.h"

namespace tessera::model {

namespace {

/// A plan's share must be of the backend that runs it.
Status check_rank(const PlanOptions& options, const kernels::Backend& backend) {
  const kernels::Rank rank = backend.rank();
  if (options.rank == rank) return {};
  return error(StatusCode::invalid_argument,
               "a share of rank {} of {} was to be loaded on a backend that is rank {} of {}: they must be the same",
               options.rank.index, options.rank.world, rank.index, rank.world);
}

}  // namespace

kernels::CacheShape cache_shape(const ModelConfig& config, DType kv_dtype, bool with_mtp, kernels::Rank rank,
                                int drafts_max) {
  const auto shard = make_shard(config, rank);
  TESSERA_CHECK(shard.ok());
  kernels::CacheShape shape;
  shape.kv_dtype = kv_dtype;
  shape.attention = shard->attention;
  shape.attention_layers = config.count(LayerType::full_attention) + (with_mtp ? config.mtp_layers : 0);
  shape.delta_net = shard->delta_net;
  shape.linear_layers = config.count(LayerType::linear_attention);
  shape.record_rows = drafts_max > 0 ? drafts_max + 1 : 0;
  return shape;
}

Expected<std::unique_ptr<Model>> Model::load(const format::Checkpoint& checkpoint, const ModelConfig& config,
                                             kernels::Backend& backend, const LoadOptions& options) {
  TESSERA_RETURN_IF_ERROR(check_rank(options.plan, backend));
  std::unique_ptr<Model> model(new Model(config, backend));
  TESSERA_ASSIGN_OR_RETURN(model->kv_scales_, load_kv_scales(checkpoint, config));
  TESSERA_ASSIGN_OR_RETURN(WeightPlan plan, plan_weights(checkpoint, config, options.plan));
  model->traffic_ = plan.traffic();
  TESSERA_ASSIGN_OR_RETURN(model->layers_,
                           load_weights(std::move(plan), checkpoint, backend, options.progress, options.pool));
  return model;
}

Expected<std::unique_ptr<Model>> Model::dummy(const ModelConfig& config, const KindFormats& formats,
                                              kernels::Backend& backend, const PlanOptions& options) {
  TESSERA_RETURN_IF_ERROR(check_rank(options, backend));
  std::unique_ptr<Model> model(new Model(config, backend));
  TESSERA_ASSIGN_OR_RETURN(WeightPlan plan, plan_dummy_weights(config, formats, options));
  model->traffic_ = plan.traffic();
  TESSERA_ASSIGN_OR_RETURN(model->layers_, load_dummy_weights(std::move(plan), backend));
  return model;
}

Expected<std::unique_ptr<kernels::Cache>> Model::make_cache(DType kv_dtype, int blocks, int state_slots, bool with_mtp,
                                                            int drafts_max) const {
  kernels::CacheShape shape = cache_shape(config_, kv_dtype, with_mtp, backend_.rank(), drafts_max);
  shape.k_scales = kv_scales_.k;
  shape.v_scales = kv_scales_.v;
  shape.blocks = blocks;
  shape.state_slots = state_slots;
  return backend_.make_cache(shape);
}

Expected<std::unique_ptr<kernels::Pass>> Model::make_pass(kernels::PassShape shape) const {
  shape.hidden = config_.hidden_size;
  shape.vocab = config_.vocab_size;
  return backend_.make_pass(shape);
}

Status Model::run(kernels::Pass& pass, const Layer& layer, int& attention_layer, int& linear_layer) const {
  TESSERA_RETURN_IF_ERROR(layer.attention ? backend_.attention(pass, *layer.attention, attention_layer++)
                                          : backend_.delta_net(pass, *layer.delta_net, linear_layer++));
  return layer.moe ? backend_.moe(pass, *layer.moe) : backend_.mlp(pass, *layer.mlp);
}

Status Model::forward(kernels::Pass& pass) const {
  TESSERA_RETURN_IF_ERROR(backend_.embed(pass, *layers_.embedding));
  int attention_layer = 0, linear_layer = 0;
  for (const Layer& layer : layers_.layers) {
    TESSERA_RETURN_IF_ERROR(run(pass, layer, attention_layer, linear_layer));
  }
  return backend_.head(pass, *layers_.head, *layers_.embedding);
}

Status Model::forward_mtp(kernels::Pass& pass, int mtp_layer) const {
  TESSERA_CHECK(has_mtp());
  const Mtp& mtp = *layers_.mtp;
  TESSERA_RETURN_IF_ERROR(backend_.mtp_input(pass, *mtp.input, *layers_.embedding));
  int attention_layer = config_.count(LayerType::full_attention) + mtp_layer, linear_layer = 0;
  TESSERA_RETURN_IF_ERROR(run(pass, mtp.layers[static_cast<size_t>(mtp_layer)], attention_layer, linear_layer));
  return backend_.head(pass, *mtp.head, *layers_.embedding);
}

}  // namespace tessera::model
