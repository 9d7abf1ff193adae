// Any bytes as a schema, regex, grammar or structural tag: refused, or followed for some tokens.

#include <cstdint>
#include <cstdlib>
#include <random>
#include <string>

#include "guide/grammar.h"

using tessera::GrammarSource;
namespace guide = tessera::guide;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const guide::Limits limits{.compile_seconds_max = 0.5, .match_seconds_start = 0.2};
  static guide::Compiler compiler(
      [] {
        guide::Vocabulary vocabulary;
        for (int byte = 0; byte < 256; ++byte) vocabulary.tokens.emplace_back(1, static_cast<char>(byte));
        for (const char* word : {"ab", "true", "{\"", "\":", "],", "12", "  ", "\xc3\xa9"}) {
          vocabulary.tokens.emplace_back(word);
        }
        vocabulary.stop_ids = {static_cast<int32_t>(vocabulary.tokens.size())};
        vocabulary.tokens.emplace_back();
        return vocabulary;
      },
      limits);
  if (size == 0) return 0;
  using Kind = GrammarSource::Kind;
  static constexpr Kind kKinds[] = {Kind::json_schema, Kind::regex, Kind::grammar, Kind::structural_tag, Kind::choice};
  GrammarSource source{.kind = kKinds[data[0] % 5], .text = std::string(data + 1, data + size)};
  if (source.kind == Kind::choice) source.choices = {std::move(source.text), "other"};
  const auto grammar = compiler.compile(source);
  if (!grammar) return 0;
  guide::Matcher matcher(*grammar, limits);
  std::mt19937 random(1);
  std::vector<uint32_t> mask(9);
  for (int tokens = 0; tokens < 30 && !matcher.finished(); ++tokens) {
    if (!matcher.fill(mask).ok()) return 0;
    int32_t next = 0;
    do {
      next = static_cast<int32_t>(random() % 265);
    } while ((mask[static_cast<size_t>(next) / 32] >> (next % 32) & 1U) == 0);
    const auto status = matcher.accept(next);
    if (status.code() == tessera::StatusCode::internal) std::abort();  // what was allowed is taken
    if (!status.ok()) return 0;
    if (tokens % 7 == 6 && !matcher.rollback(3).ok()) std::abort();
  }
  return 0;
}
