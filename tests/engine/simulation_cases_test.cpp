#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <filesystem>
#include <fstream>

#include "base/temp_directory.h"
#include "simulation.h"

// Where speculation and prefix caches have gone wrong elsewhere, one case each. simulation.h says what is compared.
namespace tessera::engine {
namespace {

std::vector<int32_t> prompt_of(int64_t tokens, int32_t first) {
  std::vector<int32_t> prompt(static_cast<size_t>(tokens));
  for (size_t i = 0; i < prompt.size(); ++i) prompt[i] = (first + 37 * static_cast<int32_t>(i)) % 3000;
  return prompt;
}

/// Few tokens are likely, so that even this model's head guesses some.
Request likely_request(std::vector<int32_t> prompt, std::vector<int32_t> tokens, int64_t max_tokens) {
  Request request{.prompt = std::move(prompt)};
  request.sampling.seed = 1;
  request.sampling.max_tokens = max_tokens;
  request.sampling.logprobs = 3;
  request.sampling.ignore_eos = true;
  for (const int32_t token : tokens) request.sampling.logit_bias.emplace_back(token, 40.0F);
  return request;
}

/// The one token of `text`.
int32_t token_of(const Fixture& f, const std::string& text) {
  const std::vector<int32_t> tokens = *f.tokenizer.encode(text);
  EXPECT_EQ(tokens.size(), 1U) << text;
  return tokens.front();
}

/// Steps ahead, and drafts at most.
class SimulationCase : public testing::TestWithParam<std::tuple<int, int>> {
 protected:
  /// With a prefix cache.
  [[nodiscard]] Sizes sizes(int blocks, int slots, int kept_states = 4) const {
    return {.blocks = blocks,
            .slots = slots,
            .rows = 256,
            .steps_ahead = std::get<0>(GetParam()),
            .kept_states = kept_states,
            .drafts_max = drafts()};
  }
  [[nodiscard]] int drafts() const { return std::get<1>(GetParam()); }
};
INSTANTIATE_TEST_SUITE_P(Drafts, SimulationCase,
                         testing::Combine(testing::Values(0, 1), testing::Values(0, 1, 3, 5, 8)), [](const auto& test) {
                           return std::string(std::get<0>(test.param) == 0 ? "" : "OneStepAhead") + "Drafts" +
                                  std::to_string(std::get<1>(test.param));
                         });

TEST_P(SimulationCase, PromptsThatEndAtABlockBeforeOneAndBehindOne) {
  Fixture& f = fixture(TinyKind::moe);
  World world(f, sizes(40, 2));
  for (const int64_t tokens : {63, 64, 65, 127, 128, 129, 191, 192, 193}) {
    SCOPED_TRACE(tokens);
    for (int time = 0; time < 2; ++time) {  // to be kept, and from what is kept
      run_as_alone(f, world, {likely_request(prompt_of(tokens, 5), {20, 21}, 5)});
    }
  }
  EXPECT_GE(world.loop.stats().prefix_hits, 9U * 64);
}

TEST_P(SimulationCase, APromptsLastChunkIsOneRow) {
  Fixture& f = fixture(TinyKind::dense);
  World world(f, sizes(40, 2));
  Request request = likely_request(prompt_of(65, 5), {20, 21}, 6);
  run_as_alone(f, world, {request});
  run_as_alone(f, world, {request});  // a prefill of its last token alone
  EXPECT_EQ(world.loop.stats().prefix_hits, 64U);
  for (const int64_t tokens : {129, 193, 257}) {
    request.prompt = prompt_of(tokens, 5);
    run_as_alone(f, world, {request});
  }
}

TEST_P(SimulationCase, StepsThatReadAPromptBesideDecodingSequences) {
  Fixture& f = fixture(TinyKind::moe);
  Sizes small = sizes(40, 4);
  small.rows = 4 + 64;
  World world(f, small);
  std::vector<Request> requests = {likely_request(prompt_of(3, 1), {20, 21}, 40),
                                   likely_request(prompt_of(70, 2), {30, 31}, 40),
                                   likely_request(prompt_of(700, 3), {20, 31}, 10)};
  run_as_alone(f, world, requests);
  EXPECT_GT(world.loop.stats().steps, 12U);  // the long prompt alone takes eleven
}

TEST_P(SimulationCase, TwoPromptsThatTakeTurnsOnOneTier) {
  Fixture& f = fixture(TinyKind::moe);
  Sizes tier = sizes(12, 2, /*kept_states=*/1);
  tier.host_pages = 40;
  World world(f, tier);
  std::vector<Request> conversations;
  for (const int32_t first : {1, 2}) conversations.push_back(likely_request(prompt_of(130, first), {20, 21}, 6));
  for (int turn = 0; turn < 4; ++turn) {
    SCOPED_TRACE(turn);
    run_as_alone(f, world, conversations);  // side by side: their pages move in the same steps
    for (Request& conversation : conversations) {
      const std::vector<int32_t> more = prompt_of(60, turn + conversation.prompt.front());
      conversation.prompt.insert(conversation.prompt.end(), more.begin(), more.end());
    }
    run_as_alone(f, world, {likely_request(prompt_of(500, 100 + turn), {20, 21}, 2)});  // all else has to go
  }
  EXPECT_GT(world.loop.stats().tier.hits, 300U);
}

TEST_P(SimulationCase, APromptThatWasGivenUpComesBack) {
  Fixture& f = fixture(TinyKind::dense);
  World world(f, sizes(8, 1, /*kept_states=*/1));
  const Request request = likely_request(prompt_of(300, 1), {20, 21}, 6);
  const auto hits = [&] { return world.loop.stats().prefix_hits; };
  run_as_alone(f, world, {request});
  run_as_alone(f, world, {request});
  const uint64_t kept = hits();
  EXPECT_EQ(kept, 256U);
  for (const int32_t other : {2, 3, 4}) run_as_alone(f, world, {likely_request(prompt_of(450, other), {20, 21}, 6)});
  EXPECT_EQ(hits(), kept);
  run_as_alone(f, world, {request});
  EXPECT_EQ(hits(), kept) << "it has not been given up";
  run_as_alone(f, world, {request});
  EXPECT_EQ(hits(), 2 * kept);
}

TEST_P(SimulationCase, ExactTiesOfLogits) {
  static Fixture f(TinyKind::moe, /*threads=*/1, /*ties=*/true);
  World world(f, sizes(40, 4));
  std::vector<Request> requests;
  for (const float temperature : {0.0F, 0.0F, 0.5F, 1.0F}) {
    Request request = likely_request(prompt_of(100 + static_cast<int64_t>(requests.size()), 9), {}, 30);
    request.sampling.temperature = temperature;
    request.sampling.top_k = temperature > 0 ? 3 : 0;  // which cuts through a tie
    requests.push_back(request);
  }
  const auto seen = run_as_alone(f, world, requests);
  int ties = 0;
  for (const auto& entries : seen[0][0].logprobs) {
    std::vector<uint32_t> bits;
    for (const TokenLogprob& entry : entries) bits.push_back(std::bit_cast<uint32_t>(entry.logprob));
    std::ranges::sort(bits);
    if (std::ranges::adjacent_find(bits) != bits.end()) ++ties;
  }
  EXPECT_GE(ties, 25);
  for (const int32_t token : seen[0][0].tokens) EXPECT_EQ(token % 2, 0) << "of a tie the lower id";
}

TEST_P(SimulationCase, AStopStringThatLiesAcrossDrafts) {
  Fixture& f = fixture(TinyKind::moe);
  World world(f, sizes(60, 4));
  const std::vector<int32_t> letters = {token_of(f, "a"), token_of(f, "b")};
  std::vector<Request> requests;
  for (uint64_t seed = 0; seed < 24; ++seed) {
    Request request = likely_request(prompt_of(20, 4), letters, 60);
    request.sampling.seed = seed;
    request.sampling.stop = {seed % 2 == 0 ? "abab" : "bbb", "aaaa"};
    request.sampling.include_stop_str_in_output = seed % 3 == 0;
    requests.push_back(request);
  }
  int stopped = 0;
  for (const auto& seen : run_as_alone(f, world, requests)) stopped += seen[0].stop_reason.empty() ? 0 : 1;
  EXPECT_GE(stopped, 12);
  if (drafts() > 0) {
    EXPECT_GT(world.loop.stats().drafts.accepted, 20U);
  }
}

TEST_P(SimulationCase, AGuideThatEndsInsideADraft) {
  Fixture& f = fixture(TinyKind::dense);
  World world(f, sizes(60, 4));
  const std::vector<int32_t> letters = {token_of(f, "a"), token_of(f, "b"), kEndOfAnswer};
  std::vector<Request> requests;
  for (uint64_t seed = 0; seed < 16; ++seed) {
    Request request = likely_request(prompt_of(20, 4), letters, 30);
    request.sampling.seed = seed;
    request.sampling.ignore_eos = false;
    switch (seed % 4) {
      case 0:  // ends at a stop token
        request.guide.grammar = f.grammars[0];
        break;
      case 1: request.guide.grammar = f.grammars[1]; break;
      case 2:  // ends, and the answer goes on freely
        request.guide.beginnings = {{letters[0], letters[1]}, {letters[1]}};
        break;
      default:
        request.guide.thinking_end = letters[1];
        request.guide.thinking_tokens_max = 4;
        request.guide.thinking_closer = {letters[0], letters[1]};
        request.guide.grammar = f.grammars[0];
    }
    requests.push_back(request);
  }
  int ended = 0;
  for (const auto& seen : run_as_alone(f, world, requests)) ended += seen[0].finish_reason == FinishReason::stop;
  EXPECT_GE(ended, 10);
  if (drafts() > 0) {
    EXPECT_GT(world.loop.stats().drafts.accepted, 5U);
  }
}

/// An answer, then the next turn behind it, which a step loop that was idle has read.
struct IdleTurns {
  /// Its prompt and its answer; what comes next begins so.
  static IdlePrefill after(const Request& request, const std::vector<Seen>& seen) {
    IdlePrefill next{.tokens = request.prompt, .cache_salt = request.cache_salt};
    next.tokens.insert(next.tokens.end(), seen[0].tokens.begin(), seen[0].tokens.end());
    return next;
  }
  static Request next_turn(const IdlePrefill& idle) {
    Request request = likely_request(idle.tokens, {20, 21}, 8);
    request.cache_salt = idle.cache_salt;
    for (int32_t token = 0; token < 40; ++token) request.prompt.push_back(700 + token);
    return request;
  }
};

TEST_P(SimulationCase, TheNextTurnGoesOnBehindTheAnswerThatIdleTimeHasRead) {
  Fixture& f = fixture(TinyKind::moe);
  World world(f, sizes(40, 2));
  Request request = likely_request(prompt_of(200, 5), {20, 21, 22}, 150);
  for (int turn = 1; turn <= 3; ++turn) {
    SCOPED_TRACE(turn);
    const IdlePrefill idle = IdleTurns::after(request, run_as_alone(f, world, {request})[0]);
    const EngineStats before = world.loop.stats();
    world.loop.prefill_when_idle(idle);
    while (world.step()) {
    }
    expect_empty(world.loop);
    request = IdleTurns::next_turn(idle);
    const EngineStats after = world.loop.stats();
    EXPECT_GT(after.idle_prefill_tokens, before.idle_prefill_tokens);
    EXPECT_EQ(after.prefix_queries, before.prefix_queries);
    EXPECT_EQ(after.prompt_tokens, before.prompt_tokens);
    EXPECT_EQ(after.steps, before.steps);
    run_as_alone(f, world, {request});
    EXPECT_EQ(world.loop.stats().prefix_hits - after.prefix_hits, (idle.tokens.size() - 1) / 64 * 64);
    request.sampling.max_tokens = 80 * turn;
  }
}

TEST_P(SimulationCase, WhoComesWhileAnIdlePrefillRunsGoesFirst) {
  Fixture& f = fixture(TinyKind::dense);
  for (const int steps : {0, 1, 2, 3, 5, 9}) {
    SCOPED_TRACE(steps);
    World world(f, sizes(60, 1));
    Sizes relative = sizes(60, 1);
    relative.chunk_time.reset();  // chunks of 64 rows: nothing is known of steps without prompts
    World small_chunks(f, relative);
    for (World* at : {&world, &small_chunks}) {
      IdlePrefill idle{.tokens = prompt_of(900, 5)};
      at->loop.prefill_when_idle(idle);
      at->loop.prefill_when_idle({.tokens = prompt_of(500, 6)});
      for (int step = 0; step < steps; ++step) at->step();
      const uint64_t before = at->loop.stats().idle_prefill_tokens;
      // Others, whom it is for, and one that begins as it does.
      Request longer = IdleTurns::next_turn(idle), shorter = likely_request(prompt_of(333, 5), {20, 21}, 5);
      auto first = *at->loop.submit(likely_request(prompt_of(100, 9), {20, 21}, 1));
      at->step();
      EXPECT_EQ(at->loop.stats().idle_prefill_tokens, before) << "not before the newcomer";
      run_as_alone(f, *at, {likely_request(prompt_of(300, 9), {20, 21}, 5), longer, shorter});
      drain(*first, 1);
      // What was left of it was done behind them.
      const uint64_t hits = at->loop.stats().prefix_hits;
      run_as_alone(f, *at, {likely_request(prompt_of(600, 6), {20, 21}, 5)});
      EXPECT_EQ(at->loop.stats().prefix_hits - hits, 448U);
    }
  }
}

TEST_P(SimulationCase, IdlePrefillsInACacheThatIsTooSmall) {
  Fixture& f = fixture(TinyKind::moe);
  for (const int host_pages : {0, 6, 30}) {
    SCOPED_TRACE(host_pages);
    Sizes tiny = sizes(9, 2, /*kept_states=*/1);
    tiny.host_pages = host_pages;
    World world(f, tiny);
    std::vector<Request> conversations;
    for (const int32_t first : {1, 2, 3}) conversations.push_back(likely_request(prompt_of(130, first), {20, 21}, 70));
    for (int turn = 0; turn < 3; ++turn) {
      for (Request& conversation : conversations) {
        const IdlePrefill idle = IdleTurns::after(conversation, run_as_alone(f, world, {conversation})[0]);
        world.loop.prefill_when_idle(idle);
        for (int step = 0; step < turn; ++step) world.step();
        conversation = IdleTurns::next_turn(idle);
        if (conversation.prompt.size() > 8 * 64 - 80) conversation.prompt.resize(130);
        conversation.sampling.max_tokens = 70;
      }
    }
    while (world.step()) {
    }
    expect_empty(world.loop);
    EXPECT_GT(world.loop.stats().idle_prefill_tokens, 0U);
  }
}

TEST_P(SimulationCase, OnlyTheNewestIdlePrefillsAreKept) {
  Fixture& f = fixture(TinyKind::dense);
  World world(f, sizes(60, 1, /*kept_states=*/20));
  for (size_t i = 0; i < kIdlePrefillsMax + 3; ++i) {
    world.loop.prefill_when_idle({.tokens = prompt_of(70, static_cast<int32_t>(i))});
    if (i == 5) world.step();  // one has begun, and is among the newest
  }
  while (world.step()) {
  }
  EXPECT_EQ(world.loop.stats().idle_prefill_tokens, kIdlePrefillsMax * 64);
  expect_empty(world.loop);
}

TEST_P(SimulationCase, AnIdlePrefillEndsWithTheLoop) {
  World world(fixture(TinyKind::dense), sizes(60, 1));
  world.loop.prefill_when_idle({.tokens = prompt_of(900, 5)});
  world.step();
  world.loop.close();
  world.loop.run();
  expect_empty(world.loop);
  EXPECT_LE(world.loop.stats().idle_prefill_tokens, 256U);  // the step that it was in
  world.loop.prefill_when_idle({.tokens = prompt_of(900, 5)});
  EXPECT_GT(world.loop.stats().kept_states, 0);
}

/// Turn `turn` of conversation `i`: 130 tokens more than `request` had, and an answer that is the one it gets alone.
void take_turn(Fixture& f, World& world, Request& request, int32_t i, int32_t turn) {
  for (int32_t token = 0; token < 130; ++token) request.prompt.push_back(100 + 37 * i + 11 * turn + token);
  request.likely_ends = {static_cast<int64_t>(request.prompt.size())};
  request.sampling.seed = 1;
  request.sampling.max_tokens = 9;
  request.sampling.logprobs = 3;
  const auto channel = *world.loop.submit(request);
  while (world.step()) {
  }
  const Seen here = drain(*channel, 1).front(), alone = run_alone(f, request).front();
  EXPECT_EQ(here.tokens, alone.tokens) << "turn " << turn << " of conversation " << i;
  expect_same_bits(here.logprobs, alone.logprobs);
}

TEST(SimulatedTier, ConversationsThatTakeTurnsComeBackFromTheTier) {
  Fixture& f = fixture(TinyKind::moe);
  World world(f, {.blocks = 9, .slots = 1, .rows = 256, .kept_states = 1, .host_pages = 60});
  std::vector<Request> conversations(3);
  for (int32_t turn = 0; turn < 4; ++turn) {
    for (int32_t i = 0; i < 3; ++i) take_turn(f, world, conversations[static_cast<size_t>(i)], i, turn);
  }
  // Each turn but the first goes on from the end of the one before, near enough.
  const EngineStats stats = world.loop.stats();
  EXPECT_GE(stats.tier.hits, 3U * (128 + 256 + 384));
  EXPECT_GT(stats.tier.bytes_saved, 0U);
  EXPECT_LE(stats.tier.bytes_used, stats.tier.bytes_total);
}

/// One turn of each of three conversations with a program that starts and ends with it.
class SimulatedDisk : public testing::Test {
 protected:
  /// How the program ends: at once, when the disk has nothing left to do, or as a server that is told to.
  enum class End { killed, idle, closed };

