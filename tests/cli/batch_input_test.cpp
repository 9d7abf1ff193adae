#include "cli/batch_input.h"

#include <gmock/gmock.h>

namespace tessera::cli {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

Expected<BatchRequest> parse(const std::string& line) {
  return parse_batch_item({.index = 0, .line = line}, /*is_json=*/true, {});
}

TEST(BatchInput, TextIsOnePromptALine) {
  const BatchInput input = split_batch_input("first\n\n  \nsecond {\"a\": 1}\r\nlast");
  EXPECT_FALSE(input.is_json);
  EXPECT_EQ(input.lines, 5);
  ASSERT_EQ(input.items.size(), 3U);
  EXPECT_EQ(input.items[0].line, "first");
  EXPECT_EQ(input.items[1].line, "second {\"a\": 1}");
  EXPECT_EQ(input.items[1].index, 3);
  EXPECT_EQ(input.items[2].index, 4);
}

TEST(BatchInput, AFirstLineThatIsAJsonObjectMakesItJson) {
  EXPECT_TRUE(split_batch_input("\n{\"prompt\": \"x\"}\n").is_json);
  EXPECT_FALSE(split_batch_input("{not json}\n{\"prompt\": \"x\"}\n").is_json);
  EXPECT_FALSE(split_batch_input("[1, 2]\n").is_json);
  EXPECT_FALSE(split_batch_input("42\n").is_json);
  EXPECT_EQ(split_batch_input("").items.size(), 0U);
}

TEST(BatchInput, ReadsPromptsMessagesAndIds) {
  const auto prompt = parse(R"({"prompt": "hi", "id": "a1", "temperature": 0, "enable_thinking": false})");
  ASSERT_TRUE(prompt.ok());
  EXPECT_EQ(prompt->messages[0].content, "hi");
  EXPECT_EQ(prompt->id, "a1");
  EXPECT_EQ(prompt->sampling.temperature, 0.0F);
  EXPECT_FALSE(prompt->prompt.enable_thinking);

  const auto chat = parse(R"({"messages": [{"role": "system", "content": "s"}, {"role": "user", "content":
      [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]}],
      "chat_template_kwargs": {"enable_thinking": false}})");
  ASSERT_TRUE(chat.ok()) << chat.status().message();
  ASSERT_EQ(chat->messages.size(), 2U);
  EXPECT_EQ(chat->messages[0].role, "system");
  EXPECT_EQ(chat->messages[1].content, "ab");
  EXPECT_FALSE(chat->prompt.enable_thinking);

  const auto ids = parse(R"({"token_ids": [5, 0, 2147483647]})");
  ASSERT_TRUE(ids.ok());
  EXPECT_THAT(ids->token_ids, ElementsAre(5, 0, 2147483647));
  EXPECT_TRUE(ids->messages.empty());
}

/// What a line does not say is what flags say.
TEST(BatchInput, ALineWinsOverTheDefaults) {
  BatchRequest defaults;
  defaults.prompt.enable_thinking = false;
  defaults.sampling.max_tokens = 5;
  const std::pair<const char*, bool> kLines[] = {
      {R"({"prompt": "a"})", false},
      {R"({"prompt": "a", "enable_thinking": null})", false},
      {R"({"prompt": "a", "chat_template_kwargs": {}})", false},
      {R"({"prompt": "a", "enable_thinking": true})", true},
      {R"({"prompt": "a", "chat_template_kwargs": {"enable_thinking": true}})", true}};
  for (const auto& [line, thinks] : kLines) {
    const auto request = parse_batch_item({.index = 0, .line = line}, /*is_json=*/true, defaults);
    ASSERT_TRUE(request.ok()) << line;
    EXPECT_EQ(request->prompt.enable_thinking, thinks) << line;
    EXPECT_EQ(request->sampling.max_tokens, 5) << line;
  }
}

/// Messages need the chat template, whatever flags say; a prompt does not.
TEST(BatchInput, OnlyPromptsAreRaw) {
  BatchRequest defaults;
  defaults.prompt.raw = true;
  const auto raw = [&](const std::string& line, bool is_json) {
    return parse_batch_item({.index = 0, .line = line}, is_json, defaults)->prompt.raw;
  };
  EXPECT_FALSE(raw(R"({"messages": [{"role": "user", "content": "a"}]})", true));
  EXPECT_TRUE(raw(R"({"prompt": "a"})", true));
  EXPECT_TRUE(raw("a", false));
}

TEST(BatchInput, SaysWhatIsWrongWithALine) {
  const std::pair<const char*, const char*> wrong[] = {
      {"not json", "not a JSON object"},
      {"[]", "not a JSON object"},
      {"{}", "exactly one"},
      {R"({"prompt": "a", "token_ids": [1]})", "exactly one"},
      {R"({"prompt": 5})", "\"prompt\" must be a string"},
      {R"({"prompt": "a", "temprature": 1})", "did you mean \"temperature\"?"},
      {R"({"prompt": "a", "temperature": "hot"})", "expected a number"},
      {R"({"messages": []})", "not empty"},
      {R"({"messages": [{"role": "user"}]})", "\"role\" and \"content\""},
      {R"({"messages": ["hi"]})", "\"role\" and \"content\""},
      {R"({"messages": [{"role": 5, "content": "x"}]})", "\"role\" and \"content\""},
      {R"({"messages": [{"role": "user", "content": 5}]})", "\"content\" must be"},
      {R"({"messages": [{"role": "user", "content": [{"type": "image_url"}]}]})", "\"content\" must be"},
      {R"({"token_ids": [1, -2]})", "\"token_ids\" must be"},
      {R"({"token_ids": [1, 2.5]})", "\"token_ids\" must be"},
      {R"({"token_ids": [2147483648]})", "\"token_ids\" must be"},
      {R"({"token_ids": "1 2"})", "\"token_ids\" must be"},
      {R"({"prompt": "a", "enable_thinking": 1})", "true or false"},
      {R"({"prompt": "a", "chat_template_kwargs": {"tools": []}})", "no key but"},
      {R"({"prompt": "a", "chat_template_kwargs": true})", "no key but"}};
  for (const auto& [line, message] : wrong) {
    const auto request = parse(line);
    ASSERT_FALSE(request.ok()) << line;
    EXPECT_THAT(request.status().message(), HasSubstr(message)) << line;
  }
  const std::string deep = R"({"prompt": )" + std::string(100'000, '[') + std::string(100'000, ']') + "}";
  EXPECT_FALSE(parse(deep).ok());
}

}  // namespace
}  // namespace tessera::cli
