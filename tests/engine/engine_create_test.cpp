#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <limits>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "engine/model_fit.h"
#include "engine_runs.h"
#include "format/checkpoint.h"
#include "kernels/batch.h"
#include "tessera/engine.h"

// How an engine comes to be, or says why it does not.
namespace tessera {
namespace {

using engine::TinyKind;
using engine::TinyModel;

TEST(EngineCreate, SaysWhatIsWrong) {
  const TinyModel model(TinyKind::dense);
  const auto message = [&](auto change) {
    EngineOptions options = small_options(model);
    change(options);
    const auto engine = Engine::create(options);
    EXPECT_FALSE(engine.ok());
    return engine.ok() ? std::string() : engine.status().message();
  };
  using testing::HasSubstr;
  EXPECT_THAT(message([](EngineOptions& o) { o.model = "/nowhere/at/all"; }), HasSubstr("/nowhere/at/all"));
  EXPECT_THAT(message([](EngineOptions& o) { o.kv_offload_dir = "/tmp"; }), HasSubstr("--kv-offload-gib"));
  EXPECT_THAT(message([](EngineOptions& o) {
                o.kv_offload_bytes = size_t{1} << 24;
                o.kv_offload_dir = "/proc/nowhere";
              }),
              HasSubstr("/proc/nowhere"));
  EXPECT_THAT(message([](EngineOptions& o) { o.compute = "fp64"; }), HasSubstr("compute is 'fp64'"));
  EXPECT_THAT(message([](EngineOptions& o) { o.kv_cache_dtype = "int3"; }), HasSubstr("kv_cache_dtype is 'int3'"));
  EXPECT_THAT(message([](EngineOptions& o) { o.threads = -1; }), HasSubstr("threads is -1"));
  EXPECT_THAT(message([](EngineOptions& o) { o.load_format = "gguf"; }), HasSubstr("load_format is 'gguf'"));
  EXPECT_THAT(message([](EngineOptions& o) { o.device = "cpu", o.load_format = "dummy"; }), HasSubstr("tessera synth"));
  EXPECT_THAT(message([](EngineOptions& o) { o.requantize_projections = "int8"; }),
              HasSubstr("requantize_projections is 'int8'"));
  EXPECT_THAT(message([](EngineOptions& o) { o.threads = 1025; }), HasSubstr("threads is 1025"));
  EXPECT_THAT(message([](EngineOptions& o) { o.draft_head = "int4"; }), HasSubstr("draft_head is 'int4'"));
  for (const double share : {0.0, -0.5, 1.01, std::numeric_limits<double>::quiet_NaN()}) {
    EXPECT_THAT(message([=](EngineOptions& o) { o.gpu_memory_utilization = share; }),
                HasSubstr("gpu_memory_utilization is "));
  }
  EXPECT_THAT(message([](EngineOptions& o) { o.prefill_step_ms = -2; }), HasSubstr("prefill_step_ms is -2"));
  for (const int drafts : {-2, kernels::kDraftsMax + 1}) {
    EXPECT_THAT(message([=](EngineOptions& o) { o.speculative_tokens = drafts; }),
                HasSubstr("speculative_tokens is " + std::to_string(drafts)));
  }
  EXPECT_THAT(message([](EngineOptions& o) { o.max_model_len = 5000; }), HasSubstr("max_model_len is 5000"));
  EXPECT_THAT(message([](EngineOptions& o) { o.memory_bytes = 1000; }), HasSubstr("does not fit"));
  EXPECT_THAT(message([](EngineOptions& o) { o.chat_template = "/nowhere.jinja"; }), HasSubstr("/nowhere.jinja"));
}

TEST(EngineCreate, BrokenSideFilesAreErrors) {
  for (const char* file : {"generation_config.json", "tokenizer.json", "config.json"}) {
    const TinyModel model(TinyKind::dense);
    std::ofstream(model.directory() / file) << "{ broken";
    const auto engine = Engine::create(small_options(model));
    ASSERT_FALSE(engine.ok()) << file;
    EXPECT_THAT(engine.status().message(), testing::HasSubstr(file));
  }
}

TEST(EngineCreate, LogitsThatAreNotNumbersEndTheRequestWithAnError) {
  const TinyModel model(TinyKind::dense);
  {
    // The largest BF16 number, so often that every logit overflows.
    const auto checkpoint = format::Checkpoint::open(model.directory());
    const size_t bytes = checkpoint->tensor("lm_head.weight")->bytes.size();
    const auto shard = model.directory() / "model.safetensors";
    const auto opened = format::SafetensorsFile::open(shard);
    ASSERT_TRUE(opened.ok()) << opened.status().message();
    std::fstream file(shard, std::ios::in | std::ios::out | std::ios::binary);
    uint64_t header_bytes = 0;
    file.read(reinterpret_cast<char*>(&header_bytes), sizeof header_bytes);
    std::string header(header_bytes, ' ');
    file.read(header.data(), static_cast<std::streamsize>(header_bytes));
    const auto offset = nlohmann::json::parse(header)["lm_head.weight"]["data_offsets"][0].get<uint64_t>();
    file.seekp(static_cast<std::streamoff>(8 + header_bytes + offset));
    for (size_t i = 0; i < bytes / 2; ++i) file.write("\x7F\x7F", 2);
  }
  Engine engine = make_engine(small_options(model));
  Request request = greedy({1, 2, 3}, 5);
  request.sampling.prompt_logprobs = 1;
  for (int i = 0; i < 2; ++i) {
    const Answer answer = run(engine, request);
    EXPECT_EQ(answer.finish_reason, FinishReason::error);
    EXPECT_THAT(answer.error.message(), testing::HasSubstr("NaN or infinite"));
    EXPECT_TRUE(answer.tokens.empty());
    request.sampling.prompt_logprobs.reset();
  }
  EXPECT_EQ(engine.stats().kv_blocks_used, 0);
}

/// Nothing of a checkpoint stays mapped or open: its files may go, or be written anew, while it runs.
TEST(EngineCreate, TheFilesMayGoOnceItRuns) {
  const TinyModel model(TinyKind::moe);
  Engine engine = make_engine(small_options(model));
  const Answer before = run(engine, greedy({1, 2, 3}, 5));
  const auto shard = model.directory() / "model.safetensors";
  std::ifstream maps("/proc/self/maps");
  for (std::string line; std::getline(maps, line);) EXPECT_EQ(line.find(shard.string()), std::string::npos) << line;
  for (const auto& open : std::filesystem::directory_iterator("/proc/self/fd")) {
    std::error_code gone;
    EXPECT_NE(std::filesystem::read_symlink(open, gone), shard);
  }
  std::filesystem::resize_file(shard, 0);
  EXPECT_EQ(run(engine, greedy({1, 2, 3}, 5)).tokens, before.tokens);
}

/// Those of config.json as well as those of generation_config.json.
TEST(EngineCreate, TokensOfEitherFileEndAnAnswer) {
  const TinyModel model(TinyKind::moe);
  Request request = greedy({1, 2, 3}, 6);
  Engine unending = make_engine(small_options(model));
  const std::vector<int32_t> tokens = run(unending, request).tokens;
  ASSERT_EQ(tokens.size(), 6U);
  const auto end = std::find(tokens.begin(), tokens.end(), tokens[3]);
  request.sampling.ignore_eos = false;
  nlohmann::json config = nlohmann::json::parse(std::ifstream(model.directory() / "config.json"));
  for (const auto& [in_config, in_generation] : {std::pair{*end, 3199}, {3199, *end}}) {
    config["text_config"]["eos_token_id"] = in_config;
    std::ofstream(model.directory() / "config.json") << config;
    std::ofstream(model.directory() / "generation_config.json") << nlohmann::json{{"eos_token_id", in_generation}};
    Engine engine = make_engine(small_options(model));
    const Answer answer = run(engine, request);
    EXPECT_EQ(answer.finish_reason, FinishReason::stop) << in_config;
    EXPECT_EQ(answer.tokens, std::vector<int32_t>(tokens.begin(), end + 1)) << in_config;
  }
}

TEST(EngineCreate, WithoutATokenizerIdsStillWork) {
  const TinyModel model(TinyKind::moe);
  std::filesystem::remove(model.directory() / "tokenizer.json");
  Engine engine = make_engine(small_options(model));
  const Answer answer = run(engine, greedy({1, 2, 3}, 5));
  EXPECT_EQ(answer.tokens.size(), 5U);
  EXPECT_EQ(answer.text, "");
  EXPECT_THAT(engine.tokenize("x").status().message(), testing::HasSubstr("tokenizer.json"));
  Request request = greedy({1}, 5);
  request.sampling.stop = {"x"};
  EXPECT_FALSE(engine.submit(request).ok());
}

TEST(EngineCreate, RequantizesProjectionsWhenAsked) {
  const TinyModel model(TinyKind::moe);  // Gated DeltaNet's projections are BF16: qkv, z, out in two layers
  size_t weights[2] = {};
  for (const bool requantize : {false, true}) {
    EngineOptions options = small_options(model);
    options.device = "cpu";
    if (requantize) options.requantize_projections = "fp8";
    const auto engine = Engine::create(options);
    ASSERT_TRUE(engine.ok()) << engine.status().message();
    EXPECT_EQ(engine->fit().requantized_matrices, requantize ? 6 : 0);
    EXPECT_EQ(engine->fit().requantized_stored_bytes > 0, requantize);
    weights[requantize ? 1 : 0] = engine->fit().weight_bytes;
  }
  EXPECT_LT(weights[1], weights[0]);
}

TEST(EngineCreate, ReportsFitAndProgressAndRunsInEveryPrecision) {
  const TinyModel model(TinyKind::moe);
  for (const auto& [compute, kv] : {std::pair{"bf16", "fp8"}, {"bf16", "bfloat16"}, {"fp32", "auto"}}) {
    EngineOptions options = small_options(model);
    options.compute = compute;
    options.kv_cache_dtype = kv;
    int fits = 0;
    size_t last_done = 0, last_total = 1;
    options.on_fit = [&](const FitReport& fit) {
      ++fits;
      EXPECT_EQ(last_done, 0U) << "the report comes before the weights";
      EXPECT_EQ(fit.max_model_len, 512);
    };
    options.on_load_progress = [&](size_t done, size_t total) { last_done = done, last_total = total; };
    Engine engine = make_engine(options);
    EXPECT_EQ(fits, 1);
    EXPECT_EQ(last_done, last_total);
    EXPECT_EQ(run(engine, greedy({1, 2, 3}, 5)).tokens.size(), 5U);
  }
}

TEST(EngineCreate, FitModelSaysTheSameBeforeAnythingIsLoaded) {
  const TinyModel model(TinyKind::moe);
  EngineOptions options = small_options(model);
  options.device = "cpu";
  FitReport created;
  options.on_fit = [&](const FitReport& fit) { created = fit; };
  (void)make_engine(options);
  const auto fit = engine::fit_model(options);
  ASSERT_TRUE(fit.ok()) << fit.status().message();
  EXPECT_EQ(fit->report.device, "cpu");
  EXPECT_EQ(fit->report.weight_bytes, created.weight_bytes);
  EXPECT_EQ(fit->report.max_model_len, created.max_model_len);
  EXPECT_EQ(fit->report.max_num_seqs, created.max_num_seqs);
  EXPECT_GT(fit->step_bytes.weights.bytes_per_step(1), 0);
  options.max_model_len = -1;
  EXPECT_EQ(engine::fit_model(options).status().code(), StatusCode::invalid_argument);
}

}  // namespace
}  // namespace tessera