  SimulatedDisk() { conversations_[1].cache_salt = "another client"; }

  [[nodiscard]] Sizes sizes(uint64_t identity = 1) const {
    return {.blocks = 40,
            .slots = 1,
            .rows = 256,
            .kept_states = 4,
            .host_pages = 60,
            .disk = path(),
            .identity = identity};
  }

  void take_turns(World& world) {
    for (int32_t i = 0; i < 3; ++i) {
      take_turn(fixture(TinyKind::moe), world, conversations_[static_cast<size_t>(i)], i, turns_);
    }
    ++turns_;
  }

  EngineStats turn(End end, uint64_t identity = 1) {
    World world(fixture(TinyKind::moe), sizes(identity));
    take_turns(world);
    if (end == End::idle) world.settle();
    if (end == End::closed) {
      world.loop.close();
      world.loop.run();
    }
    return world.loop.stats();
  }

  [[nodiscard]] std::filesystem::path path() const { return directory_.path() / "kv"; }

  void damage_files() {
    for (const auto& file : std::filesystem::directory_iterator(path())) {
      if (file.path().extension() != ".kv") continue;
      std::fstream stream(file.path(), std::ios::binary | std::ios::in | std::ios::out);
      stream.seekg(-1, std::ios::end);
      const int last = stream.get();
      stream.seekp(-1, std::ios::end);
      stream.put(static_cast<char>(last ^ 1));
    }
  }

