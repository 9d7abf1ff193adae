// The exact text of every kind of answer.

#include "server/openai/responses.h"

#include <gmock/gmock.h>

#include <limits>
#include <nlohmann/json.hpp>

namespace tessera::server::openai {
namespace {

using nlohmann::json;
using ::testing::StartsWith;

const ResponseHead kHead{.id = "chatcmpl-1", .created = 1700000000, .model = "m", .fingerprint = "fp"};
const ResponseHead kPlainHead{.id = "cmpl-1", .created = 1700000000, .model = "m"};
const Usage kUsage{.prompt_tokens = 10, .completion_tokens = 5, .cached_tokens = 4, .reasoning_tokens = 2};
const std::string kUsageText =
    R"("usage":{"prompt_tokens":10,"completion_tokens":5,"total_tokens":15,)"
    R"("prompt_tokens_details":{"cached_tokens":4},"completion_tokens_details":{"reasoning_tokens":2}})";
const std::string kChunk = R"({"id":"chatcmpl-1","object":"chat.completion.chunk","created":1700000000,"model":"m",)"
                           R"("system_fingerprint":"fp","choices":[)";

template <typename Delta>
std::string chunk(const ChunkWriter& writer, int choice, const Delta& delta, const Usage* usage = nullptr) {
  std::string out;
  writer.delta(choice, delta, out, usage);
  EXPECT_TRUE(json::accept(out)) << out;
  return out;
}

TEST(OpenAiResponses, UsageSaysWhatCameFromTheHostsMemory) {
  Usage usage = kUsage;
  usage.tier_tokens = 1;
  std::string out;
  ChunkWriter(ChunkWriter::Kind::chat, kHead, false).usage(usage, out);
  ASSERT_TRUE(json::accept(out)) << out;
  EXPECT_EQ(json::parse(out)["usage"]["prompt_tokens_details"],
            json::parse(R"({"cached_tokens":4,"cached_tokens_details":{"device":3,"host":1}})"));
}

TEST(OpenAiResponses, UsageSaysWhatDraftsGave) {
  Usage usage = kUsage;
  usage.drafts = {.steps = 4, .proposed = 12, .accepted = 7, .accepted_at = {4, 2, 1}};
  std::string out;
  ChunkWriter(ChunkWriter::Kind::chat, kHead, false).usage(usage, out);
  ASSERT_TRUE(json::accept(out)) << out;
  EXPECT_EQ(json::parse(out)["usage"]["completion_tokens_details"],
            json::parse(R"({"reasoning_tokens":2,"accepted_prediction_tokens":7,"rejected_prediction_tokens":5,)"
                        R"("draft_steps":4,"accepted_at":[4,2,1,0,0,0,0,0]})"));
}

TEST(OpenAiResponses, ChatChunks) {
  const ChunkWriter writer(ChunkWriter::Kind::chat, kHead, false);
  std::string role;
  writer.role(1, role);
  EXPECT_EQ(role, kChunk + R"({"index":1,"delta":{"role":"assistant","content":""},"logprobs":null,)"
                           R"("finish_reason":null}]})");
  EXPECT_EQ(chunk(writer, 0, ChatDelta{.content = "a\"\n"}),
            kChunk + R"({"index":0,"delta":{"content":"a\"\n"},"logprobs":null,"finish_reason":null}]})");
  EXPECT_EQ(chunk(writer, 0, ChatDelta{.reasoning = "h\\m", .content = "x"}),
            kChunk + R"({"index":0,"delta":{"reasoning_content":"h\\m","reasoning":"h\\m","content":"x"},)"
                     R"("logprobs":null,"finish_reason":null}]})");
  EXPECT_EQ(chunk(writer, 0,
                  ChatDelta{.content = "x",
                            .tool_calls = {{.index = 0, .id = "call_1", .name = "f", .arguments = "{\"a\": "},
                                           {.index = 1, .arguments = "1}"}}}),
            kChunk + R"({"index":0,"delta":{"content":"x","tool_calls":[{"index":0,"id":"call_1","type":"function",)"
                     R"("function":{"name":"f","arguments":"{\"a\": "}},{"index":1,"function":{"arguments":"1}"}}]},)"
                     R"("logprobs":null,"finish_reason":null}]})");
  EXPECT_EQ(chunk(writer, 2, ChatDelta{.logprobs = R"({"token":"a"})", .tokens = {5, 6}, .finish = ChatFinish::stop}),
            kChunk + R"({"index":2,"delta":{"content":""},"logprobs":{"content":[{"token":"a"}],"refusal":null},)"
                     R"("finish_reason":"stop","token_ids":[5,6]}]})");
}

