#include "engine/generation_config.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace tessera::engine {
namespace {

Expected<GenerationConfig> parse(const std::string& json) { return parse_generation_config(json, "here.json", 1000); }

TEST(GenerationConfig, ReadsWhatReleasedModelsHave) {
  const auto config = parse(R"({"bos_token_id": 4, "do_sample": true, "eos_token_id": [46, 44], "pad_token_id": 44,
    "temperature": 0.6, "top_k": 20, "top_p": 0.95, "min_p": 0.01, "repetition_penalty": 1.05, "max_new_tokens": 99})");
  ASSERT_TRUE(config.ok()) << config.status().message();
  EXPECT_FLOAT_EQ(config->sampling.temperature, 0.6F);
  EXPECT_EQ(config->sampling.top_k, 20);
  EXPECT_FLOAT_EQ(config->sampling.top_p, 0.95F);
  EXPECT_FLOAT_EQ(config->sampling.min_p, 0.01F);
  EXPECT_FLOAT_EQ(config->sampling.repetition_penalty, 1.05F);
  EXPECT_EQ(config->sampling.max_tokens, 99);
  EXPECT_THAT(config->eos_token_ids, testing::ElementsAre(46, 44));
}

TEST(GenerationConfig, IsNeutralWhereTheFileIsSilent) {
  const auto config = parse(R"({"temperature": null, "eos_token_id": 7})");
  ASSERT_TRUE(config.ok());
  EXPECT_EQ(config->sampling.temperature, 1);
  EXPECT_EQ(config->sampling.max_tokens, -1);
  EXPECT_THAT(config->eos_token_ids, testing::ElementsAre(7));
  EXPECT_TRUE(parse("{}")->eos_token_ids.empty());
  EXPECT_THAT(parse(R"({"eos_token_id": [0, 999]})")->eos_token_ids, testing::ElementsAre(0, 999)) << "of 1000";
}

TEST(GenerationConfig, TakesBounds) {
  const auto config = parse(R"({"temperature": 0, "top_k": 0, "top_p": 1, "min_p": 1, "max_new_tokens": 0})");
  ASSERT_TRUE(config.ok()) << config.status().message();
  EXPECT_EQ(config->sampling.top_p, 1);
  EXPECT_EQ(config->sampling.min_p, 1);
  EXPECT_EQ(config->sampling.max_tokens, 0);
  EXPECT_EQ(parse(R"({"top_k": 2147483647})")->sampling.top_k, 2147483647);
}

TEST(GenerationConfig, GreedyWhenTheFileSaysSo) {
  EXPECT_EQ(parse(R"({"do_sample": false, "temperature": 0.6})")->sampling.temperature, 0);
}

TEST(GenerationConfig, RefusesWhatMakesNoSense) {
  for (const char* text : {"", "[]", "{", "{\"temperature\": }"}) {
    EXPECT_EQ(parse(text).status().code(), StatusCode::corrupt_data) << text;
  }
  const std::string deep(100000, '[');
  EXPECT_FALSE(parse(deep).ok());
  EXPECT_FALSE(parse("{\"top_k\": " + deep + std::string(100000, ']') + "}").ok());
  for (const char* text : {R"({"temperature": -1})", R"({"temperature": "hot"})", R"({"temperature": 1e300})",
                           R"({"top_k": 1.5})", R"({"top_k": -1})", R"({"top_p": 0})", R"({"top_p": 2})",
                           R"({"repetition_penalty": 0})", R"({"eos_token_id": 1000})", R"({"eos_token_id": [-1]})",
                           R"({"eos_token_id": ["x"]})", R"({"eos_token_id": {}})", R"({"top_k": 2147483648})",
                           R"({"eos_token_id": 1e99})", R"({"max_new_tokens": -5})"}) {
    const auto config = parse(text);
    ASSERT_FALSE(config.ok()) << text;
    EXPECT_EQ(config.status().code(), StatusCode::invalid_argument) << text;
    EXPECT_THAT(config.status().message(), testing::StartsWith("here.json: ")) << text;
  }
  EXPECT_THAT(parse(R"({"top_k": -1})").status().message(), testing::HasSubstr("top_k is -1; expected a whole number"));
  EXPECT_THAT(parse(R"({"min_p": 2})").status().message(), testing::HasSubstr("min_p is 2; expected a number between"));
}

}  // namespace
}  // namespace tessera::engine
