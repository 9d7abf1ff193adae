// The bundled template against texts written by hand from the format's rules.
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
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::StartsWith;

const ChatTemplate& chat() {
  static const ChatTemplate instance =
      std::move(*ChatTemplate::create({std::string(bundled_chat_template()), {}, "bundled"}));
  return instance;
}

std::string render(const std::string& messages, const ordered_json& more = ordered_json::object()) {
  ordered_json request = {{"messages", ordered_json::parse(messages)}};
  request.update(more);
  const auto rendered = chat().render(request);
  return rendered.ok() ? *rendered : "error: " + rendered.status().message();
}

const ordered_json kPrompt = {{"add_generation_prompt", true}};

TEST(QwenChatTemplate, OneQuestion) {
  EXPECT_EQ(render(R"([{"role": "user", "content": " Hi there \n"}])", kPrompt),
            "<|im_start|>user\nHi there<|im_end|>\n<|im_start|>assistant\n<think>\n");
  EXPECT_EQ(render(R"([{"role": "user", "content": "Hi"}])"), "<|im_start|>user\nHi<|im_end|>\n");
}

TEST(QwenChatTemplate, ThinkingCanBeSwitchedOff) {
  EXPECT_EQ(
      render(R"([{"role": "user", "content": "Hi"}])", {{"add_generation_prompt", true}, {"enable_thinking", false}}),
      "<|im_start|>user\nHi<|im_end|>\n<|im_start|>assistant\n<think>\n\n</think>\n\n");
  EXPECT_EQ(
      render(R"([{"role": "user", "content": "Hi"}])", {{"add_generation_prompt", true}, {"enable_thinking", true}}),
      "<|im_start|>user\nHi<|im_end|>\n<|im_start|>assistant\n<think>\n");
}

TEST(QwenChatTemplate, SystemMessageComesFirst) {
  EXPECT_EQ(render(R"([{"role": "system", "content": "Be brief. "}, {"role": "user", "content": "Hi"}])"),
            "<|im_start|>system\nBe brief.<|im_end|>\n<|im_start|>user\nHi<|im_end|>\n");
  EXPECT_THAT(render(R"([{"role": "user", "content": "Hi"}, {"role": "system", "content": "x"}])"),
              HasSubstr("must be the first message"));
}

TEST(QwenChatTemplate, ReasoningOfEarlierTurnsIsLeftOut) {
  const std::string messages = R"([
    {"role": "user", "content": "1"},
    {"role": "assistant", "content": "<think>\nold thought\n</think>\n\nanswer 1"},
    {"role": "user", "content": "2"},
    {"role": "assistant", "reasoning_content": "\nnew thought\n", "content": "answer 2"}])";
  EXPECT_EQ(render(messages),
            "<|im_start|>user\n1<|im_end|>\n<|im_start|>assistant\nanswer 1<|im_end|>\n"
            "<|im_start|>user\n2<|im_end|>\n"
            "<|im_start|>assistant\n<think>\nnew thought\n</think>\n\nanswer 2<|im_end|>\n");
  EXPECT_EQ(
      render(messages, {{"preserve_thinking", true}}),
      "<|im_start|>user\n1<|im_end|>\n<|im_start|>assistant\n<think>\nold thought\n</think>\n\nanswer 1<|im_end|>\n"
      "<|im_start|>user\n2<|im_end|>\n"
      "<|im_start|>assistant\n<think>\nnew thought\n</think>\n\nanswer 2<|im_end|>\n");
}

TEST(QwenChatTemplate, AnAnswerWithoutReasoningHasAnEmptyBlock) {
  EXPECT_EQ(render(R"([{"role": "user", "content": "1"}, {"role": "assistant", "content": "a"}])"),
            "<|im_start|>user\n1<|im_end|>\n<|im_start|>assistant\n<think>\n\n</think>\n\na<|im_end|>\n");
}

