#include "model/cuda_runner.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <deque>
#include <optional>
#include <random>
#include <utility>

#include "base/call_watch.h"
#include "base/check.h"
#include "base/status.h"
#include "kernels/cuda/delta_net.h"
#include "kernels/cuda/next_draft.h"
#include "kernels/cuda/pass.h"
#include "kernels/cuda/sample_tables.h"
#include "model/kept_step.h"
#include "model/pass_graphs.h"
#include "model/pass_sampler.h"

namespace tessera::model {
namespace {

namespace cuda = kernels::cuda;
using kernels::SampleResult;

static_assert(kLastDrawn == cuda::kNewestDraw && draft_token(0) == cuda::kFirstDraft);

class CudaRunner final : public StepRunner {
 public:
  explicit CudaRunner(const CudaRunnerParts& parts)
      : parts_(parts),
        graphs_(GraphSizes(parts.sequences_max, parts.rows_max, parts.samples_max)),
        known_drafts_(parts.cache->shape().state_slots) {}
  ~CudaRunner() override {
    const WatchedCall watched("cudaStreamSynchronize");
    if (pass_) (void)cudaStreamSynchronize(pass_->stream.get());
  }
  Status prepare();

  [[nodiscard]] int steps_ahead() const override { return 1; }
  [[nodiscard]] int drafts_max() const override { return parts_.drafts_max; }
  [[nodiscard]] bool draws_later() const override { return true; }
  Status submit(const Step& step) override;
  Status draw(std::span<const kernels::SampleRow> samples) override;
  Expected<std::span<const SampleResult>> collect() override;
  Expected<std::span<const int32_t>> drafts() override;
  Expected<bool> prepare_ahead() override;

 private:
  /// A step that has been submitted.
  struct UnderWay {
    uint64_t pass = 0;  // its number on the device
    size_t samples = 0;
    bool draws_later = false;
    std::optional<KeptStep> kept;  // if there is something to do behind it
  };
  /// The head's passes behind a step, one pass on the device, which may not have ended.
  struct DraftPass {
    uint64_t pass = 0;
    std::vector<HeadPass::Draft> drafts;
  };
  struct Results {
    std::vector<SampleResult> samples;
    std::vector<int32_t> drafts;
    std::optional<DraftPass> unread = {};
  };

  [[nodiscard]] const ModelConfig& config() const { return parts_.model->config(); }
  [[nodiscard]] int32_t slots() const { return parts_.cache->shape().state_slots; }
  [[nodiscard]] size_t wanted_bytes() const;
  [[nodiscard]] size_t newest_bytes() const;
  Status check_drafting() const;
  Status take_memory();
  Status warm_up();
  Status run_empty(const cuda::StepTables& bounds, int drafts);
  Status capture(const PassSize& size);
  Status enqueue(const cuda::StepTables& bounds, int drafts);
  Status enqueue_drafts(const cuda::StepTables& bounds, int drafts);
  Status enqueue_draws(int32_t rows_max);
  Status stage(const kernels::Batch& batch, std::span<const kernels::SampleRow> samples,
               std::span<const int32_t> wanted, bool draws_later = false);
  Status launch(const kernels::Batch& batch, const PassSize& size);
  [[nodiscard]] std::optional<PassSize> graph_size(const kernels::Batch& batch, const PassSize& size) const;
  [[nodiscard]] std::optional<PassSize> missing_graph(const kernels::Batch& batch, const PassSize& size) const;
  Status move_pages(std::span<const kernels::PageMove> moves);
  Status copy_states(std::span<const kernels::StateCopy> copies);
  void resolve_tokens(const Step& step);
  void find_unsure(const Step& step);
  Status wait_for(uint64_t pass) const;
  Status finish_oldest();
  Status finish_kept(KeptStep& kept, Results& results);
  Status draft(const KeptStep& kept, Results& results);
  Status read_drafts(Results& results, uint64_t before);
  Status read_all_drafts(uint64_t before);

