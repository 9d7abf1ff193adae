#include <gtest/gtest.h>

#include <bit>
#include <cstdlib>
#include <map>
#include <optional>
#include <random>
#include <tuple>

#include "base/thread_pool.h"
#include "engine/fit.h"
#include "engine/request_check.h"
#include "engine/step_loop.h"
#include "format/checkpoint.h"
#include "kernels/cpu/backend.h"
#include "model/cpu_runner.h"
#include "model/model.h"
#include "text/tokenizer.h"
#include "tiny_model.h"

// The engine against itself: many requests at once, with small pools, cancels and preemptions, must get exactly what
// each of them gets alone. Everything in a run follows from its seed, which a failure prints; to replay one run, set
// TESSERA_SIMULATION_SEED.
namespace tessera::engine {
namespace {

struct Fixture {
  Fixture(TinyKind kind, int threads)
      : files(kind),
        pool(threads),
        backend(kernels::cpu::make_backend({.pool = &pool, .workspace = &workspace})),
        tokenizer(*text::Tokenizer::load(files.directory() / "tokenizer.json")) {
    auto checkpoint = format::Checkpoint::open(files.directory());
    auto config = model::parse_config(**checkpoint->read_text("config.json"), "config.json");
    auto loaded = model::Model::load(*checkpoint, *config, *backend, {.plan = {.with_mtp = true}});
    EXPECT_TRUE(loaded.ok()) << loaded.status().message();
    model = *std::move(loaded);
  }

  TinyModel files;
  ThreadPool pool;
  kernels::Workspace workspace;
  std::unique_ptr<kernels::Backend> backend;
  text::Tokenizer tokenizer;
  std::unique_ptr<model::Model> model;
};

/// What a loop has.
struct Sizes {
  int blocks = 16, slots = 1, rows = 512, steps_ahead = 0;
  int kept_states = -1;  // -1: no prefix cache
  int host_pages = 0;    // of its tier
  int drafts_max = 0;

  [[nodiscard]] int decode_rows() const { return decode_rows_max(slots, drafts_max); }
};

/// A loop with caches of its own.
struct World {
  World(Fixture& f, const Sizes& s)
      : cache(*f.model->make_cache(DType::bf16, s.blocks, s.slots + std::max(s.kept_states, 0),
                                   /*with_mtp=*/s.drafts_max > 0, s.drafts_max)),
        pages(s.host_pages > 0 ? *f.backend->make_host_pages(cache->shape(), s.host_pages) : nullptr),
        runner(*model::make_cpu_runner({.model = f.model.get(),
                                        .cache = cache.get(),
                                        .pages = pages.get(),
                                        .pool = &f.pool,
                                        .known_ids = f.tokenizer.vocab_size(),
                                        .rows_max = s.rows,
                                        .samples_max = static_cast<int32_t>(logit_rows_max(s.decode_rows())),
                                        .drafts_max = s.drafts_max,
                                        .steps_ahead = s.steps_ahead})),
        loop({.runner = runner.get(),
              .tokenizer = &f.tokenizer,
              .vocab_size = f.model->config().vocab_size,
              .kv_blocks = s.blocks,
              .max_num_seqs = s.slots,
              .kept_states = std::max(s.kept_states, 0),
              .prefix_caching = s.kept_states >= 0,
              .host_pages = s.host_pages,
              .state_pages = kernels::pages_of_state(f.backend->cache_bytes(cache->shape())),
              .page_bytes = 1,
              .max_model_len = int64_t{s.blocks} * 64,
              .max_num_batched_tokens = s.rows,
              .max_decode_rows = s.decode_rows(),
              .drafts_max = s.drafts_max,
              .eos_token_ids = {7}}) {}

