#include <gmock/gmock.h>

#include <array>
#include <atomic>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <numeric>
#include <thread>

#include "base/wait_until.h"
#include "server/served_model.h"
#include "server/storm.h"

// Requests on their way through the engine: what they answer, and what is left of them.
namespace tessera::server {
namespace {

using nlohmann::json;
using ::testing::StartsWith;

/// The JSON of each server-sent event but the last, which must be [DONE].
std::vector<json> events(const std::string& body) {
  std::vector<json> found;
  EXPECT_TRUE(body.ends_with("data: [DONE]\n\n")) << body;
  for (size_t at = 0; at < body.size();) {
    const size_t end = body.find("\n\n", at);
    const std::string line = body.substr(at, end - at);
    if (line.starts_with("data: {")) found.push_back(json::parse(line.substr(6)));
    at = end + 2;
  }
  return found;
}

struct Choice {
  std::string text;  // with what was thought
  std::vector<int32_t> tokens;
  std::string finish;
  bool operator==(const Choice&) const = default;
};

void add(const json& part, Choice& choice) {
  for (const char* key : {"reasoning_content", "content", "text"}) {
    if (part.contains(key) && part[key].is_string()) choice.text += part[key].get<std::string>();
  }
}

/// The choices of an answer, streamed or whole.
std::vector<Choice> choices_of(const RawAnswer& answer, size_t count, bool stream) {
  std::vector<Choice> choices(count);
  const std::vector<json> parts = stream ? events(answer.body) : std::vector<json>{json::parse(answer.body)};
  for (const json& part : parts) {
    EXPECT_FALSE(part.contains("error")) << part;
    for (const json& given : part["choices"]) {
      Choice& choice = choices.at(given["index"].get<size_t>());
      add(given, choice);
      for (const char* key : {"message", "delta"}) {
        if (given.contains(key)) add(given[key], choice);
      }
      if (given.contains("token_ids")) {
        for (const json& id : given["token_ids"]) choice.tokens.push_back(id.get<int32_t>());
      }
      if (given["finish_reason"].is_string()) choice.finish = given["finish_reason"].get<std::string>();
    }
  }
  return choices;
}

/// What the engine gives for a prompt without a server.
std::vector<Choice> direct(Engine& engine, std::vector<int32_t> prompt, const SamplingParams& params) {
  std::vector<Choice> choices(static_cast<size_t>(params.n));
  auto stream = engine.submit({.prompt = std::move(prompt), .sampling = params});
  EXPECT_TRUE(stream.ok()) << stream.status().message();
  while (const auto event = stream->next()) {
    Choice& choice = choices[static_cast<size_t>(event->choice)];
    choice.text += event->text;
    choice.tokens.insert(choice.tokens.end(), event->tokens.begin(), event->tokens.end());
    if (event->finish_reason == FinishReason::stop) choice.finish = "stop";
    if (event->finish_reason == FinishReason::length) choice.finish = "length";
  }
  return choices;
}

struct Case {
  std::string words;
  bool chat = false, stream = false;
  SamplingParams params = {};

