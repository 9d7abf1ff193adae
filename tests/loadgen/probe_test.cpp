#include "loadgen/probe.h"

#include <gtest/gtest.h>

namespace tessera::loadgen {
namespace {

TEST(Counters, AreReadAndSummedOverModels) {
  const ServerCounters counters = parse_counters(
      "# HELP vllm:prompt_tokens_total Prompt tokens\n# TYPE vllm:prompt_tokens_total counter\n"
      "vllm:prompt_tokens_total{model_name=\"a b}c\"} 12\nvllm:prompt_tokens_total{engine=\"1\"} 30.5\n"
      "vllm:generation_tokens_total 7\nvllm:generation_tokens_totals 99\nvllm:spec_decode_num_drafts_total{x=\"y\"} "
      "1e2\n"
      "vllm:spec_decode_num_draft_tokens_total NaN?\n\nbroken{");
  EXPECT_EQ(counters.output_tokens, 7);
  EXPECT_EQ(counters.drafts, 100);
  EXPECT_FALSE(counters.accepted);
  EXPECT_FALSE(parse_counters("").prompt_tokens);
  const ServerCounters more = parse_counters("vllm:generation_tokens_total 17\nvllm:prompt_tokens_total 3");
  EXPECT_EQ(more.since(counters).output_tokens, 10);
  EXPECT_FALSE(more.since(counters).drafts);
  EXPECT_EQ(more.plus(counters).output_tokens, 24);
}

TEST(RequestBody, HasWhatWasAsked) {
  LoadOptions options;
  options.model = "m";
  options.ignore_eos = true;
  options.more = {{"temperature", 0}, {"max_tokens", 5}};
  const Case of{.users = 1, .output = 64, .thinking = Thinking::on};
  const Json body = request_body(of, options, {.messages = Json::array(), .tools = nullptr}, (uint64_t{1} << 40) + 3);
  EXPECT_EQ(body["model"], "m");
  EXPECT_EQ(body["max_tokens"], 5);  // the user's fields win
  EXPECT_EQ(body["seed"], 3);
  EXPECT_EQ(body["ignore_eos"], true);
  EXPECT_EQ(body["stream_options"]["continuous_usage_stats"], true);
  EXPECT_EQ(body["chat_template_kwargs"]["enable_thinking"], true);
  EXPECT_FALSE(body.contains("tools"));
  options.continuous_usage = options.ignore_eos = false;
  const Json plain = request_body({.users = 1, .output = 64, .thinking = Thinking::server}, options, {}, 1);
  EXPECT_FALSE(plain.contains("chat_template_kwargs"));
  EXPECT_FALSE(plain.contains("ignore_eos"));
  EXPECT_FALSE(plain["stream_options"].contains("continuous_usage_stats"));
}

TEST(Load, RequestsOfACase) {
  LoadOptions options;
  EXPECT_EQ(requests_of({.users = 1}, options), 16);
  EXPECT_EQ(requests_of({.users = 64}, options), 256);
  EXPECT_EQ(requests_of({.rate = 2.5}, options), 75);
  options.duration_seconds = 10;
  EXPECT_GT(requests_of({.users = 1}, options), 100000);
  EXPECT_GE(requests_of({.rate = 100}, options), 1200);
  options.requests = 3;
  EXPECT_EQ(requests_of({.users = 64}, options), 3);
}

}  // namespace
}  // namespace tessera::loadgen
