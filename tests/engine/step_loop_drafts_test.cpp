#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "drafting_runner.h"
#include "text/tokenizer_files.h"

// The loop against a runner that drafts: in which order steps are submitted and drafts asked for.
namespace tessera::engine {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

class StepLoopDraftsTest : public testing::Test {
 protected:
  StepLoopParts parts() {
    return {.runner = &runner_,
            .tokenizer = &tokenizer_,
            .vocab_size = kDraftVocabSize,
            .kv_blocks = 16,
            .max_num_seqs = 4,
            .max_model_len = 512,
            .max_num_batched_tokens = 128,
            .max_decode_rows = 4 * (1 + kDrafts),
            .drafts_max = kDrafts,
            .drafts_always = true,
            .eos_token_ids = {}};
  }
  static Request count_from(int32_t token, int64_t max_tokens) {
    return {.prompt = {token}, .sampling = {.temperature = 0, .max_tokens = max_tokens}};
  }
  /// Runs all of them to their ends; returns their tokens.
  std::vector<std::vector<int32_t>> run(const std::vector<Request>& requests) {
    runner_.order.clear();
    StepLoop loop(parts());
    std::vector<std::shared_ptr<EventChannel>> channels;
    for (const Request& request : requests) channels.push_back(*loop.submit(request));
    while (loop.step()) {
    }
    EXPECT_EQ(loop.stats().kv_blocks_used + loop.stats().state_slots_used, 0);
    drafts_ = loop.stats().drafts;
    std::vector<std::vector<int32_t>> answers;
    for (const auto& channel : channels) {
      auto& answer = answers.emplace_back();
      while (const auto event = channel->try_next()) {
        answer.insert(answer.end(), event->tokens.begin(), event->tokens.end());
      }
    }
    return answers;
  }
  static std::vector<int32_t> from_to(int32_t first, int32_t last) {
    std::vector<int32_t> tokens;
    for (int32_t token = first; token <= last; ++token) tokens.push_back(token);
    return tokens;
  }

