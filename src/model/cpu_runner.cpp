#include "model/cpu_runner.h"

#include <deque>
#include <optional>
#include <utility>
#include <vector>

#include "base/check.h"
#include "kernels/cpu/backend.h"
#include "kernels/cpu/cache.h"
#include "kernels/cpu/sampler.h"
#include "kernels/cpu/token_counts.h"

namespace tessera::model {
namespace {

class CpuRunner final : public StepRunner {
 public:
  CpuRunner(const CpuRunnerParts& parts, std::unique_ptr<kernels::Pass> pass);

  [[nodiscard]] int steps_ahead() const override { return parts_.steps_ahead; }
  Status submit(const Step& step) override;
  Expected<std::span<const kernels::SampleResult>> collect() override;

 private:
  struct Slot {
    int32_t last_drawn = 0;
    std::optional<kernels::TokenCounts> counts;  // of the sequence that last brought a history
  };

  void resolve_tokens(const Step& step);
  void start_histories(const Step& step);
  kernels::SampleResult sample(const kernels::SampleRow& row, std::span<float> logits, kernels::Sampler& sampler) const;

  CpuRunnerParts parts_;
  int64_t vocab_size_;
  std::vector<Slot> slots_;          // by state slot
  std::vector<int32_t> tokens_;      // [rows]
  std::vector<int32_t> logit_rows_;  // [samples]
  std::unique_ptr<kernels::Pass> pass_;
  std::vector<kernels::Sampler> samplers_;               // one for each thread of the pool
  std::deque<std::vector<kernels::SampleResult>> done_;  // by step, oldest first
  std::vector<kernels::SampleResult> collected_;
};

CpuRunner::CpuRunner(const CpuRunnerParts& parts, std::unique_ptr<kernels::Pass> pass)
    : parts_(parts),
      vocab_size_(parts.model->config().vocab_size),
      slots_(static_cast<size_t>(parts.cache->shape().state_slots)),
      pass_(std::move(pass)),
      samplers_(static_cast<size_t>(parts.pool->size())) {
  TESSERA_CHECK(parts.known_ids >= 1 && parts.known_ids <= vocab_size_);
}

Status CpuRunner::submit(const Step& step) {
  TESSERA_CHECK_LE(static_cast<int>(done_.size()), parts_.steps_ahead);
  TESSERA_CHECK_LE(static_cast<int64_t>(step.samples.size()), parts_.samples_max);
  auto& cache = static_cast<kernels::cpu::Cache&>(*parts_.cache);
  for (const kernels::StateCopy& copy : step.copies) cache.copy_state(copy);
  resolve_tokens(step);
  logit_rows_.clear();
  for (const kernels::SampleRow& sample : step.samples) logit_rows_.push_back(sample.row);
  TESSERA_RETURN_IF_ERROR(
      parts_.model->backend().begin(*pass_, cache, {.tokens = tokens_, .sequences = step.sequences}, logit_rows_));
  TESSERA_RETURN_IF_ERROR(parts_.model->forward(*pass_));

  start_histories(step);
  std::vector<kernels::SampleResult>& results = done_.emplace_back(step.samples.size());
  parts_.pool->run_chunks(static_cast<int64_t>(results.size()), [&](int64_t i, int thread) {
    const auto index = static_cast<size_t>(i);
    const std::span<float> logits =
        kernels::cpu::logits(*pass_).subspan(static_cast<size_t>(i * vocab_size_), static_cast<size_t>(vocab_size_));
    results[index] = sample(step.samples[index], logits, samplers_[static_cast<size_t>(thread)]);
  });
  for (size_t i = 0; i < results.size(); ++i) {
    const kernels::SampleRow& row = step.samples[i];
    if (row.target >= 0) continue;
    Slot& slot = slots_[static_cast<size_t>(row.slot)];
    slot.last_drawn = results[i].token;
    if (row.params->has_penalty()) slot.counts->add_output(results[i].token);
  }
  return {};
}

void CpuRunner::resolve_tokens(const Step& step) {
  tokens_ = step.tokens;
  for (const kernels::SequenceRows& sequence : step.sequences) {
    for (int32_t row = sequence.first_row; row < sequence.first_row + sequence.rows; ++row) {
      int32_t& token = tokens_[static_cast<size_t>(row)];
      if (token == kLastDrawn) token = slots_[static_cast<size_t>(sequence.state_slot)].last_drawn;
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
  return std::span<const kernels::SampleResult>(collected_);
}

}  // namespace

Expected<std::unique_ptr<StepRunner>> make_cpu_runner(const CpuRunnerParts& parts) {
  const int32_t slots = parts.cache->shape().state_slots;
  TESSERA_ASSIGN_OR_RETURN(auto pass, parts.model->make_pass({.rows_max = parts.rows_max,
                                                              .sequences_max = slots,
                                                              .logit_rows_max = parts.samples_max,
                                                              .state_slots = slots,
                                                              .sequence_blocks_max = parts.cache->shape().blocks}));
  return std::unique_ptr<StepRunner>(std::make_unique<CpuRunner>(parts, std::move(pass)));
}

}  // namespace tessera::model