  [[nodiscard]] std::string request() const {
    json body{{"temperature", params.temperature},
              {"seed", *params.seed},
              {"n", params.n},
              {"max_tokens", params.max_tokens},
              {"stream", stream},
              {"return_token_ids", true},
              {"top_k", params.top_k},
              {"stop", params.stop}};
    if (chat) {
      body["messages"] = {{{"role", "user"}, {"content", words}}};
      body["chat_template_kwargs"] = {{"enable_thinking", false}};
    } else {
      body["prompt"] = words;
    }
    return post(chat ? "/v1/chat/completions" : "/v1/completions", body.dump());
  }
};

std::vector<Case> mixed_cases(int count) {
  std::vector<Case> cases;
  for (int i = 0; i < count; ++i) {
    Case one{.words = "Case " + std::to_string(i), .chat = i % 2 == 0, .stream = i % 3 != 0};
    for (int j = 0; j < i * 7 % 50; ++j) one.words += " and so on";
    one.params.temperature = static_cast<float>(i % 4) * 0.5F;
    one.params.seed = static_cast<uint64_t>(i);
    one.params.n = 1 + i % 3;
    one.params.max_tokens = 5 + i % 37;
    one.params.top_k = i % 5 == 0 ? 40 : 0;
    if (i % 7 == 0) one.params.stop = {"a"};
    cases.push_back(std::move(one));
  }
  return cases;
}

TEST(Generation, ManyAtOnceAreEachAsTheEngineAlone) {
  const auto cases = mixed_cases(64);
  const ServedModel served;
  std::vector<RawAnswer> answers(cases.size());
  {
    std::vector<std::jthread> clients;
    for (size_t i = 0; i < cases.size(); ++i) {
      clients.emplace_back([&, i] { answers[i] = ask(served.port(), cases[i].request()); });
    }
  }
  Engine engine = open_engine();
  for (size_t i = 0; i < cases.size(); ++i) {
    const Case& one = cases[i];
    ASSERT_EQ(answers[i].status, 200) << answers[i].body;
    const auto prompt =
        one.chat ? engine.chat_prompt({{.role = "user", .content = one.words}}, false) : engine.tokenize(one.words);
    ASSERT_TRUE(prompt.ok());
    const auto expected = direct(engine, *prompt, one.params);
    const auto got = choices_of(answers[i], static_cast<size_t>(one.params.n), one.stream);
    for (size_t c = 0; c < expected.size(); ++c) {
      EXPECT_EQ(got[c].tokens, expected[c].tokens) << "case " << i << " choice " << c;
      EXPECT_EQ(got[c].finish, expected[c].finish) << "case " << i << " choice " << c;
      // The chat's parser drops line breaks before an answer, and tags.
      if (one.chat) continue;
      EXPECT_EQ(got[c].text, expected[c].text) << "case " << i << " choice " << c;
    }
  }
  EXPECT_EQ(served.left_over(), "");
}

TEST(Generation, SeveralPromptsInterleave) {
  const ServedModel served;
  const std::string fields = R"("max_tokens":20,"seed":3,"n":2,"stream":true,"return_token_ids":true)";
  const auto whole =
      choices_of(ask(served.port(), post("/v1/completions", R"({"prompt":["one","two"],)" + fields + "}")), 4, true);
  for (size_t p = 0; p < 2; ++p) {
    const std::string prompt = p == 0 ? "one" : "two";
    const auto alone = choices_of(
        ask(served.port(), post("/v1/completions", R"({"prompt":")" + prompt + R"(",)" + fields + "}")), 2, true);
    EXPECT_EQ(whole[2 * p], alone[0]);
    EXPECT_EQ(whole[2 * p + 1], alone[1]);
  }
}

/// Whichever of the prompts it is whose answer ends first.
TEST(Generation, APromptsAnswerThatEndsLeavesTheOthersToGoOn) {
  const ServedModel served;
  const auto ask_for = [&](json fields, size_t count, bool stream) {
    fields.update({{"max_tokens", 150}, {"ignore_eos", true}, {"seed", 3}, {"stream", stream}});
    fields["return_token_ids"] = true;
    return choices_of(ask(served.port(), post("/v1/completions", fields.dump())), count, stream);
  };
  const Choice lasts = ask_for({{"prompt", "one"}}, 1, false)[0];
  const std::vector<int32_t> tokens = ask_for({{"prompt", "two"}}, 1, false)[0].tokens;
  const auto own = std::ranges::find_if(tokens, [&](int32_t id) { return std::ranges::count(lasts.tokens, id) == 0; });
  ASSERT_LT(own - tokens.begin(), 10);
  for (const bool stream : {false, true}) {
    for (const size_t ending : {0, 1}) {
      json prompts = {"one", "one"};
      prompts[ending] = "two";
      const auto both = ask_for({{"prompt", prompts}, {"stop_token_ids", {*own}}}, 2, stream);
      EXPECT_EQ(both[1 - ending], lasts) << stream << ending;
      EXPECT_EQ(both[ending].finish, "stop") << stream << ending;
      EXPECT_LE(both[ending].tokens.size(), 10U) << stream << ending;
    }
  }
}

TEST(Generation, UsageComesLastWhenAsked) {
  const ServedModel served;
  const RawAnswer answer =
      ask(served.port(), post("/v1/chat/completions", R"({"messages":[{"role":"user","content":"Hi"}],
      "max_tokens":5,"n":2,"ignore_eos":true,"stream":true,"stream_options":{"include_usage":true}})"));
  EXPECT_EQ(answer.header("content-type"), "text/event-stream; charset=utf-8");
  const auto chunks = events(answer.body);
  EXPECT_TRUE(chunks.back()["choices"].empty());
  EXPECT_EQ(chunks.back()["usage"]["completion_tokens"], 10);
  EXPECT_TRUE(chunks.front()["usage"].is_null());
}

TEST(Generation, UsageSaysWhatDraftsGaveWhereAsked) {
  EngineOptions options = engine_options();
  options.speculative_tokens = 3;
  options.speculative_always = true;
  const ServedModel served(test_options(), open_engine(options));
  for (const bool chat : {false, true}) {
    json body{{"max_tokens", 30}, {"n", 2}, {"seed", 4}, {"ignore_eos", true}};
    if (chat) {
      body["messages"] = {{{"role", "user"}, {"content", "Hi"}}};
    } else {
      body["prompt"] = "Hi";
    }
    const std::string path = chat ? "/v1/chat/completions" : "/v1/completions";
    const auto details = [&] {
      return json::parse(ask(served.port(), post(path, body.dump())).body)["usage"]["completion_tokens_details"];
    };
    EXPECT_EQ(details().size(), 1U);  // reasoning_tokens
    body["return_draft_stats"] = true;
    const json said = details();
    const int64_t accepted = said["accepted_prediction_tokens"], rejected = said["rejected_prediction_tokens"];
    const auto accepted_at = said["accepted_at"].get<std::vector<int64_t>>();
    EXPECT_EQ(std::accumulate(accepted_at.begin(), accepted_at.end(), int64_t{0}), accepted);
    EXPECT_GT(rejected, 0);  // of a head with random weights
    // Each gave a token and the drafts that held; the first and the last ones come without drafts.
    const auto steps = said["draft_steps"].get<int64_t>();
    EXPECT_GT(steps, 20);
    EXPECT_LE(steps + accepted, 58);
    EXPECT_LE(accepted + rejected, 3 * steps);
  }
}

TEST(Generation, EchoWithLogprobsOfThePrompt) {
  const ServedModel served;
  for (const bool stream : {false, true}) {
    const json body{{"prompt", "one two"}, {"echo", true},       {"logprobs", 2},   {"max_tokens", 2}, {"n", 2},
                    {"seed", 1},           {"ignore_eos", true}, {"stream", stream}};
    const RawAnswer answer = ask(served.port(), post("/v1/completions", body.dump()));
    for (const Choice& choice : choices_of(answer, 2, stream)) {
      EXPECT_TRUE(choice.text.starts_with("one two")) << choice.text;
    }
  }
}

TEST(Generation, EchoIsOfThePromptThatTruncationLeaves) {
  const ServedModel served;
  json body{{"prompt", "one two three four"}, {"echo", true}, {"truncate_prompt_tokens", 2}, {"max_tokens", 1}};
  const json all = json::parse(ask(served.port(), post("/tokenize", body.dump())).body)["tokens"];
  const json last = {{"tokens", {all[all.size() - 2], all.back()}}};
  const json left = json::parse(ask(served.port(), post("/detokenize", last.dump())).body)["prompt"];
  for (const json& prompt : {body["prompt"], all}) {
    body["prompt"] = prompt;
    const json answer = json::parse(ask(served.port(), post("/v1/completions", body.dump())).body);
    EXPECT_EQ(answer["usage"]["prompt_tokens"], 2) << prompt;
    const auto text = answer["choices"][0]["text"].get<std::string>();
    EXPECT_TRUE(text.starts_with(left.get<std::string>())) << text;
  }
}

TEST(Generation, EchoHasControlTokensHoweverThePromptCame) {
  const ServedModel served;
  const std::string prompt = "<|im_start|>user\nHi<|im_end|>";
  const json tokenized = json::parse(ask(served.port(), post("/tokenize", json{{"prompt", prompt}}.dump())).body);
  const json& ids = tokenized["tokens"];
  for (const json& given : {json(prompt), ids, json::array({ids, ids})}) {
    for (const size_t kept : {ids.size() + 1, ids.size()}) {  // not truncated, and truncated to all of it
      json body{{"prompt", given}, {"echo", true}, {"max_tokens", 1}};
      if (kept == ids.size()) body["truncate_prompt_tokens"] = kept;
      const json choices = json::parse(ask(served.port(), post("/v1/completions", body.dump())).body)["choices"];
      for (const json& choice : choices) EXPECT_THAT(choice["text"].get<std::string>(), StartsWith(prompt)) << body;
    }
  }
}

/// What only counts or converts tokens has its place among the requests no longer than it takes.
TEST(Generation, TokenizingLeavesRoomForOthers) {
  ServerOptions options = test_options();
  options.limits.queue_max = 0;
  const ServedModel served(options, /*max_num_seqs=*/1);
  RawClient client(served.port());
  for (int i = 0; i < 3; ++i) {
    client.send(post("/tokenize", R"({"prompt":"a"})"));
    EXPECT_EQ(client.answer().status, 200);
  }
}

TEST(Generation, BadRequestsAreToldApart) {
  const ServedModel served;
  const std::pair<const char*, int> kBad[] = {
      {"", 400},
      {"{", 400},
      {R"({"prompt":"a","model":"other"})", 404},
      {R"({"prompt":"a","temperature":-1})", 400},
      {R"({"prompt":"a","n":-1})", 400},
      {R"({"prompt":[99999999]})", 400},
  };
  for (const auto& [body, status] : kBad) {
    const RawAnswer answer = ask(served.port(), post("/v1/completions", body));
    EXPECT_EQ(answer.status, status) << body;
    EXPECT_TRUE(json::parse(answer.body).contains("error")) << answer.body;
  }
  EXPECT_EQ(ask(served.port(), post("/v1/completions", R"({"prompt":")" + std::string(50'000, 'x') + "\"}")).status,
            400);
  EXPECT_EQ(served.left_over(), "");
}

TEST(Generation, QueueIsLimited) {
  ServerOptions options = test_options();
  options.limits.queue_max = 1;
  const ServedModel served(options, 1);
  RawClient runs(served.port()), waits(served.port());
  const std::string request =
      post("/v1/completions", R"({"prompt":"Go","max_tokens":4000,"ignore_eos":true,"stream":true})");
  runs.send(request);
  ASSERT_TRUE(runs.wait_for("data: "));
  waits.send(request);
  ASSERT_TRUE(waits.wait_for("200 OK"));
  const RawAnswer refused = ask(served.port(), request);
  EXPECT_EQ(refused.status, 429);
  EXPECT_EQ(refused.header("retry-after"), "1");
  EXPECT_EQ(served.metric("tessera:http_requests_in_flight"), 2);
  runs.close();
  ASSERT_TRUE(waits.wait_for("data: "));  // its turn has come
  waits.reset();
  EXPECT_EQ(served.left_over(), "");
}

const std::string kEndless = R"("max_tokens":3500,"ignore_eos":true,"n":4)";

TEST(Generation, ClientsThatLeaveFreeEverything) {
  const ServedModel served;
  std::string long_prompt(3000, 'x');
  for (size_t i = 0; i < long_prompt.size(); i += 2) long_prompt[i] = ' ';
  const std::string kRequests[] = {
      post("/v1/completions", "{\"prompt\":\"Go\"," + kEndless + ",\"stream\":true}"),
      post("/v1/completions", "{\"prompt\":\"Go\"," + kEndless + "}"),
      post("/v1/completions", "{\"prompt\":\"" + long_prompt + "\",\"ignore_eos\":true,\"stream\":true}"),
      post("/v1/chat/completions", "{\"messages\":[{\"role\":\"user\",\"content\":\"Hi\"}]," + kEndless + "}"),
  };
  for (const std::string& request : kRequests) {
    for (const int milliseconds : {0, 1, 5, 30}) {
      for (const bool reset : {false, true}) {
        RawClient client(served.port());
        client.send(request);
        std::this_thread::sleep_for(std::chrono::milliseconds(milliseconds));
        reset ? client.reset() : client.close();
      }
    }
  }
  EXPECT_EQ(served.left_over(), "");
  const double steps = served.metric("tessera:engine_steps_total");
  EXPECT_EQ(served.metric("tessera:engine_steps_total"), steps);
  EXPECT_EQ(served.metric("vllm:request_success_total{finished_reason=\"stop\""), 0);
}

/// Of one choice: the time of a token is that between the first and the last, without the first.
TEST(Generation, MetricsAreOfAllPromptsAndOfTheTokensBehindTheFirst) {
  const ServedModel served;
  const auto sum = [&](const std::string& name) { return served.metric("vllm:request_" + name + "_seconds_sum"); };
  ask(served.port(), post("/v1/completions", R"({"prompt":"Go","max_tokens":3,"ignore_eos":true})"));
  EXPECT_EQ(served.metric("vllm:request_params_n_sum"), 1);
  EXPECT_EQ(served.metric("vllm:request_params_max_tokens_sum"), 3);
  EXPECT_EQ(served.metric("vllm:request_generation_tokens_sum"), 3);
  EXPECT_GT(sum("decode_time"), 0);
  EXPECT_NEAR(sum("time_per_output_token") * 2, sum("decode_time"), 1e-3 * sum("decode_time"));
  const double before = served.metric("vllm:request_prompt_tokens_sum");
  const RawAnswer answer = ask(served.port(), post("/v1/completions", R"({"prompt":["one","two, three"]})"));
  EXPECT_EQ(served.metric("vllm:request_prompt_tokens_sum") - before,
            json::parse(answer.body)["usage"]["prompt_tokens"].get<double>());
}

/// It waits until the first of its prompts is begun, which the others may outlast.
TEST(Generation, ARequestIsQueuedUntilItsFirstStep) {
  const ServedModel served(test_options(), /*max_num_seqs=*/1);
  ask(served.port(), post("/v1/completions", R"({"prompt":["one","two"],"max_tokens":100,"ignore_eos":true})"));
  const double queued = served.metric("vllm:request_queue_time_seconds_sum");
  EXPECT_EQ(served.metric("vllm:request_prefill_time_seconds_count"), 1);
  EXPECT_NEAR(queued + served.metric("vllm:request_prefill_time_seconds_sum"),
              served.metric("vllm:time_to_first_token_seconds_sum"), 1e-6);
}

TEST(Generation, MetricsSayWhyAnswersEnded) {
  const ServedModel served;
  ask(served.port(), post("/v1/completions", R"({"prompt":"Go","max_tokens":3,"ignore_eos":true})"));
  EXPECT_EQ(served.metric("vllm:request_success_total{finished_reason=\"length\""), 1);
  EXPECT_EQ(served.metric("vllm:request_success_total{finished_reason=\"stop\""), 0);
}

/// What a client has named comes back in a header: plain characters, and not any number of them.
TEST(Generation, WarningsAreAShortPlainLine) {
  const ServedModel served;
  json request = {{"prompt", "Go"}, {"max_tokens", 1}, {"caf\u00e9\r\nx-evil: 1", 1}};
  for (int i = 0; i < 200; ++i) request["unknown_field_of_some_length_" + std::to_string(i)] = 1;
  const RawAnswer answer = ask(served.port(), post("/v1/completions", request.dump()));
  EXPECT_EQ(answer.status, 200);
  EXPECT_EQ(answer.header("x-evil"), "");
  const std::string warning(answer.header("x-tessera-warning"));
  EXPECT_THAT(warning, ::testing::HasSubstr("caf"));
  EXPECT_LE(warning.size(), 1000U);
  EXPECT_TRUE(std::ranges::all_of(warning, [](char c) { return c >= ' ' && c <= '~'; })) << warning;
}

TEST(Generation, DrainLetsRunningRequestsEnd) {
  ServedModel served;
  RawClient streams(served.port()), keeps(served.port());
  keeps.send(get("/health"));
  EXPECT_EQ(keeps.answer().status, 200);
  streams.send(post("/v1/completions", R"({"prompt":"Go","max_tokens":300,"ignore_eos":true,"stream":true})"));
  ASSERT_TRUE(streams.wait_for("data: "));
  served.server().shut_down();
  std::thread ends([&] { EXPECT_TRUE(served.server().wait().ok()); });
  EXPECT_TRUE(test::wait_until([&] { return !RawClient(served.port()).connected(); }));
  keeps.send(get("/health"));
  const RawAnswer health = keeps.answer();
  EXPECT_EQ(health.status, 503);
  EXPECT_EQ(health.header("connection"), "close");
  EXPECT_TRUE(streams.answer().body.ends_with("data: [DONE]\n\n"));
  ends.join();
}

TEST(Generation, DrainAnswersRequestsWhoseBodiesAreComing) {
  ServedModel served;
  RawClient sends(served.port());
  const std::string body = R"({"prompt":"Go","max_tokens":3})";
  const std::string request = post("/v1/completions", body, "Expect: 100-continue\r\n");
  sends.send(request.substr(0, request.size() - body.size()));
  ASSERT_TRUE(sends.wait_for("100 Continue\r\n\r\n"));
  served.server().shut_down();
  EXPECT_TRUE(test::wait_until([&] { return !RawClient(served.port()).connected(); }));
  std::thread ends([&] { EXPECT_TRUE(served.server().wait().ok()); });
  std::this_thread::sleep_for(std::chrono::milliseconds(300));  // nothing else keeps the server
  EXPECT_TRUE(sends.send(body));
  RawAnswer answer = sends.answer();
  if (answer.status == 100) answer = sends.answer();
  EXPECT_EQ(answer.status, 503);
  EXPECT_EQ(answer.header("retry-after"), "1");
  EXPECT_EQ(answer.header("connection"), "close");
  EXPECT_THAT(answer.body, ::testing::HasSubstr("shutting down"));
  ends.join();
}

TEST(Generation, AModelThatCannotChatSaysSo) {
  const auto check = [](const engine::TinyModel& model, const char* why) {
    const ServedModel served(test_options(), 8, model);
    EXPECT_EQ(ask(served.port(), get("/health")).body, R"({"status":"ok","chat":false})");
    EXPECT_EQ(json::parse(ask(served.port(), get("/v1/models")).body)["data"][0]["chat"], false);
    for (const char* path : {"/v1/chat/completions", "/v1/messages"}) {
      const RawAnswer chat =
          ask(served.port(), post(path, R"({"messages":[{"role":"user","content":"Hi"}],"max_tokens":2})"));
      EXPECT_EQ(chat.status, 400);
      EXPECT_THAT(chat.body, testing::HasSubstr("this model takes no conversations"));
      EXPECT_THAT(chat.body, testing::HasSubstr(why));
    }
    EXPECT_EQ(ask(served.port(), post("/v1/completions", R"({"prompt":[1,2,3],"max_tokens":2})")).status, 200);
  };
  const engine::TinyModel speechless(engine::TinyKind::moe);
  std::filesystem::remove(speechless.directory() / "tokenizer.json");
  check(speechless, "no tokenizer.json");
  const engine::TinyModel misled(engine::TinyKind::moe);
  std::ofstream(misled.directory() / "chat_template.jinja") << "{% for message in messages %}";
  check(misled, "chat_template.jinja");
  const ServedModel served;
  EXPECT_EQ(ask(served.port(), get("/health")).body, R"({"status":"ok"})");
}

TEST(Generation, ShortRequestsOvertakeLongOnes) {
  ServerOptions options = test_options();
  options.limits.text_threads = 1;
  const ServedModel served(options);
  const std::string text(8'000'000, '7');
  const auto count = [](const std::string& content) {
    return post("/v1/messages/count_tokens", R"({"messages":[{"role":"user","content":")" + content + "\"}]}");
  };
  const std::string large = count(text);
  std::array<std::unique_ptr<RawClient>, 4> clients;
  std::vector<std::thread> threads;
  std::atomic<int> answered = 0;
  for (auto& client : clients) {
    client = std::make_unique<RawClient>(served.port());
    threads.emplace_back([&] {
      client->send(large);
      EXPECT_EQ(client->answer().status, 200);
      ++answered;
    });
  }
  while (served.metric("vllm:num_requests_waiting") < 2 && answered == 0) std::this_thread::yield();
  EXPECT_EQ(ask(served.port(), count("Hi")).status, 200);
  EXPECT_LT(answered, 4) << "it has waited for all of them";
  for (std::thread& thread : threads) thread.join();
}