 private:
  test::TempDirectory directory_;
  std::vector<Request> conversations_ = std::vector<Request>(3);
  int32_t turns_ = 0;
};

// Nothing has left the device before the program ends.
TEST_F(SimulatedDisk, WhatOnlyTheDeviceHasIsWrittenWhileNobodyComputes) {
  EXPECT_EQ(turn(End::idle).prefix_hits, 0U);
  EXPECT_EQ(turn(End::idle).prefix_hits, 3U * 128);
  const EngineStats stats = turn(End::killed);
  EXPECT_EQ(stats.prefix_hits, 3U * 256);
  EXPECT_EQ(stats.disk.hits, 3U * 256);
}

TEST_F(SimulatedDisk, OfAnEntryOnlyWhatIsNotInMemoryIsRead) {
  Fixture& f = fixture(TinyKind::moe);
  Request longer;
  for (int32_t token = 0; token < 330; ++token) longer.prompt.push_back(100 + token);
  longer.sampling.seed = 1;
  longer.sampling.max_tokens = 9;
  longer.sampling.logprobs = 3;
  Request shorter = longer;
  shorter.prompt.resize(140);
  {
    World world(f, sizes());
    run_as_alone(f, world, {longer});
    world.settle();
    EXPECT_EQ(world.disk->directory().entries(), 1U);  // of 320 tokens
  }
  World world(f, sizes());
  run_as_alone(f, world, {shorter});
  EXPECT_EQ(world.loop.stats().disk.hits, 0U);
  run_as_alone(f, world, {longer});
  EXPECT_EQ(world.loop.stats().disk.hits, 320U - 128);
  EXPECT_EQ(world.loop.stats().prefix_hits, 320U);
}

TEST_F(SimulatedDisk, WhatIsLeftIsWrittenWhenTheServerEnds) {
  EXPECT_EQ(turn(End::closed).prefix_hits, 0U);
  EXPECT_EQ(turn(End::closed).prefix_hits, 3U * 128);
  EXPECT_EQ(turn(End::closed).prefix_hits, 3U * 256);
}

TEST_F(SimulatedDisk, WhatCannotBeWrittenIsTriedAgain) {
  std::chrono::steady_clock::time_point now;
  Sizes s = sizes();
  s.clock = [&now] { return now; };
  World world(fixture(TinyKind::moe), s);
  const auto away = path().parent_path() / "away";
  std::filesystem::rename(path(), away);
  take_turns(world);
  world.settle();
  EXPECT_EQ(world.loop.stats().disk.failures, 1U);
  std::filesystem::rename(away, path());
  world.settle();
  EXPECT_EQ(world.loop.stats().disk.failures, 1U);  // not at every step
  EXPECT_EQ(world.loop.stats().disk.writes, 0U);
  now += std::chrono::seconds(61);
  world.settle();
  EXPECT_EQ(world.loop.stats().disk.entries, 3U);
  EXPECT_EQ(world.loop.stats().disk.writes, 3U);

  std::filesystem::rename(path(), away);
  take_turns(world);
  world.settle();
  std::filesystem::rename(away, path());
  EXPECT_EQ(world.loop.stats().disk.failures, 2U);
  world.loop.close();
  world.loop.run();
  EXPECT_EQ(world.disk->directory().entries(), 6U);
}

TEST_F(SimulatedDisk, WhatIsOfAnotherModelIsLeftAlone) {
  EXPECT_EQ(turn(End::closed, 1).prefix_hits, 0U);
  EXPECT_EQ(turn(End::closed, 2).prefix_hits, 0U);
}

TEST_F(SimulatedDisk, DamagedFilesAreComputedAgain) {
  EXPECT_EQ(turn(End::closed).prefix_hits, 0U);
  damage_files();
  const EngineStats stats = turn(End::closed);
  EXPECT_EQ(stats.prefix_hits, 0U);
  EXPECT_EQ(stats.disk.failures, 3U);
  EXPECT_EQ(turn(End::closed).prefix_hits, 3U * 256);
}

}  // namespace
}  // namespace tessera::engine
