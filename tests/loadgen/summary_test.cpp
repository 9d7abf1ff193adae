#include <gmock/gmock.h>

#include <algorithm>

#include "loadgen/case_summary.h"
#include "loadgen/made_runs.h"

namespace tessera::loadgen {
namespace {

using ::testing::HasSubstr;
using ::testing::UnorderedElementsAre;

const LoadOptions kPlain = LoadOptions();
const Case kTwoUsers{.users = 2, .output = 50, .thinking = Thinking::off};

/// Two users, one after the other two requests each: 50 tokens in a second.
CaseRun plain_run(bool continuous = true) {
  CaseRun run;
  for (int64_t i = 0; i < 4; ++i) {
    run.records.push_back(answered(i, i < 2 ? 0 : 1.48, /*ttft=*/0.5, /*gap=*/0.02, /*tokens=*/50, continuous));
  }
  run.seconds = 2.96;
  run.steady_begin = 0.5;
  run.steady_end = 1.48;
  return run;
}

std::vector<std::string> codes(const Summary& summary) {
  std::vector<std::string> found;
  for (const Warning& warning : summary.warnings) {
    if (warning.code != "few_requests") found.push_back(warning.code);
  }
  return found;
}

Summary of(const CaseRun& run, const Case& kind = kTwoUsers, const Goals& goals = {},
           const LoadOptions& options = kPlain, const ServerCounters& counted = {}) {
  return summarize(kind, options, goals, {run}, counted);
}

TEST(Summary, Figures) {
  for (const bool continuous : {true, false}) {
    const Summary s = of(plain_run(continuous));
    EXPECT_EQ(s.asked, 4);
    EXPECT_EQ(s.good, 4);
    EXPECT_NEAR(s.ttft.p99, 0.5, 1e-9);
    EXPECT_NEAR(s.itl.p50, 0.02, 1e-9);
    EXPECT_EQ(s.itl.count, 4 * 49);
    EXPECT_NEAR(s.tpot.p50, 0.02, 1e-9);
    EXPECT_NEAR(s.e2e.mean, 1.48, 1e-9);
    EXPECT_NEAR(s.rate.output, 200 / 2.96, 1e-9);
    EXPECT_NEAR(s.rate.input, 400 / 2.96, 1e-9);
    EXPECT_NEAR(*s.stream_output, 50, 1e-6);
    EXPECT_NEAR(*s.steady_output, 98 / 0.98, 2.1);  // 49 tokens of each; the pieces at its edges may count or not
    EXPECT_DOUBLE_EQ(s.tokens_per_delivery, 1);
    EXPECT_EQ(s.cached_share, 0);
    EXPECT_THAT(codes(s), UnorderedElementsAre());
  }
}

/// Shares of what the servers count for each request, and where they do not, of what can be told without them.
TEST(Summary, SharesOfTokens) {
  CaseRun run = plain_run();
  for (Record& record : run.records) {
    record.usage.cached = 25;
    record.usage.reasoning = 10;
    record.usage.drafted = 40;
    record.usage.accepted = 30;
    record.thinking_share = 0.5;
    record.repetition = 0.25;
  }
  run.records[3].answer_hash = run.records[0].answer_hash;
  Summary s = of(run);
  EXPECT_DOUBLE_EQ(*s.cached_share, 0.25);
  EXPECT_DOUBLE_EQ(*s.thinking_share, 0.2);
  EXPECT_DOUBLE_EQ(*s.drafts_accepted, 0.75);
  EXPECT_DOUBLE_EQ(s.repetition, 0.25);
  EXPECT_EQ(s.equal_answers, 1);
  EXPECT_NEAR(s.first_answer.p50, 0.5, 1e-9);
  run.records[0].usage.cached.reset();  // its prompt is not counted either
  for (Record& record : run.records) record.usage.reasoning.reset();
  run.records[1].first_answer = -1;
  for (const size_t with_two : {0U, 1U}) run.records[with_two].deliveries.resize(25);
  s = of(run);
  EXPECT_DOUBLE_EQ(*s.cached_share, 0.25);
  EXPECT_DOUBLE_EQ(*s.thinking_share, 0.5);
  EXPECT_EQ(s.first_answer.count, 3);
  for (Record& record : run.records) record.usage.reasoning = 0;  // of servers that count none
  EXPECT_DOUBLE_EQ(*of(run).thinking_share, 0.5);
  EXPECT_DOUBLE_EQ(s.tokens_per_delivery, 200 / 150.);
}

/// What the client itself took: of rounds together, or of the worst.
TEST(Summary, TheClientsOwnFiguresOfAllRounds) {
  CaseRun first = plain_run(), second = plain_run();
  first.client = {.cpu_seconds = 1, .turn_max = 3, .turn_p99 = 0.5};
  second.client = {.cpu_seconds = 2, .turn_max = 4, .turn_p99 = 0.25};
  first.late_p99 = 0.125;
  first.held_back = 2;
  second.held_back = 3;
  first.spread = 1;
  second.spread = 2;
  second.interrupted = second.gave_up = true;
  const Summary s = summarize(kTwoUsers, kPlain, {}, {first, second}, {});
  EXPECT_DOUBLE_EQ(s.client_cores, 3 / 5.92);
  EXPECT_EQ(s.turn_p99, 0.5);
  EXPECT_EQ(s.turn_max, 4);
  EXPECT_EQ(s.late_p99, 0.125);
  EXPECT_EQ(s.held_back, 5);
  EXPECT_EQ(s.spread, 1.5);
  EXPECT_TRUE(s.interrupted && s.gave_up);
  EXPECT_NEAR(*s.steady_output, *of(plain_run()).steady_output, 1e-9);
  EXPECT_DOUBLE_EQ(s.rate.requests, 8 / 5.92);
  EXPECT_EQ(s.rounds, 2);
}

/// What ended inside the window counts whole, tokens without text too.
TEST(Summary, SteadyOutputHasAllTokens) {
  CaseRun run = plain_run();
  for (Record& record : run.records) record.usage.completion = 60;
  run.records[0].end = run.records[1].end = 1.47;
  EXPECT_NEAR(*of(run).steady_output, 2 * 59 / 0.98, 2.1);
}

TEST(Summary, FailuresAreInNoFigure) {
  CaseRun run = plain_run();
  run.records.push_back(failed(ErrorKind::rate_limited, "slow down"));
  run.records.push_back(failed(ErrorKind::rate_limited, "again"));
  run.records.push_back(failed(ErrorKind::stream_cut, "cut"));
  const Summary s = of(run);
  EXPECT_EQ(s.asked, 7);
  EXPECT_EQ(s.good, 4);
  EXPECT_EQ(s.failures.at(ErrorKind::rate_limited).count, 2);
  EXPECT_EQ(s.failures.at(ErrorKind::rate_limited).first, "slow down");
  EXPECT_NEAR(s.rate.output, 200 / 2.96, 1e-9);
  EXPECT_THAT(codes(s), UnorderedElementsAre("failures"));
}

TEST(Summary, Goals) {
  EXPECT_EQ(*Goals::parse("ttft:500,itl:50")->ttft, 0.5);
  EXPECT_EQ(*Goals::parse("e2e:2.5")->e2e, 0.0025);
  for (const char* wrong : {"", "ttft", "ttft:", "ttft:-1", "ttft:5x", "tft:5", "ttft:5,,itl:2", "ttft:nan"}) {
    EXPECT_THAT(Goals::parse(wrong).status().message(), HasSubstr("ttft:500,itl:50")) << wrong;
  }
  CaseRun run = plain_run();
  run.records.push_back(answered(4, 0, 2, 0.02, 50));   // slow to begin
  run.records.push_back(answered(5, 0, 0.1, 0.2, 50));  // slow after that
  run.records.push_back(failed(ErrorKind::timeout, "late"));
  const Summary s = of(run, kTwoUsers, *Goals::parse("ttft:1000,itl:100"));
  EXPECT_DOUBLE_EQ(*s.good_share, 4.0 / 7);  // what fails is not good
  EXPECT_NEAR(s.goodput.requests, 4 / 2.96, 1e-9);
  EXPECT_NEAR(s.goodput.output, 200 / 2.96, 1e-9);
  EXPECT_NEAR(s.goodput.input, 400 / 2.96, 1e-9);
  EXPECT_FALSE(of(run).good_share);
}

/// A goal is kept by what just reaches it; that of gaps by what 95 of 100 of an answer's take at most.
TEST(Summary, GoalsThatAreJustKept) {
  Record record = answered(0, 0, /*ttft=*/0.5, /*gap=*/0.02, /*tokens=*/101);
  const auto ttft = *Goals::parse("ttft:500"), itl = *Goals::parse("itl:50");
  EXPECT_TRUE(ttft.met(record));
  const auto slow_down = [&](size_t from) {
    for (size_t i = from; i < record.deliveries.size(); ++i) record.deliveries[i].at += 1;
  };
  for (size_t gap = 1; gap <= 4; ++gap) slow_down(10 * gap);
  EXPECT_TRUE(itl.met(record));
  slow_down(50);
  slow_down(60);
  EXPECT_FALSE(itl.met(record));
}

TEST(Summary, GoalsOfTokensAndOfTheWholeAnswer) {
  const Record record = answered(0, 0, /*ttft=*/0.5, /*gap=*/0.02, /*tokens=*/101);  // done after 2.5 s
  EXPECT_TRUE(Goals::parse("tpot:21")->met(record));
  EXPECT_FALSE(Goals::parse("tpot:19")->met(record));
  EXPECT_TRUE(Goals::parse("e2e:2501")->met(record));
  EXPECT_FALSE(Goals::parse("e2e:2499")->met(record));
}

TEST(Summary, AnswersWithoutTextAreNotEqualOnes) {
  CaseRun run = plain_run();
  for (Record& record : run.records) record.answer_hash = 0;
  EXPECT_EQ(of(run).equal_answers, 0);
}

/// Each fault by itself, and nothing else is said.
TEST(Warnings, WhatInflatesIsFound) {
  const auto changed = [](const auto& change) {
    CaseRun run = plain_run();
    for (Record& record : run.records) change(record);
    return run;
  };
  const auto only = [](const Summary& s, const char* code, const char* says) {
    ASSERT_THAT(codes(s), UnorderedElementsAre(code));
    const auto found =
        std::find_if(s.warnings.begin(), s.warnings.end(), [&](const Warning& w) { return w.code == code; });
    EXPECT_THAT(found->text, HasSubstr(says));
  };
  only(of(changed([](Record& r) { r.usage.cached = 60; })), "cached_prompts", "60 %");
  only(of(changed([](Record& r) { r.usage.cached.reset(); })), "cache_unknown", "does not say");
  only(of(changed([](Record& r) { r.repetition = 0.8; })), "repetition", "80 %");
  only(of(changed([](Record& r) { r.answer_hash = 7; })), "equal_answers", "75 %");
  only(of(changed([](Record& r) { r.thinking_share = 0.5; })), "thinking_unasked", "50 %");
  only(of(changed([](Record& r) { r.usage.completion = 200; }), {.users = 2, .output = 200}), "pieces", "4.0 tokens");
  only(of(plain_run(), {.users = 2, .output = 100}), "ended_early", "100 %");
  only(of(plain_run(), {.users = 2, .output = 49}), "too_long", "100 %");
  only(of(plain_run(), {.users = 2, .output = 50, .context = 200}), "context_off", "100 tokens where 200");
  only(of(plain_run(), {.users = 2, .output = 50, .thinking = Thinking::on}), "no_thinking", "there is none");
  only(of(changed([](Record& r) { r.thinking_share = 0.9; }), {.users = 2, .output = 50, .thinking = Thinking::on}),
       "mostly_thinking", "90 %");
  only(of(plain_run(), kTwoUsers, {}, kPlain, {.output_tokens = 300}), "server_count", "300");
  EXPECT_THAT(codes(of(plain_run(), kTwoUsers, {}, kPlain, {.output_tokens = 200})), UnorderedElementsAre());
  CaseRun cut = plain_run();  // whose tokens the server counted too
  cut.records.push_back(failed(ErrorKind::stream_cut, "cut"));
  only(of(cut, kTwoUsers, {}, kPlain, {.output_tokens = 300}), "failures", "1 of 5");
  LoadOptions on;
  on.ignore_eos = true;
  only(of(plain_run(), kTwoUsers, {}, on), "ignore_eos", "--ignore-eos");
  CaseRun run = plain_run();
  run.client.cpu_seconds = 2.9;
  only(of(run), "client_bound", "98 %");
  run = plain_run();
  run.client.turn_p99 = 0.01;
  only(of(run), "client_slow", "10.0 ms");
  run = plain_run();
  run.late_p99 = 0.03;
  only(of(run), "client_late", "30 ms");
}

TEST(Warnings, TinyOutputsAndNoUsage) {
  CaseRun run;
  for (int64_t i = 0; i < 4; ++i) run.records.push_back(answered(i, 0, 0.5, 0.02, 8));
  run.seconds = 1;
  EXPECT_THAT(codes(of(run, {.users = 4, .output = 8})), UnorderedElementsAre("tiny_outputs"));
  run = plain_run();
  for (Record& record : run.records) record.usage = {};
  const Summary s = of(run);
  EXPECT_THAT(codes(s), UnorderedElementsAre("no_usage"));
  EXPECT_EQ(s.output.count, 0);
  EXPECT_FALSE(s.stream_output);
  EXPECT_FALSE(s.steady_output);
  EXPECT_EQ(s.tpot.count, 0);
  EXPECT_EQ(s.itl.count, 4 * 49);  // times are known, tokens are not
}

/// One server that works on one request at a time, two that keep up: at any time in a run of theirs.
TEST(Warnings, SaturationIsSeen) {
  const auto run_at = [](double rate, double service, int workers) {
    CaseRun run;
    std::vector<double> free_at(static_cast<size_t>(workers));
    for (int64_t i = 0; i < 200; ++i) {
      const double due = static_cast<double>(i) / rate;
      auto& worker = *std::min_element(free_at.begin(), free_at.end());
      const double begin = std::max(due, worker);
      worker = begin + service;
      run.records.push_back(answered(i, due, begin - due + service / 2, service / 2 / 49, 50));
      run.seconds = std::max(run.seconds, worker);
      run.steady_end = due;
    }
    return run;
  };
  const Case of_rate{.rate = 2, .output = 50};
  EXPECT_THAT(codes(of(run_at(2, 1, 1), of_rate)), UnorderedElementsAre("saturated"));
  EXPECT_THAT(codes(of(run_at(2, 1, 4), of_rate)), UnorderedElementsAre());
  EXPECT_THAT(codes(of(run_at(2, 60, 1000), of_rate)),
              UnorderedElementsAre());  // not one is done before the last comes
  const Summary s = of(run_at(2, 1, 1), of_rate);
  EXPECT_NEAR(s.offered, 2, 0.05);
  EXPECT_NEAR(s.finished, 1, 0.05);
  CaseRun half = run_at(2, 1, 4);  // what failed is not finished
  for (size_t i = 0; i < half.records.size(); i += 2) half.records[i].error = ErrorKind::timeout;
  EXPECT_NEAR(of(half, of_rate).finished, 1, 0.05);
  CaseRun held = run_at(2, 1, 4);
  held.held_back = 5;
  EXPECT_THAT(codes(of(held, of_rate)), UnorderedElementsAre("held_back"));
}

/// What lies between the two quarters counts for neither.
TEST(Summary, ALoadIsSlowerWhereItsLastQuarterIsThanItsSecond) {
  CaseRun run;
  for (int64_t i = 0; i < 8; ++i) {
    const double slow = i >= 6 ? 2 : i >= 4 ? 10 : i >= 2 ? 1 : 30;
    run.records.push_back(answered(i, static_cast<double>(i), slow, slow, 10));
  }
  run.seconds = 60;
  run.steady_end = 8;
  const Case of_rate{.rate = 1, .output = 10};
  const Summary one = of(run, of_rate), two = summarize(of_rate, kPlain, {}, {run, run}, {});
  EXPECT_NEAR(one.slower, 2, 1e-9);
  // Rounds that are the same say what one says.
  EXPECT_GT(one.in_flight_begin, 0);
  EXPECT_NEAR(two.in_flight_begin, one.in_flight_begin, 1e-9);
  EXPECT_NEAR(two.in_flight_end, one.in_flight_end, 1e-9);
  EXPECT_NEAR(two.slower, one.slower, 1e-9);
  EXPECT_NEAR(two.offered, one.offered, 1e-9);
  EXPECT_NEAR(two.finished, one.finished, 1e-9);
}

/// What waits for a place of the client's is on its way, too.
TEST(Summary, RequestsAreUnderWayFromWhenTheyAreDue) {
  CaseRun run;
  for (int64_t i = 0; i < 8; ++i) run.records.push_back(answered(i, static_cast<double>(i), 3, 0.1, 10));
  run.seconds = 12;
  run.steady_end = 8;
  const Case of_rate{.rate = 1, .output = 10};
  const Summary at_once = of(run, of_rate);
  EXPECT_GT(at_once.in_flight_end, 3);
  for (Record& record : run.records) record.start += 2.5;
  EXPECT_EQ(of(run, of_rate).in_flight_begin, at_once.in_flight_begin);
  EXPECT_EQ(of(run, of_rate).in_flight_end, at_once.in_flight_end);
}

/// Whoever asked waited from then on.
TEST(Summary, TimesAreFromWhenRequestsWereDue) {
  CaseRun run = plain_run();
  for (Record& record : run.records) record.start += 0.25;
  const Summary s = of(run);
  EXPECT_NEAR(s.ttft.p50, 0.5, 1e-9);
  EXPECT_NEAR(s.first_answer.p50, 0.5, 1e-9);
  EXPECT_NEAR(s.e2e.p50, 1.48, 1e-9);
}

TEST(Summary, DraftsOfTheServersMetrics) {
  const Summary s = of(plain_run(), kTwoUsers, {}, kPlain, {.drafts = 40, .drafted = 120, .accepted = 90});
  EXPECT_DOUBLE_EQ(*s.drafts_accepted, 0.75);
  EXPECT_DOUBLE_EQ(*s.tokens_per_draft, 3.25);
  EXPECT_FALSE(of(plain_run()).drafts_accepted);
}

}  // namespace
}  // namespace tessera::loadgen