TEST(QwenChatTemplate, ToolCallsAndResponses) {
  const std::string messages = R"([
    {"role": "user", "content": "Weather?"},
    {"role": "assistant", "content": "I look it up.", "reasoning_content": "two cities", "tool_calls": [
      {"type": "function", "function": {"name": "weather", "arguments":
        {"city": "K\u00f6ln\nDom", "days": 3, "exact": true, "units": null, "more": {"b": [1.5, "\u00e9"], "a": {}}}}},
      {"type": "function", "function": {"name": "now", "arguments": {}}}]},
    {"role": "tool", "content": "sunny\n"},
    {"role": "tool", "content": [{"type": "text", "text": "12:00"}]},
    {"role": "assistant", "content": "", "tool_calls": [{"name": "stop", "arguments": {"x": "1"}}]}])";
  EXPECT_EQ(render(messages),
            "<|im_start|>user\nWeather?<|im_end|>\n"
            "<|im_start|>assistant\n<think>\ntwo cities\n</think>\n\nI look it up.\n\n"
            "<tool_call>\n<function=weather>\n"
            "<parameter=city>\nK\u00f6ln\nDom\n</parameter>\n<parameter=days>\n3\n</parameter>\n"
            "<parameter=exact>\ntrue\n</parameter>\n<parameter=units>\nnull\n</parameter>\n"
            "<parameter=more>\n{\"b\": [1.5, \"\u00e9\"], \"a\": {}}\n</parameter>\n"
            "</function>\n</tool_call>\n<tool_call>\n<function=now>\n</function>\n</tool_call><|im_end|>\n"
            "<|im_start|>user\n<tool_response>\nsunny\n</tool_response>\n<tool_response>\n12:00\n</tool_response>"
            "<|im_end|>\n"
            "<|im_start|>assistant\n<think>\n\n</think>\n\n<tool_call>\n<function=stop>\n"
            "<parameter=x>\n1\n</parameter>\n</function>\n</tool_call><|im_end|>\n");
}

TEST(QwenChatTemplate, ToolsAreAnnouncedInTheSystemBlock) {
  const ordered_json tools = {
      {"tools", {{{"type", "function"}, {"function", {{"name", "f"}, {"about", "<\u00e9>"}}}}}}};
  const std::string with_system =
      render(R"([{"role": "system", "content": "Be brief."}, {"role": "user", "content": "Hi"}])", tools);
  EXPECT_THAT(with_system, AllOf(StartsWith("<|im_start|>system\n# Tools\n\n"),
                                 HasSubstr("\n<tools>\n{\"type\": \"function\", \"function\": {\"name\": \"f\", "
                                           "\"about\": \"<\u00e9>\"}}\n</tools>\n"),
                                 HasSubstr("<IMPORTANT>\n"),
                                 HasSubstr("</IMPORTANT>\n\nBe brief.<|im_end|>\n<|im_start|>user\nHi<|im_end|>\n")));
  EXPECT_THAT(render(R"([{"role": "user", "content": "Hi"}])", tools),
              HasSubstr("</IMPORTANT><|im_end|>\n<|im_start|>user\nHi<|im_end|>\n"));
}

TEST(QwenChatTemplate, AToolResponseIsNoQuestion) {
  EXPECT_EQ(render(R"([
    {"role": "user", "content": "1"},
    {"role": "assistant", "content": "<think>t</think>call"},
    {"role": "user", "content": "<tool_response>\n42\n</tool_response>"}])"),
            "<|im_start|>user\n1<|im_end|>\n<|im_start|>assistant\n<think>\nt\n</think>\n\ncall<|im_end|>\n"
            "<|im_start|>user\n<tool_response>\n42\n</tool_response><|im_end|>\n");
}

TEST(QwenChatTemplate, PartsOfMessages) {
  const std::string messages = R"([{"role": "user", "content": [{"type": "text", "text": "See "}, {"type": "image"},
    {"type": "image_url", "image_url": {"url": "x"}}, {"type": "video"}, {"type": "text", "text": " there"}]}])";
  const std::string image = "<|vision_start|><|image_pad|><|vision_end|>";
  const std::string video = "<|vision_start|><|video_pad|><|vision_end|>";
  EXPECT_EQ(render(messages), "<|im_start|>user\nSee " + image + image + video + " there<|im_end|>\n");
  EXPECT_EQ(render(messages, {{"add_vision_id", true}}), "<|im_start|>user\nSee Picture 1: " + image + "Picture 2: " +
                                                             image + "Video 1: " + video + " there<|im_end|>\n");
}

TEST(QwenChatTemplate, SenselessMessagesAreErrors) {
  EXPECT_THAT(render("[]"), HasSubstr("no messages"));
  EXPECT_THAT(render(R"([{"role": "assistant", "content": "x"}])"), HasSubstr("no message of the user"));
  EXPECT_THAT(render(R"([{"role": "user", "content": 5}])"), HasSubstr("a string or a list"));
  EXPECT_THAT(render(R"([{"role": "user", "content": {"a": 1}}])"), HasSubstr("a string or a list"));
  EXPECT_THAT(render(R"([{"role": "user", "content": [{"type": "sound"}]}])"), HasSubstr("Unknown kind"));
  EXPECT_THAT(render(R"([{"role": "user", "content": "x"}, {"role": "judge", "content": "x"}])"), HasSubstr("judge"));
  EXPECT_THAT(render(R"([{"role": "user", "content": "x"},
                         {"role": "assistant", "tool_calls": [{"name": "f", "arguments": "{}"}]}])"),
              HasSubstr("must be an object"));
}

}  // namespace
}  // namespace tessera::text
