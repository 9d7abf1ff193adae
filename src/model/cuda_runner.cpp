#include "model/cuda_runner.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <deque>

#include "base/call_watch.h"
#include "base/check.h"
#include "base/status.h"
#include "kernels/cuda/delta_net.h"
#include "kernels/cuda/pass.h"
#include "kernels/cuda/sample.h"
#include "kernels/cuda/sample_tables.h"

namespace tessera::model {
namespace {

namespace cuda = kernels::cuda;
using kernels::SampleResult;

/// Rows of the captured decode steps. A step takes the smallest that holds it; dead rows cost nothing but their share
/// of a product's columns.
constexpr std::array<int32_t, 12> kBuckets = {1, 2, 4, 8, 12, 16, 24, 32, 48, 64, 96, 128};
constexpr int64_t kHistoryTokens = int64_t{1} << 20;  // of histories that are under way to the GPU

using Graph = device::Handle<cudaGraph_t, cudaGraphDestroy>;
using GraphExec = device::Handle<cudaGraphExec_t, cudaGraphExecDestroy>;

struct Bucket {
  int32_t rows = 0;
  GraphExec graph;
};

class CudaRunner final : public StepRunner {
 public:
  explicit CudaRunner(const CudaRunnerParts& parts) : parts_(parts) {}
  ~CudaRunner() override {
    const WatchedCall watched("cudaStreamSynchronize");
    if (pass_) (void)cudaStreamSynchronize(pass_->stream.get());
  }
  Status prepare();

  [[nodiscard]] int steps_ahead() const override { return 1; }
  Status submit(const Step& step) override;
  Expected<std::span<const SampleResult>> collect() override;

 private:
  [[nodiscard]] const ModelConfig& config() const { return parts_.model->config(); }
  [[nodiscard]] int32_t slots() const { return parts_.cache->shape().state_slots; }
  Status take_memory();
  Status warm_up();
  Status capture(int32_t rows);
  Status enqueue(const kernels::cuda::StepTables& bounds);
  Status set_histories(std::span<const kernels::TokenHistory> histories);
  Status copy_states(std::span<const kernels::StateCopy> copies);
  [[nodiscard]] const Bucket* bucket_of(const Step& step) const;
  [[nodiscard]] size_t used_bytes(std::span<const std::byte> payload) const;