  std::unique_ptr<kernels::Cache> cache;
  std::unique_ptr<kernels::HostPages> pages;
  std::unique_ptr<model::StepRunner> runner;
  StepLoop loop;
};

Fixture& fixture(TinyKind kind, int threads = 1) {
  static std::map<std::pair<TinyKind, int>, std::unique_ptr<Fixture>> fixtures;
  auto& found = fixtures[{kind, threads}];
  if (!found) found = std::make_unique<Fixture>(kind, threads);
  return *found;
}

/// What a client saw of one choice.
struct Seen {
  std::vector<int32_t> tokens;
  std::string text;
  std::vector<std::vector<TokenLogprob>> logprobs, prompt_logprobs;
  FinishReason finish_reason = FinishReason::none;
  std::string stop_reason;
};

std::vector<Seen> drain(EventChannel& channel, int choices) {
  std::vector<Seen> seen(static_cast<size_t>(choices));
  while (auto event = channel.try_next()) {
    Seen& choice = seen.at(static_cast<size_t>(event->choice));
    EXPECT_EQ(choice.finish_reason, FinishReason::none) << "an event after the last";
    choice.tokens.insert(choice.tokens.end(), event->tokens.begin(), event->tokens.end());
    choice.text += event->text;
    for (auto& entry : event->logprobs) choice.logprobs.push_back(std::move(entry));
    if (!event->prompt_logprobs.empty()) choice.prompt_logprobs = std::move(event->prompt_logprobs);
    choice.finish_reason = event->finish_reason;
    choice.stop_reason = event->stop_reason;
  }
  EXPECT_TRUE(channel.finished());
  return seen;
}

void expect_same_bits(const std::vector<std::vector<TokenLogprob>>& a,
                      const std::vector<std::vector<TokenLogprob>>& b) {
  ASSERT_EQ(a.size(), b.size());
  for (size_t i = 0; i < a.size(); ++i) {
    ASSERT_EQ(a[i].size(), b[i].size());
    for (size_t j = 0; j < a[i].size(); ++j) {
      ASSERT_EQ(a[i][j].token, b[i][j].token);
      ASSERT_EQ(a[i][j].rank, b[i][j].rank);
      ASSERT_EQ(std::bit_cast<uint32_t>(a[i][j].logprob), std::bit_cast<uint32_t>(b[i][j].logprob));
    }
  }
}

struct Job {
  Request request;
  int64_t arrival_step = 0;
  int64_t cancel_step = -1;  // -1: never
  std::shared_ptr<EventChannel> channel;
};

class Dice {
 public:
  explicit Dice(uint64_t seed) : random_(seed) {}
  int64_t between(int64_t low, int64_t high) {
    return low + static_cast<int64_t>(random_() % static_cast<uint64_t>(high - low + 1));
  }
  bool one_in(int64_t n) { return between(1, n) == 1; }
  template <typename T>
  T one_of(std::initializer_list<T> values) {
    return *(values.begin() + between(0, static_cast<int64_t>(values.size()) - 1));
  }

