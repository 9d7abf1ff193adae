#include "cli/sampling.h"

#include <gmock/gmock.h>

namespace tessera::cli {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using Json = nlohmann::ordered_json;

Json parse_flags(std::vector<std::string> arguments) {
  CLI::App app;
  Json overrides = Json::object();
  add_sampling_flags(app, overrides);
  std::reverse(arguments.begin(), arguments.end());
  app.parse(arguments);
  return overrides;
}

TEST(Sampling, FlagsAndJsonMeanTheSame) {
  const Json flags = parse_flags({"--temperature",
                                  "0.5",
                                  "--top-k",
                                  "20",
                                  "--top-p",
                                  ".9",
                                  "--min-p",
                                  "0.1",
                                  "--repetition-penalty",
                                  "1.1",
                                  "--presence-penalty",
                                  "-1",
                                  "--frequency-penalty",
                                  "2",
                                  "--seed",
                                  "18446744073709551615",
                                  "--max-tokens",
                                  "100",
                                  "--min-tokens",
                                  "3",
                                  "--stop",
                                  "a",
                                  "--stop",
                                  "b",
                                  "--stop-token-ids",
                                  "7",
                                  "--ignore-eos",
                                  "--n",
                                  "4",
                                  "--logprobs",
                                  "5"});
  const Json json = Json::parse(R"({"temperature": 0.5, "top_k": 20, "top_p": 0.9, "min_p": 0.1,
    "repetition_penalty": 1.1, "presence_penalty": -1, "frequency_penalty": 2, "seed": 18446744073709551615,
    "max_tokens": 100, "min_tokens": 3, "stop": ["a", "b"], "stop_token_ids": [7], "ignore_eos": true, "n": 4,
    "logprobs": 5})");
  for (const Json& source : {flags, json}) {
    SamplingParams params;
    ASSERT_TRUE(apply_sampling(source, params).ok());
    EXPECT_FLOAT_EQ(params.temperature, 0.5F);
    EXPECT_EQ(params.top_k, 20);
    EXPECT_FLOAT_EQ(params.top_p, 0.9F);
    EXPECT_FLOAT_EQ(params.min_p, 0.1F);
    EXPECT_FLOAT_EQ(params.repetition_penalty, 1.1F);
    EXPECT_FLOAT_EQ(params.presence_penalty, -1.0F);
    EXPECT_FLOAT_EQ(params.frequency_penalty, 2.0F);
    EXPECT_EQ(params.seed, UINT64_MAX);
    EXPECT_EQ(params.max_tokens, 100);
    EXPECT_EQ(params.min_tokens, 3);
    EXPECT_THAT(params.stop, ElementsAre("a", "b"));
    EXPECT_THAT(params.stop_token_ids, ElementsAre(7));
    EXPECT_TRUE(params.ignore_eos);
    EXPECT_EQ(params.n, 4);
    EXPECT_EQ(params.logprobs, 5);
  }
}

TEST(Sampling, WhatIsNotGivenStays) {
  SamplingParams params;
  params.temperature = 0.6F;
  params.top_k = 20;
  ASSERT_TRUE(apply_sampling(parse_flags({"--top-k", "5"}), params).ok());
  ASSERT_TRUE(apply_sampling(Json::parse(R"({"temperature": null, "other": 1})"), params).ok());
  EXPECT_FLOAT_EQ(params.temperature, 0.6F);
  EXPECT_EQ(params.top_k, 5);
}

TEST(Sampling, NumbersAreShownAsTheyWereGiven) {
  SamplingParams params;
  params.temperature = 0.7F;
  params.top_p = 0.95F;
  const Json values = sampling_values(params);
  EXPECT_EQ(values["temperature"].dump(), "0.7");
  EXPECT_EQ(values["top_p"].dump(), "0.95");
}

TEST(Sampling, FlagsOutOfRangeAreRefused) {
  const std::vector<std::vector<std::string>> refused = {{"--temperature", "-0.1"},
                                                         {"--temperature", "nan"},
                                                         {"--temperature", "inf"},
                                                         {"--temperature", "warm"},
                                                         {"--temperature", "1x"},
                                                         {"--top-k", "-2"},
                                                         {"--top-k", "1.5"},
                                                         {"--top-p", "1.01"},
                                                         {"--top-p", "0"},
                                                         {"--repetition-penalty", "0"},
                                                         {"--stop", ""},
                                                         {"--n", "0"},
                                                         {"--n", "17"},
                                                         {"--seed", "-1"},
                                                         {"--max-tokens", "-2"},
                                                         {"--logprobs", "21"},
                                                         {"--stop-token-ids", "-4"},
                                                         {"--top-k", "4294967296"}};
  for (const auto& flags : refused) EXPECT_THROW(parse_flags(flags), CLI::ParseError) << flags[0] << " " << flags[1];
}

TEST(Sampling, JsonOutOfRangeIsRefused) {
  for (const char* text : {R"({"temperature": "hot"})", R"({"temperature": -1})", R"({"top_k": 1.5})",
                           R"({"top_k": 4294967296})", R"({"max_tokens": 18446744073709551615})", R"({"seed": 1.5})",
                           R"({"n": 17})", R"({"stop": 5})", R"({"stop": ["a", 5]})", R"({"stop": {"a": "b"}})",
                           R"({"stop_token_ids": [-1]})", R"({"stop_token_ids": [2147483648]})",
                           R"({"stop_token_ids": 5})", R"({"ignore_eos": 1})", R"({"logprobs": true})"}) {
    SamplingParams params;
    const Status status = apply_sampling(Json::parse(text), params);
    EXPECT_EQ(status.code(), StatusCode::invalid_argument) << text;
    EXPECT_THAT(status.message(), HasSubstr("expected")) << text;
  }
}

TEST(Sampling, ASeedOfMinusOneIsRandom) {
  SamplingParams params;
  params.seed = 5;
  ASSERT_TRUE(apply_sampling(Json::parse(R"({"seed": -1})"), params).ok());
  EXPECT_EQ(params.seed, std::nullopt);
}

/// null stands for what is usual: such a key says nothing, as if it were not there.
TEST(Sampling, NullSaysNothing) {
  EXPECT_EQ(parse_sampling(R"({"n": null, "top_k": 5, "max_new_tokens": null})"), Json::parse(R"({"top_k": 5})"));
}

TEST(Sampling, OneStopStringNeedsNoList) {
  SamplingParams params;
  ASSERT_TRUE(apply_sampling(Json::parse(R"({"stop": "end"})"), params).ok());
  EXPECT_THAT(params.stop, ElementsAre("end"));
}

}  // namespace
}  // namespace tessera::cli