  CudaRunnerParts parts_;
  std::unique_ptr<cuda::Pass> pass_;
  cuda::SampleCapacity capacity_;
  cuda::DeviceBuffer counts_, sample_workspace_;
  cuda::MappedBuffer history_;  // [2, kHistoryTokens]
  std::vector<Bucket> buckets_;
  std::vector<int32_t> logit_rows_;
  std::deque<size_t> samples_;  // of the steps that are under way
  uint64_t collected_ = 0;
  std::vector<SampleResult> results_;
};

Status CudaRunner::take_memory() {
  capacity_ = {.rows_max = parts_.samples_max,
               .pool_words = static_cast<uint32_t>((kernels::mask_words(config().vocab_size) + parts_.list_words_max) *
                                                   parts_.samples_max)};
  const kernels::PassShape shape{.rows_max = parts_.rows_max,
                                 .sequences_max = parts_.sequences_max,
                                 .logit_rows_max = parts_.samples_max,
                                 .state_slots = slots(),
                                 .sequence_blocks_max = parts_.sequence_blocks_max,
                                 .hidden = config().hidden_size,
                                 .vocab = config().vocab_size};
  const auto samples = static_cast<size_t>(parts_.samples_max);
  TESSERA_ASSIGN_OR_RETURN(pass_, cuda::Pass::create(shape, parts_.pdl,
                                                     {.payload_bytes = capacity_.bytes(),
                                                      .result_bytes = samples * sizeof(cuda::SampleOutput)}));
  pass_->cache = static_cast<cuda::Cache*>(parts_.cache);
  const auto counts = static_cast<size_t>(slots()) * static_cast<size_t>(config().vocab_size);
  TESSERA_ASSIGN_OR_RETURN(counts_, cuda::DeviceBuffer::create(counts * sizeof(uint16_t)));
  TESSERA_ASSIGN_OR_RETURN(sample_workspace_, cuda::DeviceBuffer::create(cuda::sample_workspace_bytes(
                                                  parts_.samples_max, config().vocab_size)));
  TESSERA_ASSIGN_OR_RETURN(history_, cuda::MappedBuffer::create(2 * kHistoryTokens * sizeof(int32_t)));
  return {};
}

/// Everything between the step's first kernel and its last.
Status CudaRunner::enqueue(const cuda::StepTables& bounds) {
  pass_->tables = cuda::step_tables(pass_->step_memory, bounds);
  TESSERA_RETURN_IF_ERROR(pass_->begin());
  TESSERA_RETURN_IF_ERROR(parts_.model->forward(*pass_));
  if (bounds.logit_rows_max > 0) {
    cuda::SampleCapacity capacity = capacity_;
    cuda::SampleArgs args;
    args.logits = pass_->logits.as<float>();
    args.vocab = config().vocab_size;
    args.known_ids = parts_.known_ids;
    args.tables = capacity.tables(cuda::payload(pass_->step_memory));
    args.tables.rows_max = bounds.logit_rows_max;
    args.counts = counts_.as<uint16_t>();
    args.last_token = cuda::last_tokens(pass_->step_memory);
    args.out = reinterpret_cast<cuda::SampleOutput*>(cuda::result(pass_->step_memory));
    args.workspace = sample_workspace_.as<std::byte>();
    TESSERA_RETURN_IF_ERROR(cuda::sample(args, pass_->queue));
  }
  return pass_->end();
}

/// Steps without rows, of the widest bounds: loads every kernel and takes all scratch memory.
Status CudaRunner::warm_up() {
  const auto run = [&](const cuda::StepTables& bounds) -> Status {
    TESSERA_RETURN_IF_ERROR(pass_->stage({}, {}));
    TESSERA_RETURN_IF_ERROR(enqueue(bounds));
    TESSERA_CUDA_RETURN_IF_ERROR(cudaStreamSynchronize(pass_->stream.get()));
    return {};
  };
  cuda::StepTables decode, prefill;
  decode.rows_max = decode.decode_rows_max = decode.sequences_max = decode.decode_sequences_max = parts_.sequences_max;
  decode.logit_rows_max = std::min(parts_.sequences_max, parts_.samples_max);
  TESSERA_RETURN_IF_ERROR(run(decode));
  prefill.rows_max = parts_.rows_max;
  prefill.sequences_max = parts_.sequences_max;
  prefill.logit_rows_max = parts_.samples_max;
  TESSERA_RETURN_IF_ERROR(run(prefill));
  prefill.decode_rows_max = prefill.decode_sequences_max = std::min(parts_.sequences_max, parts_.rows_max - 1);
  return run(prefill);
}

Status CudaRunner::capture(int32_t rows) {
  cuda::StepTables bounds;
  bounds.rows_max = bounds.decode_rows_max = bounds.sequences_max = bounds.decode_sequences_max = rows;
  bounds.logit_rows_max = rows;
  // Once as it is: what the runtime does for a kernel's first launch is not for a capture.
  TESSERA_RETURN_IF_ERROR(pass_->stage({}, {}));
  TESSERA_RETURN_IF_ERROR(enqueue(bounds));
  TESSERA_CUDA_RETURN_IF_ERROR(cudaStreamSynchronize(pass_->stream.get()));

  const cudaStream_t stream = pass_->stream.get();
  const uint64_t begun = pass_->begun;
  TESSERA_CUDA_RETURN_IF_ERROR(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
  const Status enqueued = enqueue(bounds);
  pass_->begun = pass_->ended = begun;  // nothing has run
  Graph graph;
  const cudaError_t ended = [&] {
    const WatchedCall watched("cudaStreamEndCapture");
    return cudaStreamEndCapture(stream, graph.fill());
  }();
  TESSERA_RETURN_IF_ERROR(enqueued);  // says more
  TESSERA_RETURN_IF_ERROR(device::cuda_status(ended, "cudaStreamEndCapture"));
  Bucket& bucket = buckets_.emplace_back();
  bucket.rows = rows;
  TESSERA_CUDA_RETURN_IF_ERROR(cudaGraphInstantiate(bucket.graph.fill(), graph.get(), 0));
  return {};
}

Status CudaRunner::prepare() {
  TESSERA_CUDA_RETURN_IF_ERROR(cudaSetDevice(parts_.gpu));
  TESSERA_RETURN_IF_ERROR(take_memory());
  TESSERA_RETURN_IF_ERROR(warm_up());
  pass_->arena.freeze();
  const int32_t most = std::min({parts_.sequences_max, parts_.rows_max, parts_.samples_max, kBuckets.back()});
  for (const int32_t rows : kBuckets) {
    if (parts_.graphs && rows < most) TESSERA_RETURN_IF_ERROR(capture(rows));
  }
  if (parts_.graphs) TESSERA_RETURN_IF_ERROR(capture(most));
  collected_ = pass_->begun;
  return {};
}

/// The captured step that can run this one: a row of each sequence, its logits wanted.
const Bucket* CudaRunner::bucket_of(const Step& step) const {
  const auto rows = static_cast<int32_t>(step.tokens.size());
  if (step.sequences.size() != step.tokens.size() || step.samples.size() != step.tokens.size()) return nullptr;
  for (const kernels::SequenceRows& sequence : step.sequences) {
    if (sequence.row_class != kernels::RowClass::decode) return nullptr;
  }
  for (const Bucket& bucket : buckets_) {
    if (bucket.rows >= rows) return &bucket;
  }
  return nullptr;
}

Status CudaRunner::set_histories(std::span<const kernels::TokenHistory> histories) {
  auto* const area = reinterpret_cast<int32_t*>(history_.host()) + (pass_->begun % 2) * kHistoryTokens;
  const int64_t device_offset =
      reinterpret_cast<int32_t*>(history_.device) - reinterpret_cast<int32_t*>(history_.host());
  int64_t used = 0;
  for (const kernels::TokenHistory& history : histories) {
    const auto tokens = static_cast<int64_t>(history.prompt.size() + history.output.size());
    if (used > 0 && used + tokens > kHistoryTokens) {  // many long answers come back at once
      TESSERA_CUDA_RETURN_IF_ERROR(cudaStreamSynchronize(pass_->stream.get()));
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
    args.vocab = config().vocab_size;
    args.slot = history.slot;
    args.prompt = prompt + device_offset;
    args.prompt_tokens = static_cast<int64_t>(history.prompt.size());
    args.output = output + device_offset;
    args.output_tokens = static_cast<int64_t>(history.output.size());
    TESSERA_RETURN_IF_ERROR(cuda::set_history(args, pass_->queue));
  }
  return {};
}

Status CudaRunner::copy_states(std::span<const kernels::StateCopy> copies) {
  if (copies.empty()) return {};
  const kernels::CacheShape& shape = parts_.cache->shape();
  cuda::CopyStatesArgs args;
  args.shape = shape.delta_net;
  args.layers = shape.linear_layers;
  args.states = pass_->cache->states(0);
  args.windows = pass_->cache->windows(0);
  args.slots = shape.state_slots;
  args.copies = copies;
  return cuda::copy_states(args, pass_->queue);
}

/// Of sample tables: those of the lists in use.
size_t CudaRunner::used_bytes(std::span<const std::byte> payload) const {
  return capacity_.pool_offset() + sizeof(uint32_t) * capacity_.tables(payload.data()).header->pool_words;
}

Status CudaRunner::submit(const Step& step) {
  TESSERA_CHECK_LE(pass_->begun, collected_ + 1);
  TESSERA_CUDA_RETURN_IF_ERROR(cudaSetDevice(parts_.gpu));
  logit_rows_.clear();
  for (const kernels::SampleRow& sample : step.samples) logit_rows_.push_back(sample.row);
  const std::span<std::byte> payload = pass_->payload_area();
  TESSERA_RETURN_IF_ERROR(cuda::write_sample_tables(
      step.samples, {.vocab = config().vocab_size, .slots = slots(), .has_counts = true}, capacity_, payload));
  TESSERA_RETURN_IF_ERROR(
      pass_->stage(step.batch(), logit_rows_, used_bytes(payload), step.samples.size() * sizeof(cuda::SampleOutput)));
  for (const kernels::PageMove& move : step.moves) {
    TESSERA_RETURN_IF_ERROR(pass_->cache->move(move, *parts_.pages, pass_->stream.get()));
  }
  TESSERA_RETURN_IF_ERROR(set_histories(step.histories));
  TESSERA_RETURN_IF_ERROR(copy_states(step.copies));
  if (const Bucket* bucket = bucket_of(step)) {
    TESSERA_CUDA_RETURN_IF_ERROR(cudaGraphLaunch(bucket->graph.get(), pass_->stream.get()));
    ++pass_->begun;
    ++pass_->ended;
  } else {
    TESSERA_RETURN_IF_ERROR(enqueue(cuda::bounds_of(step.batch(), static_cast<int64_t>(step.samples.size()))));
  }
  samples_.push_back(step.samples.size());
  return {};
}

Expected<std::span<const SampleResult>> CudaRunner::collect() {
  TESSERA_CHECK(!samples_.empty());
  const auto begin = std::chrono::steady_clock::now();
  // The number in mapped memory is what is waited for; the stream is asked now and then whether it still can come.
  for (uint64_t spins = 1; pass_->done() <= collected_; ++spins) {
    if (spins % 4096 != 0) continue;
    const WatchedCall watched("cudaStreamQuery");
    const cudaError_t state = cudaStreamQuery(pass_->stream.get());
    if (state != cudaSuccess && state != cudaErrorNotReady) return device::cuda_status(state, "a step on the GPU");
    if (state == cudaSuccess && pass_->done() <= collected_) {
      return error(StatusCode::internal, "the GPU has ended step {} without saying so", collected_);
    }
    if (std::chrono::steady_clock::now() - begin > kHangLimit) {
      return error(StatusCode::unavailable, "step {} has been on the GPU for {} s: it hangs", collected_,
                   kHangLimit.count());
    }
  }
  std::atomic_thread_fence(std::memory_order_acquire);
  const auto* outputs = reinterpret_cast<const cuda::SampleOutput*>(pass_->results(collected_));
  results_.clear();
  for (size_t i = 0; i < samples_.front(); ++i) {
    results_.push_back(cuda::sample_result(outputs[i], parts_.known_ids));
  }
  samples_.pop_front();
  ++collected_;
  return std::span<const SampleResult>(results_);
}

}  // namespace

Expected<std::unique_ptr<StepRunner>> make_cuda_runner(const CudaRunnerParts& parts) {
  auto runner = std::make_unique<CudaRunner>(parts);
  TESSERA_RETURN_IF_ERROR(runner->prepare());
  return std::unique_ptr<StepRunner>(std::move(runner));
}

}  // namespace tessera::model