  text::Tokenizer tokenizer_ = *text::Tokenizer::parse(text::test::small_tokenizer().dump(), "test");
  DraftingRunner runner_;
  DraftStats drafts_;
};

TEST_F(StepLoopDraftsTest, TheNextStepIsSubmittedBeforeItsDraftsAreKnown) {
  EXPECT_THAT(run({count_from(10, 13)}), ElementsAre(from_to(11, 23)));
  // The prompt's step gives a token, three others four each.
  EXPECT_EQ(runner_.order, "scndcndcndc");
  EXPECT_EQ(drafts_.steps, 3U);
  EXPECT_GE(drafts_.accepted_at[0], 3U);
}

TEST_F(StepLoopDraftsTest, OneDraftIsEnough) {
  StepLoopParts one = parts();
  one.drafts_max = 1;
  StepLoop loop(one);
  const auto channel = *loop.submit(count_from(10, 13));
  while (loop.step()) {
  }
  // The prompt's step gives a token, six others two each.
  EXPECT_EQ(runner_.order, "scndcndcndcndcndcndc");
}

TEST_F(StepLoopDraftsTest, DraftsThatDoNotHoldAreDropped) {
  runner_.wrong_from = kDrafts;
  EXPECT_THAT(run({count_from(10, 13), count_from(50, 20), count_from(100, 2)}),
              ElementsAre(from_to(11, 23), from_to(51, 70), from_to(101, 102)));
  EXPECT_THAT(runner_.order, Not(HasSubstr("dn")));
  EXPECT_GT(drafts_.accepted_at[1], 0U);
  EXPECT_EQ(drafts_.accepted_at[2], 0U);
}

TEST_F(StepLoopDraftsTest, TheLastEventSaysWhatBecameOfDrafts) {
  runner_.wrong_from = kDrafts;
  StepLoop loop(parts());
  const auto one = *loop.submit(count_from(10, 13)), other = *loop.submit(count_from(50, 4));
  while (loop.step()) {
  }
  DraftStats sum;
  for (const auto& channel : {one, other}) {
    while (const auto event = channel->try_next()) {
      const DraftStats& drafts = event->drafts;
      if (event->finish_reason == FinishReason::none) {
        EXPECT_EQ(drafts.steps + drafts.proposed + drafts.accepted, 0U);
        continue;
      }
      // Of three drafts the last one is wrong: a step with them gives three tokens, and at an answer's end fewer.
      EXPECT_EQ(drafts.steps, channel == one ? 4U : 1U);
      EXPECT_EQ(drafts.accepted_at[0], channel == one ? 4U : 1U);
      EXPECT_EQ(drafts.accepted_at[1], channel == one ? 3U : 1U);
      EXPECT_EQ(drafts.accepted_at[2], 0U);
      EXPECT_EQ(drafts.accepted, channel == one ? 7U : 2U);
      EXPECT_GE(drafts.proposed, drafts.accepted);
      sum += drafts;
    }
  }
  const DraftStats all = loop.stats().drafts;
  EXPECT_EQ(sum.steps, all.steps);
  EXPECT_EQ(sum.proposed, all.proposed);
  EXPECT_EQ(sum.accepted, all.accepted);
  EXPECT_EQ(sum.accepted_at, all.accepted_at);
  EXPECT_EQ(all.steps, 5U);
}

TEST_F(StepLoopDraftsTest, HoweverAnAnswerEndsItIsSaidWhatBecameOfItsDrafts) {
  StepLoop loop(parts());
  Request request = count_from(10, 40);
  request.sampling.stop_token_ids = {20};
  const auto stopped = *loop.submit(request), cancelled = *loop.submit(count_from(50, 100));
  const auto last_of = [&](EventChannel& channel) {
    Event last;
    while (!channel.finished()) {
      loop.step();
      while (const auto event = channel.try_next()) last = *event;
    }
    return last;
  };
  const Event stop = last_of(*stopped);
  EXPECT_EQ(stop.finish_reason, FinishReason::stop);
  EXPECT_GT(stop.drafts.accepted, 0U);
  cancelled->cancel();
  const Event cancel = last_of(*cancelled);
  EXPECT_EQ(cancel.finish_reason, FinishReason::cancelled);
  EXPECT_GT(cancel.drafts.accepted, 0U);
}

/// What its masks and counts follow must be known when the step is laid down.
TEST_F(StepLoopDraftsTest, ADrawThatFollowsDraftsWaitsForThem) {
  Request penalised = count_from(10, 13), filtered = count_from(10, 13);
  penalised.sampling.presence_penalty = 0.5F;
  filtered.sampling.bad_words = {"zz"};
  for (const Request& request : {penalised, filtered}) {
    EXPECT_THAT(run({request}), ElementsAre(from_to(11, 23)));
    EXPECT_EQ(runner_.order, "scdscdscdsc");
    EXPECT_THAT(run({request, count_from(50, 9)}), ElementsAre(from_to(11, 23), from_to(51, 59)));
    EXPECT_THAT(runner_.order, Not(HasSubstr("n")));
  }
}

TEST_F(StepLoopDraftsTest, NobodyWaitsForDraftsOfWhatHasEnded) {
  Request stopped = count_from(10, 40);
  stopped.sampling.stop_token_ids = {13};
  EXPECT_THAT(run({stopped}), ElementsAre(from_to(11, 13)));
  EXPECT_EQ(runner_.order.substr(0, 5), "scndc");
  EXPECT_EQ(std::ranges::count(runner_.order, 'n'), 1);
  EXPECT_THAT(run({stopped, count_from(50, 20)}), ElementsAre(from_to(11, 13), from_to(51, 70)));
}

/// Where none are kept, a block's last row is like any other.
TEST_F(StepLoopDraftsTest, AnswersThatAreNotKeptEndNoDrafts) {
  run({count_from(10, 150)});
  const std::string order = runner_.order;
  StepLoopParts keeping = parts();
  keeping.keeps_answers = true;  // without a prefix cache
  StepLoop loop(keeping);
  const auto channel = *loop.submit(count_from(10, 150));
  runner_.order.clear();
  while (loop.step()) {
  }
  EXPECT_EQ(runner_.order, order);
}

/// So that drafts behind a prompt know all of it.
TEST_F(StepLoopDraftsTest, TheHeadReadsPromptsWhoeverReadsThem) {
  StepLoopParts caching = parts();
  caching.prefix_caching = true;
  caching.kept_states = 2;
  StepLoop loop(caching);
  Request request = count_from(10, 1);
  request.prompt.assign(400, 10);
  const auto channel = *loop.submit(request);
  while (loop.step()) {
  }
  EXPECT_GE(runner_.head_reads.size(), 4U);
  loop.prefill_when_idle({.tokens = std::vector<int32_t>(300, 20)});
  while (loop.step()) {
  }
  EXPECT_EQ(loop.stats().idle_prefill_tokens, 256U);
  EXPECT_THAT(runner_.head_reads, testing::Each(true));
}

/// The head reads each row beside the token behind it, which a prompt that goes on has.
TEST_F(StepLoopDraftsTest, BehindAPieceOfAPromptIsItsNextToken) {
  Request request = count_from(0, 1);
  for (int32_t i = 1; i < 300; ++i) request.prompt.push_back(i % kDraftVocabSize);
  EXPECT_THAT(run({request}), ElementsAre(ElementsAre(100)));
  EXPECT_THAT(runner_.next_tokens, ElementsAre(128, 256 - kDraftVocabSize, model::kLastDrawn));
}

TEST_F(StepLoopDraftsTest, AnErrorOfDraftsEndsEverything) {
  runner_.fails = true;
  StepLoop loop(parts());
  const auto channel = *loop.submit(count_from(10, 13));
  while (loop.step()) {
  }
  Event last;
  while (const auto event = channel->try_next()) last = *event;
  EXPECT_EQ(last.finish_reason, FinishReason::error);
  EXPECT_THAT(last.error.message(), HasSubstr("the device does not answer"));
  EXPECT_FALSE(loop.submit(count_from(10, 1)).ok());
}

}  // namespace
}  // namespace tessera::engine
