#include <gtest/gtest.h>

#include <vector>

#include "demo_transcripts.h"
#include "tessera/engine.h"

// The bundled model answers as recorded, token by token: all at once, so that neighbours and batch sizes vary.
namespace tessera {
namespace {

/// What steps did besides.
EngineStats expect_replies_as_recorded(int drafts) {
  EngineOptions options;
  options.model = TESSERA_SOURCE_DIR "/models/demo";
  options.device = "cpu";
  options.max_model_len = 1024;
  options.speculative_tokens = drafts;
  options.speculative_always = true;
  auto engine = Engine::create(options);
  if (!engine.ok()) {
    ADD_FAILURE() << engine.status().message();
    return {};
  }
  const std::vector<DemoTranscript> transcripts = read_demo_transcripts();
  EXPECT_GE(transcripts.size(), 16U);

  std::vector<RequestStream> streams;
  for (const DemoTranscript& transcript : transcripts) {
    const auto text = engine->render_chat(transcript.request.dump());
    EXPECT_TRUE(text.ok()) << text.status().message();
    const auto prompt = engine->tokenize(*text);
    EXPECT_TRUE(prompt.ok()) << prompt.status().message();
    EXPECT_EQ(*prompt, transcript.prompt) << text->text;
    auto stream = engine->submit({.prompt = *prompt, .sampling = {.temperature = 0, .max_tokens = 200}});
    EXPECT_TRUE(stream.ok()) << stream.status().message();
    streams.push_back(*std::move(stream));
  }
  DraftStats told;
  for (size_t i = 0; i < streams.size(); ++i) {
    std::vector<int32_t> tokens;
    while (const auto event = streams[i].next()) {
      tokens.insert(tokens.end(), event->tokens.begin(), event->tokens.end());
      told += event->drafts;
    }
    EXPECT_EQ(tokens, transcripts[i].tokens)
        << transcripts[i].request << "\nsaid " << engine->detokenize(tokens, /*skip_special_tokens=*/false);
  }
  const EngineStats stats = engine->stats();
  EXPECT_EQ(told.steps, stats.drafts.steps);
  EXPECT_EQ(told.accepted_at, stats.drafts.accepted_at);
  return stats;
}

TEST(DemoModel, RepliesAsRecorded) { EXPECT_EQ(expect_replies_as_recorded(0).drafts.proposed, 0U); }

TEST(DemoModel, RepliesAsRecordedWithDrafts) {
  const DraftStats drafts = expect_replies_as_recorded(1).drafts;
  EXPECT_GT(drafts.steps, 100U);
  EXPECT_GT(static_cast<double>(drafts.accepted_at[0]), 0.9 * static_cast<double>(drafts.steps));
  expect_replies_as_recorded(8);
}

}  // namespace
}  // namespace tessera
