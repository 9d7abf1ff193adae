// Drafts of the CUDA runner.

#include <cstdio>

#include "engine/demo_transcripts.h"
#include "stepping.h"

namespace tessera::model {
namespace {

TEST(CudaRunner, RowsThatHoldHaveTheBitsOfRowsOneAtATime) {
  for (const char* path : {"/models/demo", "/tests/golden/qwen3_5_dense"}) {
    const std::string directory = std::string(TESSERA_SOURCE_DIR) + path;
    Stepping plain(directory, {});
    const auto jobs = mixed_jobs(plain.model.vocab());
    constexpr int kDraws = 48;
    const auto want = plain.run(jobs, kDraws);
    for (const auto& options :
         {RunnerOptions{.drafts = 5}, RunnerOptions{.graphs = false, .drafts = 5},
          RunnerOptions{.graphs = false, .pdl = false, .drafts = 3}, RunnerOptions{.drafts = 1},
          RunnerOptions{.slots = 5, .drafts = 8}, RunnerOptions{.slots = 24, .drafts = 5, .ahead = true}}) {
      const std::string what = path + options.text();
      Stepping drafting(directory, options);
      for (const bool varied : {false, true}) {
        const auto wanted = [&](size_t sequence, int step) {
          const int some = static_cast<int>(sequence) + step;
          return varied ? some % (options.drafts + 1) : options.drafts;
        };
        auto found = drafting.speculate(jobs, kDraws, wanted, /*steps_between=*/varied ? 2 : 0);
        int right = 0, wrong = 0;
        for (size_t j = 0; j < jobs.size(); ++j) {
          found[j].results.resize(kDraws);
          expect_same(found[j].results, want[j], what + ", job " + std::to_string(j));
          for (const int n : found[j].right) right += n;
          for (const int n : found[j].wrong) wrong += n;
        }
        EXPECT_GT(wrong, 0) << what;
        if (path == std::string("/models/demo")) {
          EXPECT_GT(right, 0) << what;
        }
      }
      // And a runner that can draft does without as one that cannot.
      const auto without = drafting.run(jobs, kDraws);
      for (size_t j = 0; j < jobs.size(); ++j) expect_same(without[j], want[j], what + ", without drafts");
    }
  }
}

TEST(CudaRunner, DraftsOfTheBundledModelAreMostlyRight) {
  std::vector<Job> jobs;
  std::vector<size_t> draws;  // behind the end of an answer nothing is likely
  for (const DemoTranscript& transcript : read_demo_transcripts()) {
    if (transcript.prompt.size() > 400 || transcript.tokens.size() < 20 || jobs.size() == 5) continue;
    jobs.push_back({.prompt = transcript.prompt, .params = {.temperature = 0}});
    draws.push_back(std::min<size_t>(transcript.tokens.size(), 60));
  }
  ASSERT_EQ(jobs.size(), 5U);
  Stepping drafting(TESSERA_SOURCE_DIR "/models/demo", {.drafts = 3});
  std::vector<int> right(4), wrong(4);
  for (size_t j = 0; j < jobs.size(); ++j) {
    const auto found = drafting.speculate({jobs[j]}, draws[j], [](size_t /*sequence*/, int /*step*/) { return 3; });
    for (size_t k = 0; k < found[0].right.size(); ++k) {
      right[k] += found[0].right[k];
      wrong[k] += found[0].wrong[k];
    }
  }
  for (size_t k = 0; k < 3; ++k) {
    std::printf("draft %zu: %d right, %d wrong\n", k + 1, right[k], wrong[k]);
    EXPECT_GT(right[k], 9 * wrong[k]) << "draft " << k + 1;
  }
}

/// Of a few tokens each is drawn as often as the others: a row that did not see one draft would draw it again.
TEST(CudaRunner, PenaltiesOfARowCountAllDraftsBeforeIt) {
  const std::string directory = TESSERA_SOURCE_DIR "/models/demo";
  constexpr int kDrafts = 4;
  Stepping plain(directory, {}), drafting(directory, {.drafts = kDrafts});
  std::vector<Job> jobs = {{.prompt = random_tokens(50, plain.model.vocab()), .params = {.temperature = 0}}};
  jobs[0].params.frequency_penalty = 50;
  jobs[0].params.logprobs = 3;
  jobs[0].allowed.assign((plain.model.vocab() + 31) / 32, 0);
  jobs[0].allowed[3] = 0x0f0f;  // eight of them
  const auto want = plain.run(jobs, 2 + kDrafts)[0];
  std::vector<SampleResult> found = drafting.run(jobs, 1)[0];
  Step step;
  const size_t length = jobs[0].prompt.size();
  drafting.add(step, jobs, 0, 0, length, 1 + kDrafts, RowClass::decode, true);
  step.sequences[0].keeps_records = true;
  const kernels::SampleRow last = step.samples[0];
  step.samples.clear();
  for (int32_t row = 0; row <= kDrafts; ++row) {
    step.tokens.push_back(want[static_cast<size_t>(row)].token);
    step.samples.push_back(last);
    step.samples.back().row = row;
    step.samples.back().noise.position = length + static_cast<size_t>(row) + 1;
    step.samples.back().allowed = jobs[0].allowed;
  }
  ASSERT_TRUE(drafting.runner->submit(step).ok());
  const auto drawn = drafting.runner->collect();
  ASSERT_TRUE(drawn.ok()) << drawn.status().message();
  found.insert(found.end(), drawn->begin(), drawn->end());
  expect_same(found, want, "drafts that hold");
}

/// The last draw of a slot is the newest one, whoever drew there before, and when.
TEST(CudaRunner, WhatDraftsLeftInASlotIsForgotten) {
  const std::string directory = TESSERA_SOURCE_DIR "/models/demo";
  Stepping plain(directory, {}), drafting(directory, {.draws_later = true, .drafts = 3});
  std::vector<Job> before;
  for (const DemoTranscript& transcript : read_demo_transcripts()) {
    if (transcript.prompt.size() > 400 || transcript.tokens.size() < 20 || before.size() == 3) continue;
    before.push_back({.prompt = transcript.prompt, .params = {.temperature = 0}});
  }
  std::vector<Job> jobs = mixed_jobs(plain.model.vocab());
  jobs.resize(before.size());
  const auto want = plain.run(jobs, 8);
  drafting.speculate(before, 15, [](size_t /*sequence*/, int /*step*/) { return 3; });
  const auto found = drafting.run(jobs, 8);
  for (size_t j = 0; j < jobs.size(); ++j) expect_same(found[j], want[j], "job " + std::to_string(j));
}

TEST(CudaRunner, AStepSubmittedBehindDraftsChangesNone) {
  Stepping stepping(TESSERA_SOURCE_DIR "/models/demo", {.drafts = 3});
  const std::vector<Job> jobs = {{.prompt = random_tokens(100, stepping.model.vocab()), .params = {.temperature = 0}}};
  const std::vector<int32_t>& prompt = jobs[0].prompt;
  const auto drafts = [&](bool behind) {
    Step step;
    stepping.add(step, jobs, 0, 0, 0, prompt.size(), RowClass::prefill, true);
    step.tokens = prompt;
    step.drafting = {{.next_token = kLastDrawn, .count = 3}};
    EXPECT_TRUE(stepping.runner->submit(step).ok());
    Step other;
    stepping.add(other, jobs, 0, 1, 0, prompt.size(), RowClass::prefill, true);
    other.tokens = prompt;
    std::reverse(other.tokens.begin(), other.tokens.end());
    if (behind) {
      EXPECT_TRUE(stepping.runner->submit(other).ok());
    }
    EXPECT_TRUE(stepping.runner->collect().ok());
    const auto last = *stepping.runner->drafts();
    const std::vector<int32_t> made(last.begin(), last.end());
    EXPECT_EQ(made.size(), 3U);
    if (behind) {
      EXPECT_TRUE(stepping.runner->collect().ok());
    }
    return made;
  };
  const auto alone = drafts(false);
  EXPECT_EQ(drafts(true), alone);
}

/// A part at a time, and then there is an end of it; what is drawn stays what it is.
TEST(CudaRunner, GraphsThatAreMadeAheadChangeNoDraft) {
  const std::vector<int32_t> prompt = random_tokens(100, 4096);
  std::vector<std::vector<int32_t>> made;
  for (const bool ahead : {false, true}) {
    Stepping stepping(TESSERA_SOURCE_DIR "/models/demo", {.drafts = 3});
    const std::vector<Job> jobs = {{.prompt = prompt, .params = {.temperature = 1}}};
    int parts = 0;
    while (ahead) {
      const auto more = stepping.runner->prepare_ahead();
      ASSERT_TRUE(more.ok()) << more.status().message();
      if (!*more) break;
      ASSERT_LT(++parts, 1000);
    }
    if (ahead) EXPECT_GE(parts, 8) << "steps, first passes and further ones for one sequence alone";
    Step step;
    stepping.add(step, jobs, 0, 0, 0, prompt.size(), RowClass::prefill, true);
    step.tokens = prompt;
    step.drafting = {{.next_token = kLastDrawn, .count = 3}};
    ASSERT_TRUE(stepping.runner->submit(step).ok());
    ASSERT_TRUE(stepping.runner->collect().ok());
    const auto drafts = stepping.runner->drafts();
    ASSERT_TRUE(drafts.ok()) << drafts.status().message();
    made.emplace_back(drafts->begin(), drafts->end());
    const auto more = stepping.runner->prepare_ahead();
    EXPECT_TRUE(more.ok() && *more != ahead);
    EXPECT_TRUE(std::ranges::equal(*stepping.runner->drafts(), made.back()));
  }
  EXPECT_EQ(made[0], made[1]);
}

}  // namespace
}  // namespace tessera::model
