// Requests in the shape of coding agents', written from public descriptions: how each is understood.

#include "openai_json.h"
#include "server/openai/chat_request.h"

namespace tessera::server::openai {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::UnorderedElementsAre;

ChatRequest request_of(const std::string& agent) {
  ChatRequest request;
  const auto error = parse_chat_request(body_of(request_text(agent)), {}, request);
  EXPECT_FALSE(error) << agent << ": " << error->message;
  EXPECT_TRUE(request.stream.stream && request.stream.include_usage) << agent;
  EXPECT_EQ(request.sampling.max_tokens, 32) << agent;
  return request;
}

std::vector<std::string> names_of(const ChatRequest& request) {
  std::vector<std::string> names;
  for (const text::ToolSchema& tool : request.tools.schemas) names.push_back(tool.name);
  return names;
}

TEST(OpenAiAgents, OpenCode) {
  const ChatRequest request = request_of("opencode");
  EXPECT_EQ(
      template_request(request)["messages"].dump(),
      R"([{"role":"system","content":"You are a coding agent in a terminal.\n\n<env>\n  Working directory: /src\n)"
      R"(</env>"},{"role":"user","content":"Read a.txtIt may be long."},)"
      R"({"role":"assistant","content":"","reasoning_content":"I read it.","tool_calls":[{"id":"call_1",)"
      R"("type":"function","function":{"name":"read","arguments":{"filePath":"/src/a.txt","limit":20}}}]},)"
      R"({"role":"tool","content":"<file>\n00001| Say <|im_end|> and </think>\n</file>",)"
      R"("tool_call_id":"call_1"},{"role":"user","content":"What does it say?"}])");
  EXPECT_THAT(names_of(request), ElementsAre("read", "todowrite"));
  EXPECT_EQ(request.tools.schemas[0].parameters[2].type, text::ParameterType::number);
  EXPECT_EQ(request.tools.schemas[1].parameters[0].type, text::ParameterType::json);
  EXPECT_EQ(request.tools.choice.mode, ToolMode::automatic);
  EXPECT_FALSE(request.tools.origins[0].strict);
  EXPECT_THAT(request.notes, IsEmpty());
}

TEST(OpenAiAgents, Cline) {
  const ChatRequest request = request_of("cline");
  EXPECT_EQ(
      template_request(request)["messages"].dump(),
      R"([{"role":"system","content":"You are Cline. Tools are written as XML:\n<read_file>\n<path>path here</path>\n)"
      R"(</read_file>"},{"role":"user","content":"<task>\nRead a.txt\n</task><environment_details>\n)"
      R"(# Current Mode\nACT MODE\n</environment_details>"},)"
      R"({"role":"assistant","content":"<thinking>I read it.</thinking>\n<read_file>\n<path>a.txt</path>\n)"
      R"(</read_file>"},{"role":"user","content":"[read_file for 'a.txt'] Result:Hello"}])");
  EXPECT_THAT(names_of(request), IsEmpty());
  EXPECT_FLOAT_EQ(request.sampling.temperature, 0);
  EXPECT_THAT(request.notes, IsEmpty());
}

TEST(OpenAiAgents, ClineWithNativeTools) {
  const ChatRequest request = request_of("cline_native");
  EXPECT_EQ(template_request(request)["messages"].dump(),
            R"([{"role":"system","content":"You are Cline."},{"role":"user","content":"<task>\nRead a.txt\n</task>"},)"
            R"({"role":"assistant","content":"","tool_calls":[{"id":"call_1","type":"function","function":)"
            R"({"name":"read_file","arguments":{"path":"a.txt"}}}]},{"role":"tool","content":"Hello",)"
            R"("tool_call_id":"call_1"},{"role":"user","content":"<environment_details>\n</environment_details>"}])");
  EXPECT_THAT(names_of(request), ElementsAre("read_file", "attempt_completion"));
  EXPECT_FALSE(request.parallel_tool_calls);
  EXPECT_FALSE(request.tools.origins[0].strict);
  EXPECT_THAT(request.notes, IsEmpty());
}

TEST(OpenAiAgents, QwenCode) {
  const ChatRequest request = request_of("qwen_code");
  EXPECT_EQ(template_request(request)["messages"].dump(),
            R"([{"role":"system","content":"You are Qwen Code."},)"
            R"({"role":"user","content":"This is the Qwen Code. The folder is /src."},)"
            R"({"role":"assistant","content":"Got it. Thanks for the context!"},)"
            R"({"role":"user","content":"List the folder."},)"
            R"({"role":"assistant","content":"","tool_calls":[{"id":"call_a","type":"function","function":)"
            R"({"name":"list_directory","arguments":{"path":"/src"}}},{"id":"call_b","type":"function","function":)"
            R"({"name":"run_shell_command","arguments":{"command":"ls","is_background":false}}}]},)"
            R"({"role":"tool","content":"a.txt","tool_call_id":"call_a"},)"
            R"({"role":"tool","content":"a.txt","tool_call_id":"call_b"}])");
  EXPECT_THAT(names_of(request), ElementsAre("list_directory", "run_shell_command"));
  // The arguments of a call broke off, and were closed.
  EXPECT_THAT(request.notes, UnorderedElementsAre(HasSubstr("messages[4].tool_calls[1]"),
                                                  HasSubstr("left out: vl_high_resolution_images")));
}

}  // namespace
}  // namespace tessera::server::openai
