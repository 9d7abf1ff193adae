// What people read of a load: each figure in its column, each warning with the cases that it is of.

#include "cli/bench_serve_tables.h"

#include <gmock/gmock.h>

#include <regex>

namespace tessera::cli {
namespace {

using loadgen::ErrorKind;
using loadgen::Summary;
using ::testing::HasSubstr;
using ::testing::Not;

/// With one blank where columns are apart.
template <typename Print>
std::string printed(const Print& print) {
  ::testing::internal::CaptureStdout();
  print();
  return std::regex_replace(::testing::internal::GetCapturedStdout(), std::regex(" {2,}"), " ");
}

std::string summaries(const std::vector<Summary>& all) {
  return printed([&] { print_summaries(all); });
}

/// A case whose figures are all different.
Summary full(int64_t users) {
  Summary made;
  made.of = {.users = users, .output = 50};
  made.asked = 20;
  made.good = 19;
  made.seconds = 12.34;
  made.ttft = {
      .count = 19, .mean = 0.0011, .p50 = 0.0022, .p90 = 0.033, .p95 = 0.044, .p99 = 0.555, .min = 0, .max = 6.6};
  made.first_answer = {.count = 18, .mean = 1.1, .p50 = 1.2, .p90 = 1.3, .p95 = 1.4, .p99 = 1.5, .min = 0, .max = 1.6};
  made.itl = {.count = 17, .mean = 2.1, .p50 = 2.2, .p90 = 2.3, .p95 = 2.4, .p99 = 2.5, .min = 0, .max = 2.6};
  made.tpot = {.count = 16, .mean = 3.1, .p50 = 3.2, .p90 = 3.3, .p95 = 3.4, .p99 = 3.5, .min = 0, .max = 3.6};
  made.e2e = {.count = 15, .mean = 4.1, .p50 = 4.2, .p90 = 4.3, .p95 = 4.4, .p99 = 4.5, .min = 0, .max = 4.6};
  made.input = {.count = 19, .mean = 1, .p50 = 101, .p90 = 2, .p95 = 3, .p99 = 4, .min = 5, .max = 6};
  made.output = {.count = 19, .mean = 1, .p50 = 51, .p90 = 2, .p95 = 3, .p99 = 4, .min = 5, .max = 6};
  made.rate = {.requests = 1.234, .input = 567.8, .output = 89.12};
  made.steady_output = 90.1;
  made.stream_output = 34.5;
  made.cached_share = 0.25;
  made.thinking_share = 0.125;
  made.drafts_accepted = 0.7;
  made.good_share = 0.5;
  made.goodput = {.requests = 0.616, .input = 1, .output = 2};
  return made;
}

TEST(BenchServeTables, EachFigureIsInItsColumn) {
  const Summary made = full(2);
  const std::string text = summaries({made});
  EXPECT_THAT(text,
              HasSubstr("case ok seconds req/s in tok/s out tok/s steady a stream in p50 out p50 cached thinking "
                        "drafts taken goodput\n" +
                        made.of.name() + " 19/20 12.3 1.23 568 89.1 90.1 34.5 101 51 25 % 12 % 70 % 50 % 0.62/s\n"));
  EXPECT_THAT(text, HasSubstr("case ms mean p50 p90 p95 p99 max\n" + made.of.name() +
                              " TTFT 1.10 2.20 33.0 44.0 555.0 6600\n"
                              " first answer 1100 1200 1300 1400 1500 1600\n"
                              " ITL 2100 2200 2300 2400 2500 2600\n"
                              " TPOT 3100 3200 3300 3400 3500 3600\n"
                              " E2E 4100 4200 4300 4400 4500 4600\n"));
  EXPECT_THAT(text, Not(HasSubstr("Before these figures")));
}

/// A server that does not count its tokens has no rate of them, rather than one of 0; without thinking the first
/// answer is the first token.
TEST(BenchServeTables, WhatIsNotKnownIsNoFigure) {
  Summary made = full(2);
  made.output = {};
  made.steady_output.reset();
  made.cached_share.reset();
  made.thinking_share = 0;
  made.good_share.reset();
  made.itl = {};
  const std::string text = summaries({made});
  EXPECT_THAT(text, HasSubstr(" 19/20 12.3 1.23 - - - 34.5 101 - - 0 % 70 % -\n"));
  EXPECT_THAT(text, Not(HasSubstr("first answer")));
  EXPECT_THAT(text, Not(HasSubstr(" ITL ")));
  EXPECT_THAT(summaries({Summary{}}), Not(HasSubstr("p99"))) << "nothing was answered";
}

TEST(BenchServeTables, NotesNameTheirCases) {
  std::vector<Summary> three = {full(1), full(2), full(3)};
  for (Summary& made : three) made.warnings.push_back({.code = "a", .text = "of all"});
  three[0].warnings.push_back({.code = "b", .text = "of \x1b[1m two"});
  three[2].warnings.push_back({.code = "b", .text = "of \x1b[1m two"});
  three[1].failures[ErrorKind::server_error] = {.count = 4, .first = "oops\a"};
  const std::string text = summaries(three);
  const auto name = [&](size_t i) { return three[i].of.name(); };
  EXPECT_THAT(text, HasSubstr("\n- all cases: of all\n"));
  EXPECT_THAT(text, HasSubstr("\n- " + name(0) + "; " + name(2) + ": of ^[[1m two\n"));
  EXPECT_THAT(text, HasSubstr("\n- " + name(1) + ": 4 failed (server_error), first: oops^G\n"));
  EXPECT_THAT(summaries({three[0]}), HasSubstr("\n- " + name(0) + ": of all\n")) << "of one that is all";
}

TEST(BenchServeTables, AComparisonSaysWhichIsHigherWhereChanceDoesNot) {
  loadgen::Comparison made;
  const auto add = [&](double ratio, loadgen::Interval interval) {
    made.changes.push_back({.case_name = "c",
                            .figure = "f",
                            .a = 10,
                            .b = 10 * ratio,
                            .ratio = ratio,
                            .interval = interval,
                            .requests_a = 7,
                            .requests_b = 8});
    return made.changes.size() - 1;
  };
  add(1.2, {.low = 1.1, .high = 1.3});
  made.changes[add(0.8, {.low = 0.7, .high = 0.9})].paired = true;
  made.changes[add(1.05, {.low = 0.9, .high = 1.2})].by_rounds = true;
  made.notes = {"other\a models"};
  const std::string text = printed([&] { print_comparison("a.json", "b.json", made); });
  EXPECT_THAT(text, HasSubstr("A: a.json\nB: b.json\n"));
  EXPECT_THAT(text, HasSubstr("\nc f 10.00 12.00 1.200 1.100 to 1.300 B is higher 7, 8 apart\n"));
  EXPECT_THAT(text, HasSubstr("\nc f 10.00 8.00 0.800 0.700 to 0.900 B is lower 7, 8 in pairs of one prompt\n"));
  EXPECT_THAT(text, HasSubstr("\nc f 10.00 10.50 1.050 0.900 to 1.200 no difference seen 7, 8 apart, rounds first\n"));
  EXPECT_THAT(text, HasSubstr("\n- other^G models\n"));
  EXPECT_THAT(printed([] { print_comparison("a", "b", {}); }), HasSubstr("There is nothing to compare.\n"));
}

}  // namespace
}  // namespace tessera::cli
