#include "engine/step_loop.h"

#include <algorithm>
#include <random>

#include "base/check.h"
#include "engine/fit.h"
#include "engine/guide_state.h"
#include "kernels/cpu/backend.h"
#include "kernels/noise.h"

namespace tessera::engine {

struct StepLoop::OpenRequest {
  std::shared_ptr<const std::vector<int32_t>> prompt;
  SamplingParams params;
  kernels::SampleParams sample;  // the same, as the sampler takes them
  Guide guide;
  int64_t max_tokens = 0;  // resolved: what was asked for, or what the context leaves
  uint64_t noise_key = 0;
  std::vector<int32_t> stop_ids;  // sorted
  std::vector<ChoiceText> texts;  // one for each choice, until it opens
  std::shared_ptr<EventChannel> channel;
  int open_choices = 0;
};

struct StepLoop::Choice : Sequence {
  Choice(const std::shared_ptr<OpenRequest>& of_request, int number)
      : request(of_request),
        index(number),
        text(std::move(of_request->texts[static_cast<size_t>(number)])),
        guide(request->guide) {
    prompt = request->prompt;
    if (request->sample.has_penalty()) counts.emplace(*prompt);
    if (index == 0 && request->params.prompt_logprobs) {
      wants_prompt_logits = true;
      prompt_logprobs.resize(prompt->size());
    }
  }

