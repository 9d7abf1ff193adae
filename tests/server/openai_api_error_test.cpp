#include "server/request/api_error.h"

#include <gmock/gmock.h>

#include "server/openai/error_json.h"

namespace tessera::server::openai {
namespace {

using ::testing::HasSubstr;

TEST(OpenAiError, HasOpenAisShape) {
  EXPECT_EQ(error_json(bad_request("top_p", "top_p is \"x\"")),
            R"({"error":{"message":"top_p is \"x\"","type":"invalid_request_error","param":"top_p","code":null}})");
  EXPECT_EQ(error_json(invalid_api_key()),
            R"({"error":{"message":"the API key is missing or wrong; send one of the server's keys as )"
            R"(\"Authorization: Bearer KEY\"","type":"invalid_request_error","param":null,"code":"invalid_api_key"}})");
}

TEST(OpenAiError, EveryStatusHasAnAnswer) {
  struct Case {
    StatusCode code;
    int http_status;
    std::string type;
    std::string code_told = {};
  };
  const std::vector<Case> cases = {
      {StatusCode::invalid_argument, 400, "invalid_request_error"},
      {StatusCode::not_found, 400, "invalid_request_error"},
      {StatusCode::unsupported, 400, "invalid_request_error"},
      {StatusCode::resource_exhausted, 429, "rate_limit_error", "rate_limit_exceeded"},
      {StatusCode::cancelled, 503, "server_error", "service_unavailable"},
      {StatusCode::unavailable, 503, "server_error", "service_unavailable"},
      {StatusCode::corrupt_data, 500, "server_error", "internal_error"},
      {StatusCode::internal, 500, "server_error", "internal_error"},
  };
  for (const Case& c : cases) {
    const ApiError error = api_error(Status(c.code, "why"));
    EXPECT_EQ(error.http_status, c.http_status);
    EXPECT_EQ(error.type, c.type);
    EXPECT_EQ(error.code, c.code_told);
    EXPECT_EQ(error.message, "why");
  }
}

TEST(OpenAiError, NamesTheParameterThatTheEngineNames) {
  const auto param = [](const char* message) { return api_error(Status(StatusCode::invalid_argument, message)).param; };
  EXPECT_EQ(param("top_k is -1; it must be 0 (off) or above"), "top_k");
  EXPECT_EQ(param("logit_bias holds token id 7; the model's ids are 0 to 5"), "logit_bias");
  EXPECT_EQ(param("the number of stop_token_ids is 9; it must be between 0 and 4"), "stop_token_ids");
  EXPECT_EQ(param("a value of logit_bias is 200; it must be between -100 and 100"), "logit_bias");
  EXPECT_EQ(param("prompt_logprobs is 30; it must be between 0 and 20"), "prompt_logprobs");
  EXPECT_EQ(param("min_tokens is 9; it must be between 0 and max_tokens (3)"), "min_tokens");
  EXPECT_EQ(param("n is 99; it must be between 1 and 16"), "n");
  EXPECT_EQ(param("a stop string is empty"), "stop");
  EXPECT_EQ(param("the prompt is empty; it must have at least one token"), "");
  EXPECT_EQ(api_error(Status(StatusCode::invalid_argument, "top_k is -1"), "prompt").param, "prompt");
}

TEST(OpenAiError, TemplatesRefuse) {
  EXPECT_EQ(render_error(Status(StatusCode::invalid_argument, "no user message")).param, "messages");
  EXPECT_EQ(render_error(Status(StatusCode::resource_exhausted, "too long")).http_status, 400);
  EXPECT_EQ(render_error(Status(StatusCode::unavailable, "no Python")).http_status, 503);
}

TEST(OpenAiError, ModelNotFound) {
  const ApiError error = model_not_found("gpt-9", {"a", "b"});
  EXPECT_EQ(error.http_status, 404);
  EXPECT_EQ(error.code, "model_not_found");
  EXPECT_EQ(error.param, "model");
  EXPECT_THAT(error.message, HasSubstr(R"("gpt-9" here; this server has "a", "b")"));
}

TEST(OpenAiError, TheContextHoldsThePromptAndOneToken) {
  SamplingParams sampling;
  EXPECT_FALSE(check_context(9, sampling, 10, "messages"));
  const auto error = check_context(10, sampling, 10, "messages");
  ASSERT_TRUE(error);
  EXPECT_EQ(error->code, "context_length_exceeded");
  EXPECT_EQ(error->param, "messages");
  EXPECT_THAT(error->message, HasSubstr("maximum context length is 10 tokens"));
  sampling.max_tokens = 0;
  EXPECT_FALSE(check_context(10, sampling, 10, "prompt"));
  EXPECT_TRUE(check_context(11, sampling, 10, "prompt"));
}

}  // namespace
}  // namespace tessera::server::openai