  CudaRunnerParts parts_;
  std::unique_ptr<cuda::Pass> pass_;
  PassSampler sampler_;
  cuda::DeviceBuffer hidden_rows_;  // [sequences_max] of a further pass of the head
  PassGraphs graphs_;
  std::vector<int32_t> tokens_;           // [rows]
  std::vector<int32_t> logit_rows_;       // [samples]
  std::vector<cuda::UnsureDraw> unsure_;  // [samples]
  std::vector<int32_t> known_draws_;      // [slots]: the newest draw, if it was one of several rows; else -1
  KnownDrafts known_drafts_;
  std::deque<UnderWay> under_way_;  // oldest first
  std::deque<Results> done_;        // the same, before those
  Results collected_;
  std::mt19937_64 random_{1};  // of what is assumed
};

/// In front of the samples: how many drafts each one's sequence wants.
size_t CudaRunner::wanted_bytes() const {
  if (parts_.drafts_max == 0) return 0;
  return (static_cast<size_t>(parts_.sequences_max) * sizeof(int32_t) + 15) / 16 * 16;
}

/// Of the newest draw of each slot, and the newest drafts.
size_t CudaRunner::newest_bytes() const {
  return (static_cast<size_t>(1 + parts_.drafts_max) * static_cast<size_t>(slots()) * sizeof(int32_t) + 15) / 16 * 16;
}

Status CudaRunner::check_drafting() const {
  const kernels::CacheShape& cache = parts_.cache->shape();
  const int layers = config().count(LayerType::full_attention) + config().mtp_layers;
  if (parts_.drafts_max == 0) return {};
  if (!parts_.model->has_mtp() || cache.attention_layers < layers) {
    return error(StatusCode::invalid_argument,
                 "drafts need the model's MTP head and its KV in the cache, which has {} of "
                 "{} attention layers",
                 cache.attention_layers, layers);
  }
  if (parts_.drafts_max >= cuda::kRecordRowsMax ||
      (cache.linear_layers > 0 && cache.record_rows <= parts_.drafts_max)) {
    return error(StatusCode::invalid_argument,
                 "{} drafts at a time, with records of {} rows in the cache: it must have one more than drafts, and {} "
                 "at most",
                 parts_.drafts_max, cache.record_rows, cuda::kRecordRowsMax);
  }
  return {};
}

Status CudaRunner::take_memory() {
  TESSERA_RETURN_IF_ERROR(sampler_.take_memory(
      {.vocab = config().vocab_size,
       .known_ids = parts_.known_ids,
       .slots = slots(),
       .samples_max = parts_.samples_max,
       .row_words = kernels::mask_words(config().vocab_size) + parts_.list_words_max + parts_.drafts_max}));
  const kernels::PassShape shape{.rows_max = parts_.rows_max,
                                 .sequences_max = parts_.sequences_max,
                                 .logit_rows_max = parts_.samples_max,
                                 .state_slots = slots(),
                                 .sequence_blocks_max = parts_.sequence_blocks_max,
                                 .hidden = config().hidden_size,
                                 .vocab = config().vocab_size,
                                 .keeps_hidden = parts_.drafts_max > 0};
  TESSERA_ASSIGN_OR_RETURN(pass_,
                           cuda::Pass::create(shape, parts_.pdl,
                                              {.payload_bytes = wanted_bytes() + sampler_.tables_bytes(),
                                               .result_bytes = std::max(sampler_.results_bytes(), newest_bytes())}));
  pass_->cache = static_cast<cuda::Cache*>(parts_.cache);
  TESSERA_ASSIGN_OR_RETURN(hidden_rows_,
                           cuda::DeviceBuffer::create(static_cast<size_t>(parts_.sequences_max) * sizeof(int32_t)));
  known_draws_.assign(static_cast<size_t>(slots()), -1);
  return {};
}

cuda::StepTables bounds_of(const PassSize& size) {
  cuda::StepTables bounds;
  bounds.rows_max = size.all_rows();
  bounds.decode_rows_max = size.rows;
  bounds.sequences_max = size.all_sequences();
  bounds.decode_sequences_max = size.sequences;
  bounds.logit_rows_max = size.samples;
  return bounds;
}

/// A pass, from its first kernel to its last: a step, or so many drafts behind one.
Status CudaRunner::enqueue(const cuda::StepTables& bounds, int drafts) {
  pass_->tables = cuda::step_tables(pass_->step_memory, bounds);
  TESSERA_RETURN_IF_ERROR(pass_->begin());
  if (drafts > 0) return enqueue_drafts(bounds, drafts);
  TESSERA_RETURN_IF_ERROR(parts_.model->forward(*pass_));
  TESSERA_RETURN_IF_ERROR(enqueue_draws(bounds.logit_rows_max));
  return pass_->end();
}

/// The head's passes. The host laid down the first one's tables; each of the others begins with making its own of those
/// before. What they drew is with the newest draws.
Status CudaRunner::enqueue_drafts(const cuda::StepTables& bounds, int drafts) {
  const int32_t samples = bounds.logit_rows_max;
  std::byte* const payload = cuda::payload(pass_->step_memory);
  for (int made = 0; made < drafts; ++made) {
    if (made > 0) {
      cuda::NextDraftArgs next;
      next.memory = pass_->step_memory;
      next.samples = payload + wanted_bytes();
      next.wanted = reinterpret_cast<int32_t*>(payload);
      next.hidden_rows = hidden_rows_.as<int32_t>();
      next.made = made;
      TESSERA_RETURN_IF_ERROR(cuda::next_draft(next, pass_->queue));
      pass_->tables = cuda::step_tables(pass_->step_memory, bounds_of(GraphSizes::plain_step(samples)));
      pass_->begin_again();
      pass_->hidden_rows = next.hidden_rows;
    }
    TESSERA_RETURN_IF_ERROR(parts_.model->forward_mtp(*pass_, made % config().mtp_layers));
    TESSERA_RETURN_IF_ERROR(enqueue_draws(samples));
  }
  return pass_->end(reinterpret_cast<const std::byte*>(cuda::newest_draws(pass_->step_memory)));
}

/// Of the samples that the host laid down.
Status CudaRunner::enqueue_draws(int32_t rows_max) {
  if (rows_max == 0) return {};
  return sampler_.draw(*pass_, cuda::payload(pass_->step_memory) + wanted_bytes(), rows_max,
                       cuda::result(pass_->step_memory));
}

/// A pass without rows, which draws nothing: what the device last had of sample tables would be drawn, and counted,
/// once more.
Status CudaRunner::run_empty(const cuda::StepTables& bounds, int drafts) {
  TESSERA_RETURN_IF_ERROR(read_all_drafts(pass_->begun));
  TESSERA_RETURN_IF_ERROR(stage({}, {}, {}));
  TESSERA_RETURN_IF_ERROR(enqueue(bounds, drafts));
  TESSERA_CUDA_RETURN_IF_ERROR(cudaStreamSynchronize(pass_->stream.get()));
  return {};
}

/// Such passes of the widest bounds: loads every kernel and takes all scratch memory.
Status CudaRunner::warm_up() {
  const auto run = [&](const cuda::StepTables& bounds) -> Status {
    TESSERA_RETURN_IF_ERROR(run_empty(bounds, 0));
    if (parts_.drafts_max == 0) return {};
    cuda::StepTables head = bounds;
    head.logit_rows_max = std::min(bounds.logit_rows_max, parts_.sequences_max);
    return run_empty(head, std::min(parts_.drafts_max, 2));
  };
  for (const int32_t rows : {1, 1 + parts_.drafts_max}) {
    PassSize decode{.rows = std::min(rows * parts_.sequences_max, parts_.rows_max), .sequences = parts_.sequences_max};
    decode.samples = std::min(decode.rows, parts_.samples_max);
    TESSERA_RETURN_IF_ERROR(run(bounds_of(decode)));
  }
  cuda::StepTables prefill;
  prefill.rows_max = parts_.rows_max;
  prefill.sequences_max = parts_.sequences_max;
  prefill.logit_rows_max = parts_.samples_max;
  TESSERA_RETURN_IF_ERROR(run(prefill));
  prefill.decode_rows_max = prefill.decode_sequences_max = std::min(parts_.sequences_max, parts_.rows_max - 1);
  return run(prefill);
}

Status CudaRunner::capture(const PassSize& size) {
  const cuda::StepTables bounds = bounds_of(size);
  // Once as it is: what the runtime does for a kernel's first launch is not for a capture.
  TESSERA_RETURN_IF_ERROR(run_empty(bounds, size.drafts));

  const uint64_t begun = pass_->begun;
  TESSERA_RETURN_IF_ERROR(graphs_.capture(size, pass_->stream.get(), [&] { return enqueue(bounds, size.drafts); }));
  pass_->begun = pass_->ended = begun;  // nothing has run
  return {};
}

Status CudaRunner::prepare() {
  TESSERA_CUDA_RETURN_IF_ERROR(cudaSetDevice(parts_.gpu));
  TESSERA_RETURN_IF_ERROR(check_drafting());
  TESSERA_RETURN_IF_ERROR(take_memory());
  TESSERA_RETURN_IF_ERROR(warm_up());
  pass_->arena.freeze();
  if (!parts_.graphs) return {};
  const GraphSizes& sizes = graphs_.sizes();
  for (const int32_t n : sizes.sequences()) TESSERA_RETURN_IF_ERROR(capture(GraphSizes::plain_step(n)));
  std::vector<PassSize> wanted = sizes.with_drafts(parts_.drafts_max);
  std::ranges::copy(sizes.with_prompts(parts_.drafts_max), std::back_inserter(wanted));
  graphs_.want(std::move(wanted));
  return {};
}

Expected<bool> CudaRunner::prepare_ahead() {
  TESSERA_CHECK(under_way_.empty() && done_.empty());
  TESSERA_CUDA_RETURN_IF_ERROR(cudaSetDevice(parts_.gpu));
  TESSERA_ASSIGN_OR_RETURN(const std::optional<PassSize> wanted, graphs_.next_wanted());
  if (!wanted) return false;
  TESSERA_RETURN_IF_ERROR(capture(*wanted));
  return true;
}

/// nullopt: the pass is launched kernel by kernel.
std::optional<PassSize> CudaRunner::graph_size(const kernels::Batch& batch, const PassSize& size) const {
  if (!parts_.graphs) return std::nullopt;
  for (const kernels::SequenceRows& sequence : batch.sequences) {
    if (sequence.row_class == kernels::RowClass::decode && sequence.rows > 1 + parts_.drafts_max) return std::nullopt;
  }
  return graphs_.size_of(size);
}

/// The graph that a pass wants now and that is not there yet; those of prompts are made while there is nothing to do.
/// Before it can be captured, all passes under way must have ended and their results been read.
std::optional<PassSize> CudaRunner::missing_graph(const kernels::Batch& batch, const PassSize& size) const {
  if (size.prompt_rows > 0) return std::nullopt;
  const std::optional<PassSize> captured = graph_size(batch, size);
  return captured && graphs_.find(*captured) == nullptr ? captured : std::nullopt;
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

/// Lays the next pass down, once there is room: of the two before, the older one has ended, and its drafts are read.
Status CudaRunner::stage(const kernels::Batch& batch, std::span<const kernels::SampleRow> samples,
                         std::span<const int32_t> wanted, bool draws_later) {
  if (pass_->begun >= 2) {
    TESSERA_RETURN_IF_ERROR(wait_for(pass_->begun - 2));
    TESSERA_RETURN_IF_ERROR(read_all_drafts(pass_->begun - 1));
  }
  logit_rows_.clear();
  for (const kernels::SampleRow& sample : samples) logit_rows_.push_back(sample.row);
  const std::span<std::byte> payload = pass_->payload_area();
  std::copy(wanted.begin(), wanted.end(), reinterpret_cast<int32_t*>(payload.data()));
  if (draws_later) samples = {};
  TESSERA_ASSIGN_OR_RETURN(const size_t tables, sampler_.write_tables(samples, std::span(unsure_).first(samples.size()),
                                                                      payload.subspan(wanted_bytes())));
  return pass_->stage(batch, logit_rows_, wanted_bytes() + tables,
                      wanted.empty() ? samples.size() * sizeof(cuda::SampleOutput) : newest_bytes());
}

/// Runs what has been staged.
Status CudaRunner::launch(const kernels::Batch& batch, const PassSize& size) {
  const std::optional<PassSize> captured = graph_size(batch, size);
  const cudaGraphExec_t graph = captured ? graphs_.find(*captured) : nullptr;
  if (graph == nullptr) return enqueue(cuda::bounds_of(batch, size.samples), size.drafts);
  TESSERA_CUDA_RETURN_IF_ERROR(cudaGraphLaunch(graph, pass_->stream.get()));
  ++pass_->begun;
  ++pass_->ended;
  return {};
}

PassSize size_of(const kernels::Batch& batch, size_t samples, int drafts = 0) {
  PassSize size{.drafts = drafts, .samples = static_cast<int32_t>(samples)};
  for (const kernels::SequenceRows& sequence : batch.sequences) {
    const bool decodes = sequence.row_class == kernels::RowClass::decode;
    (decodes ? size.rows : size.prompt_rows) += sequence.rows;
    ++(decodes ? size.sequences : size.prompt_sequences);
  }
  return size;
}

/// Of rows that draw one behind the other the device does not know which was the newest draw; the host does.
void CudaRunner::resolve_tokens(const Step& step) {
  tokens_ = step.tokens;
  for (const kernels::SequenceRows& sequence : step.sequences) {
    int32_t& known = known_draws_[static_cast<size_t>(sequence.state_slot)];
    for (int32_t row = sequence.first_row; row < sequence.first_row + sequence.rows; ++row) {
      int32_t& token = tokens_[static_cast<size_t>(row)];
      if (token == kLastDrawn && known >= 0) token = known;
    }
  }
  for (const kernels::SampleRow& sample : step.samples) {
    if (sample.target < 0) known_draws_[static_cast<size_t>(sample.slot)] = -1;
  }
}

/// Which draws may not hold: those of rows that draw one behind the other.
void CudaRunner::find_unsure(const Step& step) {
  unsure_.assign(step.samples.size(), {});
  for (size_t i = 1; i < step.samples.size(); ++i) {
    const kernels::SampleRow &before = step.samples[i - 1], &row = step.samples[i];
    if (before.slot != row.slot || before.target >= 0) continue;
    unsure_[i - 1].is_unsure = unsure_[i].is_unsure = true;
    // Tokens of the rows behind the first one that draws, up to this one.
    const size_t drafts = unsure_[i - 1].drafts.size() + static_cast<size_t>(row.row - before.row);
    unsure_[i].drafts = std::span(tokens_).subspan(static_cast<size_t>(row.row) + 1 - drafts, drafts);
  }
}

Status CudaRunner::submit(const Step& step) {
  TESSERA_CHECK_LE(done_.size() + under_way_.size(), size_t{1});
  TESSERA_CUDA_RETURN_IF_ERROR(cudaSetDevice(parts_.gpu));
  if (step.tokens.empty()) return move_pages(step.moves);
  while (!under_way_.empty() && under_way_.back().kept) TESSERA_RETURN_IF_ERROR(finish_oldest());
  const PassSize size = size_of(step.batch(), step.samples.size());
  if (const auto missing = missing_graph(step.batch(), size)) {
    while (!under_way_.empty()) TESSERA_RETURN_IF_ERROR(finish_oldest());
    TESSERA_RETURN_IF_ERROR(capture(*missing));
  }
  resolve_tokens(step);
  find_unsure(step);
  const kernels::Batch batch{.tokens = tokens_, .sequences = step.sequences};
  TESSERA_RETURN_IF_ERROR(stage(batch, step.samples, {}, step.draws_later));
  for (const kernels::PageMove& move : step.moves) {
    TESSERA_RETURN_IF_ERROR(pass_->cache->move(move, *parts_.pages, pass_->stream.get()));
  }
  TESSERA_RETURN_IF_ERROR(sampler_.set_histories(*pass_, step.histories));
  TESSERA_RETURN_IF_ERROR(copy_states(step.copies));
  UnderWay& under_way = under_way_.emplace_back();
  under_way.pass = pass_->begun;
  under_way.samples = step.samples.size();
  under_way.draws_later = step.draws_later;
  TESSERA_RETURN_IF_ERROR(launch(batch, size));
  if (KeptStep::is_needed(step)) under_way.kept.emplace(step);
  TESSERA_CHECK(!step.draws_later || !under_way.kept);
  return {};
}

/// Behind the step in the stream. Nobody reads the tables of such draws before these: their step was collected.
Status CudaRunner::draw(std::span<const kernels::SampleRow> samples) {
  TESSERA_CHECK(under_way_.size() == 1 && done_.empty());
  const UnderWay& step = under_way_.back();
  TESSERA_CHECK(step.draws_later && samples.size() == step.samples);
  TESSERA_CUDA_RETURN_IF_ERROR(cudaSetDevice(parts_.gpu));
  return sampler_.draw_later(*pass_, samples);
}

/// A step that does nothing else. It waits for them: there is no pass that could say when they have ended.
Status CudaRunner::move_pages(std::span<const kernels::PageMove> moves) {
  while (!under_way_.empty()) TESSERA_RETURN_IF_ERROR(finish_oldest());
  for (const kernels::PageMove& move : moves) {
    TESSERA_RETURN_IF_ERROR(pass_->cache->move(move, *parts_.pages, pass_->stream.get()));
  }
  const WatchedCall watched("cudaStreamSynchronize");
  TESSERA_CUDA_RETURN_IF_ERROR(cudaStreamSynchronize(pass_->stream.get()));
  done_.emplace_back();
  return {};
}

/// The number in mapped memory is what is waited for; the stream is asked now and then whether it still can come.
Status CudaRunner::wait_for(uint64_t pass) const {
  const auto begin = std::chrono::steady_clock::now();
  for (uint64_t spins = 1; pass_->done() <= pass; ++spins) {
    if (spins % 4096 != 0) continue;
    const WatchedCall watched("cudaStreamQuery");
    const cudaError_t state = cudaStreamQuery(pass_->stream.get());
    if (state != cudaSuccess && state != cudaErrorNotReady) return device::cuda_status(state, "a step on the GPU");
    if (state == cudaSuccess && pass_->done() <= pass) {
      return error(StatusCode::internal, "the GPU has ended step {} without saying so", pass);
    }
    if (std::chrono::steady_clock::now() - begin > kHangLimit) {
      return error(StatusCode::unavailable, "step {} has been on the GPU for {} s: it hangs", pass, kHangLimit.count());
    }
  }
  std::atomic_thread_fence(std::memory_order_acquire);
  return {};
}

/// Waits for the oldest step, and does what there is to do behind it.
Status CudaRunner::finish_oldest() {
  UnderWay& step = under_way_.front();
  TESSERA_RETURN_IF_ERROR(step.draws_later ? sampler_.wait_for_later() : wait_for(step.pass));
  const auto* outputs = reinterpret_cast<const cuda::SampleOutput*>(step.draws_later ? sampler_.later_results()
                                                                                     : pass_->results(step.pass));
  Results& results = done_.emplace_back();
  for (size_t i = 0; i < step.samples; ++i) {
    results.samples.push_back(cuda::sample_result(outputs[i], parts_.known_ids));
  }
  if (step.kept) {
    TESSERA_RETURN_IF_ERROR(read_all_drafts(step.pass));
    step.kept->set_drafts(known_drafts_);
    if (!parts_.assumed_acceptance.empty()) step.kept->assume(parts_.assumed_acceptance, random_, results.samples);
    TESSERA_RETURN_IF_ERROR(finish_kept(*step.kept, results));
  }
  under_way_.pop_front();
  return {};
}

Status CudaRunner::finish_kept(KeptStep& kept, Results& results) {
  kept.set_results(results.samples);
  for (const KeptStep::Sequence& sequence : kept.sequences()) {
    if (!sequence.draws_several) continue;
    known_draws_[static_cast<size_t>(sequence.slot)] = sequence.drawn.back();
    // Nothing reads the slot's place any more: the step behind what did has ended.
    if (sequence.has_penalty) TESSERA_RETURN_IF_ERROR(sampler_.count(*pass_, sequence.slot, sequence.drawn));
  }
  return kept.drafts() ? draft(kept, results) : Status();
}

/// All that the head does behind a step. A draft gets to the passes and rows behind it on the device; the host reads
/// it when it is asked for, or its place is wanted for another's.
Status CudaRunner::draft(const KeptStep& kept, Results& results) {
  HeadPass pass;
  kept.first_pass(pass);
  const kernels::Batch batch{.tokens = pass.tokens, .sequences = pass.sequences};
  const int32_t passes = pass.wanted.empty() ? 1 : std::ranges::max(pass.wanted);
  const PassSize size = size_of(batch, pass.samples.size(), passes);
  if (const auto missing = missing_graph(batch, size)) TESSERA_RETURN_IF_ERROR(capture(*missing));
  unsure_.assign(pass.samples.size(), {.is_unsure = true});
  TESSERA_RETURN_IF_ERROR(stage(batch, pass.samples, pass.wanted));
  TESSERA_RETURN_IF_ERROR(launch(batch, size));
  results.unread = {.pass = pass_->begun - 1, .drafts = kept.all_drafts()};
  results.drafts.resize(results.unread->drafts.size());
  return {};
}

/// If they are of a pass before that one, which is waited for. Results of two passes are kept: they are read before a
/// third one begins.
Status CudaRunner::read_drafts(Results& results, uint64_t before) {
  if (!results.unread || results.unread->pass >= before) return {};
  TESSERA_RETURN_IF_ERROR(wait_for(results.unread->pass));
  const auto* newest = reinterpret_cast<const int32_t*>(pass_->results(results.unread->pass));
  for (const HeadPass::Draft& draft : results.unread->drafts) {
    const int32_t token = newest[(1 + draft.number) * slots() + draft.slot];
    results.drafts[draft.place] = token;
    known_drafts_.set(draft, token);
  }
  results.unread.reset();
  return {};
}

Status CudaRunner::read_all_drafts(uint64_t before) {
  TESSERA_RETURN_IF_ERROR(read_drafts(collected_, before));
  for (Results& results : done_) TESSERA_RETURN_IF_ERROR(read_drafts(results, before));
  return {};
}

Expected<std::span<const SampleResult>> CudaRunner::collect() {
  TESSERA_CUDA_RETURN_IF_ERROR(cudaSetDevice(parts_.gpu));
  if (done_.empty()) {
    TESSERA_CHECK(!under_way_.empty());
    TESSERA_RETURN_IF_ERROR(finish_oldest());
  }
  collected_ = std::move(done_.front());
  done_.pop_front();
  return std::span<const SampleResult>(collected_.samples);
}

Expected<std::span<const int32_t>> CudaRunner::drafts() {
  TESSERA_CUDA_RETURN_IF_ERROR(cudaSetDevice(parts_.gpu));
  TESSERA_RETURN_IF_ERROR(read_drafts(collected_, pass_->begun));
  return std::span<const int32_t>(collected_.drafts);
}

}  // namespace

Expected<std::unique_ptr<StepRunner>> make_cuda_runner(const CudaRunnerParts& parts) {
  auto runner = std::make_unique<CudaRunner>(parts);
  TESSERA_RETURN_IF_ERROR(runner->prepare());
  return std::unique_ptr<StepRunner>(std::move(runner));
}

}  // namespace tessera::model
