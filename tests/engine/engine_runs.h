#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "tessera/engine.h"
#include "tiny_model.h"

// An engine of a tiny model, and answers of it.
namespace tessera {

inline EngineOptions small_options(const engine::TinyModel& model) {
  EngineOptions options;
  options.model = model.directory().string();
  options.max_model_len = 512;
  options.max_num_seqs = 3;
  options.threads = 1;
  return options;
}

inline Engine make_engine(const EngineOptions& options) {
  auto engine = Engine::create(options);
  EXPECT_TRUE(engine.ok()) << engine.status().message();
  return std::move(*engine);
}

/// A suite whose tests share an engine: `class Suite : public TinyEngineTest<Suite>`, with its kGenerationConfig.
template <typename Suite>
class TinyEngineTest : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    model_ = std::make_unique<engine::TinyModel>(engine::TinyKind::moe, 1, Suite::kGenerationConfig);
    engine_ = std::make_unique<Engine>(make_engine(small_options(*model_)));
  }
  static void TearDownTestSuite() {
    engine_.reset();
    model_.reset();
  }
  inline static std::unique_ptr<engine::TinyModel> model_;
  inline static std::unique_ptr<Engine> engine_;
};

inline Request greedy(std::vector<int32_t> prompt, int64_t max_tokens) {
  return {.prompt = std::move(prompt), .sampling = {.temperature = 0, .max_tokens = max_tokens, .ignore_eos = true}};
}

struct Answer {
  std::vector<int32_t> tokens;
  std::string text;
  FinishReason finish_reason = FinishReason::none;
  std::string stop_reason;
  Status error;
};

inline Answer read_all(RequestStream& stream) {
  Answer answer;
  while (const auto event = stream.next()) {
    answer.tokens.insert(answer.tokens.end(), event->tokens.begin(), event->tokens.end());
    answer.text += event->text;
    answer.finish_reason = event->finish_reason;
    answer.stop_reason = event->stop_reason;
    answer.error = event->error;
  }
  return answer;
}

inline Answer run(Engine& engine, const Request& request) {
  auto stream = engine.submit(request);
  EXPECT_TRUE(stream.ok()) << stream.status().message();
  return read_all(*stream);
}

}  // namespace tessera
