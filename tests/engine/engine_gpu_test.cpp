// The engine on the GPU: the bundled model's recorded answers, and one answer per prompt.

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "demo_transcripts.h"
#include "kernels/live_gpu.h"
#include "model/config.h"
#include "plan/candidates.h"
#include "plan/plan.h"
#include "plan/tuning_cache.h"
#include "tessera/engine.h"

namespace tessera {
namespace {

EngineOptions demo_options(const std::string& device) {
  EngineOptions options;
  options.model = TESSERA_SOURCE_DIR "/models/demo";
  options.device = device;
  options.max_model_len = 1024;
  options.max_num_seqs = 16;
  options.gpu_memory_utilization = 0.2;
  return options;
}

Engine open_engine(const EngineOptions& options) {
  auto engine = Engine::create(options);
  EXPECT_TRUE(engine.ok()) << engine.status().message();
  return *std::move(engine);
}

Engine demo_engine(const std::string& device, bool graphs = true, bool pdl = true) {
  EngineOptions options = demo_options(device);
  options.speculative_tokens = 0;
  options.cuda_graphs = graphs;
  options.pdl = pdl;
  return open_engine(options);
}

struct Answer {
  std::vector<int32_t> tokens;
  std::vector<std::vector<TokenLogprob>> logprobs;
  FinishReason finish_reason = FinishReason::none;
};

Answer take(RequestStream& stream) {
  Answer answer;
  while (auto event = stream.next()) {
    EXPECT_TRUE(event->error.ok()) << event->error.message();
    answer.tokens.insert(answer.tokens.end(), event->tokens.begin(), event->tokens.end());
    answer.logprobs.insert(answer.logprobs.end(), event->logprobs.begin(), event->logprobs.end());
    if (event->finish_reason != FinishReason::none) answer.finish_reason = event->finish_reason;
  }
  return answer;
}

std::vector<Answer> ask(Engine& engine, const std::vector<Request>& requests) {
  std::vector<RequestStream> streams;
  for (const Request& request : requests) {
    auto stream = engine.submit(request);
    EXPECT_TRUE(stream.ok()) << stream.status().message();
    streams.push_back(*std::move(stream));
  }
  std::vector<Answer> answers;
  for (RequestStream& stream : streams) answers.push_back(take(stream));
  return answers;
}

TEST(CudaEngine, RunsOnTheGpuThatItSays) { EXPECT_EQ(demo_engine("cuda:0").fit().device, "cuda:0"); }

TEST(CudaEngine, WhatDoesNotFitGoesOnToTheCpuWhereItMay) {
  EngineOptions options;
  options.model = TESSERA_SOURCE_DIR "/models/demo";
  options.max_model_len = 1024;
  options.max_num_seqs = 2;
  options.gpu_memory_utilization = 1e-6;
  const auto cpu = Engine::create(options);  // device auto
  ASSERT_TRUE(cpu.ok()) << cpu.status().message();
  EXPECT_EQ(cpu->fit().device, "cpu");
  options.device = "cuda";
  EXPECT_EQ(Engine::create(options).status().code(), StatusCode::resource_exhausted);
  options.device = "auto";
  options.gpu_memory_utilization = 0.2;
  const auto gpu = Engine::create(options);
  ASSERT_TRUE(gpu.ok()) << gpu.status().message();
  EXPECT_EQ(gpu->fit().device, "cuda:0");
}

/// Greedy answers follow the record until a token that the CPU itself was not sure of.
TEST(CudaEngine, RepliesAsRecordedWhereTheCpuIsSure) {
  constexpr float kSure = 0.25F;  // nats between the best token and the next
  std::vector<Request> requests;
  std::vector<std::vector<int32_t>> recorded;
  for (const DemoTranscript& transcript : read_demo_transcripts()) {
    SamplingParams sampling{.temperature = 0, .max_tokens = 200, .logprobs = 2};
    requests.push_back({.prompt = transcript.prompt, .sampling = sampling});
    recorded.push_back(transcript.tokens);
  }
  Engine cpu = demo_engine("cpu"), gpu = demo_engine("cuda");
  const auto want = ask(cpu, requests), found = ask(gpu, requests);
  size_t same = 0;
  for (size_t i = 0; i < requests.size(); ++i) {
    ASSERT_EQ(want[i].tokens, recorded[i]);
    const auto [a, b] =
        std::mismatch(want[i].tokens.begin(), want[i].tokens.end(), found[i].tokens.begin(), found[i].tokens.end());
    if (a == want[i].tokens.end() && b == found[i].tokens.end()) {
      ++same;
      continue;
    }
    const auto at = static_cast<size_t>(a - want[i].tokens.begin());
    ASSERT_LT(at, want[i].logprobs.size());
    const auto& tokens = want[i].logprobs[at];  // the chosen one, then the best two
    EXPECT_LT(tokens[1].logprob - tokens[2].logprob, kSure)
        << "answer " << i << " differs at token " << at << ", where the CPU was sure";
  }
  EXPECT_GE(same, requests.size() * 3 / 4);
}

TEST(CudaEngine, DecodeStepsAreMetered) {
  Engine engine = demo_engine("cuda");
  const Request request{.prompt = {5, 6, 7}, .sampling = {.temperature = 0, .max_tokens = 64, .ignore_eos = true}};
  ASSERT_EQ(ask(engine, {request})[0].tokens.size(), 64U);
  const EngineStats stats = engine.stats();
  ASSERT_TRUE(stats.gpu);
  EXPECT_GT(stats.gpu->read_bytes_per_second, 1e11);
  EXPECT_EQ(stats.decode.steps, 63U);  // the first token is the prefill's
  EXPECT_GT(stats.decode.bytes, 63 * 1e6);
  EXPECT_GT(stats.decode.seconds, 0);
  std::printf("%.2f TB/s; a step reads %.1f MB in %.3f ms\n", stats.gpu->read_bytes_per_second * 1e-12,
              stats.decode.bytes / 63 * 1e-6, stats.decode.seconds / 63 * 1e3);
}

std::vector<Request> random_requests(uint32_t seed) {
  std::mt19937 random(seed);
  std::vector<Request> requests;
  for (int i = 0; i < 24; ++i) {
    Request request;
    request.prompt.resize(1 + random() % 300);
    for (int32_t& token : request.prompt) token = static_cast<int32_t>(random() % 4000);
    SamplingParams& s = request.sampling;
    s.max_tokens = static_cast<int64_t>(1 + random() % 60);
    s.ignore_eos = true;
    s.seed = random();
    s.logprobs = static_cast<int>(random() % 4);
    s.temperature = static_cast<float>(random() % 3) * 0.6F;
    if (random() % 3 == 0) s.top_k = static_cast<int>(1 + random() % 50);
    if (random() % 3 == 0) s.top_p = 0.9F;
    if (random() % 4 == 0) s.min_p = 0.1F;
    if (random() % 4 == 0) s.repetition_penalty = 1.2F;
    if (random() % 4 == 0) s.frequency_penalty = 0.5F;
    if (random() % 4 == 0) s.logit_bias = {{17, 3.0F}, {99, -100.0F}};
    if (random() % 4 == 0) s.min_tokens = 5, s.stop_token_ids = {1, 2, 3, 4, 5};
    requests.push_back(std::move(request));
  }
  return requests;
}

void expect_same(const Answer& found, const Answer& want, const std::string& what) {
  ASSERT_EQ(found.tokens, want.tokens) << what;
  ASSERT_EQ(found.finish_reason, want.finish_reason) << what;
  ASSERT_EQ(found.logprobs.size(), want.logprobs.size()) << what;
  for (size_t i = 0; i < want.logprobs.size(); ++i) {
    for (size_t k = 0; k < want.logprobs[i].size(); ++k) {
      ASSERT_EQ(found.logprobs[i][k].token, want.logprobs[i][k].token) << what;
      ASSERT_EQ(found.logprobs[i][k].logprob, want.logprobs[i][k].logprob) << what;
    }
  }
}

TEST(CudaEngine, ARequestGetsTogetherWhatItGetsAlone) {
  const auto requests = random_requests(7);
  Engine engine = demo_engine("cuda");
  const auto together = ask(engine, requests);
  for (size_t i = 0; i < requests.size(); ++i) {
    expect_same(ask(engine, {requests[i]})[0], together[i], "request " + std::to_string(i) + " alone");
  }
  Engine plain = demo_engine("cuda", /*graphs=*/false, /*pdl=*/false);
  const auto eager = ask(plain, requests);
  for (size_t i = 0; i < requests.size(); ++i) {
    expect_same(eager[i], together[i], "request " + std::to_string(i) + " without graphs and PDL");
  }
}

TEST(CudaEngine, DraftsChangeNoBit) {
  const auto requests = random_requests(8);
  Engine plain = demo_engine("cuda");
  const auto want = ask(plain, requests);
  for (const int drafts : {1, 5, 8}) {
    EngineOptions options = demo_options("cuda");
    options.speculative_tokens = drafts;
    for (const bool always : {true, false}) {
      options.speculative_always = always;
      Engine engine = open_engine(options);
      const auto found = ask(engine, requests);
      for (size_t i = 0; i < requests.size(); ++i) {
        expect_same(found[i], want[i], "request " + std::to_string(i) + " with " + std::to_string(drafts) + " drafts");
      }
      if (always) {
        EXPECT_GT(engine.stats().drafts.accepted, 0U);
      }
    }
  }
}

/// Two of three follow a grammar, some behind thoughts, some without a few words.
std::vector<Request> guided_requests(const Engine& engine) {
  std::vector<Request> requests = random_requests(9);
  using Kind = GrammarSource::Kind;
  const std::vector<GrammarSource> sources = {
      {.kind = Kind::regex, .text = "[a-z]{30,}"},
      {.kind = Kind::json_schema, .text = R"({"type": "array", "items": {"type": "integer"}, "minItems": 20})"}};
  for (size_t i = 0; i < requests.size(); ++i) {
    Request& request = requests[i];
    if (i % 5 == 0) request.sampling.bad_words = {"e", "the", "1"};
    if (i % 3 == 2) continue;
    const auto grammar = engine.compile(sources[i % 2]);
    EXPECT_TRUE(grammar.ok()) << grammar.status().message();
    request.guide.grammar = *grammar;
    if (i % 4 == 0) {
      request.guide.thinking_end = 40;
      request.guide.thinking_tokens_max = 7;
      request.guide.thinking_closer = {30, 40};
    }
  }
  return requests;
}

/// With drafts a guided answer waits for each token; without, its draws come later than its steps.
TEST(CudaEngine, GuidedAnswersAreThoseAloneAndThoseWithDrafts) {
  Engine engine = demo_engine("cuda");
  const auto requests = guided_requests(engine);
  const auto together = ask(engine, requests);
  for (size_t i = 0; i < requests.size(); ++i) {
    expect_same(ask(engine, {requests[i]})[0], together[i], "request " + std::to_string(i) + " alone");
  }
  Engine plain = demo_engine("cuda", /*graphs=*/false, /*pdl=*/false);
  const auto eager = ask(plain, guided_requests(plain));
  EngineOptions options = demo_options("cuda");
  options.speculative_tokens = 3;
  Engine drafting = open_engine(options);
  const auto drafted = ask(drafting, guided_requests(drafting));
  for (size_t i = 0; i < requests.size(); ++i) {
    expect_same(eager[i], together[i], "request " + std::to_string(i) + " without graphs and PDL");
    expect_same(drafted[i], together[i], "request " + std::to_string(i) + " with drafts");
  }
}

/// A tuning file with the tiles that the planner likes least, of every step that the requests make.
plan::TuningCache slowest_tiles(const plan::DeviceFacts& gpu, const model::ModelConfig& config) {
  plan::TuningCache cache{.gpu = gpu.name, .build = plan::tuning_build(), .entries = {}};
  for (const auto op : {plan::Op::gate_up, plan::Op::down}) {
    for (int64_t tokens = 1; tokens <= 8192; tokens *= 2) {
      plan::Desc desc;
      desc.op = op;
      desc.hidden = config.hidden_size;
      desc.intermediate = config.moe_intermediate_size;
      desc.experts = config.num_experts;
      desc.experts_per_token = config.experts_per_token;
      desc.tokens = tokens;
      const auto plan = plan::make_plan(desc, gpu);
      EXPECT_TRUE(plan.ok()) << plan.status().message();
      const plan::Candidate* slowest = nullptr;
      for (const plan::Candidate& candidate : plan->candidates) {
        if (!candidate.kept() || !plan::compiled(candidate.tile)) continue;
        if (slowest == nullptr || candidate.cost.estimate_us > slowest->cost.estimate_us) slowest = &candidate;
      }
      cache.entries.push_back({desc, slowest->tile, 1.0});
    }
  }
  return cache;
}

TEST(CudaEngine, TunedTilesChangeNoBit) {
  const auto requests = random_requests(11);
  const auto want = [&] {
    Engine engine = demo_engine("cuda");
    return ask(engine, requests);
  }();
  const auto directory = std::filesystem::path(testing::TempDir()) / ("tessera_tuned_" + std::to_string(::getpid()));
  ASSERT_EQ(::setenv("XDG_CACHE_HOME", directory.c_str(), 1), 0);
  std::filesystem::create_directories(directory / "tessera");
  const auto gpu = kernels::live_gpu(0);
  ASSERT_TRUE(gpu.ok()) << gpu.status().message();
  const std::string path = TESSERA_SOURCE_DIR "/models/demo/config.json";
  std::ifstream file(path);
  const std::string json(std::istreambuf_iterator<char>(file), {});
  const auto config = model::parse_config(json, path);
  ASSERT_TRUE(config.ok()) << config.status().message();
  const Status written = plan::write_tuning(plan::tuning_file(gpu->name), slowest_tiles(*gpu, *config));
  ASSERT_TRUE(written.ok()) << written.message();
  testing::internal::CaptureStdout();
  Engine tuned = demo_engine("cuda");
  EXPECT_NE(testing::internal::GetCapturedStdout().find("28 of 28 tuned tiles"), std::string::npos);
  const auto found = ask(tuned, requests);
  for (size_t i = 0; i < requests.size(); ++i) expect_same(found[i], want[i], "request " + std::to_string(i));
  (void)::unsetenv("XDG_CACHE_HOME");
  std::filesystem::remove_all(directory);
}

TEST(CudaEngine, PromptLogprobsAndSeveralChoices) {
  Engine engine = demo_engine("cuda");
  Request request{.prompt = random_requests(3)[0].prompt};
  request.sampling = {.temperature = 1, .seed = 5, .n = 3, .max_tokens = 10, .ignore_eos = true, .prompt_logprobs = 2};
  auto stream = engine.submit(request);
  ASSERT_TRUE(stream.ok()) << stream.status().message();
  std::map<int, size_t> tokens;
  size_t prompt_entries = 0;
  while (auto event = stream->next()) {
    tokens[event->choice] += event->tokens.size();
    prompt_entries = std::max(prompt_entries, event->prompt_logprobs.size());
    for (size_t i = 1; i < event->prompt_logprobs.size(); ++i) {
      ASSERT_EQ(event->prompt_logprobs[i].size(), 3U);
      EXPECT_EQ(event->prompt_logprobs[i][0].token, request.prompt[i]);
    }
  }
  EXPECT_EQ(prompt_entries, request.prompt.size());
  for (int choice = 0; choice < 3; ++choice) EXPECT_EQ(tokens[choice], 10U);
}

TEST(CudaEngine, PreemptedAnswersAreThoseOfPlenty) {
  std::mt19937 random(3);
  std::vector<Request> requests(8);
  for (size_t i = 0; i < requests.size(); ++i) {
    for (int t = 0; t < 60; ++t) requests[i].prompt.push_back(static_cast<int32_t>(random() % 4000));
    requests[i].sampling = {
        .temperature = 1, .frequency_penalty = 0.5F, .seed = i, .max_tokens = 400, .ignore_eos = true, .logprobs = 2};
  }
  Engine plenty = demo_engine("cuda");
  const auto want = ask(plenty, requests);
  EXPECT_EQ(plenty.stats().preemptions, 0U);
  const FitReport& fit = plenty.fit();
  EngineOptions options = demo_options("cuda");
  options.max_num_seqs = 8;
  options.memory_bytes = 8 * fit.state_slot_bytes + 24 * fit.kv_block_bytes;
  Engine tight = open_engine(options);
  const auto found = ask(tight, requests);
  EXPECT_GT(tight.stats().preemptions, 0U);
  for (size_t i = 0; i < requests.size(); ++i) expect_same(found[i], want[i], "request " + std::to_string(i));
}

/// Conversations that grow by their answers, behind one beginning; a request of each for every turn.
std::vector<Request> turns_of(int turns, std::mt19937& random, Engine& alone, std::vector<Answer>& answers) {
  constexpr int kConversations = 8;
  const auto tokens = [&](size_t count) {
    std::vector<int32_t> made(count);
    for (int32_t& token : made) token = static_cast<int32_t>(random() % 4000);
    return made;
  };
  const auto append = [](std::vector<int32_t>& to, const std::vector<int32_t>& more) {
    to.insert(to.end(), more.begin(), more.end());
  };
  std::vector<Request> all;
  const std::vector<int32_t> beginning = tokens(320);
  for (int c = 0; c < kConversations; ++c) {
    Request request{.prompt = beginning};
    append(request.prompt, tokens(random() % 130));
    for (int turn = 0; turn < turns; ++turn) {
      request.sampling = {.temperature = turn % 2 == 0 ? 0.0F : 0.9F,
                          .frequency_penalty = c % 3 == 0 ? 0.4F : 0.0F,
                          .seed = static_cast<uint64_t>(c),
                          .max_tokens = static_cast<int64_t>(1 + random() % 40),
                          .ignore_eos = true,
                          .logprobs = 2};
      request.likely_ends = {320, static_cast<int64_t>(request.prompt.size())};
      all.push_back(request);
      answers.push_back(ask(alone, {request})[0]);
      append(request.prompt, answers.back().tokens);
      append(request.prompt, tokens(random() % 100));
    }
  }
  return all;
}

TEST(CudaEngine, WhatIsKeptOfPromptsChangesNoBit) {
  constexpr int kTurns = 4;
  std::mt19937 random(17);
  std::vector<Answer> want;
  EngineOptions options = demo_options("cuda");
  options.prefix_caching = false;
  Engine off = open_engine(options);
  const std::vector<Request> requests = turns_of(kTurns, random, off, want);
  EXPECT_EQ(off.stats().prefix_hits, 0U);

  options.prefix_caching = true;
  Engine plenty = open_engine(options);
  options.max_num_seqs = 3;
  options.memory_bytes = 4 * off.fit().state_slot_bytes + 30 * off.fit().kv_block_bytes;
  Engine tight = open_engine(options);
  for (Engine* engine : {&plenty, &tight}) {
    for (size_t turn = 0; turn < kTurns; ++turn) {
      std::vector<Request> together;
      for (size_t i = turn; i < requests.size(); i += kTurns) together.push_back(requests[i]);
      const auto found = ask(*engine, together);
      for (size_t i = 0; i < found.size(); ++i) {
        const size_t at = i * kTurns + turn;
        expect_same(found[i], want[at], "conversation " + std::to_string(i) + ", turn " + std::to_string(turn));
      }
    }
    EXPECT_GT(engine->stats().prefix_hits, 3000U);
  }
  EXPECT_GT(plenty.stats().prefix_hits, tight.stats().prefix_hits);
}

TEST(CudaEngine, TheLongestListsThatAreLegalAreServed) {
  Engine engine = demo_engine("cuda");
  Request request{.prompt = {1, 2, 3}};
  request.sampling = {.temperature = 1, .seed = 1, .n = 16, .max_tokens = 4, .min_tokens = 4};
  for (int32_t id = 0; id < 4096; ++id) {
    request.sampling.logit_bias.emplace_back(id, 0.5F);
    if (id % 1000 != 0) request.sampling.stop_token_ids.push_back(id);  // the vocabulary has 4096: something is left
  }
  std::vector<RequestStream> streams;
  for (int i = 0; i < 3; ++i) {
    auto stream = engine.submit(request);
    ASSERT_TRUE(stream.ok()) << stream.status().message();
    streams.push_back(*std::move(stream));
  }
  for (RequestStream& stream : streams) EXPECT_EQ(take(stream).tokens.size(), 16U * 4U);
  EXPECT_TRUE(engine.status().ok()) << engine.status().message();
}

}  // namespace
}  // namespace tessera
