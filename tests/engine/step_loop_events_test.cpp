#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <numeric>
#include <vector>

#include "counting_runner.h"
#include "text/tokenizer_files.h"

// What events and counts say of answers, beside their tokens.
namespace tessera::engine {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

std::vector<Event> events_of(EventChannel& channel) {
  std::vector<Event> events;
  while (auto event = channel.try_next()) events.push_back(std::move(*event));
  return events;
}

/// The events of one request that runs alone.
std::vector<Event> run(StepLoop& loop, const Request& request) {
  const auto channel = submit(loop, request);
  run_to_the_end(loop);
  return events_of(*channel);
}

Request read(int tokens, int32_t first_token, int64_t max_tokens = 2) {
  Request request{.sampling = {.temperature = 0, .max_tokens = max_tokens}};
  for (int i = 0; i < tokens; ++i) request.prompt.push_back((first_token + i) % 140);
  return request;
}

StepLoopParts caching_parts(CountingRunner& runner, int blocks, int slots, int kept_states, int rows) {
  StepLoopParts made = parts(runner, blocks, slots);
  made.kept_states = kept_states;
  made.prefix_caching = true;
  made.max_num_batched_tokens = rows;
  return made;
}

TEST(StepLoopEvents, SayWhatEndedAnAnswer) {
  CountingRunner runner(Ahead::yes);
  const text::Tokenizer tokenizer = text::test::parse(text::test::small_tokenizer());
  StepLoopParts with_ends = parts(runner);
  with_ends.tokenizer = &tokenizer;
  with_ends.eos_token_ids = {'f', 'h'};
  StepLoop loop(with_ends);
  Request request = count_from('a', 9);
  const auto last = [&] { return run(loop, request).back(); };
  EXPECT_EQ(last().tokens, std::vector<int32_t>{'f'});
  EXPECT_EQ(loop.stats().generated_tokens, 5U) << "of which it is one";
  EXPECT_EQ(last().finish_reason, FinishReason::stop);
  EXPECT_EQ(last().stop_cause, StopCause::model);
  EXPECT_EQ(last().stop_reason, std::to_string('f'));
  request.sampling.stop_token_ids = {'d'};
  EXPECT_EQ(last().stop_cause, StopCause::token);
  EXPECT_EQ(last().stop_reason, std::to_string('d'));
  request.sampling.stop_token_ids = {'f'};
  EXPECT_EQ(last().stop_cause, StopCause::model) << "the client's, too, but the model's own";
  request.sampling.ignore_eos = true;
  EXPECT_EQ(last().stop_cause, StopCause::token);
  request.sampling.stop_token_ids = {};
  request.sampling.stop = {"e"};
  EXPECT_EQ(last().stop_cause, StopCause::string);
  EXPECT_EQ(last().stop_reason, "e");
  request.sampling.stop = {};
  EXPECT_EQ(last().tokens, std::vector<int32_t>{'j'});
  EXPECT_EQ(last().finish_reason, FinishReason::length);
  EXPECT_EQ(last().stop_cause, StopCause::none);
  EXPECT_EQ(run(loop, count_from('a', 5)).back().finish_reason, FinishReason::stop) << "by its last token";
  request = count_from('a', 9);
  request.sampling.stop = {"ef"};
  request.sampling.include_stop_str_in_output = true;
  EXPECT_EQ(last().stop_cause, StopCause::string) << "which the model's own token completes";
  EXPECT_EQ(last().stop_reason, "ef");
}

/// Whoever counts what is open when an answer has ended does not count it.
TEST(StepLoopEvents, TheLastOneComesBehindNumbersWithoutItsChoice) {
  CountingRunner runner(Ahead::no);
  StepLoop loop(parts(runner));
  const auto channel = submit(loop, count_from(10, 2));
  int running = -1;
  channel->on_ready([&] { running = loop.stats().running; });
  run_to_the_end(loop);
  EXPECT_EQ(running, 0);
  channel->on_ready({});
}

TEST(StepLoopEvents, APromptsLogprobsComeOnce) {
  CountingRunner runner(Ahead::no);
  StepLoop loop(parts(runner));
  Request request = read(5, 1, 3);
  request.sampling.n = 2;
  request.sampling.prompt_logprobs = 0;
  for (const Event& event : run(loop, request)) {
    if (event.choice == 1) {
      EXPECT_TRUE(event.prompt_logprobs.empty());
    }
  }
}

TEST(StepLoopEvents, IdlePrefillsAreCountedAndOfTheirSalt) {
  CountingRunner runner(Ahead::no);
  StepLoop loop(caching_parts(runner, 20, 2, 2, 500));
  Request request = read(300, 1), salted = request;
  salted.cache_salt = "another";
  loop.prefill_when_idle({.tokens = request.prompt, .cache_salt = "another"});
  run_to_the_end(loop);
  EXPECT_EQ(loop.stats().idle_prefill_tokens, 256U);
  EXPECT_EQ(loop.stats().kept_states, 1);
  EXPECT_EQ(loop.stats().prompt_tokens, 0U);
  EXPECT_EQ(run(loop, request).back().cached_tokens, 0);
  EXPECT_EQ(run(loop, salted).back().cached_tokens, 256);
}

TEST(StepLoopEvents, OfIdlePrefillsTheNewestEightAreRemembered) {
  CountingRunner runner(Ahead::no);
  StepLoop loop(caching_parts(runner, 40, 2, 12, 500));
  for (int32_t i = 0; i < 9; ++i) loop.prefill_when_idle({.tokens = std::vector<int32_t>(65, i)});
  run_to_the_end(loop);
  EXPECT_EQ(loop.stats().idle_prefill_tokens, 8U * 64);
}

TEST(StepLoopEvents, EveryOneSaysWhatTheCacheHad) {
  CountingRunner runner(Ahead::no);
  StepLoopParts caching = caching_parts(runner, 20, 2, 2, 500);
  caching.clock = [&] { return runner.now; };
  runner.now += std::chrono::seconds(1);
  StepLoop loop(caching);
  const auto expect = [&](const Request& request, int64_t cached, int64_t matched) {
    const auto begun = runner.now;
    const std::vector<Event> events = run(loop, request);
    EXPECT_EQ(events.size(), 2U);
    for (const Event& event : events) {
      EXPECT_EQ(event.cached_tokens, cached);
      EXPECT_EQ(event.matched_tokens, matched);
      EXPECT_EQ(event.tier_tokens, 0);
      EXPECT_EQ(event.scheduled, begun);
    }
  };
  expect(read(300, 1), 0, 0);
  expect(read(300, 1), 256, 256);
  EXPECT_EQ(loop.stats().prompt_tokens, 600U);
  EXPECT_EQ(loop.stats().generated_tokens, 4U);
  EXPECT_EQ(loop.stats().prefix_queries, 600U);
  EXPECT_EQ(loop.stats().prefix_hits, 256U);
  EXPECT_EQ(loop.stats().kept_blocks, 4);
  EXPECT_EQ(loop.stats().kept_states, 1);
  EXPECT_EQ(loop.stats().state_slots_total, 2);
  EXPECT_EQ(loop.stats().kv_blocks_total, 20);
  EXPECT_EQ(loop.stats().tier.bytes_total, 0U);

  Request salted = read(300, 1);
  salted.cache_salt = "another";
  expect(salted, 0, 0);
  expect(salted, 256, 256);
  // Blocks of its beginning are there, and no state to go on from: unless it was said that prompts may part there.
  Request parted = read(300, 1);
  std::fill(parted.prompt.begin() + 192, parted.prompt.end(), 7);
  expect(parted, 0, 192);
}

/// Its rows are not those of a prompt that was read.
TEST(StepLoopEvents, AnAnswerIsCachedWhereThatIsAskedFor) {
  for (const bool keeps : {false, true}) {
    CountingRunner runner(Ahead::no);
    StepLoopParts caching = caching_parts(runner, 20, 2, 4, 500);
    caching.keeps_answers = keeps;
    StepLoop loop(caching);
    Request request = read(10, 1, 140);
    std::vector<int32_t> answer;
    for (const Event& event : run(loop, request)) std::ranges::copy(event.tokens, std::back_inserter(answer));
    std::ranges::copy(answer, std::back_inserter(request.prompt));
    EXPECT_EQ(run(loop, request).back().cached_tokens, keeps ? 128 : 0);
  }
}

/// The tokens of a prompt count for penalties wherever its first rows begin.
TEST(StepLoopEvents, PenaltiesFollowAPromptThatWasThereToo) {
  CountingRunner runner(Ahead::no);
  StepLoop loop(caching_parts(runner, 20, 2, 2, 500));
  Request request = read(300, 1);
  request.sampling.presence_penalty = 0.5F;
  for (const int64_t cached : {0, 256}) {
    runner.histories.clear();
    EXPECT_EQ(run(loop, request).back().cached_tokens, cached);
    EXPECT_THAT(runner.histories, ElementsAre(0U));
  }
}

TEST(StepLoopEvents, WhatIsPreemptedHasBegunWhenItFirstDid) {
  CountingRunner runner(Ahead::no);
  StepLoopParts scarce = caching_parts(runner, 5, 2, 1, 500);
  scarce.clock = [&] { return runner.now; };
  runner.now += std::chrono::seconds(1);
  const auto begun = runner.now;
  StepLoop loop(scarce);
  std::vector<std::shared_ptr<EventChannel>> channels;
  for (const int32_t token : {1, 9}) channels.push_back(submit(loop, read(70, token, 70)));
  run_to_the_end(loop);
  EXPECT_EQ(loop.stats().preemptions, 1U);
  for (const auto& channel : channels) {
    for (const Event& event : events_of(*channel)) {
      EXPECT_EQ(event.scheduled, begun);
      EXPECT_EQ(event.cached_tokens, 0) << "not what it has left itself";
    }
  }
}

TEST(StepLoopEvents, SayWhereAPromptThatPartsGoesOn) {
  CountingRunner runner(Ahead::no);
  StepLoop loop(caching_parts(runner, 30, 2, 4, 900));
  Request first = read(800, 1), parted = first;
  first.likely_ends = {330};
  std::fill(parted.prompt.begin() + 330, parted.prompt.end(), 7);
  run(loop, first);
  EXPECT_EQ(run(loop, parted).back().cached_tokens, 320);
}

TEST(StepLoopEvents, SayWhatCameFromTheHostsMemory) {
  CountingRunner runner(Ahead::no);
  StepLoopParts tiered = caching_parts(runner, 20, 1, 2, 500);
  tiered.host_pages = 40;
  tiered.state_pages = 1;
  tiered.page_bytes = 1000;
  StepLoop loop(tiered);
  EXPECT_EQ(loop.stats().tier.bytes_total, 40'000U);
  EXPECT_EQ(loop.stats().tier.bytes_used, 0U);
  for (int i = 0; i < 2; ++i) run(loop, read(300, 1));
  for (const int32_t other : {30, 60, 90}) run(loop, read(300, other));
  const uint64_t saved = loop.stats().tier.bytes_saved, used = loop.stats().tier.bytes_used;
  EXPECT_GT(saved, 0U);
  EXPECT_EQ(saved % 1000, 0U);
  EXPECT_EQ(used, saved);
  EXPECT_EQ(loop.stats().tier.bytes_loaded, 0U);
  const Event event = run(loop, read(300, 1)).back();
  EXPECT_EQ(event.cached_tokens, 256);
  EXPECT_EQ(event.tier_tokens, 256);
  EXPECT_EQ(loop.stats().tier.hits, 256U);
  EXPECT_EQ(loop.stats().prefix_hits, 512U);
  EXPECT_EQ(loop.stats().tier.bytes_saved + loop.stats().tier.bytes_loaded, 1000 * runner.moves);
  EXPECT_EQ(loop.stats().tier.bytes_loaded, 1000U);  // the state: the blocks are there
  run(loop, read(1270, 120));                        // which takes all of them
  EXPECT_EQ(run(loop, read(300, 1)).back().tier_tokens, 256);
  EXPECT_EQ(loop.stats().tier.bytes_loaded, 1000U + 5000);
  EXPECT_EQ(loop.stats().tier.bytes_saved + loop.stats().tier.bytes_loaded, 1000 * runner.moves);
}

/// So a conversation is kept for when its next turn is due, of two that do not both fit (prefix_worth_test.cpp).
TEST(StepLoopEvents, HoweverManyChoicesARequestHasItIsOneThatCame) {
  CountingRunner runner(Ahead::no);
  StepLoopParts tiered = caching_parts(runner, 8, 1, 2, 500);
  tiered.host_pages = 13;
  tiered.state_pages = 2;
  StepLoop loop(tiered);
  const auto pass = [&](int count, int choices) {
    Request other = read(1, 0, 1);
    other.sampling.n = choices;
    for (; count > 0; --count) run(loop, other);
  };
  for (const int tokens : {65, 129, 193}) {  // a turn for every twenty that come
    run(loop, read(tokens, 1, 1));
    pass(19, 1);
  }
  run(loop, read(257, 1, 1));
  pass(11, 2);
  run(loop, read(257, 30, 1));
  pass(6, 2);
  run(loop, read(129, 60, 1));
  run(loop, read(500, 90, 1));  // which takes all blocks
  EXPECT_EQ(run(loop, read(258, 1, 1)).back().cached_tokens, 256);
}

/// A stop token is shown if stop strings are; what may still become one is held back until it cannot.
TEST(StepLoopEvents, TextEndsWithWhatIsToBeShown) {
  CountingRunner runner(Ahead::yes);
  const text::Tokenizer tokenizer = text::test::parse(text::test::small_tokenizer());
  StepLoopParts with_text = parts(runner);
  with_text.tokenizer = &tokenizer;
  StepLoop loop(with_text);
  Request request = count_from('a', 9);
  const auto text = [&] {
    std::string all;
    for (const Event& event : run(loop, request)) all += event.text;
    return all;
  };
  request.sampling.stop_token_ids = {'e'};
  EXPECT_EQ(text(), "bcd");
  request.sampling.include_stop_str_in_output = true;
  EXPECT_EQ(text(), "bcde");
  request.sampling.stop_token_ids = {};
  request.sampling.stop = {"fg"};
  EXPECT_EQ(text(), "bcdefg");
  request.sampling.include_stop_str_in_output = false;
  EXPECT_EQ(text(), "bcde");
  request.sampling.stop = {"ijx"};
  EXPECT_EQ(text(), "bcdefghij") << "its end might have become a stop string";
  request.sampling.stop = {"efx"};
  request.sampling.stop_token_ids = {'g'};
  EXPECT_EQ(text(), "bcdef") << "also where a stop token ends it";
}

TEST(StepLoopEvents, LogprobsWhereTheyAreAskedFor) {
  CountingRunner runner(Ahead::yes);
  StepLoop loop(parts(runner));
  Request request = read(5, 1, 3);
  for (const Event& event : run(loop, request)) {
    EXPECT_TRUE(event.logprobs.empty());
    EXPECT_TRUE(event.prompt_logprobs.empty());
  }
  request.sampling.logprobs = 0;
  request.sampling.prompt_logprobs = 0;
  const std::vector<Event> events = run(loop, request);
  ASSERT_EQ(events.size(), 3U);
  for (const Event& event : events) EXPECT_EQ(event.logprobs.size(), 1U);
  ASSERT_EQ(events[0].prompt_logprobs.size(), 5U);
  EXPECT_TRUE(events[0].prompt_logprobs[0].empty());
  for (size_t i = 1; i < 5; ++i) {
    ASSERT_EQ(events[0].prompt_logprobs[i].size(), 1U);
    EXPECT_EQ(events[0].prompt_logprobs[i][0].token, request.prompt[i]);
  }
  EXPECT_TRUE(events[1].prompt_logprobs.empty());
  EXPECT_TRUE(events[2].prompt_logprobs.empty());
  request.sampling.max_tokens = 0;
  EXPECT_EQ(run(loop, request).back().prompt_logprobs.size(), 5U);
  request.sampling.prompt_logprobs = 2;  // of a prompt, and not as many as of the answer
  EXPECT_EQ(run(loop, request).back().prompt_logprobs[1].size(), 3U);
}

TEST(StepLoopEvents, CountsFollowWhatIsOpen) {
  CountingRunner runner(Ahead::no);
  StepLoop loop(parts(runner, 8, 2));
  Request request = count_from(10, 4);
  request.sampling.n = 3;
  const auto channel = submit(loop, request);
  EXPECT_EQ(loop.stats().waiting, 3) << "nobody has begun";
  loop.step();
  EXPECT_EQ(loop.stats().running, 2);
  EXPECT_EQ(loop.stats().waiting, 1);
  EXPECT_EQ(loop.stats().state_slots_used, 2);
  EXPECT_EQ(loop.stats().kv_blocks_used, 2);
  EXPECT_EQ(loop.stats().step_tokens.tokens, 2U);
  run_to_the_end(loop);
  EXPECT_EQ(loop.stats().prompt_tokens, 1U) << "of three choices it is one prompt";
  EXPECT_EQ(loop.stats().generated_tokens, 12U);
  std::map<int, std::vector<int32_t>> choices;
  for (const Event& event : events_of(*channel)) {
    std::ranges::copy(event.tokens, std::back_inserter(choices[event.choice]));
  }
  ASSERT_EQ(choices.size(), 3U);
  for (int i = 0; i < 3; ++i) EXPECT_EQ(choices[i], from_to(11, 14)) << i;
}

}  // namespace
}  // namespace tessera::engine
