#include "engine/step_loop.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <vector>

#include "counting_runner.h"
#include "guide/grammar.h"
#include "text/tokenizer_files.h"

// The loop against a runner whose next token is the last one plus one: what is submitted, and what becomes of it.
namespace tessera::engine {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

INSTANTIATE_TEST_SUITE_P(StepsAhead, StepLoopTest, testing::Values(Ahead::no, Ahead::yes, Ahead::draws_later));

TEST_P(StepLoopTest, WhatEndsByCountHasNoRowTooMany) {
  StepLoop loop(parts(runner_));
  auto channel = submit(loop, count_from(10, 5));
  run_to_the_end(loop);
  EXPECT_EQ(drain(*channel).tokens, from_to(11, 15));
  EXPECT_EQ(runner_.rows, 5);
  EXPECT_THAT(runner_.histories, testing::IsEmpty()) << "nothing is penalized";
  EXPECT_EQ(runner_.collected.load(), runner_.submitted.load());
  EXPECT_EQ(runner_.unknown_tokens, ahead() ? 4 : 0);
}

TEST_P(StepLoopTest, AStopTokenLeavesOneRowUnderWay) {
  StepLoop loop(parts(runner_));
  Request request = count_from(10, 50);
  request.sampling.stop_token_ids = {13};
  auto channel = submit(loop, request);
  run_to_the_end(loop);
  const Answer answer = drain(*channel);
  EXPECT_EQ(answer.tokens, from_to(11, 13));
  EXPECT_EQ(answer.finish_reason, FinishReason::stop);
  EXPECT_EQ(runner_.rows, ahead() ? 4 : 3);
}

TEST_P(StepLoopTest, MinTokensAreCountedAhead) {
  StepLoop loop(parts(runner_));
  Request request = count_from(10, 50);
  request.sampling.stop_token_ids = {12, 15};
  request.sampling.min_tokens = 3;
  auto channel = submit(loop, request);
  run_to_the_end(loop);
  EXPECT_THAT(drain(*channel).tokens, ElementsAre(11, 13, 14, 15));
}

TEST_P(StepLoopTest, NothingIsDrawnForMaxTokensZero) {
  StepLoop loop(parts(runner_));
  Request request = count_from(10, 0);
  request.prompt = from_to(1, 100);
  auto without = submit(loop, request);
  request.sampling.prompt_logprobs = 0;
  auto with = submit(loop, request);
  run_to_the_end(loop);
  EXPECT_EQ(without->next()->finish_reason, FinishReason::length);
  const auto event = with->next();
  EXPECT_EQ(event->finish_reason, FinishReason::length);
  ASSERT_EQ(event->prompt_logprobs.size(), 100U);
  for (size_t i = 1; i < 100; ++i) EXPECT_EQ(event->prompt_logprobs[i].at(0).token, static_cast<int32_t>(i) + 1);
}

TEST_P(StepLoopTest, AGuidedChoiceOrItsDrawWaitsForItsTokensAndNoOtherDoes) {
  StepLoop loop(parts(runner_));
  Request request = count_from(10, 6);
  request.guide = {.thinking_end = 40, .thinking_tokens_max = 2, .thinking_closer = {30, 40}, .beginnings = {{50, 60}}};
  auto guided = submit(loop, request);
  auto free = submit(loop, count_from(100, 6));
  run_to_the_end(loop);
  EXPECT_THAT(drain(*guided).tokens, ElementsAre(11, 12, 30, 40, 50, 60));
  EXPECT_EQ(drain(*free).tokens, from_to(101, 106));
  EXPECT_EQ(runner_.rows, 12);
  EXPECT_EQ(runner_.unknown_tokens, draws_later() ? 10 : ahead() ? 5 : 0);
  EXPECT_EQ(runner_.late_draws, draws_later() ? 5 : 0);
}

/// Not before its thinking may end, and not behind it.
TEST_P(StepLoopTest, AGuidedChoiceWaitsForItsTokensWhereTheyDecide) {
  StepLoop loop(parts(runner_));
  Request request = count_from(10, 12);
  request.guide = {.thinking_end = 40, .thinking_tokens_max = 5, .thinking_closer = {30, 40}};
  auto guided = submit(loop, request);
  run_to_the_end(loop);
  EXPECT_THAT(drain(*guided).tokens, ElementsAre(11, 12, 13, 14, 15, 30, 40, 41, 42, 43, 44, 45));
  EXPECT_EQ(runner_.unknown_tokens, draws_later() ? 11 : ahead() ? 8 : 0);
}

/// Steps take 4 ms on the device, and 1 ms more before them on the host, where it does not work ahead.
TEST_P(StepLoopTest, GuidedAnswersTakeAsLongAsOthersWhereTheirDrawsComeLater) {
  const auto milliseconds = [&](const Guide& guide) {
    CountingRunner runner(GetParam());
    runner.cost = [](const model::Step&) { return std::chrono::microseconds(4000); };
    StepLoopParts timed = parts(runner);
    timed.clock = [&runner] { return runner.now; };
    StepLoop loop(timed);
    for (int i = 0; i < 4; ++i) {
      Request request = count_from(10, 100);
      request.guide = guide;
      submit(loop, request);
    }
    while (loop.step()) runner.now += std::chrono::milliseconds(1);
    return runner.now.time_since_epoch() / std::chrono::milliseconds(1);
  };
  // It thinks for as long as it may: any of its tokens could be the last of its thoughts.
  const Guide guide{.thinking_end = 199, .thinking_excludes = 198};
  const auto free = milliseconds({}), guided = milliseconds(guide);
  if (GetParam() == Ahead::yes) {
    EXPECT_GT(guided, free + 90);
  } else {
    EXPECT_EQ(guided, free);
  }
}

/// What four answers wait for each of their tokens while a prompt of 6,400 tokens is read, in microseconds; steps take
/// 4 ms, and 25 us more for each row of it. `queued` requests more have no slot.
std::vector<int64_t> waits_beside_a_prompt(CountingRunner& runner, std::optional<ChunkPolicy::Seconds> bound,
                                           const Guide& guide, int queued = 0, int prompts = 1) {
  runner.cost = [](const model::Step& step) {
    int32_t rows = 0;
    for (const kernels::SequenceRows& sequence : step.sequences) {
      if (sequence.row_class == kernels::RowClass::prefill && sequence.rows > 1) rows += sequence.rows;
    }
    return std::chrono::microseconds(4000 + 25 * rows);
  };
  StepLoopParts timed = parts(runner, /*blocks=*/1400, /*slots=*/4 + prompts);
  timed.max_num_batched_tokens = 4096;
  timed.chunk_time = bound;
  timed.clock = [&runner] { return runner.now; };
  StepLoop loop(timed);
  std::vector<std::shared_ptr<EventChannel>> answers;
  for (int i = 0; i < 4; ++i) {
    Request request = count_from(0, 180);
    request.guide = guide;
    answers.push_back(submit(loop, request));
  }
  for (int i = 0; i < 10; ++i) EXPECT_TRUE(loop.step());
  Request reader = count_from(0, 1);
  reader.prompt.assign(6400, 7);
  const auto prompt = submit(loop, reader);
  for (int i = 1; i < prompts; ++i) submit(loop, reader);
  for (int i = 0; i < queued; ++i) submit(loop, count_from(0, 1));
  std::vector<int64_t> waits;
  int64_t last = -1;
  while (!prompt->finished() && loop.step()) {
    while (prompt->try_next()) {
    }
    const int64_t now = runner.now.time_since_epoch() / std::chrono::microseconds(1);
    for (size_t i = 0; i < answers.size(); ++i) {
      while (answers[i]->try_next()) {
        if (i > 0) continue;
        if (last >= 0) waits.push_back(now - last);
        last = now;
      }
    }
  }
  EXPECT_TRUE(prompt->finished());
  for (const auto& answer : answers) answer->cancel();
  run_to_the_end(loop);
  return waits;
}

TEST_P(StepLoopTest, RunningAnswersWaitTwiceAsLongOnAverageWhileAPromptIsRead) {
  // The second kind of answer waits for its tokens before its next rows: prompts are read between its steps.
  for (const Guide& guide : {Guide{}, Guide{.thinking_end = 199, .thinking_excludes = 198}}) {
    CountingRunner runner(GetParam());
    std::vector<int64_t> waits = waits_beside_a_prompt(runner, std::nullopt, guide);
    std::erase(waits, 0);  // what was read together
    ASSERT_GT(waits.size(), 30U);
    int64_t sum = 0;
    for (const int64_t wait : waits) sum += wait;
    const double mean = static_cast<double>(sum) / static_cast<double>(waits.size());
    EXPECT_LE(mean, 8200);  // and steps without prompts make up for a little more
    EXPECT_GE(mean, 6800);
    EXPECT_LE(std::ranges::max(waits), 50'000);
  }
}

/// Those that have no slot do not count among the prompts that answers share the time with.
TEST_P(StepLoopTest, ALongQueueGivesPromptsNoMoreTime) {
  CountingRunner other(GetParam());
  EXPECT_EQ(waits_beside_a_prompt(runner_, std::nullopt, {}, /*queued=*/90),
            waits_beside_a_prompt(other, std::nullopt, {}));
}

TEST_P(StepLoopTest, MorePromptsThanAnswersGetMoreOfTheTime) {
  CountingRunner other(GetParam());
  const auto longest = [](const std::vector<int64_t>& waits) { return std::ranges::max(waits); };
  EXPECT_GT(longest(waits_beside_a_prompt(runner_, std::nullopt, {}, /*queued=*/0, /*prompts=*/12)),
            longest(waits_beside_a_prompt(other, std::nullopt, {})) * 3 / 2);
}

TEST_P(StepLoopTest, AFixedBoundIsKeptToo) {
  const std::vector<int64_t> waits = waits_beside_a_prompt(runner_, ChunkPolicy::Seconds(0.02), {});
  EXPECT_LE(std::ranges::count_if(waits, [](int64_t wait) { return wait > 20'000; }), 2);
  EXPECT_GE(std::ranges::count_if(waits, [](int64_t wait) { return wait > 15'000; }), 5);
}

/// As many rows are read behind moves, however long these take: also of those in a step between two of an answer.
TEST_P(StepLoopTest, MovesThatTakeLongAreNotTakenForRowsThatDo) {
  const auto step_rows = [](std::chrono::microseconds moves, int steps) {
    CountingRunner runner(GetParam());
    runner.cost = [moves](const model::Step& step) {
      return std::chrono::microseconds(4000 + 25 * ssize(step.tokens)) + moves * (step.moves.empty() ? 0 : 1);
    };
    StepLoopParts tiered = parts(runner, /*blocks=*/160, /*slots=*/3);
    tiered.kept_states = 2;
    tiered.prefix_caching = true;
    tiered.host_pages = 200;
    tiered.state_pages = 1;
    tiered.max_num_batched_tokens = 2000;
    tiered.chunk_time = ChunkPolicy::Seconds(0.02);
    tiered.clock = [&runner] { return runner.now; };
    StepLoop loop(tiered);
    const auto read = [&](size_t tokens, int32_t token) {
      Request reader = count_from(0, 1);
      reader.prompt.assign(tokens, token);
      return submit(loop, reader);
    };
    read(600, 7);
    run_to_the_end(loop);
    read(10'000, 9);  // which takes its blocks
    run_to_the_end(loop);
    Request answer = count_from(0, 140);
    answer.guide = {.thinking_end = 199, .thinking_excludes = 198};
    submit(loop, answer);
    for (int i = 0; i < steps; ++i) EXPECT_TRUE(loop.step());
    const auto prompt = read(9000, 7);
    run_to_the_end(loop);
    EXPECT_EQ(prompt->try_next()->tier_tokens, 576);
    return runner.step_rows;
  };
  for (const int steps : {10, 11}) {
    EXPECT_EQ(step_rows(std::chrono::microseconds(0), steps), step_rows(std::chrono::microseconds(200'000), steps));
  }
}

/// Tokens are their last decimal digit; 199 ends an answer.
CompiledGrammar digits(const std::string& regex) {
  static guide::Compiler compiler([] {
    guide::Vocabulary vocabulary{.tokens = std::vector<std::string>(kVocabSize), .stop_ids = {199}};
    for (size_t id = 0; id < 199; ++id) vocabulary.tokens[id] = static_cast<char>('0' + id % 10);
    return vocabulary;
  });
  auto grammar = compiler.compile({.kind = GrammarSource::Kind::regex, .text = regex});
  EXPECT_TRUE(grammar.ok()) << grammar.status().message();
  return *grammar;
}

/// With a pool and without, and beside a prompt that is read in several steps.
TEST_P(StepLoopTest, AnswersFollowTheirGrammars) {
  for (const int threads : {0, 3}) {
    ThreadPool pool(std::max(threads, 1));
    StepLoopParts with_pool = parts(runner_, 16, 8);
    if (threads > 0) with_pool.pool = &pool;
    with_pool.eos_token_ids = {199};
    StepLoop loop(with_pool);
    std::vector<std::shared_ptr<EventChannel>> guided;
    for (int i = 0; i < 6; ++i) {
      Request request = count_from(10, 50);
      request.guide.grammar = digits("(17){" + std::to_string(i + 1) + "}5?");
      guided.push_back(submit(loop, request));
    }
    auto free = submit(loop, count_from(100, 6));
    Request reader = count_from(7, 1);
    reader.prompt.assign(300, 7);
    submit(loop, reader);
    run_to_the_end(loop);
    for (size_t i = 0; i < guided.size(); ++i) {
      const Answer answer = drain(*guided[i]);
      EXPECT_EQ(answer.finish_reason, FinishReason::stop);
      std::string text;
      for (const int32_t token : answer.tokens) text += token == 199 ? 'e' : static_cast<char>('0' + token % 10);
      std::string expected;
      for (size_t pair = 0; pair <= i; ++pair) expected += "17";
      EXPECT_EQ(text, expected + "5e");
    }
    EXPECT_EQ(drain(*free).tokens, from_to(101, 106));
  }
}

TEST_P(StepLoopTest, BehindItsGrammarAnAnswerGoesOnByStopTokensAlone) {
  StepLoop loop(parts(runner_));
  Request request = count_from(10, 50);
  request.guide.grammar = digits("1(2|3)");
  auto guided = submit(loop, request);
  auto free = submit(loop, count_from(100, 6));
  run_to_the_end(loop);
  // To this loop the grammar's stop token is one like any other, as with ignore_eos.
  const Answer answer = drain(*guided);
  EXPECT_EQ(answer.finish_reason, FinishReason::length);
  EXPECT_EQ(answer.tokens.size(), 50U);
  EXPECT_EQ(answer.tokens[2], 199);
  EXPECT_EQ(drain(*free).tokens, from_to(101, 106));
}

/// The id of a byte is its value.
const text::Tokenizer& bytes_tokenizer() {
  static const auto tokenizer = text::Tokenizer::parse(text::test::small_tokenizer().dump(), "test");
  EXPECT_TRUE(tokenizer.ok());
  return *tokenizer;
}

TEST_P(StepLoopTest, BadWordsAreNotCompleted) {
  StepLoopParts with_text = parts(runner_);
  with_text.tokenizer = &bytes_tokenizer();
  StepLoop loop(with_text);
  Request request = count_from('A' - 1, 6);
  request.sampling.bad_words = {"BCx", "BC", "FG", "FHI", "K"};
  auto filtered = submit(loop, request);
  request.sampling.bad_words = {"D"};  // asks for no token before it is there
  auto single = submit(loop, request);
  auto free = submit(loop, count_from(100, 6));
  run_to_the_end(loop);
  EXPECT_THAT(drain(*filtered).tokens, ElementsAre('A', 'B', 'D', 'E', 'F', 'H'));
  EXPECT_THAT(drain(*single).tokens, ElementsAre('A', 'B', 'C', 'E', 'F', 'G'));
  EXPECT_EQ(drain(*free).tokens, from_to(101, 106));
  EXPECT_EQ(runner_.unknown_tokens, draws_later() ? 15 : ahead() ? 10 : 0);
}

TEST_P(StepLoopTest, APromptMayEndWithWhatABadWordBeginsWith) {
  StepLoopParts with_text = parts(runner_);
  with_text.tokenizer = &bytes_tokenizer();
  StepLoop loop(with_text);
  Request request = count_from('B', 2);
  request.sampling.bad_words = {"BC"};
  auto filtered = submit(loop, request);
  run_to_the_end(loop);
  EXPECT_THAT(drain(*filtered).tokens, ElementsAre('C', 'D'));
}

TEST_P(StepLoopTest, OnlyAllowedTokensAreDrawn) {
  StepLoopParts with_stop = parts(runner_);
  with_stop.eos_token_ids = {14};
  StepLoop loop(with_stop);
  Request request = count_from(10, 6);
  request.sampling.allowed_token_ids = {12, 14, 30, 50, 60};
  request.sampling.ignore_eos = false;
  auto stops = submit(loop, request);
  request.sampling.min_tokens = 4;
  auto goes_on = submit(loop, request);
  request.guide.beginnings = {{77, 78}};
  auto begun = submit(loop, request);
  run_to_the_end(loop);
  EXPECT_THAT(drain(*stops).tokens, ElementsAre(12, 14));
  EXPECT_THAT(drain(*goes_on).tokens, ElementsAre(12, 30, 50, 60, 12, 14));
  EXPECT_THAT(drain(*begun).tokens, ElementsAre(77, 78, 12, 30, 50, 60));
}

TEST_P(StepLoopTest, AFilterTakesFromWhatAGrammarAllows) {
  StepLoopParts with_text = parts(runner_);
  with_text.tokenizer = &bytes_tokenizer();
  StepLoop loop(with_text);
  Request request = count_from(10, 3);
  request.guide.grammar = digits("1(2|3|4)5");
  request.sampling.bad_words = {std::string("\x0B\x0C")};  // 11, 12
  request.sampling.allowed_token_ids = {11, 12, 13, 14, 25};
  auto filtered = submit(loop, request);
  run_to_the_end(loop);
  EXPECT_THAT(drain(*filtered).tokens, ElementsAre(11, 13, 25));
}

TEST_P(StepLoopTest, ACancelledChoiceMakesRoomAtOnce) {
  StepLoop loop(parts(runner_, 8, 1));
  auto first = submit(loop, count_from(10, 50));
  auto second = submit(loop, count_from(100, 3));
  for (int i = 0; i < 4; ++i) loop.step();
  first->cancel();
  loop.step();
  EXPECT_EQ(first->finished(), false);  // its events are there to be read
  const Answer answer = drain(*first);
  EXPECT_EQ(answer.tokens, from_to(11, 10 + (ahead() ? 3 : 4)));
  EXPECT_EQ(answer.finish_reason, FinishReason::cancelled);
  EXPECT_EQ(loop.stats().running, 1);
  run_to_the_end(loop);
  EXPECT_EQ(drain(*second).tokens, from_to(101, 103));
  EXPECT_EQ(runner_.collected.load(), runner_.submitted.load());
}

TEST_P(StepLoopTest, EveryChoiceOfARequestIsCancelled) {
  StepLoop loop(parts(runner_));
  Request request = count_from(10, 50);
  request.sampling.n = 3;
  const auto channel = submit(loop, request);
  for (int i = 0; i < 4; ++i) loop.step();
  EXPECT_EQ(loop.stats().running, 3);
  channel->cancel();
  loop.step();
  EXPECT_EQ(loop.stats().running, 0);
  run_to_the_end(loop);
}

TEST_P(StepLoopTest, ARequestThatWaitsIsCancelledWithoutARow) {
  StepLoop loop(parts(runner_, 8, 1));
  auto first = submit(loop, count_from(10, 20));
  auto waiting = submit(loop, count_from(100, 3));
  auto last = submit(loop, count_from(50, 3));
  for (int i = 0; i < 3; ++i) loop.step();
  EXPECT_EQ(loop.stats().waiting, 2);
  waiting->cancel();
  loop.step();
  EXPECT_EQ(loop.stats().waiting, 1);
  const Answer answer = drain(*waiting);
  EXPECT_EQ(answer.finish_reason, FinishReason::cancelled);
  EXPECT_TRUE(answer.tokens.empty());
  run_to_the_end(loop);
  EXPECT_EQ(drain(*first).tokens, from_to(11, 30));
  EXPECT_EQ(drain(*last).tokens, from_to(51, 53));
  EXPECT_EQ(runner_.rows, 23) << "none of it was of the one that left";
}

TEST_P(StepLoopTest, WhatHasEndedIsNotOpenAnyMore) {
  StepLoop loop(parts(runner_));
  const auto fill = [&](int64_t max_tokens) {
    std::vector<std::shared_ptr<EventChannel>> channels;
    for (int i = 0; i < kMaxOpenRequests; ++i) {
      Request request = count_from(10, max_tokens);
      request.sampling.n = i % 100 == 0 ? 2 : 1;
      channels.push_back(submit(loop, request));
    }
    const Status refused = loop.submit(count_from(10, 1)).status();
    EXPECT_EQ(refused.code(), StatusCode::resource_exhausted);
    EXPECT_THAT(refused.message(), HasSubstr("1024 requests are open already"));
    return channels;
  };
  // However a request ends, it makes room for one more.
  fill(1);
  run_to_the_end(loop);
  const auto cancelled = fill(50);
  for (int i = 0; i < 3; ++i) loop.step();
  EXPECT_FALSE(loop.submit(count_from(10, 1)).ok()) << "none has ended";
  for (const auto& channel : cancelled) channel->cancel();
  run_to_the_end(loop);
  fill(0);
  run_to_the_end(loop);
  EXPECT_TRUE(loop.submit(count_from(10, 1)).ok());
}

/// The id of a byte is its value.
TEST_P(StepLoopTest, MinTokensGoBeforeStopStringsAsWell) {
  const text::Tokenizer tokenizer = text::test::parse(text::test::small_tokenizer());
  StepLoopParts with_text = parts(runner_);
  with_text.tokenizer = &tokenizer;
  StepLoop loop(with_text);
  const auto text_of = [&](int64_t min_tokens, const std::string& stop) {
    Request request = count_from('a', 10);
    request.sampling.stop = {stop};
    request.sampling.min_tokens = min_tokens;
    auto channel = submit(loop, request);
    run_to_the_end(loop);
    std::string text;
    while (auto event = channel->try_next()) text += event->text;
    return text;
  };
  EXPECT_EQ(text_of(0, "d"), "bc");
  EXPECT_EQ(text_of(2, "d"), "bc") << "the third token may end it";
  EXPECT_EQ(text_of(3, "d"), "bcdefghijk") << "the third token must be there";
  EXPECT_EQ(text_of(2, "cd"), "bcdefghijk") << "what begins before may not end it";
}

/// As its first token, which might have begun a thought.
TEST_P(StepLoopTest, MinTokensGoBeforeStopStringsThatWereHeldBackToo) {
  const text::Tokenizer tokenizer = text::test::parse(text::test::small_tokenizer());
  StepLoopParts with_text = parts(runner_);
  with_text.tokenizer = &tokenizer;
  StepLoop loop(with_text);
  for (const bool may_stop : {true, false}) {
    Request request = count_from('<' - 1, 1);
    request.stop_scope.emplace();
    request.sampling.stop = {"<"};
    request.sampling.min_tokens = may_stop ? 0 : 1;
    const auto channel = submit(loop, request);
    run_to_the_end(loop);
    const auto event = channel->try_next();
    EXPECT_EQ(event->text, may_stop ? "" : "<");
    EXPECT_EQ(event->finish_reason, may_stop ? FinishReason::stop : FinishReason::length);
  }
}

TEST_P(StepLoopTest, ARowThatFailsEndsItsChoiceAlone) {
  StepLoop loop(parts(runner_));
  auto bad = submit(loop, count_from(kBadToken - 3, 50));
  auto good = submit(loop, count_from(10, 8));
  run_to_the_end(loop);
  const Answer answer = drain(*bad);
  EXPECT_EQ(answer.tokens, from_to(kBadToken - 2, kBadToken));
  EXPECT_EQ(answer.finish_reason, FinishReason::error);
  EXPECT_EQ(answer.error.code(), StatusCode::corrupt_data);
  EXPECT_THAT(answer.error.message(), HasSubstr("at position 4"));
  EXPECT_EQ(drain(*good).tokens, from_to(11, 18));
}

TEST_P(StepLoopTest, ARowOfAPromptThatFailsEndsItsChoiceOnce) {
  StepLoop loop(parts(runner_));
  Request request = count_from(kBadToken, 0);
  request.prompt = {1, kBadToken, 3};
  request.sampling.prompt_logprobs = 0;
  auto bad = submit(loop, request);
  run_to_the_end(loop);
  const Answer answer = drain(*bad);
  EXPECT_EQ(answer.finish_reason, FinishReason::error);
  EXPECT_THAT(answer.error.message(), HasSubstr("at position 2"));
}

/// Also if its client leaves in the same moment.
TEST_P(StepLoopTest, AnAnswerThatLeavesItsGrammarEndsAlone) {
  for (const bool cancelled : {false, true}) {
    CountingRunner runner(GetParam());
    runner.heeds_masks = false;
    StepLoop loop(parts(runner));
    Request request = count_from(10, 50);
    request.guide.grammar = digits("12(7|8)");
    auto guided = submit(loop, request);
    request.guide.grammar = digits("123456");
    auto follows = submit(loop, request);
    request.guide.grammar = digits("12(7|8)");
    request.sampling.stop_token_ids = {13};  // where it leaves it, too
    auto stops = submit(loop, request);
    auto free = submit(loop, count_from(100, 8));
    while (guided->try_next() || !guided->finished()) {
      if (cancelled && runner.submitted >= 4) guided->cancel();
      ASSERT_TRUE(loop.step());
      if (runner.submitted > 20) break;
    }
    EXPECT_TRUE(guided->finished());
    follows->cancel();
    run_to_the_end(loop);
    EXPECT_EQ(drain(*free).tokens, from_to(101, 108));
    EXPECT_EQ(drain(*stops).finish_reason, FinishReason::stop);
  }
}

TEST_P(StepLoopTest, PreemptionLosesNoToken) {
  StepLoop loop(parts(runner_, 3, 2));
  Request request = count_from(0, 70);
  request.sampling.presence_penalty = 1;
  auto old = submit(loop, request);
  request.prompt = {50};
  auto young = submit(loop, request);
  run_to_the_end(loop);
  EXPECT_EQ(loop.stats().preemptions, 1U);
  EXPECT_EQ(drain(*old).tokens, from_to(1, 70));
  EXPECT_EQ(drain(*young).tokens, from_to(51, 120));
  EXPECT_THAT(runner_.histories, ElementsAre(0, 0, 64));  // what penalties see as each begins to run
}

/// What was told of a prompt is not told again, nor computed for it.
TEST_P(StepLoopTest, PreemptionTellsAPromptsLogprobsOnce) {
  StepLoop loop(parts(runner_, 3, 2));
  Request request = count_from(0, 70);
  request.prompt = {5, 6, 7};
  request.sampling.prompt_logprobs = 0;
  auto old = submit(loop, request);
  auto young = submit(loop, request);
  run_to_the_end(loop);
  EXPECT_EQ(loop.stats().preemptions, 1U);
  for (const auto& channel : {old, young}) {
    size_t told = 0;
    std::vector<int32_t> tokens;
    while (const auto event = channel->try_next()) {
      told += event->prompt_logprobs.size();
      tokens.insert(tokens.end(), event->tokens.begin(), event->tokens.end());
    }
    EXPECT_EQ(told, 3U);
    EXPECT_EQ(tokens, from_to(8, 77));
  }
}

TEST(StepLoop, MetersDecodeStepsWhereToldTheirBytes) {
  CountingRunner runner(Ahead::yes);
  StepLoopParts metered = parts(runner);
  metered.step_bytes = StepBytes{.weights = {.fixed_bytes = 1000}};
  StepLoop loop(metered);
  const auto channel = *loop.submit({.prompt = {1, 2, 3}, .sampling = {.max_tokens = 5}});
  while (loop.step()) {
  }
  EXPECT_EQ(drain(*channel).tokens.size(), 5U);
  const DecodeTraffic decode = loop.stats().decode;
  EXPECT_EQ(decode.steps, 4U);  // the first token is the prefill's
  EXPECT_EQ(decode.bytes, 4000);
  EXPECT_GE(decode.seconds, 0);
}

}  // namespace
}  // namespace tessera::engine
