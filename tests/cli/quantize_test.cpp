// What `quantize` leaves behind, whether it succeeds or not. The weights themselves: tests/model/quantize_test.cpp.

#include <gmock/gmock.h>

#include <cmath>
#include <cstring>
#include <map>
#include <nlohmann/json.hpp>
#include <numeric>
#include <vector>

#include "cli/model_directory.h"
#include "format/safetensors.h"

namespace tessera::cli {
namespace {

using ::testing::HasSubstr;

class QuantizeTest : public ModelDirectoryTest {
 protected:
  void SetUp() override {
    ModelDirectoryTest::SetUp();
    ASSERT_EQ(run_tessera({"synth", path("bf16"), "--format", "bf16"}).exit_code, 0);
  }
  Finished quantize(Arguments arguments) const {
    arguments.insert(arguments.begin(), "quantize");
    return run_tessera(arguments);
  }
};

TEST_F(QuantizeTest, TheResultRuns) {
  const Finished made = quantize({path("bf16"), path("small"), "--report", path("report.json"), "--recipe", "all"});
  ASSERT_EQ(made.exit_code, 0) << made.err;
  EXPECT_THAT(made.out, HasSubstr("BF16 -> NVFP4"));
  EXPECT_EQ(nlohmann::json::parse(read_file(path("report.json")))["dialect"], "modelopt");
  EXPECT_EQ(run_tessera({"run", path("small"), "Hello", "--max-tokens", "2"}).exit_code, 0);
}

TEST_F(QuantizeTest, FlagsSayWhatBecomesOfEachKindAndHow) {
  const auto report = [&](const char* name, Arguments more) {
    more.insert(more.begin(), {path("bf16"), path(name), "--recipe", "all", "--report", path("report.json")});
    const Finished made = quantize(more);
    EXPECT_EQ(made.exit_code, 0) << made.err;
    return nlohmann::json::parse(read_file(path("report.json")));
  };
  const auto part = [](const nlohmann::json& of, const std::string& kind) {
    for (const auto& entry : of["parts"]) {
      if (entry["kind"] == kind) return entry;
    }
    return nlohmann::json();
  };
  const auto error = [&](const nlohmann::json& of) {
    return part(of, "routed-expert")["relative_rms_error"].get<double>();
  };
  const auto plain = report("plain", {});
  const auto chosen =
      report("chosen", {"--attention", "keep", "--router", "fp8", "--lm-head", "bf16", "--shared-expert", "mxfp4",
                        "--embed", "nvfp4", "--dialect", "compressed-tensors"});
  EXPECT_EQ(chosen["dialect"], "compressed-tensors");
  const struct {
    const char *kind, *plain, *chosen;
  } formats[] = {{"attention", "NVFP4", "BF16"},      {"router", "BF16", "FP8"},  {"lm-head", "NVFP4", "BF16"},
                 {"shared-expert", "NVFP4", "MXFP4"}, {"embed", "BF16", "NVFP4"}, {"delta-net", "NVFP4", "NVFP4"}};
  for (const auto& [kind, before, after] : formats) {
    EXPECT_EQ(part(plain, kind)["to"], before) << kind;
    EXPECT_EQ(part(chosen, kind)["to"], after) << kind;
  }
  EXPECT_EQ(error(chosen), error(plain));
  EXPECT_LT(error(report("mse", {"--scales", "mse"})), error(plain));
}

TEST_F(QuantizeTest, AReportThatTheDiskDoesNotTakeIsSaid) {
  const Finished made = quantize({path("bf16"), path("small"), "--report", "/dev/full"});
  EXPECT_EQ(made.exit_code, 1);
  EXPECT_THAT(made.err, HasSubstr("cannot write /dev/full; is the disk full?"));
  EXPECT_TRUE(std::filesystem::exists(path("small/config.json")));
}

TEST_F(QuantizeTest, TheResultIsComparedWithItsSource) {
  write_file(path("text"), std::string(600, 'x').append(" The quick brown fox jumps over the lazy dog."));
  const auto check = [&](const char* name, const Arguments& more) {
    Arguments arguments = {path("bf16"),        path(name),       "--check", path("text"), "--report",
                           path("report.json"), "--check-tokens", "100",     "--device",   "cpu"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    const Finished made = quantize(arguments);
    EXPECT_EQ(made.exit_code, 0) << made.err;
    EXPECT_THAT(made.out, HasSubstr("KL divergence"));
    return nlohmann::json::parse(read_file(path("report.json")))["check"];
  };
  const auto fp8 = check("fp8", {"--format", "fp8"}), nvfp4 = check("nvfp4", {"--recipe", "all"});
  EXPECT_EQ(fp8["device"], "cpu");
  EXPECT_LE(fp8["tokens"], 100);
  EXPECT_EQ(fp8["source_perplexity"], nvfp4["source_perplexity"]);
  EXPECT_GT(fp8["kl_divergence"], 0);
  EXPECT_GT(nvfp4["kl_divergence"], fp8["kl_divergence"]);
  EXPECT_GE(nvfp4["worst_kl_divergence"], nvfp4["kl_divergence"]);
  EXPECT_GT(fp8["same_best_token"], 0.5);
  EXPECT_LE(fp8["same_best_token"], 1);
}

/// What the comparison says is what comes out of the logits that each model has by itself.
TEST_F(QuantizeTest, TheComparisonSaysWhatScoresSay) {
  write_file(path("text"), "The quick brown fox jumps over the lazy dog, and the dog does not mind at all.");
  const Finished made = quantize({path("bf16"), path("nvfp4"), "--recipe", "all", "--check", path("text"), "--report",
                                  path("report.json"), "--check-tokens", "20"});
  ASSERT_EQ(made.exit_code, 0) << made.err;
  const auto check = nlohmann::json::parse(read_file(path("report.json")))["check"];
  auto ids = nlohmann::json::parse(run_tessera({"tokenize", path("bf16")}, read_file(path("text"))).out);
  ASSERT_GE(ids.size(), 20U);
  ids.erase(ids.begin() + 20, ids.end());
  EXPECT_EQ(check["tokens"], 20);
  std::map<std::string, std::vector<float>> logits;
  for (const auto& [name, key] : {std::pair("bf16", "source_perplexity"), {"nvfp4", "perplexity"}}) {
    const Finished scored = run_tessera(
        {"score", path(name), "--ids", "-", "--json", "--quiet", "--logits", path("logits.safetensors")}, ids.dump());
    ASSERT_EQ(scored.exit_code, 0) << scored.err;
    const double perplexity = nlohmann::json::parse(scored.out)["perplexity"];
    EXPECT_NEAR(check[key].get<double>(), perplexity, 1e-6 * perplexity) << key;
    const auto opened = format::SafetensorsFile::open(path("logits.safetensors"));
    ASSERT_TRUE(opened.ok()) << opened.status().message();
    const auto bytes = (*opened)->tensors().at("logits").bytes;
    logits[name].resize(bytes.size() / sizeof(float));
    std::memcpy(logits[name].data(), bytes.data(), bytes.size());
  }
  const size_t vocab = logits["bf16"].size() / 20;
  const auto probabilities = [&](const std::string& name, size_t token) {
    std::vector<double> row(vocab);
    for (size_t i = 0; i < vocab; ++i) row[i] = std::exp(logits[name][token * vocab + i]);
    const double sum = std::accumulate(row.begin(), row.end(), 0.0);
    for (double& p : row) p /= sum;
    return row;
  };
  double mean = 0, worst = 0;
  for (size_t token = 0; token < 20; ++token) {
    const auto source = probabilities("bf16", token), copy = probabilities("nvfp4", token);
    double divergence = 0;
    for (size_t i = 0; i < vocab; ++i) divergence += source[i] * std::log(source[i] / copy[i]);
    mean += divergence / 20;
    worst = std::max(worst, divergence);
  }
  EXPECT_NEAR(check["kl_divergence"].get<double>(), mean, 1e-4 * mean);
  EXPECT_NEAR(check["worst_kl_divergence"].get<double>(), worst, 1e-4 * worst);
}

TEST_F(QuantizeTest, NothingIsWrittenWhereTheTextIsTooShort) {
  write_file(path("text"), "");
  const Finished made = quantize({path("bf16"), path("new"), "--check", path("text")});
  EXPECT_EQ(made.exit_code, 1);
  EXPECT_THAT(made.err, HasSubstr("expected at least 2"));
  EXPECT_FALSE(std::filesystem::exists(path("new")));
}

TEST_F(QuantizeTest, NothingIsWrittenWhereTheDeviceIsNotThere) {
  write_file(path("text"), "The sum of two and three is five.");
  const Finished made = quantize({path("bf16"), path("new"), "--check", path("text"), "--device", "cuda:4096"});
  EXPECT_EQ(made.exit_code, 1);
  EXPECT_FALSE(std::filesystem::exists(path("new")));
}

TEST_F(QuantizeTest, FailuresLeaveEverythingAsItWas) {
  write_file(path("report.json"), "the last report");
  const struct {
    std::string source, destination;
    const char* message;
  } cases[] = {{path("bf16"), path("bf16"), "is there already"},
               {path("bf16"), path("model"), "is there already"},
               {path("bf16"), "", "name is empty"},
               {path("bf16/config.json"), path("new"), "is a file"},
               {"", path("new"), "name is empty"},
               {path("bf16"), path("bf16/config.json/new"), "Not a directory"}};
  for (const auto& c : cases) {
    const Finished result = quantize({c.source, c.destination, "--report", path("report.json")});
    EXPECT_EQ(result.exit_code, 1) << c.message;
    EXPECT_THAT(result.err, HasSubstr(c.message));
    EXPECT_EQ(read_file(path("report.json")), "the last report");
    EXPECT_FALSE(std::filesystem::exists(path("new")));
  }
}

TEST_F(QuantizeTest, WhatIsQuantisedAlreadyIsNotQuantisedAgain) {
  const Finished again = quantize({model(), path("new"), "--format", "mxfp4", "--recipe", "experts"});
  EXPECT_EQ(again.exit_code, 1);
  EXPECT_THAT(again.err, HasSubstr("nothing to quantise: of what was asked for, routed-expert is NVFP4 already"));
  const Finished other = quantize({model(), path("new"), "--recipe", "all", "--dialect", "compressed-tensors"});
  EXPECT_THAT(other.err, HasSubstr("ask for that dialect"));
}

}  // namespace
}  // namespace tessera::cli
