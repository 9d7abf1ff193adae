#include <gmock/gmock.h>
#include <unistd.h>

#include <chrono>
#include <nlohmann/json.hpp>

#include "base/wait_until.h"
#include "engine/engine_maker.h"
#include "server/served_model.h"

// Streams: what stands at their ends, what is said in silence, and what a client that does not read costs.
namespace tessera::server {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;

/// The JSON of each event before [DONE], which comes last and once.
std::vector<json> events(const std::string& body) {
  std::vector<json> found;
  size_t done = 0;
  for (size_t at = 0; at < body.size();) {
    const size_t end = body.find("\n\n", at);
    const std::string line = body.substr(at, end - at);
    EXPECT_EQ(done, 0U) << "behind [DONE]: " << line;
    if (line.starts_with("data: {")) found.push_back(json::parse(line.substr(6)));
    if (line == "data: [DONE]") ++done;
    at = end + 2;
  }
  EXPECT_EQ(done, 1U) << body;
  return found;
}

const json kRequests[] = {
    {{"messages", {{{"role", "user"}, {"content", "Hi"}}}}},
    {{"prompt", "Go"}},
};

RawAnswer stream(const ServedModel& served, json request, const json& options = {}) {
  request.update({{"stream", true}, {"max_tokens", 6}, {"ignore_eos", true}, {"seed", 1}});
  if (!options.empty()) request["stream_options"] = options;
  return ask(served.port(),
             post(request.contains("prompt") ? "/v1/completions" : "/v1/chat/completions", request.dump()));
}

TEST(Stream, UsageIsInEveryChunkAndInOneOfItsOwnAtTheEnd) {
  const ServedModel served;
  for (const json& request : kRequests) {
    const RawAnswer answer = stream(served, request, {{"include_usage", true}, {"continuous_usage_stats", true}});
    EXPECT_EQ(answer.header("x-accel-buffering"), "no") << "else nginx holds events back";
    EXPECT_EQ(answer.header("cache-control"), "no-cache");
    std::vector<json> chunks = events(answer.body);
    ASSERT_GE(chunks.size(), 3U);
    const json last = chunks.back();
    EXPECT_EQ(last["choices"], json::array()) << last;
    EXPECT_EQ(last["usage"]["completion_tokens"], 6);
    chunks.pop_back();
    int64_t before = 0;
    for (const json& chunk : chunks) {
      ASSERT_TRUE(chunk.contains("usage") && chunk["usage"].is_object()) << chunk;
      EXPECT_EQ(chunk["usage"]["prompt_tokens"], last["usage"]["prompt_tokens"]);
      EXPECT_GE(chunk["usage"]["completion_tokens"].get<int64_t>(), before);
      before = chunk["usage"]["completion_tokens"].get<int64_t>();
    }
    EXPECT_EQ(before, 6) << "the last chunk with text counts all of it";
    EXPECT_EQ(chunks.back()["choices"][0]["finish_reason"], "length");
    // Only at the end, and not at all.
    chunks = events(stream(served, request, {{"include_usage", true}}).body);
    EXPECT_EQ(chunks.back()["usage"], last["usage"]);
    chunks.pop_back();
    for (const json& chunk : chunks) EXPECT_TRUE(chunk.at("usage").is_null()) << chunk;
    for (const json& chunk : events(stream(served, request).body)) EXPECT_FALSE(chunk.contains("usage")) << chunk;
  }
}

TEST(Stream, ThePromptsIdsComeOnceHoweverManyChoices) {
  const ServedModel served;
  json request = kRequests[0];
  request.update({{"n", 3}, {"return_token_ids", true}});
  int roles = 0, prompts = 0;
  for (const json& chunk : events(stream(served, request).body)) {
    roles += chunk["choices"][0]["delta"].contains("role") ? 1 : 0;
    prompts += chunk["choices"][0].contains("prompt_token_ids") ? 1 : 0;
  }
  EXPECT_EQ(roles, 3);
  EXPECT_EQ(prompts, 1);
}

TEST(Stream, AnEmptyModelIsTheOneThatIsThere) {
  const ServedModel served;
  for (json request : kRequests) {
    request["model"] = "";
    for (const json& chunk : events(stream(served, request).body)) EXPECT_EQ(chunk["model"], "tiny");
  }
}

TEST(Stream, ErrorsComeBeforeDone) {
  ServerOptions options = test_options();
  options.limits.shutdown_seconds_max = 0;
  ServedModel served(options);
  RawClient chat(served.port()), completion(served.port());
  chat.send(post("/v1/chat/completions",
                 R"({"messages":[{"role":"user","content":"Hi"}],"max_tokens":3500,"ignore_eos":true,"stream":true})"));
  completion.send(post("/v1/completions", R"({"prompt":"Go","max_tokens":3500,"ignore_eos":true,"stream":true})"));
  for (RawClient* client : {&chat, &completion}) ASSERT_TRUE(client->wait_for("data: "));
  served.server().shut_down();
  EXPECT_TRUE(served.server().wait().ok());
  for (RawClient* client : {&chat, &completion}) {
    const json error = events(client->answer().body).back()["error"];
    EXPECT_THAT(error.value("message", ""), HasSubstr("shutting down"));
  }
}

/// A device that draws token 7 in so many steps, and none in the next.
class FailingRunner final : public model::StepRunner {
 public:
  explicit FailingRunner(int good_steps) : good_steps_(good_steps) {}
  [[nodiscard]] int steps_ahead() const override { return 0; }
  Status submit(const model::Step& step) override {
    results_.assign(step.samples.size(), {.token = 7});
    return {};
  }
  Expected<std::span<const kernels::SampleResult>> collect() override {
    if (good_steps_-- == 0) return Status(StatusCode::unavailable, "the device is gone");
    return std::span<const kernels::SampleResult>(results_);
  }

