#include "simulation_draws.h"

#include <algorithm>
#include <string>

namespace tessera::engine {
namespace {

/// Kept: none, what the pools have left, more than that; or what they have left, and in a tier as little or more.
enum class Prefixes { off, few, many, few_in_tier, many_in_tier };

Guide random_guide(Dice& dice, const Fixture& f) {
  Guide guide;
  if (dice.one_in(2)) {
    guide.thinking_end = 40;
    if (dice.one_in(2)) {
      guide.thinking_tokens_max = dice.between(0, 6);
      guide.thinking_closer = {30, 31, 40};
    }
  }
  if (dice.one_in(2)) {
    guide.beginnings = {{50, 51, 52}, {50, 60}, {70, 51}};
  } else {
    guide.grammar = f.grammars[static_cast<size_t>(dice.between(0, static_cast<int64_t>(f.grammars.size()) - 1))];
  }
  return guide;
}

}  // namespace

SamplingParams random_sampling(Dice& dice, int64_t max_tokens) {
  SamplingParams params;
  params.seed = static_cast<uint64_t>(dice.between(0, 3));
  params.temperature = dice.one_of({0.0F, 0.3F, 1.0F, 3.0F});
  params.top_k = dice.one_of({0, 0, 1, 5, 50});
  params.top_p = dice.one_of({1.0F, 1.0F, 0.9F, 0.3F});
  params.min_p = dice.one_of({0.0F, 0.0F, 0.05F});
  if (dice.one_in(3)) params.repetition_penalty = 1.3F;
  if (dice.one_in(3)) params.presence_penalty = 0.7F;
  if (dice.one_in(3)) params.frequency_penalty = -0.4F;
  if (dice.one_in(4)) params.logit_bias = {{static_cast<int32_t>(dice.between(0, 3071)), 4.0F}};
  if (dice.one_in(3)) {  // so few that even this model's head guesses some
    for (int i = 0; i < 3; ++i) params.logit_bias.emplace_back(static_cast<int32_t>(dice.between(0, 99)), 30.0F);
  }
  if (dice.one_in(4)) params.bad_words = {"a", "the", dice.one_of<std::string>({"ing", "zq", "  b"})};
  if (dice.one_in(5)) {
    params.allowed_token_ids.resize(2000);
    for (int32_t& id : params.allowed_token_ids) id = static_cast<int32_t>(dice.between(0, 3071));
  }
  params.n = static_cast<int>(dice.one_of({1, 1, 1, 2, 3}));
  params.max_tokens = dice.one_in(4) ? -1 : dice.between(0, max_tokens);
  if (params.max_tokens > 0 && dice.one_in(3)) params.min_tokens = dice.between(0, params.max_tokens);
  params.ignore_eos = dice.one_in(2);
  if (dice.one_in(3)) {
    const int64_t count = dice.between(1, 60);
    for (int64_t i = 0; i < count; ++i) params.stop_token_ids.push_back(static_cast<int32_t>(dice.between(0, 3071)));
  }
  if (dice.one_in(3)) params.stop = {dice.one_of<std::string>({"e", "th", "ing", " a"}), "zzz"};
  params.include_stop_str_in_output = dice.one_in(2);
  if (dice.one_in(2)) params.logprobs = static_cast<int>(dice.between(0, 4));
  if (dice.one_in(3)) params.prompt_logprobs = static_cast<int>(dice.between(0, 3));
  return params;
}

std::vector<Job> random_jobs(Dice& dice, const Fixture& f, int64_t context, int64_t beginnings) {
  std::vector<Job> jobs(static_cast<size_t>(dice.between(3, 9) + 5 * (beginnings - 1)));
  std::vector<std::vector<int32_t>> commons(static_cast<size_t>(beginnings));
  for (auto& common : commons) {
    common.resize(static_cast<size_t>(context));
    for (int32_t& token : common) token = static_cast<int32_t>(dice.between(0, 3199));
  }
  for (size_t i = 0; i < jobs.size(); ++i) {
    Job& job = jobs[i];
    const std::vector<int32_t>& common = commons[i % commons.size()];
    const auto size = static_cast<size_t>(dice.one_in(2) ? dice.between(1, context - 1)
                                                         : dice.between(1, std::min<int64_t>(70, context - 1)));
    job.request.prompt.assign(common.begin(), common.begin() + static_cast<std::ptrdiff_t>(size));
    if (dice.one_in(2)) job.request.prompt.back() = static_cast<int32_t>(dice.between(0, 3199));
    job.request.sampling = random_sampling(dice, context - static_cast<int64_t>(size));
    if (dice.one_in(3)) job.request.guide = random_guide(dice, f);
    if (dice.one_in(6)) job.request.cache_salt = "another client";
    if (dice.one_in(2)) job.request.likely_ends = {dice.between(0, context), dice.between(0, context)};
    job.arrival_step = dice.between(0, 40) + static_cast<int64_t>(i) * 20 * (beginnings - 1);
    if (dice.one_in(4)) job.cancel_step = job.arrival_step + dice.between(0, 60);
  }
  std::stable_sort(jobs.begin(), jobs.end(),
                   [](const Job& a, const Job& b) { return a.arrival_step < b.arrival_step; });
  return jobs;
}

std::vector<IdleJob> random_idle_jobs(Dice& dice, std::vector<Job>& jobs, int64_t context) {
  if (dice.one_in(3)) return {};
  std::vector<IdleJob> idle;
  const int64_t pause = dice.between(0, 400);
  for (size_t i = 0; i < jobs.size(); ++i) {
    if (i >= jobs.size() / 2) jobs[i].arrival_step += pause;
    if (dice.one_in(3)) continue;
    IdleJob& job = idle.emplace_back();
    job.prefill = {.tokens = jobs[i].request.prompt, .cache_salt = jobs[i].request.cache_salt};
    const auto size = static_cast<int64_t>(job.prefill.tokens.size());
    job.prefill.tokens.resize(static_cast<size_t>(dice.between(1, size)));
    if (dice.one_in(2)) {
      const int64_t more = dice.between(0, context - size);
      for (int64_t k = 0; k < more; ++k) job.prefill.tokens.push_back(static_cast<int32_t>(dice.between(0, 3199)));
    }
    job.arrival_step = std::max<int64_t>(jobs[i].arrival_step - dice.between(0, 200), 0);
  }
  std::ranges::stable_sort(idle, {}, &IdleJob::arrival_step);
  return idle;
}

Sizes random_sizes(Dice& dice) {
  const auto prefixes = dice.one_of({Prefixes::off, Prefixes::few, Prefixes::few, Prefixes::many, Prefixes::few_in_tier,
                                     Prefixes::few_in_tier, Prefixes::many_in_tier});
  Sizes sizes;
  sizes.slots = static_cast<int>(dice.between(2, 5));
  sizes.context_blocks = sizes.blocks = static_cast<int>(dice.between(2, prefixes == Prefixes::off ? 6 : 9));
  sizes.rows = sizes.slots + 64 + static_cast<int>(dice.one_of<int64_t>({0, 1, dice.between(0, 200)}));
  sizes.steps_ahead = static_cast<int>(dice.between(0, 1));
  sizes.drafts_max = dice.one_of({0, 1, 3, 5, 8});
  sizes.drafts_always = dice.one_in(2);
  if (prefixes != Prefixes::off) sizes.kept_states = static_cast<int>(dice.between(0, 1));
  if (prefixes == Prefixes::few_in_tier) sizes.host_pages = static_cast<int>(dice.between(2, 8));
  if (prefixes == Prefixes::many_in_tier) sizes.host_pages = static_cast<int>(dice.between(20, 60));
  if (prefixes == Prefixes::many) {
    sizes.kept_states = 6;
    sizes.blocks += static_cast<int>(dice.between(0, 30));
  }
  if (dice.one_in(2)) {  // prompts are read in chunks of any size, as a clock has it that is never right
    sizes.chunk_time.reset();
    sizes.clock = [random = Dice(static_cast<uint64_t>(dice.between(0, 1'000'000))),
                   now = std::chrono::steady_clock::time_point()]() mutable {
      return now += std::chrono::microseconds(random.between(1, 1000));
    };
  }
  return sizes;
}

}  // namespace tessera::engine
