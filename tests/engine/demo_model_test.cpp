#include <gtest/gtest.h>

#include <vector>

#include "demo_transcripts.h"
#include "tessera/engine.h"

// The bundled model answers as recorded, token by token: all at once, so that neighbours and batch sizes vary.
namespace tessera {
namespace {

TEST(DemoModel, RepliesAsRecorded) {
  EngineOptions options;
  options.model = TESSERA_SOURCE_DIR "/models/demo";
  options.device = "cpu";
  options.max_model_len = 1024;
  auto engine = Engine::create(options);
  ASSERT_TRUE(engine.ok()) << engine.status().message();
  const std::vector<DemoTranscript> transcripts = read_demo_transcripts();
  ASSERT_GE(transcripts.size(), 16U);

  std::vector<RequestStream> streams;
  for (const DemoTranscript& transcript : transcripts) {
    const auto text = engine->render_chat(transcript.request.dump());
    ASSERT_TRUE(text.ok()) << text.status().message();
    const auto prompt = engine->tokenize(*text);
    ASSERT_TRUE(prompt.ok()) << prompt.status().message();
    ASSERT_EQ(*prompt, transcript.prompt) << text->text;
    auto stream = engine->submit({.prompt = *prompt, .sampling = {.temperature = 0, .max_tokens = 200}});
    ASSERT_TRUE(stream.ok()) << stream.status().message();
    streams.push_back(*std::move(stream));
  }
  for (size_t i = 0; i < streams.size(); ++i) {
    std::vector<int32_t> tokens;
    while (const auto event = streams[i].next()) {
      tokens.insert(tokens.end(), event->tokens.begin(), event->tokens.end());
    }
    EXPECT_EQ(tokens, transcripts[i].tokens)
        << transcripts[i].request << "\nsaid " << engine->detokenize(tokens, /*skip_special_tokens=*/false);
  }
}

}  // namespace
}  // namespace tessera
