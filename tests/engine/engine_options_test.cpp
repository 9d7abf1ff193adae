#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <functional>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "base/temp_directory.h"
#include "engine/fit.h"
#include "engine/model_fit.h"
#include "engine_runs.h"

// What options and the smaller calls of an engine do, each by what becomes of it.
namespace tessera {
namespace {

using engine::TinyKind;
using engine::TinyModel;
using testing::HasSubstr;

std::vector<int32_t> counting(int32_t first, int32_t count) {
  std::vector<int32_t> tokens;
  for (int32_t i = 0; i < count; ++i) tokens.push_back(first + i);
  return tokens;
}

TEST(EngineOptions, TheLastOfARangeIsInIt) {
  const TinyModel model(TinyKind::dense);
  EngineOptions options = small_options(model);
  options.device = "cpu";
  options.threads = engine::kThreadsLimit;
  options.gpu_memory_utilization = 1;
  options.prefill_step_ms = -1;
  EXPECT_TRUE(engine::fit_model(options).ok());
  options.speculative_tokens = kernels::kDraftsMax;
  EXPECT_TRUE(engine::fit_model(options).ok());
}

TEST(EngineOptions, KeysAndValuesAreOfTheTypeThatTheCheckpointSaysUnlessAsked) {
  const TinyModel model(TinyKind::moe);
  EngineOptions options = small_options(model);
  options.device = "cpu";
  const auto block_bytes = [&](const char* dtype) {
    options.kv_cache_dtype = dtype;
    const auto fit = engine::fit_model(options);
    EXPECT_TRUE(fit.ok()) << fit.status().message();
    return fit.ok() ? fit->report.kv_block_bytes : 0;
  };
  const size_t bf16 = block_bytes("bfloat16"), fp8 = block_bytes("fp8");
  ASSERT_EQ(bf16, 2 * fp8);
  EXPECT_EQ(block_bytes("auto"), bf16);
  const auto file = model.directory() / "config.json";
  auto config = nlohmann::json::parse(std::ifstream(file));
  config.at("quantization_config").at("kv_cache_quant_algo") = "FP8";
  std::ofstream(file) << config;
  EXPECT_EQ(block_bytes("auto"), fp8);
  EXPECT_EQ(block_bytes("bfloat16"), bf16);
}

TEST(EngineOptions, RowsOfAStepAndMemoryOfStatesAreAsAskedFor) {
  const TinyModel model(TinyKind::moe);
  EngineOptions options = small_options(model);
  options.device = "cpu";
  options.max_num_batched_tokens = 130;
  auto fit = engine::fit_model(options);
  ASSERT_TRUE(fit.ok()) << fit.status().message();
  EXPECT_EQ(fit->report.max_num_batched_tokens, 130);
  EXPECT_GT(fit->report.kept_states, 0);
  options.prefix_caching = false;
  fit = engine::fit_model(options);
  ASSERT_TRUE(fit.ok()) << fit.status().message();
  EXPECT_EQ(fit->report.kept_states, 0);
}

TEST(EngineOptions, WithoutABoundOfItsTimeAStepReadsAWholePromptBesideAnAnswer) {
  const TinyModel model(TinyKind::moe);
  EngineOptions options = small_options(model);
  options.device = "cpu";
  options.max_model_len = options.max_num_batched_tokens = 4096;
  options.prefill_step_ms = 0;
  Engine engine = make_engine(options);
  auto answer = engine.submit(greedy({1, 2, 3}, 4000));
  ASSERT_TRUE(answer.ok() && answer->next());
  run(engine, greedy(counting(10, 3000), 1));
  answer->cancel();
  const auto* const step = std::ranges::find(StepTokens::kBounds, 4096);
  EXPECT_EQ(engine.stats().step_tokens.steps.at(static_cast<size_t>(step - StepTokens::kBounds.begin())), 1U);
}

TEST(EngineOptions, WithoutAPrefixCacheNothingIsKept) {
  const TinyModel model(TinyKind::dense);
  for (const bool caching : {true, false}) {
    EngineOptions options = small_options(model);
    options.prefix_caching = caching;
    Engine engine = make_engine(options);
    for (int i = 0; i < 2; ++i) run(engine, greedy(counting(10, 300), 2));
    EXPECT_EQ(engine.stats().prefix_hits, caching ? 256U : 0U);
    EXPECT_EQ(engine.stats().kept_blocks > 0, caching);
  }
}

/// Elsewhere only once it is known what steps take without.
TEST(EngineOptions, DraftsThatAreAlwaysMadeBeginWithTheFirstStep) {
  const TinyModel model(TinyKind::dense);
  EngineOptions options = small_options(model);
  options.device = "cpu";
  options.speculative_tokens = 2;
  for (const bool always : {false, true}) {
    options.speculative_always = always;
    Engine engine = make_engine(options);
    run(engine, greedy({1, 2, 3}, 4));
    EXPECT_EQ(engine.stats().drafts.steps > 0, always);
  }
}

TEST(EngineOptions, TheTierHasTheMemoryThatItWasGiven) {
  const TinyModel model(TinyKind::moe);
  EngineOptions options = small_options(model);
  options.kv_offload_bytes = size_t{1} << 20;
  const Engine engine = make_engine(options);
  EXPECT_LE(engine.stats().tier.bytes_total, options.kv_offload_bytes);
  EXPECT_GT(engine.stats().tier.bytes_total, options.kv_offload_bytes / 2);
}

/// What was computed otherwise would be other bits.
TEST(EngineOptions, WhatOneEngineHasWrittenIsForThoseThatComputeAlike) {
  const TinyModel model(TinyKind::moe);
  const test::TempDirectory directory;
  EngineOptions options = small_options(model);
  options.kv_offload_bytes = size_t{1} << 20;
  options.kv_offload_dir = directory.path() / "kv";
  const auto entries_of = [](const EngineOptions& of) {
    Engine engine = make_engine(of);
    return engine.stats().disk.entries;
  };
  {
    Engine engine = make_engine(options);
    run(engine, greedy(counting(10, 300), 2));
    EXPECT_TRUE(engine.close().ok());
  }
  ASSERT_EQ(entries_of(options), 1U);
  const std::vector<std::function<void(EngineOptions&)>> changes = {
      [](EngineOptions& o) { o.compute = o.compute == "fp32" ? "bf16" : "fp32"; },
      [](EngineOptions& o) { o.kv_cache_dtype = "fp8"; }, [](EngineOptions& o) { o.requantize_projections = "fp8"; },
      [](EngineOptions& o) { o.prefix_cache_keeps_answers = true; }};
  for (size_t i = 0; i < changes.size(); ++i) {
    EngineOptions other = options;
    changes[i](other);
    EXPECT_EQ(entries_of(other), 0U) << i;
  }
  EXPECT_EQ(entries_of(options), 1U) << "nothing of it was removed";
  options.kv_offload_dir_bytes = 1000;
  EXPECT_EQ(entries_of(options), 0U) << "there is no room";
}

class EngineCalls : public TinyEngineTest<EngineCalls> {
 public:
  static constexpr const char* kGenerationConfig = R"({"eos_token_id": [8, 7, 8]})";
};

TEST_F(EngineCalls, APromptIsCutToItsEndWhereThatIsAskedFor) {
  Request request = greedy(counting(10, 600), 3);
  EXPECT_FALSE(engine_->submit(request).ok()) << "it is longer than the context";
  request.sampling.truncate_prompt_tokens = 20;
  EXPECT_EQ(run(*engine_, request).tokens, run(*engine_, greedy(counting(590, 20), 3)).tokens);
}

/// The model has more ids than its tokenizer (tiny_model.h).
TEST_F(EngineCalls, AnIdThatTheTokenizerDoesNotKnowIsNeverDrawn) {
  Request request = greedy({1, 2, 3}, 5);
  request.sampling.logit_bias = {{3100, 100}};
  EXPECT_EQ(run(*engine_, request).tokens, run(*engine_, greedy({1, 2, 3}, 5)).tokens);
}

TEST_F(EngineCalls, AnIdlePrefillMayTakeAllOfTheContext) {
  EXPECT_TRUE(engine_->prefill_when_idle({.tokens = counting(10, 512)}).ok());
  EXPECT_FALSE(engine_->prefill_when_idle({.tokens = counting(10, 513)}).ok());
}

TEST_F(EngineCalls, APromptOfMessagesAsksForAnAnswer) {
  const std::vector<ChatMessage> messages = {{.role = "user", .content = "Hi"}};
  const auto plain = engine_->render_chat(messages, /*enable_thinking=*/false);
  const auto thinking = engine_->render_chat(messages, /*enable_thinking=*/true);
  ASSERT_TRUE(plain.ok() && thinking.ok());
  EXPECT_NE(plain->text, thinking->text);
  EXPECT_THAT(plain->text, HasSubstr("<|im_start|>assistant"));
  EXPECT_THAT(engine_->render_chat({{.role = "us\xFF", .content = "Hi"}}, false).status().message(),
              HasSubstr("0xFF at offset 2"));
  EXPECT_THAT(engine_->render_chat({{.role = "user", .content = "\xFE"}}, false).status().message(),
              HasSubstr("0xFE at offset 0"));
}

/// A seam is no text: what is sewn is counted without it.
TEST_F(EngineCalls, TokensAreCountedWithoutSeams) {
  const std::string text(300, 'x');
  const size_t plain = engine_->tokens_min({.text = text});
  EXPECT_GT(plain, 0U);
  RenderedChat sewn{.text = text, .seam = "#####"};
  for (const size_t at : {0, 100, 105, 200}) sewn.text.insert(at, sewn.seam);
  EXPECT_EQ(engine_->tokens_min(sewn), plain);
}

TEST_F(EngineCalls, NoGrammarTakesAControlTokenForItsText) {
  const auto grammar = engine_->compile({.kind = GrammarSource::Kind::regex, .text = "<\\|im_start\\|>"});
  ASSERT_TRUE(grammar.ok()) << grammar.status().message();
  const int32_t control = *engine_->token_id("<|im_start|>");
  Request request = greedy({1, 2, 3}, 30);
  request.sampling.ignore_eos = false;
  request.sampling.logit_bias = {{control, 100}};
  request.guide.grammar = *grammar;
  const Answer answer = run(*engine_, request);
  EXPECT_EQ(answer.text, "<|im_start|>");
  EXPECT_EQ(std::ranges::count(answer.tokens, control), 0);
  EXPECT_EQ(answer.finish_reason, FinishReason::stop);
}

TEST(EngineCallsAlone, WithoutATokenizerThereIsNoTextToCount) {
  const TinyModel model(TinyKind::dense);
  std::filesystem::remove(model.directory() / "tokenizer.json");
  const Engine engine = make_engine(small_options(model));
  EXPECT_EQ(engine.tokens_min({.text = "text"}), 0U);
  EXPECT_EQ(engine.compile({.kind = GrammarSource::Kind::regex, .text = "a"}).status().code(), StatusCode::unsupported);
}

TEST(EngineCallsAlone, AClosedEngineTakesNothingMore) {
  const TinyModel model(TinyKind::dense);
  Engine engine = make_engine(small_options(model));
  auto stream = engine.submit(greedy({1, 2, 3}, 400));
  ASSERT_TRUE(stream.ok());
  EXPECT_TRUE(engine.status().ok());
  EXPECT_TRUE(engine.close().ok());
  EXPECT_EQ(engine.status().code(), StatusCode::cancelled);
  EXPECT_EQ(read_all(*stream).finish_reason, FinishReason::cancelled);
  EXPECT_EQ(engine.submit(greedy({1}, 1)).status().code(), StatusCode::cancelled);
}

}  // namespace
}  // namespace tessera
