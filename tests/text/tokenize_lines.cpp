// tokenize_lines TOKENIZER_JSON [--no-special] [--roundtrip]: reads one JSON string a line from standard input, writes
// the ids of each as a JSON list. tokenizer_parity.py compares them with the reference. --roundtrip also fails where
// decode(encode(s)) is not the text again (for tokenizers that do not normalize).
#include <cstdio>
#include <cstring>
#include <iostream>
#include <nlohmann/json.hpp>
#include <string>

#include "text/tokenizer.h"

int main(int argc, char** argv) {
  if (argc < 2) return 2;
  bool parse_special = true, roundtrip = false;
  for (int i = 2; i < argc; ++i) {
    if (std::strcmp(argv[i], "--no-special") == 0) parse_special = false;
    if (std::strcmp(argv[i], "--roundtrip") == 0) roundtrip = true;
  }
  auto tokenizer = tessera::text::Tokenizer::load(argv[1]);
  if (!tokenizer.ok()) {
    std::fprintf(stderr, "%s\n", tokenizer.status().message().c_str());
    return 1;
  }
  std::ios::sync_with_stdio(false);
  for (std::string line; std::getline(std::cin, line);) {
    const auto text = nlohmann::json::parse(line).get<std::string>();
    const auto ids = tokenizer->encode(text, parse_special);
    if (!ids.ok()) {
      std::fprintf(stderr, "%s\n", ids.status().message().c_str());
      return 1;
    }
    if (roundtrip && tokenizer->decode(*ids, false) != text) {
      std::fprintf(stderr, "round trip fails for %s\n", line.c_str());
      return 1;
    }
    std::cout << nlohmann::json(*ids).dump() << '\n';
  }
  return 0;
}
