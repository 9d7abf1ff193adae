#pragma once

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/temp_directory.h"
#include "text/bundled.h"
#include "text/byte_alphabet.h"
#include "text/tokenizer.h"
#include "text/utf8.h"

namespace tessera::text::test {

using tessera::test::TempDirectory;

/// How a vocabulary spells these bytes.
inline std::string spelling(std::string_view bytes) {
  std::string text;
  for (const char byte : bytes) append_code_point(byte_character(static_cast<uint8_t>(byte)), text);
  return text;
}

/// A small valid tokenizer.json: all bytes (the id of a byte is its value), then one token for each merge in order,
/// then the added tokens. Tests change it and parse it.
inline nlohmann::ordered_json small_tokenizer(const std::vector<std::pair<std::string, std::string>>& merges = {},
                                              const std::vector<std::string>& added = {}) {
  nlohmann::ordered_json vocab = nlohmann::ordered_json::object();
  for (int byte = 0; byte < 256; ++byte) vocab[spelling(std::string(1, static_cast<char>(byte)))] = byte;
  nlohmann::ordered_json pairs = nlohmann::ordered_json::array();
  for (const auto& [left, right] : merges) {
    pairs.push_back({spelling(left), spelling(right)});
    if (!vocab.contains(spelling(left + right))) vocab[spelling(left + right)] = vocab.size();
  }
  nlohmann::ordered_json tokens = nlohmann::ordered_json::array();
  for (const std::string& content : added)
    tokens.push_back({{"id", vocab.size() + tokens.size()}, {"content", content}, {"special", true}});
  return {{"version", "1.0"},
          {"added_tokens", tokens},
          {"normalizer", nullptr},
          {"pre_tokenizer", {{"type", "ByteLevel"}, {"add_prefix_space", false}, {"use_regex", false}}},
          {"decoder", {{"type", "ByteLevel"}}},
          {"model", {{"type", "BPE"}, {"vocab", vocab}, {"merges", pairs}}}};
}

inline Tokenizer parse(const nlohmann::ordered_json& document) {
  auto tokenizer = Tokenizer::parse(document.dump(), "test");
  if (!tokenizer.ok()) ADD_FAILURE() << tokenizer.status().message();
  return std::move(*tokenizer);
}

inline const Tokenizer& bundled_tokenizer() {
  static const Tokenizer tokenizer = std::move(*Tokenizer::parse(bundled_tokenizer_json(), "bundled"));
  return tokenizer;
}

inline std::vector<int32_t> encode(const Tokenizer& tokenizer, std::string_view text, bool parse_special = true) {
  auto ids = tokenizer.encode(text, parse_special);
  if (!ids.ok()) ADD_FAILURE() << ids.status().message();
  return ids.ok() ? *ids : std::vector<int32_t>();
}

}  // namespace tessera::text::test