TEST(OpenAiResponses, UsageInChunks) {
  const ChunkWriter writer(ChunkWriter::Kind::chat, kHead, true);
  EXPECT_EQ(chunk(writer, 0, ChatDelta{.content = "a"}),
            kChunk + R"({"index":0,"delta":{"content":"a"},"logprobs":null,"finish_reason":null}],"usage":null})");
  EXPECT_EQ(
      chunk(writer, 0, ChatDelta{.content = "a"}, &kUsage),
      kChunk + R"({"index":0,"delta":{"content":"a"},"logprobs":null,"finish_reason":null}],)" + kUsageText + "}");
  std::string last;
  writer.usage(kUsage, last);
  EXPECT_EQ(last, kChunk + "]," + kUsageText + "}");
  std::string role;
  const std::vector<int32_t> prompt = {1, 2};
  writer.role(0, role, &prompt, &kUsage);
  EXPECT_EQ(role, kChunk +
                      R"({"index":0,"delta":{"role":"assistant","content":""},"logprobs":null,)"
                      R"("finish_reason":null,"prompt_token_ids":[1,2]}],)" +
                      kUsageText + "}");
}

TEST(OpenAiResponses, ChatCompletion) {
  ChatAnswer answer;
  answer.choices = {
      {.reasoning = "hm", .content = "Yes.", .finish = ChatFinish::stop},
      {.tool_calls = {{.index = 0, .id = "call_1", .name = "f", .arguments = "{}"}}, .finish = ChatFinish::tool_calls},
      {.finish = ChatFinish::length}};
  answer.usage = kUsage;
  EXPECT_EQ(chat_completion_json(kHead, answer),
            R"({"id":"chatcmpl-1","object":"chat.completion","created":1700000000,"model":"m",)"
            R"("system_fingerprint":"fp","choices":[)"
            R"({"index":0,"message":{"role":"assistant","content":"Yes.","reasoning_content":"hm","reasoning":"hm",)"
            R"("refusal":null},"logprobs":null,"finish_reason":"stop"},)"
            R"({"index":1,"message":{"role":"assistant","content":null,"reasoning_content":null,"reasoning":null,)"
            R"("refusal":null,"tool_calls":[{"id":"call_1","type":"function","function":{"name":"f",)"
            R"("arguments":"{}"}}]},"logprobs":null,"finish_reason":"tool_calls"},)"
            R"({"index":2,"message":{"role":"assistant","content":"","reasoning_content":null,"reasoning":null,)"
            R"("refusal":null},"logprobs":null,"finish_reason":"length"}],)" +
                kUsageText + "}");
}

TEST(OpenAiResponses, ChatCompletionWithEverythingAsked) {
  const std::vector<int32_t> prompt = {1};
  ChatAnswer answer;
  answer.choices = {{.content = "a", .logprobs = R"({"token":"a"})", .tokens = {7}, .finish = ChatFinish::stop}};
  answer.logprobs = true;
  answer.prompt_logprobs = "[null]";
  answer.prompt_token_ids = &prompt;
  const json parsed = json::parse(chat_completion_json(kHead, answer));
  EXPECT_EQ(parsed["choices"][0]["logprobs"].dump(), R"({"content":[{"token":"a"}],"refusal":null})");
  EXPECT_EQ(parsed["choices"][0]["token_ids"].dump(), "[7]");
  EXPECT_EQ(parsed["prompt_logprobs"].dump(), "[null]");
  EXPECT_EQ(parsed["prompt_token_ids"].dump(), "[1]");
}

const TokenBytes kBytes = [](int32_t token) {
  return token == 1 ? std::string("\xc3\xa9") : token == 2 ? std::string("\xe2\x82") : std::string("ab");
};

TEST(OpenAiResponses, TextCompletion) {
  CompletionChoice choice({.logprobs = true, .return_token_ids = true, .token_bytes = kBytes});
  CompletionDelta all = choice.echo("\xc3\xa9x", {1, 3}, {{}, {{3, -0.25F, 1}}});
  all.add(choice.feed({.tokens = {2}, .text = "", .logprobs = {{{2, -1.5F, 2}, {3, -1.0F, 1}, {2, -1.5F, 2}}}}));
  all.add(choice.feed({.tokens = {3}, .text = "ab", .logprobs = {{{3, -0.5F, 1}}}}));
  all.add(choice.feed({.finish_reason = FinishReason::stop}));
  EXPECT_EQ(choice.tokens(), 2);
  const std::vector<int32_t> prompt = {1, 3};
  CompletionAnswer answer;
  answer.choices = {{.all = all, .prompt_logprobs = "[null]", .prompt_token_ids = &prompt}};
  answer.usage = kUsage;
  EXPECT_EQ(completion_json(kPlainHead, answer),
            R"({"id":"cmpl-1","object":"text_completion","created":1700000000,"model":"m","system_fingerprint":null,)"
            R"("choices":[{"index":0,"text":"éxab","logprobs":{"tokens":["é","ab","�","ab"],)"
            R"("token_logprobs":[null,-0.25,-1.5,-0.5],)"
            R"("top_logprobs":[null,{"ab":-0.25},{"�":-1.5,"ab":-1},{"ab":-0.5}],"text_offset":[0,1,3,4]},)"
            R"("finish_reason":"stop","token_ids":[2,3],"prompt_logprobs":[null],"prompt_token_ids":[1,3]}],)" +
                kUsageText + "}");
}

