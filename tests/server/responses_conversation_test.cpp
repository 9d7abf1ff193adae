// Requests of /v1/responses that go on from what is kept.

#include "server/responses/responses_request.h"
#include "server/responses_json.h"

namespace tessera::server::responses {
namespace {

using ::testing::HasSubstr;

TEST(ResponsesRequest, GoesOnFromWhatIsKept) {
  ResponseStore store({});
  store.put("resp_a", {.input = R"([{"id":"i1","type":"message","role":"user","content":"One"}])",
                       .head = "{",
                       .output = R"([{"id":"rs_a","type":"reasoning","summary":[]},)"
                                 R"({"id":"msg_a","type":"message","role":"assistant","content":"Two"}])",
                       .output_ids = {"rs_a", "msg_a"}});
  store.put("resp_b", {.previous_id = "resp_a",
                       .input = R"([{"id":"i2","type":"message","role":"user","content":"Three"}])",
                       .head = "{",
                       .output = "[]"});
  const auto request =
      request_of(body_of(R"({"previous_response_id":"resp_b","input":"Four","instructions":"Be."})"), &store);
  std::string all;
  for (const Message& message : request.chat.messages) all += message.text + " ";
  EXPECT_EQ(all, "Be. One Two Three Four ");
  EXPECT_EQ(request.previous_id, "resp_b");
  EXPECT_EQ(Json::parse(request.input)[0]["content"][0]["text"], "Four");  // its own alone, and with an id
  EXPECT_THAT(Json::parse(request.input)[0]["id"].get<std::string>(), HasSubstr("item_"));

  for (const char* item : {R"({"type":"item_reference","id":"msg_a"})", R"({"id":"msg_a"})"}) {
    const auto referring =
        request_of(body_of(R"({"input":[{"role":"user","content":"a"},)" + std::string(item) + "]}"), &store);
    EXPECT_EQ(referring.chat.messages.back().text, "Two") << item;
  }

  store.erase("resp_a");
  ResponsesRequest gone;
  auto error =
      parse_responses_request(body_of(R"({"previous_response_id":"resp_b","input":"x"})"), {}, "", store, gone);
  ASSERT_TRUE(error);
  EXPECT_EQ(error->code, "previous_response_not_found");
  EXPECT_EQ(error->param, "previous_response_id");
  EXPECT_EQ(error->http_status, 400);
  error =
      parse_responses_request(body_of(R"({"input":[{"type":"item_reference","id":"msg_a"}]})"), {}, "", store, gone);
  EXPECT_EQ(error->http_status, 404);
}

TEST(ResponsesRequest, ToolsAmongTheItemsBeforeAreOffered) {
  ResponseStore store({});
  store.put("resp_a", {.input = R"([{"type":"additional_tools","tools":[{"type":"function","name":"f"}]}])",
                       .head = "{",
                       .output = "[]"});
  store.put("resp_b", {.previous_id = "resp_a", .input = "[]", .head = "{", .output = "[]"});
  store.put("resp_c", {.previous_id = "resp_b",
                       .input = R"([{"type":"tool_search_output","tools":[{"type":"function","name":"g"}]}])",
                       .head = "{",
                       .output = "[]"});
  const auto names = [&](const std::string& previous) {
    const auto request = request_of(body_of(R"({"input":"Hi","previous_response_id":")" + previous + "\"}"), &store);
    std::string all;
    for (const auto& tool : request.chat.tools.schemas) all += tool.name + ",";
    return all;
  };
  EXPECT_EQ(names("resp_a"), "f,");
  EXPECT_EQ(names("resp_b"), "f,");
  EXPECT_EQ(names("resp_c"), "f,g,");
}

TEST(ResponsesRequest, AConversationAsAWholeIsWithinLimits) {
  RequestOptions options;
  options.limits.messages_max = 2;
  ResponseStore store({});
  for (const std::string id : {"a", "b"}) {
    store.put(id, {.previous_id = id == "a" ? "" : "a",
                   .input = R"([{"role":"user","content":"x"}])",
                   .head = "{",
                   .output = "[]"});
  }
  ResponsesRequest request;
  const auto refusal = [&](const std::string& previous) {
    const Json body = body_of(R"({"input":"Hi","previous_response_id":")" + previous + "\"}");
    return parse_responses_request(body, options, "", store, request);
  };
  EXPECT_FALSE(refusal("a"));
  ASSERT_TRUE(refusal("b"));
  EXPECT_THAT(refusal("b")->message, HasSubstr("input has 3 items, expected at most 2"));
}

}  // namespace
}  // namespace tessera::server::responses
