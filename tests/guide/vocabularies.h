#pragma once

#include <string>
#include <vector>

#include "guide/grammar.h"

namespace tessera::guide {

/// Every byte, then the words given, then a stop token.
inline Vocabulary bytes_and(std::vector<std::string> words) {
  Vocabulary vocabulary;
  for (int byte = 0; byte < 256; ++byte) vocabulary.tokens.emplace_back(1, static_cast<char>(byte));
  for (std::string& word : words) vocabulary.tokens.push_back(std::move(word));
  vocabulary.stop_ids = {static_cast<int32_t>(vocabulary.tokens.size())};
  vocabulary.tokens.emplace_back();
  return vocabulary;
}

}  // namespace tessera::guide