TEST(OpenAiResponses, TextCompletionChunks) {
  const ChunkWriter writer(ChunkWriter::Kind::completion, kPlainHead, false);
  CompletionChoice choice({});
  EXPECT_TRUE(choice.feed({.tokens = {1}}).empty());
  EXPECT_EQ(chunk(writer, 3, choice.feed({.tokens = {1}, .text = "a", .finish_reason = FinishReason::length})),
            R"({"id":"cmpl-1","object":"text_completion","created":1700000000,"model":"m","system_fingerprint":null,)"
            R"("choices":[{"index":3,"text":"a","logprobs":null,"finish_reason":"length"}]})");
}

/// A chunk of no text may still have something to say.
TEST(OpenAiResponses, TheEndAndLogprobsAreDeliveredWithoutText) {
  CompletionChoice choice({.logprobs = true, .token_bytes = kBytes});
  EXPECT_FALSE(choice.feed({.tokens = {2}, .logprobs = {{{2, -1.5F, 1}}}}).empty());
  EXPECT_FALSE(choice.feed({.finish_reason = FinishReason::length}).empty());
}

TEST(OpenAiResponses, ACompletionThatFollowsAFormatIsCutByAStop) {
  CompletionChoice choice({.must_be_whole = true});
  const auto reason = [&](StopCause cause) {
    return std::string(choice.feed({.finish_reason = FinishReason::stop, .stop_cause = cause}).finish_reason);
  };
  EXPECT_EQ(reason(StopCause::model), "stop");
  EXPECT_EQ(reason(StopCause::string), "length");
  EXPECT_EQ(reason(StopCause::token), "length");
}

TEST(OpenAiResponses, LogprobsThatJsonCannotSay) {
  std::string out;
  const float infinite = std::numeric_limits<float>::infinity();
  const float nan = std::numeric_limits<float>::quiet_NaN();
  append_chat_logprob({{3, -infinite, 1}, {2, nan, 2}, {1, -1e-7F, 3}, {1, -20000, 4}}, kBytes, out);
  const json parsed = json::parse(out);
  EXPECT_EQ(parsed["logprob"], -9999);
  EXPECT_EQ(parsed["top_logprobs"][0]["logprob"], -9999);
  EXPECT_EQ(parsed["top_logprobs"][0]["token"], "\xef\xbf\xbd");
  EXPECT_EQ(parsed["top_logprobs"][0]["bytes"].dump(), "[226,130]");
  EXPECT_FLOAT_EQ(parsed["top_logprobs"][1]["logprob"].get<float>(), -1e-7F);
  EXPECT_EQ(parsed["top_logprobs"][2]["logprob"], -9999);
  out.clear();
  append_chat_logprob(
      {{9, -1, 1}}, [](int32_t) { return std::string(); }, out);
  EXPECT_EQ(out, R"({"token":"","logprob":-1,"bytes":null,"top_logprobs":[]})");
}

TEST(OpenAiResponses, PromptLogprobs) {
  EXPECT_EQ(prompt_logprobs_json({{}, {{3, -0.5F, 2}, {1, -0.25F, 1}, {3, -0.5F, 2}}}, kBytes),
            R"([null,{"3":{"logprob":-0.5,"rank":2,"decoded_token":"ab"},)"
            R"("1":{"logprob":-0.25,"rank":1,"decoded_token":"é"}}])");
  EXPECT_EQ(prompt_logprobs_json({}, kBytes), "[]");
}

TEST(OpenAiResponses, ModelsAndVersion) {
  const ModelCard card{.id = "m", .created = 5, .root = "/models/m", .max_model_len = 4096};
  const std::string text =
      R"({"id":"m","object":"model","type":"model","created":5,"created_at":"1970-01-01T00:00:05Z",)"
      R"("display_name":"m","owned_by":"tessera","root":"/models/m",)"
      R"("parent":null,"max_model_len":4096})";
  EXPECT_EQ(model_json(card), text);
  EXPECT_EQ(models_json({}), R"({"object":"list","data":[],"has_more":false,"models":[]})");
  EXPECT_THAT(models_json({card, card}), StartsWith(R"({"object":"list","data":[)" + text + "," + text + "],"));
  // What Codex wants of each, all of it.
  const json codex = json::parse(models_json({card}))["models"][0];
  EXPECT_EQ(codex["slug"], "m");
  EXPECT_EQ(codex["context_window"], 4096);
  for (const char* key : {"display_name", "supported_reasoning_levels", "shell_type", "visibility", "supported_in_api",
                          "priority", "base_instructions", "supports_reasoning_summaries", "support_verbosity",
                          "truncation_policy", "supports_parallel_tool_calls", "experimental_supported_tools"}) {
    EXPECT_TRUE(codex.contains(key)) << key;
  }
  const json both = json::parse(models_json({card, {.id = "other"}}))["models"];
  EXPECT_LT(both[0]["priority"], both[1]["priority"]) << "the first is Codex's choice";
  EXPECT_EQ(version_json("0.1.0"), R"({"version":"0.1.0"})");
}

}  // namespace
}  // namespace tessera::server::openai
