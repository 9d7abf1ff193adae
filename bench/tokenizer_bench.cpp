// Bytes per second of Tokenizer::encode and of the streaming detokenizer, one thread. With TESSERA_BENCH_TOKENIZER
// (a tokenizer.json) and TESSERA_BENCH_TEXT (any UTF-8 text) a real vocabulary and a real text take part.
#include <benchmark/benchmark.h>

#include <array>
#include <cctype>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <random>
#include <sstream>
#include <string>
#include <vector>

#include "text/bundled.h"
#include "text/stream_detokenizer.h"
#include "text/tokenizer.h"

namespace {

using tessera::text::Tokenizer;

constexpr size_t kTextBytes = size_t{4} << 20;

const Tokenizer& tokenizer() {
  static const Tokenizer instance = [] {
    const char* file = std::getenv("TESSERA_BENCH_TOKENIZER");
    auto loaded = file != nullptr ? Tokenizer::load(file)
                                  : Tokenizer::parse(tessera::text::bundled_tokenizer_json(), "bundled tokenizer");
    if (!loaded.ok()) {
      std::fprintf(stderr, "%s\n", loaded.status().message().c_str());
      std::exit(1);
    }
    return std::move(*loaded);
  }();
  return instance;
}

/// Text with the statistics of English: 30,000 made-up words of one to four syllables, the frequent ones shorter,
/// drawn by Zipf's law; commas, sentences, capitals, some numbers and paragraphs.
std::string english() {
  constexpr int kWords = 30'000;
  constexpr std::array<const char*, 20> kOnsets{"th", "s", "t", "w", "h", "b",  "m",  "f",  "c",  "d",
                                                "p",  "l", "r", "n", "g", "st", "pr", "tr", "ch", ""};
  constexpr std::array<const char*, 12> kRimes{"e", "a", "o", "is", "at", "in", "er", "ing", "and", "on", "ed", "ight"};
  std::mt19937_64 random(7);
  std::vector<std::string> words;
  std::vector<double> weights;
  for (int rank = 0; rank < kWords; ++rank) {
    std::string word;
    const int syllables = 1 + static_cast<int>(std::log10(1 + rank) * 0.7 + static_cast<double>(random() % 100) / 100);
    for (int i = 0; i < syllables; ++i) {
      word += kOnsets[random() % kOnsets.size()];
      word += kRimes[random() % kRimes.size()];
    }
    words.push_back(word);
    weights.push_back(1.0 / (rank + 2.7));
  }
  std::discrete_distribution<int> pick(weights.begin(), weights.end());
  std::string text;
  bool capital = true;
  while (text.size() < kTextBytes) {
    std::string word = random() % 60 == 0 ? std::to_string(random() % 3000) : words[pick(random)];
    if (capital) word[0] = static_cast<char>(std::toupper(word[0]));
    text += word;
    const auto dice = random() % 100;
    capital = dice < 6;
    text += dice < 1 ? ".\n\n" : dice < 6 ? ". " : dice < 13 ? ", " : " ";
  }
  return text;
}

std::string repeat(const std::string& unit) {
  std::string text;
  while (text.size() < kTextBytes) text += unit;
  return text;
}

std::string random_letters() {
  std::mt19937_64 random(11);
  std::string text;
  while (text.size() < kTextBytes) text += static_cast<char>('a' + random() % 26);
  return text;
}

std::string text_from_environment() {
  const char* file = std::getenv("TESSERA_BENCH_TEXT");
  if (file == nullptr) return {};
  std::ostringstream text;
  text << std::ifstream(file, std::ios::binary).rdbuf();
  return text.str();
}

void encode(benchmark::State& state, const std::string& text) {
  if (text.empty()) return state.SkipWithError("TESSERA_BENCH_TEXT is not set");
  size_t tokens = 0;
  for (auto _ : state) {
    const auto ids = tokenizer().encode(text);
    if (!ids.ok()) return state.SkipWithError(ids.status().message().c_str());
    tokens = ids->size();
  }
  state.SetBytesProcessed(static_cast<int64_t>(state.iterations() * text.size()));
  state.counters["bytes_per_token"] = static_cast<double>(text.size()) / static_cast<double>(tokens);
}

void stream(benchmark::State& state, const std::string& text) {
  const auto ids = tokenizer().encode(text);
  for (auto _ : state) {
    tessera::text::StreamDetokenizer detokenizer(tokenizer(), true);
    size_t bytes = 0;
    for (const int32_t id : *ids) bytes += detokenizer.feed(id).size();
    benchmark::DoNotOptimize(bytes += detokenizer.flush().size());
  }
  state.SetBytesProcessed(static_cast<int64_t>(state.iterations() * text.size()));
}

void load(benchmark::State& state) {
  const auto json = tessera::text::bundled_tokenizer_json();
  for (auto _ : state) benchmark::DoNotOptimize(Tokenizer::parse(json, "bundled tokenizer").ok());
  state.SetBytesProcessed(static_cast<int64_t>(state.iterations() * json.size()));
}

BENCHMARK_CAPTURE(encode, english, english())->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(encode, file, text_from_environment())->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(encode, chinese, repeat("模型回答了一个关于世界语言的问题，今天的时间是二〇二六年。"))
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(encode, hindi, repeat("हिन्दी भाषा के शब्द और ज़रूरत का प्रश्न है। "))->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(encode, decomposed, repeat("e\u0301le\u0300ve a\u0323\u0302n "))->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(encode, one_word_letters, random_letters())->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(encode, one_word_same_letter, repeat("a"))->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(encode, one_word_spaces, repeat(" "))->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(encode, one_word_marks, std::string("a").append(repeat("\u0301\u0316")))
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(stream, english, english())->Unit(benchmark::kMillisecond);
BENCHMARK(load)->Unit(benchmark::kMillisecond);

}  // namespace

BENCHMARK_MAIN();
