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
  const std::string page = results_page(results_of("</script><script>alert(1)</script> @CHART@"));
  EXPECT_THAT(page, Not(HasSubstr("alert(1)</script>")));
  for (const char* mark : {"@DATA@", "@SCRIPT@", "@LICENSE@"}) EXPECT_THAT(page, Not(HasSubstr(mark)));
  EXPECT_THAT(page, Not(HasSubstr("src=")));
  EXPECT_THAT(page, HasSubstr("Chart"));
  const std::string open = "id=\"data\">";
  const size_t from = page.find(open) + open.size();
  const Json data = Json::parse(page.substr(from, page.find("</script>", from) - from));
  EXPECT_EQ(data["cases"][0]["records"][3]["message"], "</script><script>alert(1)</script> @CHART@");
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