  std::shared_ptr<OpenRequest> request;
  int index;
  ChoiceText text;
  GuideState guide;
  std::optional<kernels::TokenCounts> counts;
  std::vector<std::vector<TokenLogprob>> prompt_logprobs;
  bool finished = false;
};

namespace {

uint64_t random_seed() {
  std::random_device device;
  return (uint64_t{device()} << 32) | device();
}

kernels::SampleParams sample_params(const SamplingParams& params) {
  return {.temperature = params.temperature,
          .top_k = params.top_k,
          .top_p = params.top_p,
          .min_p = params.min_p,
          .repetition_penalty = params.repetition_penalty,
          .presence_penalty = params.presence_penalty,
          .frequency_penalty = params.frequency_penalty,
          .logit_bias = params.logit_bias,
          .logprobs = params.logprobs};
}

std::vector<int32_t> stop_ids(const SamplingParams& params, const std::vector<int32_t>& eos) {
  std::vector<int32_t> ids = params.stop_token_ids;
  if (!params.ignore_eos) ids.insert(ids.end(), eos.begin(), eos.end());
  std::sort(ids.begin(), ids.end());
  ids.erase(std::unique(ids.begin(), ids.end()), ids.end());
  return ids;
}

}  // namespace

StepLoop::StepLoop(StepLoopParts parts)
    : parts_(std::move(parts)),
      vocab_size_(parts_.model->config().vocab_size),
      known_ids_(parts_.tokenizer != nullptr ? std::min<int64_t>(vocab_size_, parts_.tokenizer->vocab_size())
                                             : vocab_size_),
      scheduler_({.blocks = parts_.cache->shape().blocks,
                  .slots = parts_.cache->shape().state_slots,
                  .max_batched_rows = parts_.max_num_batched_tokens}),
      pass_(*parts_.model->make_pass(
          {.rows_max = parts_.max_num_batched_tokens,
           .sequences_max = parts_.cache->shape().state_slots,
           .logit_rows_max = static_cast<int32_t>(logit_rows_max(parts_.cache->shape().state_slots)),
           .state_slots = parts_.cache->shape().state_slots,
           .sequence_blocks_max = parts_.cache->shape().blocks})),
      samplers_(static_cast<size_t>(parts_.pool->size())) {
  TESSERA_CHECK(scheduler_.check_fits(parts_.max_model_len).ok());
  send_events();
}

StepLoop::~StepLoop() = default;

Expected<std::shared_ptr<EventChannel>> StepLoop::submit(Request request) {
  SamplingParams& params = request.sampling;
  auto open = std::make_shared<OpenRequest>();
  const auto prompt_size = static_cast<int64_t>(request.prompt.size());
  const int64_t room = parts_.max_model_len - prompt_size;
  open->max_tokens = params.max_tokens < 0 ? room : std::min(params.max_tokens, room);
  TESSERA_RETURN_IF_ERROR(scheduler_.check_fits(prompt_size + open->max_tokens));
  open->noise_key = kernels::noise_key(params.seed ? *params.seed : random_seed(), request.prompt);
  open->stop_ids = stop_ids(params, parts_.eos_token_ids);
  for (int i = 0; i < params.n; ++i) {
    TESSERA_ASSIGN_OR_RETURN(ChoiceText text, ChoiceText::create(parts_.tokenizer, params));
    open->texts.push_back(std::move(text));
  }
  open->channel = std::make_shared<EventChannel>(params.n);
  open->open_choices = params.n;
  open->prompt = std::make_shared<const std::vector<int32_t>>(std::move(request.prompt));
  open->sample = sample_params(params);
  open->params = std::move(params);
  open->guide = std::move(request.guide);

  const std::lock_guard lock(mutex_);
  if (closing_) return Status(StatusCode::cancelled, "the engine is shutting down");
  if (open_requests_ == kMaxOpenRequests) {
    return error(StatusCode::resource_exhausted, "{} requests are open already; try again when some have finished",
                 kMaxOpenRequests);
  }
  ++open_requests_;
  inbox_.push_back(open);
  wake_.notify_one();
  return open->channel;
}

EngineStats StepLoop::stats() const {
  const std::lock_guard lock(mutex_);
  EngineStats stats = stats_;
  for (const auto& request : inbox_) stats.waiting += request->open_choices;
  return stats;
}

void StepLoop::close() {
  const std::lock_guard lock(mutex_);
  closing_ = true;
  wake_.notify_one();
}

void StepLoop::run() {
  while (wait_for_work()) step();
  end_everything();
}

bool StepLoop::wait_for_work() {
  std::unique_lock lock(mutex_);
  wake_.wait(lock, [this] { return closing_ || !inbox_.empty() || !choices_.empty(); });
  return !closing_;
}

bool StepLoop::step() {
  take_submissions();
  drop_cancelled();
  const std::vector<ScheduledRows>& plan = scheduler_.plan();
  if (plan.empty()) return false;
  build_batch(plan);
  TESSERA_CHECK(parts_.model->backend()
                    .begin(*pass_, *parts_.cache, {.tokens = tokens_, .sequences = sequences_}, logit_row_index_)
                    .ok());
  TESSERA_CHECK(parts_.model->forward(*pass_).ok());
  scheduler_.commit();
  ++counts_.steps;
  sample();
  deliver();
  return true;
}

void StepLoop::take_submissions() {
  std::vector<std::shared_ptr<OpenRequest>> arrived;
  {
    const std::lock_guard lock(mutex_);
    arrived.swap(inbox_);
  }
  for (const auto& request : arrived) open_choices(request);
}

void StepLoop::open_choices(const std::shared_ptr<OpenRequest>& request) {
  counts_.prompt_tokens += request->prompt->size();
  for (int i = 0; i < request->params.n; ++i) {
    choices_.push_back(std::make_unique<Choice>(request, i));
    scheduler_.add(choices_.back().get());
  }
}

void StepLoop::drop_cancelled() {
  for (const auto& choice : choices_) {
    if (choice->request->channel->cancelled()) finish(*choice, {.finish_reason = FinishReason::cancelled});
  }
  send_events();
}

void StepLoop::build_batch(std::span<const ScheduledRows> plan) {
  tokens_.clear();
  sequences_.clear();
  logit_rows_.clear();
  logit_row_index_.clear();
  for (const ScheduledRows& item : plan) {
    const Sequence& sequence = *item.sequence;
    const auto first_row = static_cast<int32_t>(tokens_.size());
    sequences_.push_back({.first_row = first_row,
                          .rows = item.rows,
                          .first_position = static_cast<int32_t>(sequence.computed),
                          .row_class = item.row_class,
                          .state_slot = sequence.slot,
                          .block_table = sequence.blocks});
    for (int32_t i = 0; i < item.rows; ++i) tokens_.push_back(sequence.token(sequence.computed + i));
    add_logit_rows(item, first_row);
  }
}

void StepLoop::add_logit_rows(const ScheduledRows& item, int32_t first_row) {
  auto* choice = static_cast<Choice*>(item.sequence);
  for (int32_t i = item.needs_all_logits ? 0 : item.rows - 1; i < item.rows; ++i) {
    const int64_t position = choice->computed + i + 1;
    const bool in_prompt = position < choice->prompt_size();
    if (in_prompt ? !item.needs_all_logits : !item.needs_next_token) continue;
    logit_row_index_.push_back(first_row + i);
    logit_rows_.push_back({.choice = choice, .position = position, .in_prompt = in_prompt});
  }
}

void StepLoop::sample() {
  parts_.pool->run_chunks(static_cast<int64_t>(logit_rows_.size()), [this](int64_t i, int thread) {
    float* logits = kernels::cpu::logits(*pass_).data() + i * vocab_size_;
    sample_row(logit_rows_[static_cast<size_t>(i)], {logits, static_cast<size_t>(vocab_size_)},
               samplers_[static_cast<size_t>(thread)]);
  });
}

void StepLoop::sample_row(LogitRow& row, std::span<float> logits, kernels::Sampler& sampler) const {
  const Choice& choice = *row.choice;
  const OpenRequest& request = *choice.request;
  if (row.in_prompt) {
    auto logprobs = sampler.logprobs(logits, choice.token(row.position), *request.params.prompt_logprobs);
    row.status = logprobs.status();
    if (logprobs.ok()) row.draw.logprobs = *std::move(logprobs);
    return;
  }
  if (request.max_tokens == 0) return;
  const bool may_stop = static_cast<int64_t>(choice.output.size()) >= request.params.min_tokens;
  kernels::DrawArgs args;
  args.logits = logits;
  args.known_ids = known_ids_;
  args.params = &request.sample;
  args.counts = choice.counts ? &*choice.counts : nullptr;
  if (!may_stop) args.banned = request.stop_ids;
  std::vector<uint32_t> allowed;
  if (!choice.guide.allowed().empty()) {
    allowed.resize(static_cast<size_t>((vocab_size_ + 31) / 32));
    for (const int32_t id : choice.guide.allowed()) allowed[static_cast<size_t>(id) / 32] |= 1U << (id % 32);
    args.allowed = allowed;
  }
  args.noise = {.key = request.noise_key,
                .choice = static_cast<uint32_t>(choice.index),
                .position = static_cast<uint64_t>(row.position)};
  auto draw = sampler.draw(args);
  row.status = draw.status();
  if (draw.ok()) row.draw = *std::move(draw);
}

void StepLoop::deliver() {
  for (LogitRow& row : logit_rows_) {
    Choice& choice = *row.choice;
    if (choice.finished) continue;
    if (!row.status.ok()) {
      finish(choice, {.finish_reason = FinishReason::error,
                      .error = row.status.with_context(fmt::format("at position {}", row.position))});
    } else if (row.in_prompt) {
      choice.prompt_logprobs[static_cast<size_t>(row.position)] = std::move(row.draw.logprobs);
    } else if (choice.request->max_tokens == 0) {
      finish(choice, {.prompt_logprobs = std::move(choice.prompt_logprobs), .finish_reason = FinishReason::length});
    } else {
      deliver_token(row);
    }
  }
  send_events();
}

void StepLoop::deliver_token(LogitRow& row) {
  Choice& choice = *row.choice;
  const OpenRequest& request = *choice.request;
  const int32_t token = row.draw.token;
  choice.output.push_back(token);
  if (choice.counts) choice.counts->add_output(token);
  choice.guide.advance(token);
  ++counts_.generated_tokens;

  Event event;
  event.choice = choice.index;
  event.tokens = {token};
  if (request.params.logprobs) event.logprobs.push_back(std::move(row.draw.logprobs));
  event.prompt_logprobs = std::move(choice.prompt_logprobs);
  choice.prompt_logprobs.clear();
  choice.wants_prompt_logits = false;

  const auto generated = static_cast<int64_t>(choice.output.size());
  const bool stop_token = std::binary_search(request.stop_ids.begin(), request.stop_ids.end(), token);
  std::optional<std::string> stop;
  if (!stop_token || request.params.include_stop_str_in_output) {
    stop = choice.text.feed(token, generated > request.params.min_tokens, event.text);
  }
  if (stop_token || stop) {
    event.finish_reason = FinishReason::stop;
    event.stop_reason = stop ? *stop : std::to_string(token);
  } else if (generated == request.max_tokens) {
    event.finish_reason = FinishReason::length;
  }
  if (event.finish_reason == FinishReason::none) {
    outgoing_.emplace_back(request.channel, std::move(event));
  } else {
    if (!stop) choice.text.flush(event.text);
    finish(choice, std::move(event));
  }
}

/// Frees what the choice holds; its last event goes out with send_events.
void StepLoop::finish(Choice& choice, Event event) {
  scheduler_.remove(&choice);
  choice.finished = true;
  event.choice = choice.index;
  outgoing_.emplace_back(choice.request->channel, std::move(event));
}

/// Forgets the choices that have finished, publishes the numbers, then sends what has gathered: who sees the last
/// event sees numbers without it.
void StepLoop::send_events() {
  int finished_requests = 0;
  std::erase_if(choices_, [&](const std::unique_ptr<Choice>& choice) {
    if (choice->finished && --choice->request->open_choices == 0) ++finished_requests;
    return choice->finished;
  });
  counts_.running = static_cast<int>(scheduler_.running().size());
  counts_.waiting = static_cast<int>(scheduler_.waiting().size());
  counts_.kv_blocks_used = scheduler_.blocks().used();
  counts_.kv_blocks_total = scheduler_.blocks().size();
  counts_.state_slots_used = scheduler_.slots().used();
  counts_.state_slots_total = scheduler_.slots().size();
  counts_.preemptions = scheduler_.preemptions();
  {
    const std::lock_guard lock(mutex_);
    stats_ = counts_;
    open_requests_ -= finished_requests;
  }
  for (auto& [channel, event] : outgoing_) channel->push(std::move(event));
  outgoing_.clear();
}

void StepLoop::end_everything() {
  take_submissions();
  for (const auto& choice : choices_) finish(*choice, {.finish_reason = FinishReason::cancelled});
  send_events();
}

}  // namespace tessera::engine