 private:
  std::mt19937_64 random_;
};

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

Guide random_guide(Dice& dice) {
  Guide guide;
  if (dice.one_in(2)) {
    guide.thinking_end = 40;
    if (dice.one_in(2)) {
      guide.thinking_tokens_max = dice.between(0, 6);
      guide.thinking_closer = {30, 31, 40};
    }
  }
  if (dice.one_in(2)) guide.beginnings = {{50, 51, 52}, {50, 60}, {70, 51}};
  return guide;
}

/// Their prompts begin in so many ways.
std::vector<Job> random_jobs(Dice& dice, int64_t context, int64_t beginnings) {
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
    if (dice.one_in(3)) job.request.guide = random_guide(dice);
    if (dice.one_in(6)) job.request.cache_salt = "another client";
    if (dice.one_in(2)) job.request.likely_ends = {dice.between(0, context), dice.between(0, context)};
    job.arrival_step = dice.between(0, 40) + static_cast<int64_t>(i) * 20 * (beginnings - 1);
    if (dice.one_in(4)) job.cancel_step = job.arrival_step + dice.between(0, 60);
  }
  std::stable_sort(jobs.begin(), jobs.end(),
                   [](const Job& a, const Job& b) { return a.arrival_step < b.arrival_step; });
  return jobs;
}

void expect_empty(const StepLoop& loop) {
  const EngineStats stats = loop.stats();
  EXPECT_EQ(stats.kv_blocks_used, 0);
  EXPECT_EQ(stats.state_slots_used, 0);
  EXPECT_EQ(stats.running, 0);
  EXPECT_EQ(stats.waiting, 0);
}

/// Runs all jobs together.
void run_together(StepLoop& loop, std::vector<Job>& jobs) {
  size_t arrived = 0;
  for (int64_t step = 0;; ++step) {
    for (; arrived < jobs.size() && jobs[arrived].arrival_step <= step; ++arrived) {
      auto channel = loop.submit(jobs[arrived].request);
      EXPECT_TRUE(channel.ok()) << channel.status().message();
      jobs[arrived].channel = *channel;
    }
    for (size_t i = 0; i < arrived; ++i) {
      if (jobs[i].cancel_step == step) jobs[i].channel->cancel();
    }
    if (!loop.step() && arrived == jobs.size()) break;
    if (step > 50'000) {
      ADD_FAILURE() << "no end in sight";
      break;
    }
  }
}

std::vector<Seen> run_alone(Fixture& f, const Request& request) {
  World world(f, {});
  auto channel = world.loop.submit(request);
  while (world.loop.step()) {
  }
  return drain(**channel, request.sampling.n);
}

void compare(const Job& job, const std::vector<Seen>& together, const std::vector<Seen>& alone) {
  for (size_t choice = 0; choice < together.size(); ++choice) {
    const Seen& a = together[choice];
    const Seen& b = alone[choice];
    if (a.finish_reason == FinishReason::cancelled) {
      ASSERT_GE(job.cancel_step, 0);
      ASSERT_LE(a.tokens.size(), b.tokens.size());
      ASSERT_TRUE(std::equal(a.tokens.begin(), a.tokens.end(), b.tokens.begin()));
      continue;
    }
    ASSERT_EQ(a.tokens, b.tokens);
    ASSERT_EQ(a.text, b.text);
    ASSERT_EQ(a.finish_reason, b.finish_reason);
    ASSERT_EQ(a.stop_reason, b.stop_reason);
    expect_same_bits(a.logprobs, b.logprobs);
    expect_same_bits(a.prompt_logprobs, b.prompt_logprobs);
  }
}

/// Kept: none, what the pools have left, more than that; or what they have left, and in a tier as little or more.
enum class Prefixes { off, few, many, few_in_tier, many_in_tier };

/// One run, its requests together on `threads` threads and alone on one.
EngineStats simulate(TinyKind kind, int steps_ahead, Prefixes prefixes, int drafts_max, uint64_t seed,
                     int threads = 1) {
  SCOPED_TRACE("seed " + std::to_string(seed));
  Fixture& f = fixture(kind, threads);
  Dice dice(seed);
  const auto slots = static_cast<int>(dice.between(2, 5));
  const auto blocks = static_cast<int>(prefixes == Prefixes::off ? dice.between(2, 6) : dice.between(2, 9));
  Sizes sizes{.blocks = blocks,
              .slots = slots,
              .rows = slots + 64 + static_cast<int>(dice.between(0, 200)),
              .steps_ahead = steps_ahead,
              .drafts_max = drafts_max};
  if (prefixes != Prefixes::off) sizes.kept_states = static_cast<int>(dice.between(0, 1));
  if (prefixes == Prefixes::few_in_tier) sizes.host_pages = static_cast<int>(dice.between(2, 8));
  if (prefixes == Prefixes::many_in_tier) sizes.host_pages = static_cast<int>(dice.between(20, 60));
  if (prefixes == Prefixes::many) {
    sizes.kept_states = 6;
    sizes.blocks += static_cast<int>(dice.between(0, 30));
  }
  World world(f, sizes);

  std::vector<Job> jobs = random_jobs(dice, blocks * 64, sizes.host_pages > 0 ? 2 : 1);
  const RequestLimits limits{.vocab_size = 3200, .max_model_len = blocks * 64, .has_tokenizer = true};
  for (Job& job : jobs) {
    // Alone there is more room; the context must end where it ends here.
    if (job.request.sampling.max_tokens < 0) {
      job.request.sampling.max_tokens = blocks * 64 - static_cast<int64_t>(job.request.prompt.size());
    }
    const Status status = check_request(job.request, limits);
    EXPECT_TRUE(status.ok()) << status.message();
  }
  run_together(world.loop, jobs);
  expect_empty(world.loop);
  for (const Job& job : jobs)
    compare(job, drain(*job.channel, job.request.sampling.n), run_alone(fixture(kind), job.request));
  return world.loop.stats();
}

class Simulation : public testing::TestWithParam<std::tuple<TinyKind, int, Prefixes, int>> {
 protected:
  EngineStats simulate(uint64_t seed, int threads = 1) {
    const auto [kind, steps_ahead, prefixes, drafts_max] = GetParam();
    return engine::simulate(kind, steps_ahead, prefixes, drafts_max, seed, threads);
  }
};

TEST_P(Simulation, EveryRequestGetsWhatItGetsAlone) {
  if (const char* seed = std::getenv("TESSERA_SIMULATION_SEED")) {
    simulate(std::strtoull(seed, nullptr, 10));
    return;
  }
  uint64_t preemptions = 0, hits = 0, tier_hits = 0, proposed = 0, accepted = 0;
  for (uint64_t seed = 1; seed <= 12 && !HasFailure(); ++seed) {
    const EngineStats stats = simulate(seed);
    preemptions += stats.preemptions;
    hits += stats.prefix_hits;
    tier_hits += stats.tier.hits;
    proposed += stats.drafts.proposed;
    accepted += stats.drafts.accepted;
  }
  const Prefixes prefixes = std::get<2>(GetParam());
  if (std::get<3>(GetParam()) > 0) {
    EXPECT_GT(accepted, 200U);
    EXPECT_GT(proposed, accepted + 200);
  }
  if (prefixes != Prefixes::many) {
    EXPECT_GT(preemptions, 3U) << "the pools are too large to test anything";
  }
  if (prefixes == Prefixes::off) EXPECT_EQ(hits, 0U);
  if (prefixes == Prefixes::few) EXPECT_GT(hits, 500U);
  if (prefixes == Prefixes::many) EXPECT_GT(hits, 1000U);
  if (prefixes == Prefixes::few_in_tier) EXPECT_GT(tier_hits, 500U);
  if (prefixes == Prefixes::many_in_tier) EXPECT_GT(tier_hits, 500U);
}

TEST(SimulatedTier, ConversationsThatTakeTurnsComeBackFromTheTier) {
  Fixture& f = fixture(TinyKind::moe);
  World world(f, {.blocks = 9, .slots = 1, .rows = 256, .kept_states = 1, .host_pages = 60});
  std::vector<Request> conversations(3);
  for (int32_t turn = 0; turn < 4; ++turn) {
    for (int32_t i = 0; i < 3; ++i) {
      Request& request = conversations[static_cast<size_t>(i)];
      for (int32_t token = 0; token < 130; ++token) request.prompt.push_back(100 + 37 * i + 11 * turn + token);
      request.likely_ends = {static_cast<int64_t>(request.prompt.size())};
      request.sampling.seed = 1;
      request.sampling.max_tokens = 9;
      request.sampling.logprobs = 3;
      const auto channel = *world.loop.submit(request);
      while (world.loop.step()) {
      }
      const Seen here = drain(*channel, 1).front(), alone = run_alone(f, request).front();
      EXPECT_EQ(here.tokens, alone.tokens) << "turn " << turn << " of conversation " << i;
      expect_same_bits(here.logprobs, alone.logprobs);
    }
  }
  // Each turn but the first goes on from the end of the one before, near enough.
  const EngineStats stats = world.loop.stats();
  EXPECT_GE(stats.tier.hits, 3U * (128 + 256 + 384));
  EXPECT_GT(stats.tier.bytes_saved, 0U);
  EXPECT_LE(stats.tier.bytes_used, stats.tier.bytes_total);
}

TEST_P(Simulation, ThreadsChangeNothing) { simulate(101, 2); }

std::string name_of(const testing::TestParamInfo<Simulation::ParamType>& test) {
  const auto [kind, steps_ahead, prefixes, drafts_max] = test.param;
  return std::string(kind == TinyKind::moe ? "Moe" : "Dense") + (steps_ahead == 0 ? "" : "OneStepAhead") +
         (prefixes == Prefixes::off           ? ""
          : prefixes == Prefixes::few         ? "FewPrefixes"
          : prefixes == Prefixes::many        ? "ManyPrefixes"
          : prefixes == Prefixes::few_in_tier ? "FewPrefixesInTier"
                                              : "ManyPrefixesInTier") +
         (drafts_max == 0 ? "" : "Drafts" + std::to_string(drafts_max));
}

INSTANTIATE_TEST_SUITE_P(Drafts, Simulation,
                         testing::Combine(testing::Values(TinyKind::moe, TinyKind::dense), testing::Values(0, 1),
                                          testing::Values(Prefixes::few, Prefixes::few_in_tier),
                                          testing::Values(1, 3, 8)),
                         name_of);

INSTANTIATE_TEST_SUITE_P(Models, Simulation,
                         testing::Combine(testing::Values(TinyKind::moe, TinyKind::dense), testing::Values(0, 1),
                                          testing::Values(Prefixes::off, Prefixes::few, Prefixes::many,
                                                          Prefixes::few_in_tier, Prefixes::many_in_tier),
                                          testing::Values(0)),
                         name_of);

}  // namespace
}  // namespace tessera::engine