 private:
  int good_steps_;
  std::vector<kernels::SampleResult> results_;
};

/// The tokens and the failure are all there when the server first looks.
TEST(Stream, WhatCameBeforeAnErrorIsSaid) {
  engine::StepLoopParts parts{.vocab_size = 100};
  parts.kv_blocks = 8;
  parts.max_num_seqs = 2;
  parts.max_model_len = 512;
  parts.max_num_batched_tokens = 66;
  const ServedModel served(test_options(),
                           engine::EngineMaker::make(std::make_unique<FailingRunner>(5), std::move(parts)));
  const json body = {{"prompt", {1, 2, 3}}, {"max_tokens", 100}, {"stream", true}, {"return_token_ids", true}};
  std::vector<int> tokens;
  for (const json& event : events(ask(served.port(), post("/v1/completions", body.dump())).body)) {
    if (event.contains("error")) {
      EXPECT_THAT(event["error"].value("message", ""), HasSubstr("the device is gone"));
      continue;
    }
    for (const json& token : event["choices"][0].value("token_ids", json::array())) tokens.push_back(token);
  }
  EXPECT_EQ(tokens, std::vector<int>(5, 7));
}

TEST(Stream, SilenceHasAComment) {
  ServerOptions options = test_options();
  options.limits.comment_seconds = 1;
  const ServedModel served(options, 1);
  RawClient first(served.port()), second(served.port());
  first.send(post("/v1/completions", R"({"prompt":"Go","max_tokens":4000,"ignore_eos":true,"stream":true,"n":16})"));
  ASSERT_TRUE(first.wait_for("data: "));
  const auto begun = std::chrono::steady_clock::now();
  second.send(post("/v1/completions", R"({"prompt":"Go","max_tokens":1,"stream":true})"));
  ASSERT_TRUE(second.wait_for(": waiting\n\n\r\nb\r\n: waiting\n\n")) << "and another one, each in a chunk of 11 bytes";
  first.reset();
  const std::string body = second.answer().body;
  const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(std::chrono::steady_clock::now() - begun);
  int64_t comments = 0;
  for (size_t at = 0; (at = body.find(": waiting\n\n", at)) != std::string::npos; ++at) ++comments;
  EXPECT_GE(comments, 2);
  EXPECT_LE(comments, seconds.count()) << "more than one a second";
  EXPECT_TRUE(body.ends_with("data: [DONE]\n\n")) << body;
}

double metric_at(const std::string& unix_socket, const std::string& name) {
  RawClient client(unix_socket);
  client.send(get("/metrics"));
  const std::string text = client.answer().body;
  const size_t at = text.find('\n' + name);
  return at == std::string::npos ? -1 : std::stod(text.substr(text.find(' ', at + 1)));
}

/// On a Unix socket, where no kernel ends a connection that stands still.
TEST(Stream, AWriteThatStallsEndsTheConnection) {
  ServerOptions options = test_options();
  options.unix_socket = ::testing::TempDir() + "tessera_stalled_" + std::to_string(::getpid());
  options.limits.write_stall_seconds_max = 1;
  const ServedModel served(options);
  const RawClient deaf(options.unix_socket);
  deaf.send(post("/v1/completions",
                 R"({"prompt":"Go","max_tokens":300,"ignore_eos":true,"stream":true,"n":8,"logprobs":20})"));
  const std::string aborted = "vllm:request_success_total{finished_reason=\"abort\"";
  int questions = 0;
  while (metric_at(options.unix_socket, aborted) < 1 && ++questions < 1500) {
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  EXPECT_EQ(metric_at(options.unix_socket, aborted), 1);
  EXPECT_EQ(metric_at(options.unix_socket, "tessera:http_requests_in_flight"), 0);
}

/// What a client does not read stays with the engine but for --max-unsent-bytes and the kernel's buffer, which of a
/// Unix socket is some 200 KiB. The server says how many tokens it has taken.
TEST(Stream, AClientThatDoesNotReadHoldsNoMoreThanTheLimit) {
  ServerOptions options = test_options();
  options.unix_socket = ::testing::TempDir() + "tessera_unread_" + std::to_string(::getpid());
  options.limits.unsent_bytes_max = 32 << 10;
  options.limits.write_stall_seconds_max = 3600;
  const ServedModel served(options);
  const auto metric = [&](const std::string& name) { return metric_at(options.unix_socket, name); };
  constexpr double kTokens = 8 * 300;
  RawClient deaf(options.unix_socket);
  deaf.send(post("/v1/completions",
                 R"({"prompt":"Go","max_tokens":300,"ignore_eos":true,"stream":true,"n":8,"logprobs":20})"));
  ASSERT_TRUE(test::wait_until([&] { return metric("vllm:generation_tokens_total") == kTokens; }));
  // Whatever was to be taken has been by now, or it would be soon: the count stands still, as it must.
  double taken = -1, now = 0;
  while ((now = metric("vllm:inter_token_latency_seconds_count")) != taken) {
    taken = now;
    std::this_thread::sleep_for(std::chrono::milliseconds(200));
  }
  EXPECT_EQ(metric("tessera:http_requests_in_flight"), 1);
  // Then the client reads, and nothing is lost.
  const std::string body = deaf.answer().body;
  EXPECT_TRUE(body.ends_with("data: [DONE]\n\n"));
  EXPECT_EQ(metric("vllm:inter_token_latency_seconds_count"), kTokens - 8);
  ASSERT_GT(body.size(), 1U << 20) << "too little to fill the kernel's buffer";
  EXPECT_LT(taken / kTokens * static_cast<double>(body.size()), 768 << 10);
}

/// Bytes of later requests are read while one is answered, so that a client that leaves is seen; not any number.
TEST(Stream, AClientThatSendsOnAndOnIsDropped) {
  ServerOptions options = test_options();
  options.unix_socket = ::testing::TempDir() + "tessera_sends_" + std::to_string(::getpid());
  options.limits.unsent_bytes_max = 32 << 10;
  options.limits.write_stall_seconds_max = 3600;
  const ServedModel served(options);
  RawClient client(options.unix_socket);
  client.send(post("/v1/completions",
                   R"({"prompt":"Go","max_tokens":300,"ignore_eos":true,"stream":true,"n":8,"logprobs":20})"));
  ASSERT_TRUE(client.wait_for("data: "));
  client.send(std::string(80 << 10, 'x'));
  const std::string aborted = "vllm:request_success_total{finished_reason=\"abort\"";
  int questions = 0;
  while (metric_at(options.unix_socket, aborted) < 1 && ++questions < 1500) {
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  EXPECT_EQ(metric_at(options.unix_socket, aborted), 1);
}

}  // namespace
}  // namespace tessera::server