TEST(Generation, DrainHasADeadline) {
  ServerOptions options = test_options();
  options.limits.shutdown_seconds_max = 0;
  ServedModel served(options);
  RawClient streams(served.port()), waits(served.port());
  streams.send(post("/v1/completions", "{\"prompt\":\"Go\"," + kEndless + ",\"stream\":true}"));
  waits.send(post("/v1/completions", "{\"prompt\":\"Go\"," + kEndless + "}"));
  ASSERT_TRUE(streams.wait_for("data: "));
  while (served.metric("tessera:http_requests_in_flight") < 2) continue;
  served.server().shut_down();
  EXPECT_TRUE(served.server().wait().ok());
  EXPECT_THAT(streams.answer().body, ::testing::HasSubstr("shutting down"));
  EXPECT_EQ(waits.answer().status, 503);
}

/// Answers that were given are taken, or their clients are found to stand still, before the server ends; up to its
/// deadline.
TEST(Generation, DrainWaitsForWhatIsUnsent) {
  for (const bool in_time : {true, false}) {
    ServerOptions options = test_options();
    options.limits.write_stall_seconds_max = in_time ? 1 : 3600;
    options.limits.shutdown_seconds_max = in_time ? 3600 : 0;
    ServedModel served(options);
    RawClient keeps(served.port()), deaf(served.port(), 2048);
    keeps.send(get("/live"));
    EXPECT_EQ(keeps.answer().status, 200);
    deaf.send(post("/tokenize", json{{"prompt", std::string(1 << 19, '7')}}.dump()));  // a token each
    ASSERT_TRUE(deaf.wait_for("200 OK"));
    served.server().shut_down();
    EXPECT_TRUE(served.server().wait().ok());
    keeps.send(get("/metrics"));
    const std::string connections = std::string("\ntessera:http_connections ") + (in_time ? "1\n" : "2\n");
    const std::string metrics = keeps.answer().body;
    EXPECT_THAT(metrics, ::testing::HasSubstr(connections));
    EXPECT_THAT(metrics, ::testing::HasSubstr("\ntessera:ready{model_name=\"tiny\"} 0\n")) << "it takes nothing more";
  }
}

