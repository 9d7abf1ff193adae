// Scores against each other and against the engine.

#include <fmt/ranges.h>
#include <gmock/gmock.h>
#include <sys/stat.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <numeric>
#include <thread>

#include "cli/model_directory.h"
#include "format/safetensors.h"

namespace tessera::cli {
namespace {

using ::testing::HasSubstr;
using Json = nlohmann::json;

class ScoreTest : public ModelDirectoryTest {
 protected:
  Json score(Arguments arguments, const std::string& input) const {
    arguments.insert(arguments.begin(), {"score", model(), "--quiet", "--json"});
    const Finished result = run_tessera(arguments, input);
    EXPECT_EQ(result.exit_code, 0) << result.err;
    return Json::parse(result.out, nullptr, false);
  }
  static std::string ids(int count) {
    std::string text = "[";
    for (int i = 0; i < count; ++i) text += std::to_string((i * 7919 + 13) % 3000) + (i + 1 < count ? ", " : "]");
    return text;
  }
  std::vector<Json> lines(const std::string& file) const {
    std::vector<Json> parsed;
    std::istringstream text(read_file(path(file)));
    for (std::string line; std::getline(text, line);) parsed.push_back(Json::parse(line));
    return parsed;
  }
  std::vector<float> logits(const std::string& file, int64_t rows) const {
    const auto opened = format::SafetensorsFile::open(path(file));
    EXPECT_TRUE(opened.ok()) << opened.status().message();
    const format::TensorView& tensor = (*opened)->tensors().at("logits");
    EXPECT_EQ(tensor.shape, (std::vector<int64_t>{rows, 4096}));
    std::vector<float> values(tensor.bytes.size() / sizeof(float));
    std::memcpy(values.data(), tensor.bytes.data(), tensor.bytes.size());
    return values;
  }
};

/// Text may come through a pipe, as a shell makes one of <(command). What is no text may not: nothing waits for it.
TEST_F(ScoreTest, TextComesFromAFileAPipeOrStandardInput) {
  const Json from_stdin = score({"--text", "-"}, "to be or not to be");
  const std::string text = path("text");
  std::ofstream(text) << "to be or not to be";
  EXPECT_EQ(score({"--text", text}, "")["perplexity"], from_stdin["perplexity"]);
  const std::string pipe = path("pipe");
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  std::thread writer([&] { std::ofstream(pipe) << "to be or not to be"; });
  EXPECT_EQ(score({"--text", pipe}, "")["perplexity"], from_stdin["perplexity"]);
  writer.join();
  for (const char* flag : {"--chat-template", "--api-key-file", "--ssl-certfile"}) {
    const Finished refused = run_tessera({"serve", model(), flag, pipe});
    EXPECT_EQ(refused.exit_code, 2) << flag;
    EXPECT_THAT(refused.err, HasSubstr(pipe + " is a pipe, expected a file")) << flag;
  }
  for (const char* file : {"config.json", "tokenizer.json", "model.safetensors"}) {
    std::filesystem::rename(model_file(file), path("kept"));
    ASSERT_EQ(::mkfifo(model_file(file).c_str(), 0600), 0);
    const Finished refused = run_tessera({"score", model(), "--text", text});
    EXPECT_EQ(refused.exit_code, 1) << file;
    EXPECT_THAT(refused.err, HasSubstr(file)) << file;
    EXPECT_THAT(refused.err, HasSubstr("regular file")) << file;
    std::filesystem::rename(path("kept"), model_file(file));
  }
}

TEST_F(ScoreTest, PerplexityIsTheSumDoneByHand) {
  const Json summary =
      score({"--ids", "-", "--output", path("scores.jsonl"), "--logits", path("l.safetensors")}, ids(150));
  const auto values = logits("l.safetensors", 150);
  const auto scores = lines("scores.jsonl");
  const auto tokens = Json::parse(ids(150));
  ASSERT_EQ(scores.size(), 149U);
  double total = 0;
  for (size_t i = 0; i < scores.size(); ++i) {
    EXPECT_EQ(scores[i]["index"], i + 1);
    EXPECT_EQ(scores[i]["id"], tokens[i + 1]);
    const float* row = values.data() + i * 4096;
    double sum = 0;
    for (int v = 0; v < 4096; ++v) sum += std::exp(static_cast<double>(row[v]));
    const double logprob = row[tokens[i + 1].get<size_t>()] - std::log(sum);
    EXPECT_NEAR(scores[i]["logprob"], logprob, 1e-9);
    const float chosen = row[tokens[i + 1].get<size_t>()];
    EXPECT_EQ(scores[i]["rank"], 1 + std::count_if(row, row + 4096, [&](float logit) { return logit > chosen; }));
    total += logprob;
  }
  EXPECT_EQ(summary["tokens"], 150);
  EXPECT_EQ(summary["scored"], 149);
  EXPECT_NEAR(summary["log_likelihood"], total, 1e-7);
  EXPECT_NEAR(summary["perplexity"], std::exp(-total / 149), 1e-6 * std::exp(-total / 149));
}

TEST_F(ScoreTest, StepsOfPrefillDoNotMatter) {
  score({"--ids", "-", "--logits", path("a.safetensors"), "--prefill-chunk", "64"}, ids(200));
  score({"--ids", "-", "--logits", path("b.safetensors"), "--prefill-chunk", "512", "--threads", "1"}, ids(200));
  EXPECT_EQ(read_file(path("a.safetensors")), read_file(path("b.safetensors")));
}

TEST_F(ScoreTest, DecodeAgreesWithPrefill) {
  for (const char* from : {"0", "5", "64", "100"}) {
    score({"--ids", "-", "--compute", "fp32", "--logits", path("a.safetensors")}, ids(130));
    score({"--ids", "-", "--compute", "fp32", "--logits", path("b.safetensors"), "--decode-from", from}, ids(130));
    const auto prefill = logits("a.safetensors", 130);
    const auto decode = logits("b.safetensors", 130);
    float worst = 0;
    for (size_t i = 0; i < prefill.size(); ++i) worst = std::max(worst, std::abs(prefill[i] - decode[i]));
    // fp32 with another order of summation in Gated DeltaNet; logits are of size 5.
    EXPECT_LT(worst, 2e-4F) << "decode from " << from;
  }
}

/// Where a chunk of prefill would end does not matter: tokens from there on are decoded.
TEST_F(ScoreTest, DecodingBeginsWhereItIsAskedTo) {
  const auto decode = [&](const char* file, const Arguments& more) {
    Arguments arguments = {"--ids", "-", "--compute", "fp32", "--logits", path(file)};
    arguments.insert(arguments.end(), more.begin(), more.end());
    score(arguments, ids(150));
    return read_file(path(file));
  };
  const std::string at_a_chunk = decode("a.safetensors", {"--decode-from", "128", "--prefill-chunk", "64"});
  EXPECT_TRUE(decode("b.safetensors", {"--decode-from", "128", "--prefill-chunk", "512"}) == at_a_chunk);
  EXPECT_TRUE(decode("c.safetensors", {"--prefill-chunk", "512"}) != at_a_chunk) << "bits tell one from the other";
}

TEST_F(ScoreTest, WindowsStartFromNothing) {
  const auto tokens = Json::parse(ids(100));
  const Json summary = score({"--ids", "-", "--max-model-len", "64", "--output", path("all.jsonl")}, ids(100));
  EXPECT_EQ(summary["windows"], 2);
  EXPECT_EQ(summary["scored"], 99);
  EXPECT_EQ(score({"--ids", "-", "--max-model-len", "50"}, ids(100))["windows"], 2) << "both are full";
  const Json rest(std::vector<Json>(tokens.begin() + 64, tokens.end()));
  score({"--ids", "-", "--output", path("rest.jsonl")}, rest.dump());
  const auto all = lines("all.jsonl");
  const auto alone = lines("rest.jsonl");
  ASSERT_EQ(alone.size(), 35U);
  for (size_t i = 0; i < alone.size(); ++i) EXPECT_EQ(all[64 + i]["logprob"], alone[i]["logprob"]);
}

TEST_F(ScoreTest, GreedyContinuationIsTheEngines) {
  // Both on the CPU: devices differ in the last bits.
  const Json summary = score({"--ids", "-", "--generate", "40", "--device", "cpu"}, ids(70));
  const Finished answer = run_tessera({"run", model(), "--device", "cpu", "--input", "-", "--quiet", "--temperature",
                                       "0", "--max-tokens", "40", "--ignore-eos", "--token-ids"},
                                      "{\"token_ids\": " + ids(70) + "}\n");
  EXPECT_EQ(answer.exit_code, 0) << answer.err;
  EXPECT_EQ(summary["generated"], Json::parse(answer.out)["token_ids"]);
}

TEST_F(ScoreTest, SaysWhatItRanOn) {
  const Json cpu = score({"--ids", "-", "--device", "cpu"}, ids(70));
  EXPECT_EQ(cpu["device"], "cpu");
  EXPECT_EQ(cpu["kv_cache_dtype"], "bfloat16");
  const Json fp8 = score({"--ids", "-", "--device", "cpu", "--kv-cache-dtype", "fp8"}, ids(70));
  EXPECT_EQ(fp8["kv_cache_dtype"], "fp8");
  EXPECT_NE(fp8["log_likelihood"], cpu["log_likelihood"]);
  const Finished refused = run_tessera({"score", model(), "--ids", "-", "--device", "cuda:4096"}, "1 2 3");
  EXPECT_EQ(refused.exit_code, 1);
}

TEST_F(ScoreTest, ATextIsScoredByItsTokens) {
  const std::string text = "The quick brown fox jumps over the lazy dog.\n";
  const Finished tokens = run_tessera({"tokenize", model()}, text);
  Json by_text = score({"--text", "-"}, text);
  const Json by_ids = score({"--ids", "-"}, tokens.out);
  EXPECT_NEAR(by_text["bits_per_byte"],
              -by_ids["log_likelihood"].get<double>() / std::log(2.0) / static_cast<double>(text.size()), 1e-9);
  by_text.erase("bits_per_byte");
  EXPECT_EQ(by_text, by_ids);
}

TEST_F(ScoreTest, TheTextOfASummarySaysWhatItsJsonSays) {
  const std::string text = "The quick brown fox";
  const Json json = score({"--text", "-", "--generate", "3", "--output", path("scores.jsonl")}, text);
  const Finished plain = run_tessera({"score", model(), "--quiet", "--text", "-", "--generate", "3"}, text);
  ASSERT_EQ(plain.exit_code, 0) << plain.err;
  const int tokens = json["tokens"], scored = json["scored"];
  const double sum = json["log_likelihood"], perplexity = json["perplexity"], bits = json["bits_per_byte"];
  EXPECT_THAT(plain.out, HasSubstr(fmt::format(" {} ({} scored, 1 window of {})\n", tokens, scored, tokens + 3)));
  EXPECT_THAT(plain.out, HasSubstr(fmt::format(" {:.4f} ({:.5f} per token)\n", sum, sum / scored)));
  EXPECT_THAT(plain.out, HasSubstr(fmt::format("perplexity      {:.5f}\n", perplexity)));
  EXPECT_THAT(plain.out, HasSubstr(fmt::format("bits per byte   {:.5f}\n", bits)));
  EXPECT_THAT(plain.out, HasSubstr(fmt::format("[{}]\n", fmt::join(json["generated"].get<std::vector<int>>(), ", "))));
  std::string all;
  for (const Json& line : lines("scores.jsonl")) all += line["token"].get<std::string>();
  EXPECT_FALSE(all.empty());
  EXPECT_TRUE(text.ends_with(all)) << all << ": all tokens but the first";
}

TEST_F(ScoreTest, WhatIsGeneratedHasToFitTheWindow) {
  EXPECT_EQ(score({"--ids", "-", "--max-model-len", "64", "--generate", "4"}, ids(60))["generated"].size(), 4U);
  const Finished refused =
      run_tessera({"score", model(), "--quiet", "--ids", "-", "--max-model-len", "64", "--generate", "5"}, ids(60));
  EXPECT_EQ(refused.exit_code, 1);
  EXPECT_THAT(refused.err, HasSubstr("60 tokens and 5 generated ones do not fit in a window of 64"));
}

TEST_F(ScoreTest, IdsNeedNoTokenizer) {
  std::filesystem::remove(model_file("tokenizer.json"));
  EXPECT_EQ(score({"--ids", "-"}, "1 2 3")["scored"], 2);
  const Finished text = run_tessera({"score", model(), "--text", "-"}, "hello");
  EXPECT_EQ(text.exit_code, 1);
  EXPECT_THAT(text.err, HasSubstr("tokenizer.json"));
}

TEST_F(ScoreTest, CsvHasAHeader) {
  score({"--ids", "-", "--output", path("scores.csv")}, "1 2 3");
  EXPECT_THAT(read_file(path("scores.csv")), ::testing::StartsWith("index,id,logprob,rank\n1,2,-"));
}

TEST_F(ScoreTest, OneTokenHasNothingToScore) {
  const Json summary = score({"--ids", "-", "--logits", path("l.safetensors")}, "42");
  EXPECT_EQ(summary["scored"], 0);
  EXPECT_FALSE(summary.contains("perplexity"));
  write_file(path("one"), "a");
  EXPECT_FALSE(score({"--text", path("one")}, "").contains("bits_per_byte"));
  logits("l.safetensors", 1);
}

TEST_F(ScoreTest, WhatIsReadIsNotOverwritten) {
  write_file(path("ids"), "1 2 3");
  for (const char* flag : {"--output", "--logits"}) {
    const Finished result = run_tessera({"score", model(), "--ids", path("ids"), flag, path("./ids")});
    EXPECT_EQ(result.exit_code, 1);
    EXPECT_THAT(result.err, HasSubstr("would be overwritten")) << flag;
    EXPECT_EQ(read_file(path("ids")), "1 2 3");
    EXPECT_THAT(run_tessera({"score", model(), "--ids", path("ids"), flag, model()}).err, HasSubstr("is a directory"));
  }
}

TEST_F(ScoreTest, Fp32KeepsKvInFp32) {
  const Finished result =
      run_tessera({"score", model(), "--ids", "-", "--quiet", "--compute", "fp32", "--kv-cache-dtype", "fp8"}, "1 2 3");
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_THAT(result.err, HasSubstr("use auto"));
}

TEST_F(ScoreTest, BadIdsAreRefused) {
  for (const char* bad : {"", "[]", "4096", "-1", "1 x"}) {
    const Finished result = run_tessera({"score", model(), "--ids", "-", "--quiet"}, bad);
    EXPECT_EQ(result.exit_code, 1) << bad;
    EXPECT_THAT(result.err, ::testing::StartsWith("tessera: ")) << bad;
  }
}

}  // namespace
}  // namespace tessera::cli
