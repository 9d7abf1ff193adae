#pragma once

#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace tessera {

/// A recorded greedy answer of the bundled model. tools/demo_model/transcripts.py writes them.
struct DemoTranscript {
  nlohmann::ordered_json request;
  std::vector<int32_t> prompt, tokens;
};

inline std::vector<DemoTranscript> read_demo_transcripts() {
  std::ifstream file(TESSERA_SOURCE_DIR "/tests/golden/demo/transcripts.jsonl");
  std::vector<DemoTranscript> transcripts;
  for (std::string line; std::getline(file, line);) {
    const auto json = nlohmann::ordered_json::parse(line);
    transcripts.push_back({json["request"], json["prompt"], json["tokens"]});
  }
  return transcripts;
}

}  // namespace tessera
