#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include "base/temp_directory.h"
#include "server/served_model.h"

// The prefix cache as clients see it, through every API.
namespace tessera::server {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;

/// Of a few hundred tokens.
std::string long_text() {
  std::string text;
  for (int i = 0; i < 120; ++i) text += "The shop sells apples and pears. ";
  return text;
}

json answer_to(const ServedModel& served, const std::string& path, const json& body) {
  const RawAnswer answer = ask(served.port(), post(path, body.dump()));
  EXPECT_EQ(answer.status, 200) << answer.body;
  return json::parse(answer.body, nullptr, /*allow_exceptions=*/false);
}

json chat(const std::string& question) {
  const json messages = {{{"role", "system"}, {"content", long_text()}}, {{"role", "user"}, {"content", question}}};
  return {{"messages", messages}, {"max_tokens", 4}, {"seed", 1}};
}

int64_t cached(const json& answer) { return answer["usage"]["prompt_tokens_details"]["cached_tokens"]; }

TEST(PrefixCacheOverHttp, EveryApiSaysWhatWasThere) {
  const ServedModel served;
  const json cold = answer_to(served, "/v1/chat/completions", chat("Hello"));
  EXPECT_EQ(cached(cold), 0);
  const int64_t system = cold["usage"]["prompt_tokens"].get<int64_t>() / 64 * 64 - 64;
  const json warm = answer_to(served, "/v1/chat/completions", chat("What is there?"));
  EXPECT_GE(cached(warm), system);  // the system message ends there, whatever is asked
  const json again = answer_to(served, "/v1/chat/completions", chat("Hello"));
  EXPECT_GT(cached(again), 0);
  EXPECT_EQ(again["choices"], cold["choices"]);

  const json question = {{{"role", "user"}, {"content", "Hello"}}};
  const json message = answer_to(
      served, "/v1/messages", {{"model", "tiny"}, {"max_tokens", 4}, {"system", long_text()}, {"messages", question}});
  const json& usage = message["usage"];
  EXPECT_GE(usage["cache_read_input_tokens"], system);
  // The prompt is those of both kinds; it ends elsewhere than a chat's, since it closes the thinking.
  EXPECT_LT(usage["input_tokens"], cold["usage"]["prompt_tokens"]);
  EXPECT_GE(usage["input_tokens"].get<int64_t>() + usage["cache_read_input_tokens"].get<int64_t>(),
            cold["usage"]["prompt_tokens"]);

  const json response =
      answer_to(served, "/v1/responses", {{"input", "Hello"}, {"instructions", long_text()}, {"max_output_tokens", 4}});
  EXPECT_GE(response["usage"]["input_tokens_details"]["cached_tokens"], system);

  const json prompts = {long_text(), long_text() + "And"};
  json completion = {{"prompt", prompts}, {"max_tokens", 2}, {"n", 2}};
  EXPECT_GT(cached(answer_to(served, "/v1/completions", completion)), 0);  // the second prompt waits for the first
  const json all = answer_to(served, "/v1/completions", completion);
  EXPECT_GT(cached(all), all["usage"]["prompt_tokens"].get<int64_t>() * 3 / 4);
  EXPECT_LT(cached(all), all["usage"]["prompt_tokens"]) << "once for each prompt, however many choices it has";

  const std::string metrics = ask(served.port(), get("/metrics")).body;
  EXPECT_THAT(metrics, HasSubstr("vllm:prefix_cache_queries_total{"));
  EXPECT_THAT(metrics, HasSubstr("tessera:prefix_blocks{"));
  EXPECT_EQ(served.left_over(), "");
}

/// Behind the system message, and behind what the user asked, where a tool's answer comes next.
TEST(PrefixCacheOverHttp, ATurnMayGoOnInAnotherWay) {
  const ServedModel served;
  const json call = {{"id", "1"}, {"type", "function"}, {"function", {{"name", "f"}, {"arguments", "{}"}}}};
  const std::string text = long_text().substr(0, 2000);
  const json system = {{"role", "system"}, {"content", text}};
  const json asked = {{"role", "user"}, {"content", "Look. " + text}};
  const json called = {{"role", "assistant"}, {"content", ""}, {"tool_calls", {call}}};
  for (json last : {json{{"role", "user"}}, json{{"role", "tool"}, {"tool_call_id", "1"}}}) {
    const bool of_tool = last["role"] == "tool";
    const auto body = [&](const std::string& said) {
      last["content"] = said;
      const json messages = of_tool ? json{system, asked, called, last} : json{system, last};
      return json{{"messages", messages}, {"max_tokens", 1}, {"cache_salt", of_tool ? "tool" : "user"}};
    };
    const int64_t before = answer_to(served, "/tokenize", body("One"))["count"].get<int64_t>() - 100;
    EXPECT_EQ(cached(answer_to(served, "/v1/chat/completions", body("One. " + text))), 0);
    const json next = answer_to(served, "/v1/chat/completions", body("Two. " + text));
    EXPECT_GE(cached(next), before / 64 * 64) << last["role"];
  }
}

TEST(PrefixCacheOverHttp, TheAccessLogCountsAPromptOnceHoweverManyChoices) {
  ServerOptions options = test_options();
  options.access_log = true;
  ::testing::internal::CaptureStderr();
  int64_t there = 0;
  {
    const ServedModel served(options);
    json body = chat("Hello");
    answer_to(served, "/v1/chat/completions", body);
    body["n"] = 3;
    there = cached(answer_to(served, "/v1/chat/completions", body));
  }
  const std::string log = ::testing::internal::GetCapturedStderr();
  EXPECT_GT(there, 0);
  EXPECT_THAT(log, HasSubstr(" cached_tokens=" + std::to_string(there) + " "));
}

TEST(PrefixCacheOverHttp, AnswersSayWhatCameFromTheHostsMemory) {
  EngineOptions options = engine_options(/*max_num_seqs=*/1);
  options.max_model_len = 2048;  // as many blocks as one prompt takes
  options.memory_bytes = size_t{4} << 20;
  options.kv_offload_bytes = size_t{64} << 20;
  const ServedModel served(test_options(), open_engine(options));
  json mine = chat("Hello"), yours = chat("Hello");
  yours["cache_salt"] = "yours";
  const json first = answer_to(served, "/v1/chat/completions", mine);
  EXPECT_FALSE(first["usage"]["prompt_tokens_details"].contains("cached_tokens_details"));
  EXPECT_EQ(cached(answer_to(served, "/v1/chat/completions", yours)), 0);
  const json again = answer_to(served, "/v1/chat/completions", mine);
  EXPECT_EQ(again["choices"], first["choices"]);
  EXPECT_GT(cached(again), 500);
  const json& details = again["usage"]["prompt_tokens_details"]["cached_tokens_details"];
  EXPECT_EQ(details["host"], cached(again));
  EXPECT_EQ(details["device"], 0);
  EXPECT_EQ(served.metric("vllm:external_prefix_cache_hits_total"), cached(again));
  EXPECT_EQ(served.metric("vllm:prefix_cache_hits_total"), 0);
  EXPECT_GT(served.metric("vllm:kv_offload_cpu_cache_usage_perc"), 0);
  const std::string metrics = ask(served.port(), get("/metrics")).body;
  EXPECT_THAT(metrics, HasSubstr(R"(transfer_type="GPU_to_CPU")"));
  EXPECT_EQ(served.left_over(), "");
}

TEST(PrefixCacheOverHttp, TheAccessLogSumsWhatCameFromTheHostsMemoryOfAllPrompts) {
  EngineOptions engine = engine_options(/*max_num_seqs=*/1);
  engine.max_model_len = 2048;  // as many blocks as one prompt takes
  engine.memory_bytes = size_t{4} << 20;
  engine.kv_offload_bytes = size_t{64} << 20;
  ServerOptions options = test_options();
  options.access_log = true;
  ::testing::internal::CaptureStderr();
  json usage;
  {
    const ServedModel served(options, open_engine(engine));
    const json body = {{"prompt", {"One. " + long_text(), "Two. " + long_text()}}, {"max_tokens", 1}};
    answer_to(served, "/v1/completions", body);
    usage = answer_to(served, "/v1/completions", body)["usage"];
  }
  const std::string log = ::testing::internal::GetCapturedStderr();
  const int64_t host = usage["prompt_tokens_details"]["cached_tokens_details"]["host"];
  EXPECT_GT(host, usage["prompt_tokens"].get<int64_t>() / 2) << "of both prompts";
  EXPECT_THAT(log, HasSubstr(" tier_tokens=" + std::to_string(host) + " "));
}

TEST(PrefixCacheOverHttp, AServerGoesOnFromWhatTheOneBeforeHasWritten) {
  const test::TempDirectory directory;
  EngineOptions options = engine_options(/*max_num_seqs=*/1);
  options.kv_offload_bytes = size_t{64} << 20;
  options.kv_offload_dir = directory.path() / "kv";
  json first;
  {
    const ServedModel served(test_options(), open_engine(options));
    first = answer_to(served, "/v1/chat/completions", chat("Hello"));
    EXPECT_EQ(cached(first), 0);
    EXPECT_EQ(served.metric("tessera:kv_offload_disk_hits_total"), 0);
    EXPECT_EQ(served.metric("tessera:kv_offload_disk_failures_total"), 0);
    EXPECT_EQ(served.left_over(), "");
  }
  const ServedModel served(test_options(), open_engine(options));
  EXPECT_GT(served.metric("tessera:kv_offload_disk_entries"), 0);
  EXPECT_GT(served.metric("tessera:kv_offload_disk_bytes"), 0);
  const json again = answer_to(served, "/v1/chat/completions", chat("Hello"));
  EXPECT_EQ(again["choices"], first["choices"]);
  EXPECT_GT(cached(again), 500);
  EXPECT_EQ(served.metric("tessera:kv_offload_disk_hits_total"), cached(again));
  json other = chat("Hello");
  other["cache_salt"] = "mine";
  EXPECT_EQ(cached(answer_to(served, "/v1/chat/completions", other)), 0);
}

TEST(PrefixCacheOverHttp, OtherSaltsShareNothing) {
  const ServedModel served;
  json request = chat("Hello");
  request["cache_salt"] = "mine";
  EXPECT_EQ(cached(answer_to(served, "/v1/chat/completions", chat("Hello"))), 0);
  EXPECT_EQ(cached(answer_to(served, "/v1/chat/completions", request)), 0);
  EXPECT_GT(cached(answer_to(served, "/v1/chat/completions", request)), 0);
  // Nor any of several prompts, which share nothing with one another.
  json prompts = {{"prompt", {"One. " + long_text(), "Two. " + long_text()}}, {"max_tokens", 1}};
  EXPECT_EQ(cached(answer_to(served, "/v1/completions", prompts)), 0);
  prompts["cache_salt"] = "mine";
  EXPECT_EQ(cached(answer_to(served, "/v1/completions", prompts)), 0);
  const json again = answer_to(served, "/v1/completions", prompts);
  EXPECT_GT(cached(again), again["usage"]["prompt_tokens"].get<int64_t>() / 2) << "of both prompts";
  for (const json& wrong : {json(""), json(7), json::array()}) {
    request["cache_salt"] = wrong;
    const RawAnswer answer = ask(served.port(), post("/v1/chat/completions", request.dump()));
    EXPECT_EQ(answer.status, 400);
    EXPECT_THAT(answer.body, HasSubstr("cache_salt"));
  }
}

}  // namespace
}  // namespace tessera::server
