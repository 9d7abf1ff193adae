#include "model/pass_sampler.h"

#include <algorithm>
#include <chrono>

#include "base/call_watch.h"
#include "base/check.h"
#include "base/status.h"
#include "kernels/cuda/delta_net.h"
#include "kernels/cuda/sample.h"

namespace tessera::model {
namespace {

namespace cuda = kernels::cuda;

constexpr int64_t kHistoryTokens = int64_t{1} << 20;  // of histories that are under way to the GPU

}  // namespace

Status PassSampler::take_memory(const SamplerShape& shape) {
  shape_ = shape;
  capacity_ = {.rows_max = shape.samples_max, .pool_words = static_cast<uint32_t>(shape.row_words * shape.samples_max)};
  const auto slots = static_cast<size_t>(shape.slots);
  TESSERA_ASSIGN_OR_RETURN(counts_,
                           cuda::DeviceBuffer::create(slots * static_cast<size_t>(shape.vocab) * sizeof(uint16_t)));
  TESSERA_ASSIGN_OR_RETURN(workspace_,
                           cuda::DeviceBuffer::create(cuda::sample_workspace_bytes(shape.samples_max, shape.vocab)));
  TESSERA_ASSIGN_OR_RETURN(history_, cuda::MappedBuffer::create(2 * kHistoryTokens * sizeof(int32_t)));
  TESSERA_ASSIGN_OR_RETURN(held_, cuda::MappedBuffer::create(slots * cuda::kRecordRowsMax * sizeof(int32_t)));
  TESSERA_ASSIGN_OR_RETURN(late_staging_, cuda::MappedBuffer::create(capacity_.bytes()));
  TESSERA_ASSIGN_OR_RETURN(late_tables_, cuda::DeviceBuffer::create(capacity_.bytes()));
  TESSERA_ASSIGN_OR_RETURN(late_results_, cuda::MappedBuffer::create(results_bytes()));
  TESSERA_CUDA_RETURN_IF_ERROR(cudaEventCreateWithFlags(late_drawn_.fill(), cudaEventDisableTiming));
  return {};
}

size_t PassSampler::results_bytes() const {
  return static_cast<size_t>(capacity_.rows_max) * sizeof(cuda::SampleOutput);
}

Expected<size_t> PassSampler::write_tables(std::span<const kernels::SampleRow> samples,
                                           std::span<const cuda::UnsureDraw> unsure,
                                           std::span<std::byte> memory) const {
  const cuda::SampleLimits limits{.vocab = shape_.vocab, .slots = shape_.slots, .has_counts = true};
  TESSERA_RETURN_IF_ERROR(cuda::write_sample_tables(samples, limits, capacity_, memory, unsure));
  return capacity_.pool_offset() + sizeof(uint32_t) * capacity_.tables(memory.data()).header->pool_words;
}

Status PassSampler::draw(const cuda::Pass& pass, const std::byte* tables, int32_t samples_max, std::byte* out) const {
  cuda::SampleArgs args;
  args.logits = pass.logits.as<float>();
  args.vocab = shape_.vocab;
  args.known_ids = shape_.known_ids;
  args.tables = capacity_.tables(tables);
  args.tables.rows_max = samples_max;
  args.counts = counts_.as<uint16_t>();
  args.last_token = cuda::newest_draws(pass.step_memory);
  args.slots = shape_.slots;
  args.out = reinterpret_cast<cuda::SampleOutput*>(out);
  args.workspace = workspace_.as<std::byte>();
  return cuda::sample(args, pass.queue);
}

Status PassSampler::set_histories(const cuda::Pass& pass, std::span<const kernels::TokenHistory> histories) {
  auto* const area = reinterpret_cast<int32_t*>(history_.host()) + (pass.begun % 2) * kHistoryTokens;
  const int64_t device_offset =
      reinterpret_cast<int32_t*>(history_.device) - reinterpret_cast<int32_t*>(history_.host());
  int64_t used = 0;
  for (const kernels::TokenHistory& history : histories) {
    const auto tokens = static_cast<int64_t>(history.prompt.size() + history.output.size());
    if (used > 0 && used + tokens > kHistoryTokens) {  // many long answers come back at once
      TESSERA_CUDA_RETURN_IF_ERROR(cudaStreamSynchronize(pass.stream.get()));
      used = 0;
    }
    if (tokens > kHistoryTokens) {
      return error(StatusCode::resource_exhausted, "a sequence with penalties has {} tokens; at most {} can be counted",
                   tokens, kHistoryTokens);
    }
    int32_t* prompt = area + used;
    int32_t* output = std::copy(history.prompt.begin(), history.prompt.end(), prompt);
    std::copy(history.output.begin(), history.output.end(), output);
    used += tokens;
    cuda::SetHistoryArgs args;
    args.counts = counts_.as<uint16_t>();
    args.vocab = shape_.vocab;
    args.slot = history.slot;
    args.prompt = prompt + device_offset;
    args.prompt_tokens = static_cast<int64_t>(history.prompt.size());
    args.output = output + device_offset;
    args.output_tokens = static_cast<int64_t>(history.output.size());
    TESSERA_RETURN_IF_ERROR(cuda::set_history(args, pass.queue));
  }
  return {};
}

Status PassSampler::count(const cuda::Pass& pass, int32_t slot, std::span<const int32_t> drawn) {
  TESSERA_CHECK_LE(static_cast<int64_t>(drawn.size()), cuda::kRecordRowsMax);
  const int64_t at = int64_t{slot} * cuda::kRecordRowsMax;
  std::ranges::copy(drawn, reinterpret_cast<int32_t*>(held_.host()) + at);
  cuda::SetHistoryArgs args;
  args.counts = counts_.as<uint16_t>();
  args.vocab = shape_.vocab;
  args.slot = slot;
  args.output = reinterpret_cast<const int32_t*>(held_.device) + at;
  args.output_tokens = static_cast<int64_t>(drawn.size());
  args.adds = true;
  return cuda::set_history(args, pass.queue);
}

Status PassSampler::draw_later(const cuda::Pass& pass, std::span<const kernels::SampleRow> samples) {
  TESSERA_RETURN_IF_ERROR(write_tables(samples, {}, {late_staging_.host(), late_staging_.bytes}).status());
  TESSERA_RETURN_IF_ERROR(cuda::stage_sample_tables(
      {.from = late_staging_.device, .to = late_tables_.as<std::byte>(), .capacity = capacity_}, pass.queue));
  TESSERA_RETURN_IF_ERROR(
      draw(pass, late_tables_.as<std::byte>(), static_cast<int32_t>(samples.size()), late_results_.device));
  TESSERA_CUDA_RETURN_IF_ERROR(cudaEventRecord(late_drawn_.get(), pass.stream.get()));
  return {};
}

Status PassSampler::wait_for_later() const {
  const auto begin = std::chrono::steady_clock::now();
  for (;;) {
    const WatchedCall watched("cudaEventQuery");
    const cudaError_t state = cudaEventQuery(late_drawn_.get());
    if (state == cudaSuccess) return {};
    if (state != cudaErrorNotReady) return device::cuda_status(state, "the draws of a step on the GPU");
    if (std::chrono::steady_clock::now() - begin > kHangLimit) {
      return error(StatusCode::unavailable, "the draws of a step have been on the GPU for {} s: they hang",
                   kHangLimit.count());
    }
  }
}

}  // namespace tessera::model
