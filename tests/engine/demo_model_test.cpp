#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "tessera/engine.h"

// The bundled model answers as recorded, token by token: all at once, so that neighbours and batch sizes vary.
// tools/demo_model/transcripts.py writes the record.
namespace tessera {
namespace {

using Json = nlohmann::ordered_json;

struct Transcript {
  Json request;
  std::vector<int32_t> prompt, tokens;
};

std::vector<Transcript> read_transcripts() {
  std::ifstream file(TESSERA_SOURCE_DIR "/tests/golden/demo/transcripts.jsonl");
  std::vector<Transcript> transcripts;
  for (std::string line; std::getline(file, line);) {
    const Json json = Json::parse(line);
    transcripts.push_back({json["request"], json["prompt"], json["tokens"]});
  }
  return transcripts;
}

TEST(DemoModel, RepliesAsRecorded) {
  EngineOptions options;
  options.model = TESSERA_SOURCE_DIR "/models/demo";
  options.max_model_len = 1024;
  auto engine = Engine::create(options);
  ASSERT_TRUE(engine.ok()) << engine.status().message();
  const std::vector<Transcript> transcripts = read_transcripts();
  ASSERT_GE(transcripts.size(), 16U);

  std::vector<RequestStream> streams;
  for (const Transcript& transcript : transcripts) {
    const auto text = engine->render_chat(transcript.request.dump());
    ASSERT_TRUE(text.ok()) << text.status().message();
    const auto prompt = engine->tokenize(*text);
    ASSERT_TRUE(prompt.ok()) << prompt.status().message();
    ASSERT_EQ(*prompt, transcript.prompt) << *text;
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