TEST(Generation, ServerEndsInTheMiddleOfThings) {
  for (int i = 0; i < 3; ++i) {
    auto served = std::make_unique<ServedModel>();
    RawClient streams(served->port()), prepares(served->port()), sends(served->port());
    streams.send(post("/v1/completions", "{\"prompt\":\"Go\"," + kEndless + ",\"stream\":true}"));
    if (i > 0) {
      ASSERT_TRUE(streams.wait_for("data: "));
    }
    prepares.send(post("/v1/chat/completions", "{\"messages\":[{\"role\":\"user\",\"content\":\"Hi\"}]}"));
    sends.send("POST /tokenize HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1000000\r\n\r\n{");
    served.reset();
    EXPECT_FALSE(streams.answer().whole);
  }
}

TEST(Generation, APromptIsCountedNoFurtherThanNeeded) {
  const ServedModel served;
  const auto length = json::parse(ask(served.port(), get("/v1/models")).body)["data"][0]["max_model_len"].get<size_t>();
  const auto refusal = [&](const std::string& text, const std::string& path) {
    const json chat = {{"messages", {{{"role", "user"}, {"content", text}}}}};
    const json body = path == "/v1/completions" ? json{{"prompt", text}} : chat;
    const RawAnswer answer = ask(served.port(), post(path, body.dump()));
    EXPECT_EQ(answer.status, 400);
    const json error = json::parse(answer.body)["error"];
    EXPECT_EQ(error["code"], "context_length_exceeded");
    return error["message"].get<std::string>();
  };
  const auto times = [](size_t count) {
    std::string text;
    for (size_t i = 0; i < count; ++i) text += " 7";
    return text;
  };
  const std::string some = times(length / 2 + 100);  // two tokens each
  const json counted = json::parse(ask(served.port(), post("/tokenize", json{{"prompt", some}}.dump())).body);
  const auto count = counted["count"].get<size_t>();
  ASSERT_GT(count, length);
  ASSERT_LT(count, 2 * length);
  EXPECT_THAT(refusal(some, "/v1/completions"), testing::HasSubstr("long: " + std::to_string(count) + " tokens"));
  for (const char* path : {"/v1/completions", "/v1/chat/completions"}) {
    EXPECT_THAT(refusal(times(3 * length), path), testing::HasSubstr("long: at least ")) << "by tokens";
    EXPECT_THAT(refusal(std::string(5'000'000, 'x'), path), testing::HasSubstr("long: at least ")) << "by bytes";
  }
  // To be truncated it must be read to its end, which has a limit of its own.
  const auto truncated = [&](size_t numbers) {
    const json body = {{"prompt", times(numbers)}, {"truncate_prompt_tokens", 8}, {"max_tokens", 1}};
    return ask(served.port(), post("/v1/completions", body.dump()));
  };
  const RawAnswer fits = truncated(3 * length), beyond = truncated(9 * length);
  EXPECT_EQ(fits.status, 200) << fits.body;
  EXPECT_EQ(json::parse(fits.body)["usage"]["prompt_tokens"], 8);
  EXPECT_EQ(beyond.status, 400);
  EXPECT_THAT(beyond.body, testing::HasSubstr("long: at least ")) << "not a part that is not its end";
  const json all = json::parse(ask(served.port(), post("/tokenize", json{{"prompt", times(3 * length)}}.dump())).body);
  EXPECT_GT(all["count"].get<size_t>(), 3 * length) << "a count is exact";
}

TEST(Generation, StormOf300) { storm(300); }

}  // namespace
}  // namespace tessera::server
