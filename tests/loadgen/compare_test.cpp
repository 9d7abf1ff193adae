#include "loadgen/compare.h"

#include <gmock/gmock.h>

#include "loadgen/made_runs.h"

namespace tessera::loadgen {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;

/// Requests of lengths of their own; `slower` times as slow, with noise of 5 % of `noise_seed`.
Json results_of(double slower, uint64_t noise_seed, int64_t rounds = 1, double round_noise = 0,
                const std::string& seed = "0") {
  Random noise(noise_seed), lengths(1);
  CaseResult result;
  for (int64_t round = 0; round < rounds; ++round) {
    CaseRun& run = result.runs.emplace_back();
    const double of_round = 1 + round_noise * (noise.unit() - 0.5);
    for (int64_t i = 0; i < 60; ++i) {
      const double slow = slower * of_round * (0.95 + 0.1 * noise.unit());
      const double prompt = 0.1 + lengths.unit();  // the same for both: a longer prompt takes longer
      run.records.push_back(answered(i, 0, prompt * slow, 0.02 * slow, 50 + static_cast<int64_t>(lengths.below(100))));
      run.records.back().round = round;
    }
    run.seconds = 10;
  }
  result.summary = summarize({.users = 3, .output = 150}, LoadOptions(), {}, result.runs, {});
  return results_json({{"model", "m"}, {"prompts", seed}, {"sampling", "s"}}, {result});
}

Change of(const Comparison& comparison, const std::string& figure) {
  for (const Change& change : comparison.changes) {
    if (change.figure.starts_with(figure)) return change;
  }
  ADD_FAILURE() << figure;
  return {};
}

TEST(Compare, DifferencesAreSeenAndChanceIsNot) {
  const auto same = compare(results_of(1, 1), results_of(1, 2));
  ASSERT_TRUE(same.ok());
  EXPECT_EQ(same->changes.size(), 5U);
  for (const char* figure : {"TPOT", "output"}) EXPECT_FALSE(of(*same, figure).differs()) << figure;
  const auto slower = compare(results_of(1, 1), results_of(1.1, 2));
  ASSERT_TRUE(slower.ok());
  const Change tpot = of(*slower, "TPOT");
  EXPECT_TRUE(tpot.differs() && tpot.paired && !tpot.by_rounds);
  EXPECT_NEAR(tpot.ratio, 1.1, 0.02);
  EXPECT_LT(tpot.interval.low, 1.1);
  EXPECT_GT(tpot.interval.high, 1.1);
  EXPECT_LT(of(*slower, "output").interval.high, 1);
}

/// Medians, and tokens over the time of their requests; failed requests are in none.
TEST(Compare, FiguresAreOfTheRequestsThatWentWell) {
  const auto made = [](double slower, bool fails) {
    CaseResult result;
    CaseRun& run = result.runs.emplace_back();
    for (int64_t i = 0; i < 6; ++i) {
      run.records.push_back(answered(i, 0, slower * static_cast<double>(i + 1), 0.25 * slower, 5));
    }
    if (fails) run.records.push_back(failed(ErrorKind::timeout, ""));
    run.seconds = 10;
    result.summary = summarize({.users = 1, .output = 5}, LoadOptions(), {}, result.runs, {});
    return results_json({{"model", "m"}, {"prompts", "0"}, {"sampling", "s"}}, {result});
  };
  const auto comparison = compare(made(1, true), made(2, false));
  ASSERT_TRUE(comparison.ok());
  const Change ttft = of(*comparison, "TTFT"), output = of(*comparison, "output");
  EXPECT_NEAR(ttft.a, 3500, 1e-6);
  EXPECT_NEAR(ttft.b, 7000, 1e-6);
  EXPECT_NEAR(ttft.ratio, 2, 1e-9);
  EXPECT_NEAR(output.a, 30 / 27., 1e-9);
  EXPECT_NEAR(output.ratio, 0.5, 1e-9);
  EXPECT_NEAR(output.interval.low, 0.5, 1e-9);  // each pair says the same
  EXPECT_NEAR(output.interval.high, 0.5, 1e-9);
  EXPECT_EQ(ttft.requests_a, 6);
  EXPECT_EQ(ttft.requests_b, 6);
}

TEST(Compare, WarningsOfBothFilesAreTold) {
  Json a = results_of(1, 1), b = results_of(1, 2);
  a["cases"][0]["warnings"] =
      Json::array({{{"code", "x"}, {"text", "one"}}, {{"code", "few_requests"}, {"text", "few"}}});
  b["cases"][0]["warnings"] = Json::array({{{"code", "y"}, {"text", "two"}}});
  const auto notes = compare(a, b)->notes;
  EXPECT_EQ(notes.size(), 2U);
  EXPECT_THAT(notes, Contains(HasSubstr("the first file: one")));
  EXPECT_THAT(notes, Contains(HasSubstr("the second file: two")));
}

/// Prompts differ in length far more than servers in speed; pairs do away with that.
TEST(Compare, PairsAreNarrower) {
  const auto paired = compare(results_of(1, 1), results_of(1.1, 2));
  const auto apart = compare(results_of(1, 1), results_of(1.1, 2, 1, 0, "another"));
  ASSERT_TRUE(paired.ok() && apart.ok());
  const auto width = [](const Change& change) { return change.interval.high - change.interval.low; };
  EXPECT_FALSE(of(*apart, "E2E").paired);
  EXPECT_LT(width(of(*paired, "E2E")), 0.5 * width(of(*apart, "E2E")));
  EXPECT_THAT(apart->notes, Contains(HasSubstr("differ in prompts")));
}

/// Rounds that differ by more than their requests do: only drawing rounds tells how little is known.
TEST(Compare, RoundsCount) {
  const auto comparison = compare(results_of(1, 1, 5, 0.6), results_of(1, 2, 5, 0.6));
  ASSERT_TRUE(comparison.ok());
  const Change tpot = of(*comparison, "TPOT");
  EXPECT_TRUE(tpot.by_rounds);
  EXPECT_GT(tpot.interval.high - tpot.interval.low, 0.1);
  EXPECT_FALSE(of(*compare(results_of(1, 1, 2), results_of(1, 2, 2)), "TPOT").by_rounds);
  EXPECT_TRUE(of(*compare(results_of(1, 1, 3), results_of(1, 2, 3)), "TPOT").by_rounds);
}

/// Each round has its own request of an index. Where only one file has it, it is in no figure.
TEST(Compare, PairsAreOfOneRound) {
  for (const int64_t rounds : {2, 3}) {
    const Json a = results_of(1, 1, rounds, 0.6);
    Json b = a;
    b["cases"][0]["records"].erase(0);
    const auto comparison = compare(a, b);
    ASSERT_TRUE(comparison.ok());
    const Change tpot = of(*comparison, "TPOT");
    EXPECT_TRUE(tpot.paired);
    EXPECT_EQ(tpot.requests_a, 60 * rounds - 1);
    EXPECT_EQ(tpot.requests_b, 60 * rounds - 1);
    EXPECT_EQ(tpot.interval.low, 1);
    EXPECT_EQ(tpot.interval.high, 1);
  }
}

/// Rounds say how they differ where both files have enough of them.
TEST(Compare, TheFewerRoundsCount) {
  EXPECT_FALSE(of(*compare(results_of(1, 1, 3), results_of(1, 2, 2)), "TPOT").by_rounds);
  EXPECT_FALSE(of(*compare(results_of(1, 1, 2), results_of(1, 2, 3)), "TPOT").by_rounds);
}

TEST(Compare, TheFewerRequestsCount) {
  const auto with = [](size_t requests, const std::string& seed) {
    Json results = results_of(1, 1, 1, 0, seed);
    Json& records = results["cases"][0]["records"];
    records.erase(records.begin() + static_cast<std::ptrdiff_t>(requests), records.end());
    return results;
  };
  EXPECT_THAT(compare(with(20, "0"), with(4, "1"))->notes, Contains(HasSubstr("20 and 4 requests, too few")));
  EXPECT_THAT(compare(with(4, "0"), with(20, "1"))->notes, Contains(HasSubstr("4 and 20 requests, too few")));
  const Change change = of(*compare(with(20, "0"), with(5, "1")), "TTFT");
  EXPECT_EQ(change.requests_a, 20);
  EXPECT_EQ(change.requests_b, 5);
}

/// A figure of which there is nothing to divide by is none, and a request without its time is in no rate.
TEST(Compare, FiguresThatAreNot) {
  Json a = results_of(1, 1), b = results_of(1, 1);
  for (Json& record : a["cases"][0]["records"]) record["ttft_ms"] = 0;
  const auto comparison = compare(a, b);
  ASSERT_TRUE(comparison.ok());
  EXPECT_EQ(comparison->changes.size(), 4U);
  for (const Change& change : comparison->changes) EXPECT_FALSE(change.figure.starts_with("TTFT"));
  const double rate = of(*comparison, "output").a;
  for (const size_t i : {3U, 4U, 5U}) a["cases"][0]["records"][i]["e2e_ms"] = nullptr;
  EXPECT_NEAR(of(*compare(a, b), "output").a / rate, 1, 0.04) << "three of sixty less";
}

TEST(Compare, WhatCannotBeCompared) {
  Json a = results_of(1, 1), b = results_of(1, 2);
  b["cases"][0]["case"]["users"] = 4;
  const auto other = compare(a, b);
  ASSERT_TRUE(other.ok());
  EXPECT_TRUE(other->changes.empty());
  EXPECT_THAT(other->notes, Contains(HasSubstr("only the first file has it")));
  EXPECT_THAT(other->notes, Contains(HasSubstr("only the second file has it")));
  b = results_of(1, 2);
  b["model"] = "n";
  EXPECT_THAT(compare(a, b)->notes, Contains(HasSubstr("differ in model: \"m\" and \"n\"")));
  b["cases"][0].erase("records");
  EXPECT_THAT(compare(a, b).status().message(), HasSubstr("has been changed"));
  b = results_of(1, 2);
  b["cases"][0]["records"] = Json::array();
  EXPECT_THAT(compare(a, b)->notes, Contains(HasSubstr("too few")));
}

}  // namespace
}  // namespace tessera::loadgen
