#include "engine/request_check.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <limits>
#include <string>

namespace tessera::engine {
namespace {

constexpr RequestLimits kLimits{.vocab_size = 100, .max_model_len = 50, .has_tokenizer = true};

Request good() { return {.prompt = {1, 2, 3}}; }

std::string message_of(const std::function<void(Request&)>& change, const RequestLimits& limits = kLimits) {
  Request request = good();
  change(request);
  const Status status = check_request(request, limits);
  if (status.ok()) return "";
  EXPECT_EQ(status.code(), StatusCode::invalid_argument);
  return status.message();
}

TEST(RequestCheck, TakesDefaultsAndBounds) {
  EXPECT_EQ(message_of([](Request&) {}), "");
  EXPECT_EQ(message_of([](Request& r) {
              r.prompt.assign(49, 99);
              r.sampling = {.temperature = 0,
                            .top_k = 1 << 30,
                            .top_p = 1e-30F,
                            .min_p = 1,
                            .presence_penalty = -2,
                            .frequency_penalty = 2,
                            .logit_bias = {{99, -100}, {0, 100}},
                            .bad_words = {"x", " \xC3\xA9"},
                            .allowed_token_ids = {99, 0},
                            .n = 16,
                            .max_tokens = 7,
                            .min_tokens = 7,
                            .stop_token_ids = {0, 99},
                            .stop = {std::string(4094, 'x'), "\xC3\xA9"},
                            .logprobs = 20,
                            .prompt_logprobs = 0,
                            .truncate_prompt_tokens = 50};
            }),
            "");
  EXPECT_EQ(message_of([](Request& r) {
              r.prompt.assign(50, 1);
              r.sampling.max_tokens = 0;
            }),
            "");
  EXPECT_EQ(message_of([](Request& r) { r.sampling.truncate_prompt_tokens = 1; }), "");
  EXPECT_EQ(message_of([](Request& r) { r.sampling.truncate_prompt_tokens = -1; }), "");
  // As many as there may be of each.
  EXPECT_EQ(message_of([](Request& r) {
              r.sampling.logit_bias.assign(kMaxLogitBias, {1, 1});
              r.sampling.stop_token_ids.assign(kMaxStopTokenIds, 1);
              r.sampling.allowed_token_ids.assign(kMaxAllowedTokenIds, 1);
              r.sampling.stop.assign(kMaxStopStrings, "x");
              r.sampling.bad_words.assign(kMaxBadWords, "x");
              r.guide.beginnings = {std::vector<int32_t>(kMaxGuideTokens, 1)};
            }),
            "");
  EXPECT_EQ(message_of([](Request& r) { r.sampling.bad_words = {std::string(kMaxBadWordBytes, 'x')}; }), "");
}

TEST(RequestCheck, NamesTheFieldAndTheRange) {
  using testing::HasSubstr;
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const float infinity = std::numeric_limits<float>::infinity();
  const auto message = [](auto set) { return message_of([&](Request& r) { set(r.sampling); }); };
  EXPECT_THAT(message([](SamplingParams& p) { p.temperature = -0.1F; }), HasSubstr("temperature is -0.1"));
  EXPECT_THAT(message([&](SamplingParams& p) { p.temperature = nan; }), HasSubstr("temperature"));
  EXPECT_THAT(message([&](SamplingParams& p) { p.temperature = infinity; }), HasSubstr("temperature"));
  EXPECT_THAT(message([](SamplingParams& p) { p.top_k = -1; }), HasSubstr("top_k is -1"));
  EXPECT_THAT(message([](SamplingParams& p) { p.top_p = 0; }), HasSubstr("top_p"));
  EXPECT_THAT(message([&](SamplingParams& p) { p.top_p = nan; }), HasSubstr("top_p"));
  EXPECT_THAT(message([](SamplingParams& p) { p.top_p = 1.01F; }), HasSubstr("top_p"));
  EXPECT_THAT(message([&](SamplingParams& p) { p.min_p = nan; }), HasSubstr("min_p"));
  EXPECT_THAT(message([](SamplingParams& p) { p.repetition_penalty = 0; }), HasSubstr("repetition_penalty"));
  EXPECT_THAT(message([&](SamplingParams& p) { p.repetition_penalty = infinity; }), HasSubstr("repetition_penalty"));
  EXPECT_THAT(message([](SamplingParams& p) { p.min_p = -0.1F; }), HasSubstr("min_p is -0.1"));
  EXPECT_THAT(message([](SamplingParams& p) { p.min_p = 1.1F; }), HasSubstr("min_p is 1.1"));
  EXPECT_THAT(message([](SamplingParams& p) { p.presence_penalty = 2.5F; }), HasSubstr("presence_penalty is 2.5"));
  EXPECT_THAT(message([](SamplingParams& p) { p.presence_penalty = -2.5F; }), HasSubstr("presence_penalty is -2.5"));
  EXPECT_THAT(message([](SamplingParams& p) { p.frequency_penalty = -2.5F; }), HasSubstr("frequency_penalty is -2.5"));
  EXPECT_THAT(message([&](SamplingParams& p) { p.frequency_penalty = nan; }), HasSubstr("frequency_penalty"));
  EXPECT_THAT(message([](SamplingParams& p) { p.n = 0; }), HasSubstr("n is 0; it must be between 1 and 16"));
  EXPECT_THAT(message([](SamplingParams& p) { p.n = 17; }), HasSubstr("n is 17"));
  EXPECT_THAT(message([](SamplingParams& p) { p.max_tokens = -2; }), HasSubstr("max_tokens is -2"));
  EXPECT_THAT(message([](SamplingParams& p) { p.min_tokens = -1; }), HasSubstr("min_tokens is -1"));
  EXPECT_THAT(message([](SamplingParams& p) { p.max_tokens = 3, p.min_tokens = 4; }), HasSubstr("min_tokens is 4"));
  EXPECT_THAT(message([](SamplingParams& p) { p.max_tokens = 0, p.min_tokens = 1; }), HasSubstr("min_tokens is 1"));
  EXPECT_THAT(message([](SamplingParams& p) { p.logprobs = 21; }), HasSubstr("logprobs is 21"));
  EXPECT_THAT(message([](SamplingParams& p) { p.prompt_logprobs = -1; }), HasSubstr("prompt_logprobs is -1"));
  EXPECT_THAT(message([](SamplingParams& p) {
                p.logit_bias = {{100, 1}};
              }),
              HasSubstr("logit_bias holds token id 100"));
  EXPECT_THAT(message([](SamplingParams& p) { p.logit_bias = {{-1, 1}}; }), HasSubstr("logit_bias"));
  for (const float bias : {nan, 100.5F, -100.5F}) {
    EXPECT_THAT(message([&](SamplingParams& p) {
                  p.logit_bias = {{1, bias}};
                }),
                HasSubstr(fmt::format("a value of logit_bias is {}", bias)));
  }
  EXPECT_THAT(message([](SamplingParams& p) { p.stop_token_ids = {1, 100}; }), HasSubstr("stop_token_ids"));
  EXPECT_THAT(message([](SamplingParams& p) { p.stop = {""}; }), HasSubstr("stop string"));
  EXPECT_THAT(message([](SamplingParams& p) { p.stop = {"\xFF"}; }), HasSubstr("UTF-8"));
  EXPECT_THAT(message([](SamplingParams& p) { p.stop = {std::string(5000, 'x')}; }), HasSubstr("stop string"));
  EXPECT_THAT(message([](SamplingParams& p) { p.stop.assign(17, "x"); }), HasSubstr("number of stop strings is 17"));
  EXPECT_THAT(message([](SamplingParams& p) { p.stop.assign(5, std::string(900, 'x')); }), HasSubstr("is 4500"));
  EXPECT_THAT(message([](SamplingParams& p) { p.logit_bias.assign(4097, {1, 1}); }), HasSubstr("logit_bias entries"));
  EXPECT_THAT(message([](SamplingParams& p) { p.stop_token_ids.assign(4097, 1); }), HasSubstr("stop_token_ids is"));
}

TEST(RequestCheck, NamesWhatIsWrongWithAFilter) {
  using testing::HasSubstr;
  const auto message = [](auto set) { return message_of([&](Request& r) { set(r.sampling); }); };
  EXPECT_THAT(message([](SamplingParams& p) {
                p.allowed_token_ids = {1, 100};
              }),
              HasSubstr("allowed_token_ids holds token id 100"));
  EXPECT_THAT(message([](SamplingParams& p) { p.allowed_token_ids.assign(kMaxAllowedTokenIds + 1, 1); }),
              HasSubstr("number of allowed_token_ids"));
  EXPECT_THAT(message([](SamplingParams& p) { p.bad_words = {"a", ""}; }), HasSubstr("bad_words holds an empty text"));
  EXPECT_THAT(message([](SamplingParams& p) { p.bad_words = {"\xFF"}; }), HasSubstr("UTF-8"));
  EXPECT_THAT(message([](SamplingParams& p) { p.bad_words.assign(1025, "x"); }), HasSubstr("bad_words is 1025"));
  EXPECT_THAT(message([](SamplingParams& p) { p.bad_words = {std::string(16385, 'x')}; }), HasSubstr("is 16385"));
  EXPECT_THAT(message_of([](Request& r) { r.sampling.bad_words = {"x"}; }, {.vocab_size = 100, .max_model_len = 50}),
              HasSubstr("tokenizer.json"));
  for (const int tokens : {0, -2, 51}) {
    EXPECT_THAT(message([&](SamplingParams& p) { p.truncate_prompt_tokens = tokens; }),
                HasSubstr(fmt::format("truncate_prompt_tokens is {}; it must be between 1 and the context's 50 tokens",
                                      tokens)));
  }
}

TEST(RequestCheck, APromptIsTruncatedToItsEnd) {
  const auto truncated = [](std::optional<int> tokens, int64_t max_tokens) {
    std::vector<int32_t> prompt = {1, 2, 3, 4, 5};
    truncate_prompt({.max_tokens = max_tokens, .truncate_prompt_tokens = tokens}, 4, prompt);
    return prompt;
  };
  using testing::ElementsAre;
  EXPECT_THAT(truncated({}, 1), ElementsAre(1, 2, 3, 4, 5));
  EXPECT_THAT(truncated(2, 1), ElementsAre(4, 5));
  EXPECT_THAT(truncated(9, 1), ElementsAre(1, 2, 3, 4, 5));
  EXPECT_THAT(truncated(-1, -1), ElementsAre(3, 4, 5)) << "one token is to be generated";
  EXPECT_THAT(truncated(-1, 2), ElementsAre(4, 5));
  EXPECT_THAT(truncated(-1, 0), ElementsAre(2, 3, 4, 5));
  EXPECT_THAT(truncated(-1, 100), ElementsAre(5));
}

TEST(RequestCheck, ThePromptMustFit) {
  using testing::HasSubstr;
  EXPECT_THAT(message_of([](Request& r) { r.prompt.clear(); }), HasSubstr("empty"));
  EXPECT_THAT(message_of([](Request& r) { r.prompt.assign(50, 1); }),
              HasSubstr("the prompt has 50 tokens; the context is 50"));
  EXPECT_THAT(message_of([](Request& r) { r.prompt[1] = 100; }),
              HasSubstr("token id 100; the model's ids are 0 to 99"));
  EXPECT_THAT(message_of([](Request& r) { r.prompt[1] = -1; }), HasSubstr("token id -1"));
}

TEST(RequestCheck, StopStringsNeedATokenizer) {
  EXPECT_THAT(message_of([](Request& r) { r.sampling.stop = {"x"}; }, {.vocab_size = 100, .max_model_len = 50}),
              testing::HasSubstr("tokenizer.json"));
}

TEST(RequestCheck, Guides) {
  using testing::HasSubstr;
  const auto message = [](const Guide& guide) { return message_of([&](Request& r) { r.guide = guide; }); };
  EXPECT_EQ(
      message({.thinking_end = 9, .thinking_tokens_max = 5, .thinking_closer = {1, 9}, .beginnings = {{1}, {2, 1}}}),
      "");
  EXPECT_EQ(message({.thinking_end = 9}), "");
  EXPECT_EQ(message({.thinking_tokens_max = 5}), "") << "of a model that does not think";
  EXPECT_THAT(message({.thinking_end = 100}), HasSubstr("guide.thinking_end holds token id 100"));
  EXPECT_EQ(message({.thinking_end = 9, .thinking_excludes = 8}), "");
  EXPECT_THAT(message({.thinking_end = 9, .thinking_excludes = 9}), HasSubstr("the token that ends thinking"));
  EXPECT_THAT(message({.thinking_end = 9, .thinking_excludes = 100}),
              HasSubstr("thinking_excludes holds token id 100"));
  EXPECT_THAT(message({.thinking_end = 9, .thinking_tokens_max = -2}), HasSubstr("thinking_tokens_max is -2"));
  for (const std::vector<int32_t>& closer : {std::vector<int32_t>{}, {9, 1}, {9, 1, 9}}) {
    EXPECT_THAT(message({.thinking_end = 9, .thinking_tokens_max = 5, .thinking_closer = closer}),
                HasSubstr("must end with thinking_end (9)"));
  }
  EXPECT_THAT(message({.thinking_end = 9, .thinking_tokens_max = 0}), HasSubstr("must end with thinking_end (9)"));
  EXPECT_THAT(message({.thinking_end = 0, .thinking_tokens_max = 5}), HasSubstr("must end with thinking_end (0)"));
  EXPECT_THAT(message({.thinking_closer = {-1}}), HasSubstr("guide.thinking_closer holds token id -1"));
  EXPECT_THAT(message({.beginnings = {{}}}), HasSubstr("is empty"));
  EXPECT_THAT(message({.beginnings = {{1, 100}}}), HasSubstr("guide.beginnings holds token id 100"));
  EXPECT_THAT(message({.beginnings = {{1, 2, 3}, {2}, {1, 2}}}), HasSubstr("beginning of another"));
  EXPECT_THAT(message({.beginnings = {{1, 2}, {1, 2}}}), HasSubstr("twice"));
  EXPECT_THAT(message({.beginnings = {std::vector<int32_t>(kMaxGuideTokens + 1, 1)}}), HasSubstr("number of tokens"));
  const std::vector<int32_t> closer(kMaxGuideTokens - 1, 1);  // counts as well
  EXPECT_EQ(message({.thinking_closer = closer, .beginnings = {{1}}}), "");
  EXPECT_THAT(message({.thinking_closer = closer, .beginnings = {{1}, {2}}}), HasSubstr("number of tokens"));
}

}  // namespace
}  // namespace tessera::engine
