#include "model/cpu_runner.h"

#include <algorithm>
#include <deque>
#include <optional>
#include <utility>
#include <vector>

#include "base/check.h"
#include "kernels/cpu/backend.h"
#include "kernels/cpu/cache.h"
#include "kernels/cpu/sampler.h"
#include "kernels/cpu/token_counts.h"
#include "model/kept_step.h"

namespace tessera::model {
namespace {

class CpuRunner final : public StepRunner {
 public:
  CpuRunner(const CpuRunnerParts& parts, std::unique_ptr<kernels::Pass> pass);

  [[nodiscard]] int steps_ahead() const override { return parts_.steps_ahead; }
  [[nodiscard]] int drafts_max() const override { return parts_.drafts_max; }
  [[nodiscard]] bool draws_later() const override { return true; }
  Expected<std::span<const int32_t>> drafts() override { return std::span<const int32_t>(collected_.drafts); }
  Status submit(const Step& step) override;
  Status draw(std::span<const kernels::SampleRow> samples) override;
  Expected<std::span<const kernels::SampleResult>> collect() override;

 private:
  struct Slot {
    int32_t last_drawn = 0;
    std::optional<kernels::TokenCounts> counts;  // of the sequence that last brought a history
  };

  /// What came of a step.
  struct Results {
    std::vector<kernels::SampleResult> samples;
    std::vector<int32_t> drafts;
  };
  void resolve_tokens(const Step& step);
  void start_histories(const Step& step);
  void sample_all(std::span<const kernels::SampleRow> samples, std::vector<kernels::SampleResult>& results);
  void sample_sequence(std::span<const kernels::SampleRow> samples, size_t sequence,
                       std::span<kernels::SampleResult> results, kernels::Sampler& sampler);
  kernels::SampleResult sample(const kernels::SampleRow& row, std::span<float> logits, kernels::Sampler& sampler) const;
  [[nodiscard]] std::span<float> logits_of(size_t logit_row) const;
  Status draft(const Step& step, Results& results);
  Status run_head(HeadPass& head, int mtp_layer, std::vector<int32_t>& drafts);

