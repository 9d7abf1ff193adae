// Scores of the bundled model on the GPU beside the CPU's, with the KV cache in BF16 and in FP8.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>
#include <string>

#include "cli/process.h"

namespace tessera::cli {
namespace {

using ::testing::HasSubstr;

nlohmann::json score(const std::string& device, const std::string& kv, const Arguments& more = {}) {
  Arguments arguments = {"score",
                         TESSERA_SOURCE_DIR "/models/demo",
                         "--text",
                         TESSERA_SOURCE_DIR "/docs/demo-model.md",
                         "--max-model-len",
                         "1k",
                         "--json",
                         "--quiet",
                         "--device",
                         device,
                         "--kv-cache-dtype",
                         kv};
  arguments.insert(arguments.end(), more.begin(), more.end());
  const Finished result = run_tessera(arguments);
  EXPECT_EQ(result.exit_code, 0) << result.err;
  return nlohmann::json::parse(result.out, nullptr, false);
}

TEST(CudaScore, IsTheCpusButForRounding) {
  for (const char* kv : {"bfloat16", "fp8"}) {
    const auto cpu = score("cpu", kv), gpu = score("cuda", kv);
    EXPECT_EQ(gpu["device"], "cuda:0");
    EXPECT_EQ(gpu["kv_cache_dtype"], kv);
    EXPECT_EQ(gpu["scored"], cpu["scored"]);
    const double tokens = cpu["scored"];
    EXPECT_NEAR(gpu["log_likelihood"].get<double>() / tokens, cpu["log_likelihood"].get<double>() / tokens, 0.02) << kv;
  }
}

TEST(CudaScore, IsTheSameInAnyChunks) {
  const auto whole = score("cuda", "bfloat16"), chunks = score("cuda", "bfloat16", {"--prefill-chunk", "64"});
  EXPECT_EQ(whole["log_likelihood"], chunks["log_likelihood"]);
}

TEST(CudaScore, ComputeInFp32IsTheCpus) {
  EXPECT_EQ(score("auto", "auto", {"--compute", "fp32"})["device"], "cpu");
  const Finished refused = run_tessera(
      {"score", TESSERA_SOURCE_DIR "/models/demo", "--ids", "-", "--device", "cuda", "--compute", "fp32"}, "1 2 3");
  EXPECT_EQ(refused.exit_code, 1);
  EXPECT_THAT(refused.err, HasSubstr("fp32 runs on the CPU alone"));
}

}  // namespace
}  // namespace tessera::cli
