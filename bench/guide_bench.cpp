// What a guided answer costs a token: accepting it and filling the next mask, by vocabulary; and what compiling costs.

#include <benchmark/benchmark.h>

#include <random>

#include "guide/grammar.h"

namespace tessera::guide {
namespace {

constexpr const char* kSchema = R"({"type":"object","properties":{"name":{"type":"string"},
  "age":{"type":"integer","minimum":0,"maximum":120},"tags":{"type":"array","items":{"enum":["red","green","blue"]}},
  "notes":{"type":"array","items":{"type":"object","properties":{"text":{"type":"string"},"score":{"type":"number"}},
  "required":["text","score"]}}},"required":["name","age","tags","notes"]})";

/// Words of lower-case letters and of what stands in JSON and code, as long as those of real vocabularies.
Vocabulary vocabulary(int64_t size) {
  Vocabulary made;
  for (int byte = 0; byte < 256; ++byte) made.tokens.emplace_back(1, static_cast<char>(byte));
  std::mt19937 random(1);
  while (static_cast<int64_t>(made.tokens.size()) < size - 1) {
    const bool code = random() % 8 == 0;
    std::string word(2 + random() % (code ? 4 : 9), ' ');
    for (size_t i = random() % 2; i < word.size(); ++i) {
      word[i] = code ? " \n\t{}[]()\":,.;=+-0123456789"[random() % 28] : static_cast<char>('a' + random() % 26);
    }
    made.tokens.push_back(std::move(word));
  }
  made.stop_ids = {static_cast<int32_t>(size - 1)};
  made.tokens.emplace_back();
  return made;
}

void compile(benchmark::State& state) {
  const Vocabulary tokens = vocabulary(state.range(0));
  int number = 0;
  Compiler compiler([&] { return tokens; });
  benchmark::DoNotOptimize(compiler.compile({.kind = GrammarSource::Kind::json_object}));
  for (auto _ : state) {
    std::string schema = kSchema;
    schema.replace(schema.find("score"), 5, "score" + std::to_string(++number));
    schema.replace(schema.rfind("score"), 5, "score" + std::to_string(number));
    const auto grammar = compiler.compile({.kind = GrammarSource::Kind::json_schema, .text = schema});
    if (!grammar) state.SkipWithError(grammar.status().message().c_str());
  }
}
BENCHMARK(compile)->Arg(4096)->Arg(248320)->Unit(benchmark::kMillisecond)->Iterations(5);

void token(benchmark::State& state) {
  const Vocabulary tokens = vocabulary(state.range(0));
  Compiler compiler([&] { return tokens; });
  const auto grammar = compiler.compile({.kind = GrammarSource::Kind::json_schema, .text = kSchema});
  if (!grammar) return state.SkipWithError(grammar.status().message().c_str());
  std::vector<uint32_t> mask((tokens.tokens.size() + 31) / 32);
  std::mt19937 random(1);
  auto matcher = std::make_unique<Matcher>(*grammar);
  for (auto _ : state) {
    if (!matcher->fill(mask).ok()) return state.SkipWithError("a dead end");
    state.PauseTiming();
    int32_t next = 0;
    do {
      next = static_cast<int32_t>(random() % tokens.tokens.size());
      if (random() % 4 == 0) next %= 256;  // else brackets and quotes would come too seldom
    } while ((mask[static_cast<size_t>(next) / 32] >> (next % 32) & 1U) == 0);
    state.ResumeTiming();
    if (!matcher->accept(next).ok()) return state.SkipWithError("refused");
    if (matcher->finished()) matcher = std::make_unique<Matcher>(*grammar);
  }
}
BENCHMARK(token)->Arg(4096)->Arg(248320)->Unit(benchmark::kMicrosecond)->Iterations(3000);

}  // namespace
}  // namespace tessera::guide

BENCHMARK_MAIN();
