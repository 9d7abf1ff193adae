#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>

#include "text/bundled.h"
#include "text/chat_template.h"
#include "tokenizer_files.h"

namespace tessera::text {
namespace {

using nlohmann::ordered_json;
using ::testing::HasSubstr;

TEST(FindChatTemplate, TheMostSpecificWins) {
  const test::TempDirectory model;
  EXPECT_EQ(find_chat_template(model.path())->text, bundled_chat_template());
  model.write("tokenizer_config.json", R"({"chat_template": "from the config"})");
  EXPECT_EQ(find_chat_template(model.path())->text, "from the config");
  model.write("chat_template.jinja", "from the file");
  EXPECT_EQ(find_chat_template(model.path())->text, "from the file");
  EXPECT_THAT(find_chat_template(model.path())->origin, HasSubstr("chat_template.jinja"));
  const auto given = model.write("given.jinja", "given");
  EXPECT_EQ(find_chat_template(model.path(), given)->text, "given");
}

TEST(FindChatTemplate, ReadsNamedTemplates) {
  const test::TempDirectory model;
  model.write("tokenizer_config.json", R"({"chat_template": [{"name": "default", "template": "a"},
      {"name": "tool_use", "template": "b"}, {"name": "rag", "template": "c"}]})");
  const auto source = find_chat_template(model.path());
  EXPECT_EQ(source->text, "a");
  EXPECT_EQ(source->tool_use, "b");
}

TEST(FindChatTemplate, AConfigWithoutTemplateMeansTheBundledOne) {
  const test::TempDirectory model;
  for (const char* config : {"{}", R"({"chat_template": null})"}) {
    model.write("tokenizer_config.json", config);
    EXPECT_EQ(find_chat_template(model.path())->text, bundled_chat_template());
  }
}

TEST(FindChatTemplate, AnEmptyTemplateIsOne) {
  const test::TempDirectory model;
  model.write("tokenizer_config.json", R"({"chat_template": ""})");
  EXPECT_EQ(find_chat_template(model.path())->text, "");
}

TEST(FindChatTemplate, BrokenFilesAreErrors) {
  const test::TempDirectory model;
  EXPECT_EQ(find_chat_template(model.path(), "/nonexistent.jinja").status().code(), StatusCode::not_found);
  EXPECT_THAT(find_chat_template(model.path(), "/nonexistent.jinja").status().message(),
              HasSubstr("nonexistent.jinja"));
  EXPECT_FALSE(find_chat_template(model.path(), model.path()).ok()) << "a folder";
  for (const char* config :
       {"", "[1", "[]", R"({"chat_template": 5})", R"({"chat_template": []})", R"({"chat_template": [5]})",
        R"({"chat_template": [{"name": "default"}]})", R"({"chat_template": [{"template": "x"}]})",
        R"({"chat_template": [{"name": "default", "template": "x"}, {"name": 5, "template": "x"}]})",
        R"({"chat_template": [{"name": "default", "template": 5}]})",
        R"({"chat_template": [{"name": "tool_use", "template": "x"}]})"}) {
    model.write("tokenizer_config.json", config);
    EXPECT_EQ(find_chat_template(model.path()).status().code(), StatusCode::corrupt_data) << config;
  }
}

TEST(ParseToolArguments, StringsBecomeObjects) {
  ordered_json messages = ordered_json::parse(R"([
    {"role": "user", "content": "hi"},
    {"role": "assistant", "tool_calls": [
      {"function": {"name": "f", "arguments": "{\"z\": 1, \"a\": [true]}"}},
      {"function": {"name": "g", "arguments": {"kept": 1}}},
      {"function": {"name": "h", "arguments": ""}},
      {"name": "flat", "arguments": "{}"}]},
    {"role": "assistant", "tool_calls": null}])");
  ASSERT_TRUE(parse_tool_arguments(messages).ok());
  const ordered_json& calls = messages[1]["tool_calls"];
  EXPECT_EQ(calls[0]["function"]["arguments"].dump(), R"({"z":1,"a":[true]})");
  EXPECT_EQ(calls[1]["function"]["arguments"].dump(), R"({"kept":1})");
  EXPECT_EQ(calls[2]["function"]["arguments"].dump(), "{}");
  EXPECT_EQ(calls[3]["arguments"].dump(), "{}");
}

/// Whatever stands before it in the list of messages or of calls.
TEST(ParseToolArguments, WhatHasNoTextOfArgumentsIsPassedOver) {
  ordered_json messages = ordered_json::parse(R"([5, {"role": "user", "content": "hi"},
    {"role": "assistant", "tool_calls": null}, {"role": "assistant", "tool_calls": []},
    {"role": "assistant", "tool_calls": [{}, {"function": 5}, {"function": {"name": "f"}},
      {"function": {"arguments": null}}, {"function": {"arguments": "{\"a\": 1}"}}]}])");
  ordered_json expected = messages;
  expected[4]["tool_calls"][4]["function"]["arguments"] = {{"a", 1}};
  ASSERT_TRUE(parse_tool_arguments(messages).ok());
  EXPECT_EQ(messages, expected);
}

TEST(ParseToolArguments, WhatIsNoObjectIsAnError) {
  const auto status_of = [](const ordered_json& arguments) {
    ordered_json messages = {{{"role", "assistant"}, {"tool_calls", {{{"function", {{"arguments", arguments}}}}}}}};
    return parse_tool_arguments(messages);
  };
  for (const std::string text : {"[1]", "5", "not json", "{\"a\":", "null"}) {
    EXPECT_EQ(status_of(text).code(), StatusCode::invalid_argument) << text;
    EXPECT_THAT(status_of(text).message(), HasSubstr("messages[0].tool_calls[0]"));
  }
  EXPECT_FALSE(status_of("{\"a\":" + std::string(200, '[') + std::string(200, ']') + "}").ok()) << "too deep";
  const auto nested = [](size_t levels) {
    return "{\"a\":" + std::string(levels - 1, '[') + std::string(levels - 1, ']') + "}";
  };
  EXPECT_TRUE(status_of(nested(ChatTemplate::kRequestDepthMax)).ok());
  EXPECT_FALSE(status_of(nested(ChatTemplate::kRequestDepthMax + 1)).ok());
  EXPECT_FALSE(status_of("{\"a\":" + std::string(1'000'000, '[')).ok());
  ordered_json no_list = {{"a", 1}};
  EXPECT_FALSE(parse_tool_arguments(no_list).ok());
  ordered_json odd = ordered_json::parse(R"([5, {"tool_calls": 7}])");
  EXPECT_THAT(parse_tool_arguments(odd).message(), HasSubstr("messages[1].tool_calls"));
}

}  // namespace
}  // namespace tessera::text
