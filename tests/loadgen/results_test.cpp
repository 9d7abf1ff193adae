#include "loadgen/results.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <fstream>

#include "loadgen/made_runs.h"

namespace tessera::loadgen {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

Json results_of(const std::string& message) {
  CaseResult result;
  CaseRun& run = result.runs.emplace_back();
  for (int64_t i = 0; i < 3; ++i) run.records.push_back(answered(i, 0, 0.5, 0.02, 50));
  run.records.push_back(failed(ErrorKind::server_error, message));
  run.seconds = 2;
  result.summary = summarize({.users = 3, .output = 50}, LoadOptions(), {}, result.runs, {});
  return results_json({{"model", "m"}}, {result});
}

TEST(Results, JsonHasEveryRequest) {
  const Json json = results_of("broken");
  const Json& made = json["cases"][0];
  EXPECT_EQ(made["records"].size(), 4U);
  EXPECT_EQ(made["records"][0]["output_tokens"], 50);
  EXPECT_EQ(made["records"][3]["error"], "server_error");
  EXPECT_EQ(made["failures"]["server_error"]["first"], "broken");
  EXPECT_NEAR(made["ttft_ms"]["p95"].get<double>(), 500, 1e-6);
  EXPECT_NEAR(made["throughput"]["output_tokens_per_second"].get<double>(), 75, 1e-9);
  EXPECT_TRUE(made["case"]["rate"].is_null());
}

/// Percentiles that differ from one another, and from those of another `first`.
Percentiles percentiles(double first) {
  return {.count = 7,
          .mean = first,
          .p50 = first + 0.25,
          .p90 = first + 0.5,
          .p95 = first + 0.75,
          .p99 = first + 1,
          .min = first + 1.25,
          .max = first + 1.5};
}
Json json_of(double first, double factor) {
  return {{"count", 7},
          {"mean", first * factor},
          {"p50", (first + 0.25) * factor},
          {"p90", (first + 0.5) * factor},
          {"p95", (first + 0.75) * factor},
          {"p99", (first + 1) * factor},
          {"min", (first + 1.25) * factor},
          {"max", (first + 1.5) * factor}};
}

Summary made_summary(bool open) {
  Summary s;
  s.of = {.users = open ? 0 : 8, .rate = open ? 2.5 : 0, .output = 128, .context = 2048};
  s.rounds = 3;
  s.asked = 20;
  s.good = 18;
  s.interrupted = true;
  s.seconds = 12.5;
  s.spread = 0.5;
  s.ttft = percentiles(1);
  s.first_answer = percentiles(2);
  s.itl = percentiles(3);
  s.tpot = percentiles(4);
  s.e2e = percentiles(5);
  s.input = percentiles(6);
  s.output = percentiles(7);
  s.without_usage = 1;
  s.rate = {.requests = 1.5, .input = 2.5, .output = 3.5};
  s.steady_output = 4.5;
  s.stream_output = 5.5;
  s.goodput = {.requests = 6.5, .input = 7.5, .output = 8.5};
  s.good_share = 0.75;
  s.cached_share = 0.125;
  s.thinking_share = 0.25;
  s.drafts_accepted = 0.375;
  s.tokens_per_draft = 1.75;
  s.tokens_per_delivery = 1.25;
  s.repetition = 0.0625;
  s.equal_answers = 2;
  s.server.prompt_tokens = 900;
  s.server.output_tokens = 800;
  s.client_cores = 0.5;
  s.turn_p99 = 0.25;
  s.turn_max = 0.75;
  s.late_p99 = 0.125;
  s.held_back = 4;
  s.offered = 2.25;
  s.finished = 2.125;
  s.in_flight_begin = 3.5;
  s.in_flight_end = 4.5;
  s.slower = 1.5;
  s.failures[ErrorKind::timeout] = {.count = 2, .first = "slow"};
  s.warnings = {{.code = "a", .text = "of a"}, {.code = "b", .text = "of b"}};
  return s;
}

/// Each figure of a summary, in the unit that its name says.
TEST(Results, JsonHasEveryFigure) {
  for (const bool open : {false, true}) {
    CaseResult result;
    result.summary = made_summary(open);
    Json made = results_json({{"model", "m"}}, {result})["cases"][0];
    EXPECT_EQ(made["case"], Json({{"users", open ? Json() : Json(8)},
                                  {"rate", open ? Json(2.5) : Json()},
                                  {"output", 128},
                                  {"context", 2048},
                                  {"thinking", "off"}}));
    EXPECT_EQ(made["users_spread_s"], open ? Json() : Json(0.5));
    EXPECT_EQ(made.contains("open_loop"), open);
    if (open) {
      EXPECT_EQ(made["open_loop"], Json({{"offered_per_second", 2.25},
                                         {"finished_per_second", 2.125},
                                         {"in_flight_second_quarter", 3.5},
                                         {"in_flight_last_quarter", 4.5},
                                         {"slower", 1.5}}));
    }
    for (const char* key : {"case", "users_spread_s", "open_loop"}) made.erase(key);
    EXPECT_EQ(
        made,
        Json({{"name", result.summary.of.name()},
              {"rounds", 3},
              {"requests", 20},
              {"requests_ok", 18},
              {"failures", {{"timeout", {{"count", 2}, {"first", "slow"}}}}},
              {"interrupted", true},
              {"seconds", 12.5},
              {"ttft_ms", json_of(1, 1000)},
              {"first_answer_ms", json_of(2, 1000)},
              {"itl_ms", json_of(3, 1000)},
              {"tpot_ms", json_of(4, 1000)},
              {"e2e_ms", json_of(5, 1000)},
              {"input_tokens", json_of(6, 1)},
              {"output_tokens", json_of(7, 1)},
              {"requests_without_usage", 1},
              {"throughput",
               {{"requests_per_second", 1.5}, {"input_tokens_per_second", 2.5}, {"output_tokens_per_second", 3.5}}},
              {"steady_output_tokens_per_second", 4.5},
              {"stream_output_tokens_per_second", 5.5},
              {"goodput",
               {{"requests_per_second", 6.5},
                {"input_tokens_per_second", 7.5},
                {"output_tokens_per_second", 8.5},
                {"share", 0.75}}},
              {"cached_share", 0.125},
              {"thinking_share", 0.25},
              {"drafts_accepted_share", 0.375},
              {"tokens_per_draft", 1.75},
              {"tokens_per_piece", 1.25},
              {"repetition", 0.0625},
              {"equal_answers", 2},
              {"server_counted", {{"input_tokens", 900}, {"output_tokens", 800}}},
              {"client",
               {{"cores", 0.5},
                {"busy_ms_p99", 250.0},
                {"busy_ms_max", 750.0},
                {"late_ms_p99", 125.0},
                {"held_back", 4}}},
              {"warnings", Json::array({{{"code", "a"}, {"text", "of a"}}, {{"code", "b"}, {"text", "of b"}}})},
              {"records", Json::array()}}));
  }
}

TEST(Results, ARequestHasEveryFigure) {
  CaseResult result;
  Record record = answered(3, 1, 0.5, 0.25, 3);
  record.start = 1.25;
  record.end = 3;
  record.round = 2;
  record.kind = PromptKind::code;
  record.usage.cached = 40;
  record.thinking_share = 0.5;
  record.repetition = 0.25;
  record.error = ErrorKind::stream_cut;
  record.message = "cut";
  result.runs.emplace_back().records = {record};
  EXPECT_EQ(results_json({{"model", "m"}}, {result})["cases"][0]["records"][0], Json({{"index", 3},
                                                                                      {"round", 2},
                                                                                      {"kind", "code"},
                                                                                      {"due_s", 1.0},
                                                                                      {"start_s", 1.25},
                                                                                      {"end_s", 3.0},
                                                                                      {"ttft_ms", 500.0},
                                                                                      {"tpot_ms", 750.0},
                                                                                      {"itl_p95_ms", 250.0},
                                                                                      {"e2e_ms", 2000.0},
                                                                                      {"pieces", 3},
                                                                                      {"input_tokens", 100},
                                                                                      {"output_tokens", 3},
                                                                                      {"cached_tokens", 40},
                                                                                      {"thinking_share", 0.5},
                                                                                      {"repetition", 0.25},
                                                                                      {"finish_reason", "length"},
                                                                                      {"error", "stream_cut"},
                                                                                      {"message", "cut"}}));
}

TEST(Results, WhatIsNotKnownIsNull) {
  CaseResult result;
  Record lonely = answered(0, 0, 0.5, 0.25, 1);
  lonely.usage = {};
  result.runs.emplace_back().records = {lonely, answered(1, 1, 0.5, 0.25, 3)};
  const Json made = results_json({{"model", "m"}}, {result})["cases"][0];
  for (const char* key : {"ttft_ms", "itl_ms", "input_tokens", "steady_output_tokens_per_second", "cached_share"}) {
    EXPECT_TRUE(made[key].is_null()) << key;
  }
  EXPECT_FALSE(made.contains("goodput"));
  EXPECT_TRUE(made["server_counted"]["input_tokens"].is_null());
  for (const char* key : {"itl_p95_ms", "input_tokens", "output_tokens", "cached_tokens"}) {
    EXPECT_TRUE(made["records"][0][key].is_null()) << key;
  }
  EXPECT_EQ(made["records"][1]["itl_p95_ms"], 250.0);
  EXPECT_EQ(made["records"][1]["e2e_ms"], 1000.0);
  EXPECT_EQ(made["records"][1]["ttft_ms"], 500.0);
}

TEST(Results, ARequestHasThe95thPercentileOfItsGaps) {
  CaseResult result;
  Record& record = result.runs.emplace_back().records.emplace_back(answered(0, 0, 0.5, 0, 22));
  double at = 1;
  for (int64_t i = 0; i < 22; ++i) record.deliveries[static_cast<size_t>(i)].at = at += static_cast<double>(i) / 8;
  EXPECT_EQ(results_json({{"model", "m"}}, {result})["cases"][0]["records"][0]["itl_p95_ms"], 2500.0);
}

TEST(Results, CsvHasEachFigureInItsColumn) {
  CaseResult result;
  result.summary = made_summary(false);
  result.summary.failures[ErrorKind::tls] = {.count = 1, .first = ""};
  const std::string csv = results_csv(results_json({{"model", "m"}}, {result}));
  EXPECT_EQ(csv,
            "users,rate,output,context,thinking,rounds,requests,requests_ok,seconds,requests_per_second,"
            "input_tokens_per_second,output_tokens_per_second,steady_output_tokens_per_second,"
            "stream_output_tokens_per_second,ttft_ms_mean,ttft_ms_p50,ttft_ms_p90,ttft_ms_p95,ttft_ms_p99,"
            "first_answer_ms_mean,first_answer_ms_p50,first_answer_ms_p90,first_answer_ms_p95,first_answer_ms_p99,"
            "itl_ms_mean,itl_ms_p50,itl_ms_p90,itl_ms_p95,itl_ms_p99,tpot_ms_mean,tpot_ms_p50,tpot_ms_p90,tpot_ms_p95,"
            "tpot_ms_p99,e2e_ms_mean,e2e_ms_p50,e2e_ms_p90,e2e_ms_p95,e2e_ms_p99,input_tokens_p50,output_tokens_p50,"
            "goodput_share,goodput_requests_per_second,goodput_output_tokens_per_second,cached_share,thinking_share,"
            "drafts_accepted_share,tokens_per_piece,repetition,client_cores,failures,warnings\n"
            "8,,128,2048,off,3,20,18,12.5,1.5,2.5,3.5,4.5,5.5,1000,1250,1500,1750,2000,2000,2250,2500,2750,3000,3000,"
            "3250,3500,3750,4000,4000,4250,4500,4750,5000,5000,5250,5500,5750,6000,6.25,7.25,0.75,6.5,8.5,0.125,0.25,"
            "0.375,1.25,0.0625,0.5,tls:1 timeout:2,a b\n");
}

TEST(Results, CsvHasAsManyFieldsInEachLine) {
  const std::string csv = results_csv(results_of("a, \"b\""));
  std::istringstream lines(csv);
  std::string head, line;
  ASSERT_TRUE(std::getline(lines, head) && std::getline(lines, line));
  EXPECT_EQ(std::count(head.begin(), head.end(), ','), std::count(line.begin(), line.end(), ','));
  EXPECT_THAT(head, HasSubstr("users,rate,output,context,thinking"));
  EXPECT_THAT(head, HasSubstr("output_tokens_per_second"));
  EXPECT_THAT(line, HasSubstr("3,,50,0,off,1,4,3"));
  EXPECT_THAT(line, HasSubstr("server_error:1"));
}

TEST(Results, ThePageStandsAlone) {
  // A script also goes on where "<!--" and "<script" came before its end.
  const std::string message = "</script><script>alert(1)</script> <!--<script> @CHART@";
  const std::string page = results_page(results_of(message));
  EXPECT_THAT(page, Not(HasSubstr("alert(1)</script>")));
  for (const char* mark : {"@DATA@", "@SCRIPT@", "@LICENSE@"}) EXPECT_THAT(page, Not(HasSubstr(mark)));
  EXPECT_THAT(page, Not(HasSubstr("src=")));
  EXPECT_THAT(page, HasSubstr("Chart"));
  const std::string open = "id=\"data\">";
  const size_t from = page.find(open) + open.size();
  const std::string text = page.substr(from, page.find("</script>", from) - from);
  EXPECT_THAT(text, Not(HasSubstr("<")));
  EXPECT_EQ(Json::parse(text)["cases"][0]["records"][3]["message"], message);
}

TEST(Results, FilesThatAreNone) {
  const std::string file = ::testing::TempDir() + "tessera_results_" + std::to_string(::getpid());
  const auto fault = [&](const std::string& text) {
    std::ofstream(file) << text;
    return read_results(file).status().message();
  };
  EXPECT_THAT(fault("{"), HasSubstr("holds no results"));
  EXPECT_THAT(fault("[]"), HasSubstr("holds no results"));
  EXPECT_THAT(fault(R"({"tessera_bench_serve": 9, "cases": []})"), HasSubstr("version 9, expected 1"));
  EXPECT_EQ(fault(results_of("x").dump()), "");
  std::remove(file.c_str());
}

}  // namespace
}  // namespace tessera::loadgen
