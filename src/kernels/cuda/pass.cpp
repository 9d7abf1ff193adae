#include "kernels/cuda/pass.h"

#include <algorithm>

#include "base/check.h"
#include "base/status.h"
#include "kernels/cuda/attention.h"
#include "kernels/cuda/delta_net.h"
#include "kernels/cuda/select.h"

namespace tessera::kernels::cuda {

namespace {

/// Of one slot and layer.
size_t slot_record_bytes(const CacheShape& shape) {
  return static_cast<size_t>(shape.delta_net.value_heads) * static_cast<size_t>(shape.record_rows) *
         record_bytes(shape.delta_net);
}

}  // namespace

CacheBytes cache_bytes(const CacheShape& shape) {
  const auto values = static_cast<size_t>(state_values(shape.delta_net));
  const auto window = static_cast<size_t>(window_values(shape.delta_net));
  const size_t state = static_cast<size_t>(shape.linear_layers) * (values * sizeof(float) + window * sizeof(uint16_t));
  return {.kv_block = 2 * static_cast<size_t>(shape.attention_layers) * kv_block_bytes(shape.kv_dtype, shape.attention),
          .state_slot = state + static_cast<size_t>(shape.linear_layers) * slot_record_bytes(shape),
          .state = state};
}

Expected<std::unique_ptr<Cache>> Cache::create(const CacheShape& shape) {
  auto cache = std::make_unique<Cache>();
  cache->shape_ = shape;
  const auto layers_slots = static_cast<size_t>(shape.linear_layers) * static_cast<size_t>(shape.state_slots);
  TESSERA_ASSIGN_OR_RETURN(cache->kv_,
                           DeviceBuffer::create(static_cast<size_t>(shape.blocks) * cache_bytes(shape).kv_block));
  TESSERA_ASSIGN_OR_RETURN(
      cache->states_,
      DeviceBuffer::create(layers_slots * static_cast<size_t>(state_values(shape.delta_net)) * sizeof(float)));
  TESSERA_ASSIGN_OR_RETURN(
      cache->windows_,
      DeviceBuffer::create(layers_slots * static_cast<size_t>(window_values(shape.delta_net)) * sizeof(uint16_t)));
  TESSERA_ASSIGN_OR_RETURN(cache->records_, DeviceBuffer::create(layers_slots * slot_record_bytes(shape)));
  return cache;
}

std::unique_ptr<Cache> Cache::nowhere(const CacheShape& shape) {
  auto cache = std::make_unique<Cache>();
  cache->shape_ = shape;
  cache->kv_ = DeviceBuffer::nowhere(static_cast<size_t>(shape.blocks) * cache_bytes(shape).kv_block);
  cache->states_ = DeviceBuffer::nowhere(0);
  cache->windows_ = DeviceBuffer::nowhere(0);
  cache->records_ = DeviceBuffer::nowhere(0);
  return cache;
}

KvPool Cache::kv_pool(int attention_layer) const {
  const auto i = static_cast<size_t>(attention_layer);
  const size_t bytes = static_cast<size_t>(shape_.blocks) * kv_block_bytes(shape_.kv_dtype, shape_.attention);
  TESSERA_CHECK_LE((2 * i + 2) * bytes, kv_.bytes);
  return {.dtype = shape_.kv_dtype,
          .keys = kv_.as<std::byte>(2 * i * bytes),
          .values = kv_.as<std::byte>((2 * i + 1) * bytes),
          .k_scale = i < shape_.k_scales.size() ? shape_.k_scales[i] : 1.0F,
          .v_scale = i < shape_.v_scales.size() ? shape_.v_scales[i] : 1.0F};
}

float* Cache::states(int linear_layer) const {
  return states_.as<float>() + int64_t{linear_layer} * shape_.state_slots * state_values(shape_.delta_net);
}
uint16_t* Cache::windows(int linear_layer) const {
  return windows_.as<uint16_t>() + int64_t{linear_layer} * shape_.state_slots * window_values(shape_.delta_net);
}

Status Cache::move(const PageMove& move, const HostPages& pages, cudaStream_t stream) const {
  const auto part = [&](std::byte* all, size_t width, int count, size_t layers) {
    TESSERA_CHECK(move.index >= 0 && move.index < count);
    return LayeredBytes{all + static_cast<size_t>(move.index) * width, static_cast<size_t>(count) * width, width,
                        layers};
  };
  std::vector<LayeredBytes> object;
  if (move.what == PageMove::What::block) {
    object = {part(kv_.as<std::byte>(), kv_block_bytes(shape_.kv_dtype, shape_.attention), shape_.blocks,
                   2 * static_cast<size_t>(shape_.attention_layers))};
  } else {
    const auto layers = static_cast<size_t>(shape_.linear_layers);
    object = {part(states_.as<std::byte>(), static_cast<size_t>(state_values(shape_.delta_net)) * sizeof(float),
                   shape_.state_slots, layers),
              part(windows_.as<std::byte>(), static_cast<size_t>(window_values(shape_.delta_net)) * sizeof(uint16_t),
                   shape_.state_slots, layers)};
  }
  return move_page(move, object, pages, stream);
}

std::byte* Cache::records(int linear_layer) const {
  if (shape_.record_rows == 0) return nullptr;
  const size_t layer = static_cast<size_t>(shape_.state_slots) * slot_record_bytes(shape_);
  return records_.as<std::byte>(static_cast<size_t>(linear_layer) * layer);
}

StepTables bounds_of(const Batch& batch, int64_t logit_rows) {
  StepTables bounds;
  bounds.rows_max = batch.rows();
  bounds.sequences_max = static_cast<int32_t>(batch.sequences.size());
  bounds.logit_rows_max = static_cast<int32_t>(logit_rows);
  for (const SequenceRows& rows : batch.sequences) {
    if (rows.row_class != RowClass::decode) continue;
    bounds.decode_rows_max += rows.rows;
    ++bounds.decode_sequences_max;
  }
  return bounds;
}

namespace {

StepBounds step_bounds(const PassShape& shape, const PayloadBounds& payload) {
  return {.rows_max = shape.rows_max,
          .sequences_max = shape.sequences_max,
          .logit_rows_max = shape.logit_rows_max,
          .slots = shape.state_slots,
          .blocks_per_slot = shape.sequence_blocks_max,
          .payload_bytes = payload.payload_bytes,
          .result_bytes = payload.result_bytes};
}

}  // namespace

std::unique_ptr<Pass> Pass::planned(const PassShape& shape, std::vector<device::PlannedLaunch>& plan) {
  auto pass = std::make_unique<Pass>();
  pass->shape = shape;
  pass->queue.plan = &plan;
  pass->arena.move_nowhere();
  for (DeviceBuffer* buffer :
       {&pass->residual[0], &pass->residual[1], &pass->delta, &pass->hidden, &pass->logits, &pass->device_step_}) {
    *buffer = DeviceBuffer::nowhere(0);
  }
  pass->step_memory.bounds = step_bounds(shape, {});
  pass->step_memory.device = pass->device_step_.as<std::byte>();
  return pass;
}

Expected<std::unique_ptr<Pass>> Pass::create(const PassShape& shape, bool pdl, const PayloadBounds& payload) {
  auto pass = std::make_unique<Pass>();
  pass->shape = shape;
  TESSERA_CUDA_RETURN_IF_ERROR(cudaStreamCreateWithFlags(pass->stream.fill(), cudaStreamNonBlocking));
  pass->queue = {.stream = pass->stream.get(), .pdl = pdl};
  const auto rows = static_cast<size_t>(shape.rows_max) * static_cast<size_t>(shape.hidden) * sizeof(uint16_t);
  for (DeviceBuffer* buffer : {&pass->residual[0], &pass->residual[1], &pass->delta}) {
    TESSERA_ASSIGN_OR_RETURN(*buffer, DeviceBuffer::create(rows));
  }
  if (shape.keeps_hidden) {
    TESSERA_ASSIGN_OR_RETURN(pass->hidden, DeviceBuffer::create(rows));
    TESSERA_ASSIGN_OR_RETURN(pass->selected_,
                             MappedBuffer::create(static_cast<size_t>(shape.rows_max) * sizeof(int32_t)));
  }
  TESSERA_ASSIGN_OR_RETURN(pass->logits, DeviceBuffer::create(static_cast<size_t>(shape.logit_rows_max) *
                                                              static_cast<size_t>(shape.vocab) * sizeof(float)));
  StepMemory& memory = pass->step_memory;
  memory.bounds = step_bounds(shape, payload);
  TESSERA_ASSIGN_OR_RETURN(pass->staging_, MappedBuffer::create(2 * staging_layout(memory.bounds).bytes));
  TESSERA_ASSIGN_OR_RETURN(pass->results_, MappedBuffer::create(2 * memory.bounds.result_bytes));
  TESSERA_ASSIGN_OR_RETURN(pass->done_, MappedBuffer::create(sizeof(uint64_t)));
  TESSERA_ASSIGN_OR_RETURN(pass->device_step_, DeviceBuffer::create(device_step_layout(memory.bounds).bytes));
  memory.staging = pass->staging_.device;
  memory.device = pass->device_step_.as<std::byte>();
  memory.results = pass->results_.device;
  memory.done = reinterpret_cast<uint64_t*>(pass->done_.device);
  pass->slot_tables_.assign(static_cast<size_t>(shape.state_slots) * static_cast<size_t>(shape.sequence_blocks_max),
                            -1);
  return pass;
}

Expected<std::byte*> Pass::attention_memory(size_t bytes) {
  if (queue.plan != nullptr) return DeviceBuffer::nowhere(bytes).as<std::byte>();
  if (attention_.bytes < bytes) {
    if (arena.frozen()) {
      return error(StatusCode::internal, "attention needs {} bytes, and {} were taken for any step", bytes,
                   attention_.bytes);
    }
    TESSERA_CUDA_RETURN_IF_ERROR(cudaStreamSynchronize(stream.get()));
    TESSERA_ASSIGN_OR_RETURN(attention_, DeviceBuffer::create(bytes));
  }
  return attention_.as<std::byte>();
}

std::span<std::byte> Pass::payload_area() const {
  const StagingLayout layout = staging_layout(step_memory.bounds);
  return {staging_.host() + (begun % 2) * layout.bytes + layout.payload, step_memory.bounds.payload_bytes};
}

Status Pass::stage(const Batch& batch, std::span<const int32_t> logit_rows, size_t payload_bytes, size_t result_bytes) {
  TESSERA_CHECK_LE(begun - done(), uint64_t{1});
  for (const SequenceRows& rows : batch.sequences) {
    const CacheShape& kept = cache->shape();
    if (kept.linear_layers == 0) break;
    TESSERA_CHECK_LE(rows.keeps_records ? rows.rows : 0, kept.record_rows);
    TESSERA_CHECK_LE(rows.held, std::min(rows.first_position, kept.record_rows));
  }
  const StagingLayout layout = staging_layout(step_memory.bounds);
  std::byte* area = staging_.host() + (begun % 2) * layout.bytes;
  TESSERA_RETURN_IF_ERROR(stage_batch(step_memory.bounds, batch, logit_rows, {slot_tables_.data()}, area));
  TESSERA_CHECK_LE(payload_bytes, step_memory.bounds.payload_bytes);
  TESSERA_CHECK_LE(result_bytes, step_memory.bounds.result_bytes);
  auto* header = reinterpret_cast<StagedHeader*>(area + layout.header);
  header->payload_bytes = static_cast<uint32_t>(payload_bytes);
  header->result_bytes = static_cast<uint32_t>(result_bytes);
  return {};
}

Status Pass::select_hidden(std::span<const int32_t> rows) {
  TESSERA_CHECK(shape.keeps_hidden);
  TESSERA_CHECK_LE(static_cast<int64_t>(rows.size()), shape.rows_max);
  TESSERA_CUDA_RETURN_IF_ERROR(cudaStreamSynchronize(stream.get()));  // the row numbers lie in one place
  std::copy(rows.begin(), rows.end(), reinterpret_cast<int32_t*>(selected_.host()));
  SelectRowsArgs args;
  args.x = hidden.as<uint16_t>();
  args.columns = shape.hidden;
  args.rows = reinterpret_cast<const int32_t*>(selected_.device);
  args.count = static_cast<int32_t>(rows.size());
  return select_rows(args, queue);
}

Status Pass::begin() {
  TESSERA_CHECK_EQ(begun, ended);
  ++begun;
  begin_again();
  return begin_step(step_memory, queue);
}

void Pass::begin_again() {
  hidden_rows = nullptr;
  current = 0;
  delta_kind = DeltaKind::none;
  experts_frame.reset();
}

Status Pass::end(const std::byte* results) {
  TESSERA_CHECK_EQ(begun, ended + 1);
  ++ended;
  return end_step(step_memory, results, queue);
}

}  // namespace tessera::kernels::cuda