  CpuRunnerParts parts_;
  int64_t vocab_size_;
  std::vector<Slot> slots_;  // by state slot
  KnownDrafts known_drafts_;
  std::vector<int32_t> tokens_;                        // [rows]
  std::vector<int32_t> logit_rows_;                    // [samples]
  std::vector<std::pair<size_t, size_t>> samples_of_;  // [sequences]: first, and one behind the last
  std::unique_ptr<kernels::Pass> pass_;
  std::vector<kernels::Sampler> samplers_;  // one for each thread of the pool
  std::deque<Results> done_;                // by step, oldest first
  Results collected_;
};

CpuRunner::CpuRunner(const CpuRunnerParts& parts, std::unique_ptr<kernels::Pass> pass)
    : parts_(parts),
      vocab_size_(parts.model->config().vocab_size),
      slots_(static_cast<size_t>(parts.cache->shape().state_slots)),
      known_drafts_(parts.cache->shape().state_slots),
      pass_(std::move(pass)),
      samplers_(static_cast<size_t>(parts.pool->size())) {
  TESSERA_CHECK(parts.known_ids >= 1 && parts.known_ids <= vocab_size_);
}

Status CpuRunner::submit(const Step& step) {
  TESSERA_CHECK_LE(static_cast<int>(done_.size()), parts_.steps_ahead);
  TESSERA_CHECK_LE(static_cast<int64_t>(step.samples.size()), parts_.samples_max);
  auto& cache = static_cast<kernels::cpu::Cache&>(*parts_.cache);
  for (const kernels::PageMove& move : step.moves) cache.move(move, *parts_.pages);
  if (step.tokens.empty()) {
    done_.emplace_back();
    return {};
  }
  for (const kernels::StateCopy& copy : step.copies) cache.copy_state(copy);
  resolve_tokens(step);
  logit_rows_.clear();
  for (const kernels::SampleRow& sample : step.samples) logit_rows_.push_back(sample.row);
  TESSERA_RETURN_IF_ERROR(
      parts_.model->backend().begin(*pass_, cache, {.tokens = tokens_, .sequences = step.sequences}, logit_rows_));
  TESSERA_RETURN_IF_ERROR(parts_.model->forward(*pass_));

  start_histories(step);
  Results& results = done_.emplace_back();
  samples_of_.clear();
  for_samples(step, [this](const kernels::SequenceRows& /*sequence*/, size_t first, size_t end) {
    samples_of_.emplace_back(first, end);
  });
  if (step.draws_later) {
    TESSERA_CHECK(step.drafting.empty());
    return {};
  }
  sample_all(step.samples, results.samples);
  return step.drafting.empty() ? Status() : draft(step, results);
}

Status CpuRunner::draw(std::span<const kernels::SampleRow> samples) {
  TESSERA_CHECK_EQ(samples.size(), logit_rows_.size());
  TESSERA_CHECK(done_.size() == 1 && done_.back().samples.empty());
  sample_all(samples, done_.back().samples);
  return {};
}

/// One sequence beside the other; what one draws for its rows, in their order.
void CpuRunner::sample_all(std::span<const kernels::SampleRow> samples, std::vector<kernels::SampleResult>& results) {
  results.resize(samples.size());
  parts_.pool->run_chunks(static_cast<int64_t>(samples_of_.size()), [&](int64_t i, int thread) {
    sample_sequence(samples, static_cast<size_t>(i), results, samplers_[static_cast<size_t>(thread)]);
  });
}

void CpuRunner::sample_sequence(std::span<const kernels::SampleRow> samples, size_t sequence,
                                std::span<kernels::SampleResult> results, kernels::Sampler& sampler) {
  const auto [first, end] = samples_of_[sequence];
  for (size_t i = first; i < end; ++i) {
    const kernels::SampleRow& row = samples[i];
    results[i] = sample(row, logits_of(i), sampler);
    if (row.target >= 0) continue;
    Slot& slot = slots_[static_cast<size_t>(row.slot)];
    slot.last_drawn = results[i].token;
    if (row.params->has_penalty()) slot.counts->add_output(results[i].token);
    if (i + 1 < end && results[i].token != tokens_[static_cast<size_t>(row.row) + 1]) return;
  }
}

std::span<float> CpuRunner::logits_of(size_t logit_row) const {
  const auto vocab = static_cast<size_t>(vocab_size_);
  return kernels::cpu::logits(*pass_).subspan(logit_row * vocab, vocab);
}

/// The MTP head over the step's rows, each with the token behind it, and then over its own drafts.
Status CpuRunner::draft(const Step& step, Results& results) {
  KeptStep kept(step);
  kept.set_drafts(known_drafts_);
  kept.set_results(results.samples);
  results.drafts.resize(kept.all_drafts().size());
  HeadPass head;
  kept.first_pass(head);
  int32_t number = 0;
  do {
    TESSERA_RETURN_IF_ERROR(run_head(head, number % parts_.model->config().mtp_layers, results.drafts));
  } while (kept.next_pass(number++, head));
  return {};
}

Status CpuRunner::run_head(HeadPass& head, int mtp_layer, std::vector<int32_t>& drafts) {
  TESSERA_CHECK_LE(static_cast<int64_t>(head.samples.size()), parts_.samples_max);
  kernels::Backend& backend = parts_.model->backend();
  if (!head.hidden_rows.empty()) TESSERA_RETURN_IF_ERROR(backend.select_hidden(*pass_, head.hidden_rows));
  for (const kernels::SequenceRows& sequence : head.sequences) {
    int32_t& last = head.tokens[static_cast<size_t>(sequence.first_row + sequence.rows) - 1];
    if (last == kLastDrawn) last = slots_[static_cast<size_t>(sequence.state_slot)].last_drawn;
  }
  logit_rows_.clear();
  for (size_t i = 0; i < head.samples.size(); ++i) {
    logit_rows_.push_back(head.samples[i].row);
    int32_t& token = head.tokens[static_cast<size_t>(head.samples[i].row)];
    token = known_drafts_.resolve(head.samples[i].slot, token);
  }
  TESSERA_RETURN_IF_ERROR(
      backend.begin(*pass_, *parts_.cache, {.tokens = head.tokens, .sequences = head.sequences}, logit_rows_));
  TESSERA_RETURN_IF_ERROR(parts_.model->forward_mtp(*pass_, mtp_layer));
  parts_.pool->run_chunks(static_cast<int64_t>(head.samples.size()), [&](int64_t i, int thread) {
    const auto at = static_cast<size_t>(i);
    const int32_t token = sample(head.samples[at], logits_of(at), samplers_[static_cast<size_t>(thread)]).token;
    drafts[head.drafts[at].place] = token;
    known_drafts_.set(head.drafts[at], token);
  });
  return {};
}

void CpuRunner::resolve_tokens(const Step& step) {
  tokens_ = step.tokens;
  for (const kernels::SequenceRows& sequence : step.sequences) {
    for (int32_t row = sequence.first_row; row < sequence.first_row + sequence.rows; ++row) {
      int32_t& token = tokens_[static_cast<size_t>(row)];
      if (token == kLastDrawn) token = slots_[static_cast<size_t>(sequence.state_slot)].last_drawn;
      token = known_drafts_.resolve(sequence.state_slot, token);
    }
  }
}

void CpuRunner::start_histories(const Step& step) {
  for (const kernels::TokenHistory& history : step.histories) {
    auto& counts = slots_[static_cast<size_t>(history.slot)].counts;
    counts.emplace(history.prompt);
    for (const int32_t token : history.output) counts->add_output(token);
  }
}

kernels::SampleResult CpuRunner::sample(const kernels::SampleRow& row, std::span<float> logits,
                                        kernels::Sampler& sampler) const {
  if (row.target >= 0) {
    auto logprobs = sampler.logprobs(logits, row.target, row.params->logprobs.value_or(0));
    if (!logprobs.ok()) return {.status = logprobs.status()};
    return {.token = row.target, .logprobs = *std::move(logprobs)};
  }
  const auto& counts = slots_[static_cast<size_t>(row.slot)].counts;
  if (row.params->has_penalty()) TESSERA_CHECK(counts.has_value());
  auto draw = sampler.draw({.logits = logits,
                            .known_ids = parts_.known_ids,
                            .params = row.params,
                            .counts = row.params->has_penalty() ? &*counts : nullptr,
                            .banned = row.banned,
                            .allowed = row.allowed,
                            .noise = row.noise});
  if (!draw.ok()) return {.status = draw.status()};
  return {.token = draw->token, .logprobs = std::move(draw->logprobs)};
}

Expected<std::span<const kernels::SampleResult>> CpuRunner::collect() {
  TESSERA_CHECK(!done_.empty());
  collected_ = std::move(done_.front());
  done_.pop_front();
  return std::span<const kernels::SampleResult>(collected_.samples);
}

}  // namespace

Expected<std::unique_ptr<StepRunner>> make_cpu_runner(const CpuRunnerParts& parts) {
  const int32_t slots = parts.cache->shape().state_slots;
  TESSERA_ASSIGN_OR_RETURN(auto pass, parts.model->make_pass({.rows_max = parts.rows_max,
                                                              .sequences_max = slots,
                                                              .logit_rows_max = parts.samples_max,
                                                              .state_slots = slots,
                                                              .sequence_blocks_max = parts.cache->shape().blocks,
                                                              .keeps_hidden = parts.drafts_max > 0}));
  return std::unique_ptr<StepRunner>(std::make_unique<CpuRunner>(parts, std::move(pass)));
}

}  // namespace tessera::model
