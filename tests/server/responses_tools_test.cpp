// Tools of requests of /v1/responses, and what came of them.

#include "server/request/call_grammar.h"
#include "server/responses/client_tools.h"
#include "server/responses/input_items.h"
#include "server/responses_json.h"

namespace tessera::server::responses {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

TEST(ResponsesRequest, ToolsMayComeWithItemsAgainAndAgain) {
  const ResponsesRequest request = request_of(codex_requests()["tools among the items"]);
  EXPECT_EQ(request.chat.tools.schemas.size(), 4U);
  EXPECT_THAT(request.chat.notes, IsEmpty());
  EXPECT_EQ(request.chat.messages.back().role, Role::user);  // templates want one
  EXPECT_EQ(request_of(codex_requests()["probe"]).chat.sampling.max_tokens, 1);
}

TEST(ResponsesRequest, ToolsThatAreSearchedForAreOffered) {
  const std::string search = R"("tools":[{"type":"tool_search","execution":"client","description":"Looks."}])";
  const std::string found =
      R"({"role":"user","content":"Hi"},
        {"type":"tool_search_call","call_id":"c","execution":"client","arguments":{"query":"mail"}},
        {"type":"tool_search_output","call_id":"c","execution":"client","tools":[
          {"type":"function","name":"send","defer_loading":true},
          {"type":"namespace","name":"box","tools":[{"type":"function","name":"list"}]}]})";
  const ResponsesRequest request = request_of(body_of("{\"input\":[" + found + "]," + search + "}"));
  std::vector<std::string> names;
  for (const auto& tool : request.chat.tools.schemas) names.push_back(tool.name);
  EXPECT_THAT(names, ElementsAre("tool_search", "send", "box__list"));
  EXPECT_EQ(request.tools.tool("tool_search").kind, CallKind::tool_search);
  ASSERT_EQ(request.chat.messages.size(), 3U);
  EXPECT_EQ(request.chat.messages[1].calls.at(0).name, "tool_search");
  EXPECT_EQ(request.chat.messages[1].calls[0].arguments.dump(), R"({"query":"mail"})");
  EXPECT_EQ(request.chat.messages[2].text, "These tools can be called now: send, box__list");
  EXPECT_EQ(request.chat.messages[2].tool_call_id, "c");
  EXPECT_THAT(request.chat.notes, IsEmpty());

  // So they are in what goes on from there.
  ResponseStore store({});
  store.put("resp_a", {.input = "[" + found + "]", .head = "{", .output = "[]"});
  const auto later = request_of(body_of(R"({"previous_response_id":"resp_a","input":"Go on",)" + search + "}"), &store);
  EXPECT_EQ(later.chat.tools.schemas.size(), 3U);

  // Where the provider would search, every tool is there from the start.
  const auto hosted = request_of(
      body_with(R"("tools":[{"type":"tool_search"},{"type":"function","name":"send","defer_loading":true}])"));
  EXPECT_EQ(hosted.chat.tools.schemas.size(), 1U);
  EXPECT_THAT(hosted.chat.notes, IsEmpty());
  EXPECT_TRUE(
      request_of(body_with(R"("tools":[{"type":"tool_search","execution":"server"}])")).chat.tools.json.empty());
  const auto searched = request_of(body_of(
      R"({"input":[{"role":"user","content":"Hi"},{"type":"tool_search_call","execution":"server","arguments":{}},)"
      R"({"type":"tool_search_output","execution":"server","tools":[]}]})"));
  EXPECT_EQ(searched.chat.messages.size(), 1U);
  EXPECT_THAT(searched.chat.notes, ElementsAre(HasSubstr("input[1]"), HasSubstr("input[2]")));
  EXPECT_EQ(request_of(body_with(search + R"(,"tool_choice":{"type":"tool_search"})")).chat.tools.choice.name,
            "tool_search");
}

/// Clients leave out whose search it was; not every tool has a name.
TEST(ResponsesRequest, WhatASearchFound) {
  const auto found = [](const std::string& tools) {
    const auto request = request_of(body_of(
        R"({"input":[{"role":"user","content":"Hi"},{"type":"tool_search_call","call_id":"c","arguments":"mail"},)"
        R"({"type":"tool_search_output","call_id":"c")" +
        tools + "}]}"));
    const auto& messages = request.chat.messages;
    EXPECT_EQ(messages.at(1).calls.at(0).arguments.dump(), R"({"query":"mail"})");
    return messages.at(2).text;
  };
  EXPECT_EQ(found(""), "No tool was found.");
  EXPECT_EQ(found(R"(,"tools":[])"), "No tool was found.");
  EXPECT_EQ(found(R"(,"tools":[{"type":"web_search"},{"type":"mcp","name":5},{"type":"function","name":"f"}])"),
            "These tools can be called now: f");
  // Each by the name that the model calls it by, though several namespaces have such a tool.
  const std::string tools = R"("tools":[{"type":"function","name":"f"},{"type":"custom","name":"c"}]})";
  EXPECT_EQ(found(R"(,"tools":[{"type":"function","name":"f"},{"type":"namespace","name":"a",)" + tools +
                  R"(,{"type":"namespace","name":"b",)" + tools + R"(,{"type":"function","name":"g"}])"),
            "These tools can be called now: f, a__f, a__c, b__f, b__c, g");
}

TEST(ResponsesRequest, WhichItemsBringTools) {
  const auto names = [](const std::string& items) {
    const auto request = request_of(
        body_of(R"({"tools":[{"type":"function","name":"n"},{"type":"shell"},{"type":"tool_search","execution":)"
                R"("client"}],"input":[{"role":"user","content":"Hi"},)" +
                items + "]}"));
    std::string all;
    for (const auto& tool : request.chat.tools.schemas) all += tool.name + ",";
    return all;
  };
  const std::string own = "n,shell,tool_search,";
  EXPECT_EQ(names(R"({"type":"mcp_list_tools","server_label":"s","tools":[{"name":"f","input_schema":{}}]})"), own);
  // Those that are there are no second ones.
  EXPECT_EQ(names(R"({"type":"additional_tools","tools":[{"type":"shell"},{"type":"tool_search","execution":"client"},)"
                  R"({"type":"function","name":"n"},{"type":"function","name":"f"}]})"),
            own + "f,");
  EXPECT_EQ(names(R"({"type":"additional_tools","tools":[{"type":"namespace","name":"n","tools":[)"
                  R"({"type":"function","name":"f"}]}]})"),
            own + "n__f,");
}

TEST(ResponsesRequest, NamespacesHoldFunctionsAndCustomTools) {
  const ResponsesRequest request = request_of(
      body_with(R"("tools":[{"type":"namespace","name":"m","tools":[{"type":"tool_search","execution":"client"},)"
                R"({"type":"shell"},{"type":"namespace","name":"k","tools":[{"type":"function","name":"g"}]},)"
                R"({"type":"custom","name":"f"}]}])"));
  ASSERT_EQ(request.chat.tools.schemas.size(), 1U);
  EXPECT_EQ(request.chat.tools.schemas[0].name, "m__f");
  EXPECT_THAT(request.chat.notes, ElementsAre(HasSubstr("tools[0].tools[0]"), HasSubstr("tools[0].tools[1]"),
                                              HasSubstr("tools[0].tools[2]")));
}

TEST(ResponsesRequest, LongNamesAreNotCutWithinACharacter) {
  std::string name;
  while (name.size() < 120) name += "ü";
  for (const std::string name_space : {"abcdefg", "abcdefgh"}) {  // one byte further
    const std::string function = ToolNames().add({.name = name, .name_space = name_space});
    EXPECT_GE(function.size(), 127U);
    EXPECT_LE(function.size(), 128U);
    EXPECT_NO_THROW(Json(function).dump()) << function;
  }
}

TEST(ResponsesRequest, ToolChoices) {
  const std::string tools =
      R"("tools":[{"type":"function","name":"f"},{"type":"custom","name":"c"},{"type":"local_shell"},)"
      R"({"type":"namespace","name":"n","tools":[{"type":"function","name":"f"},{"type":"function","name":"g"}]}])";
  const auto choice = [&](const std::string& given) {
    const ToolFields& fields = request_of(body_with(tools + ",\"tool_choice\":" + given)).chat.tools;
    std::string text = fields.choice.name + ":";
    for (const auto& tool : fields.schemas) text += tool.name + ",";
    return text;
  };
  const std::string all = "f,c,local_shell,n__f,n__g,";
  EXPECT_EQ(choice("\"auto\""), ":" + all);
  EXPECT_EQ(choice("\"none\""), ":");
  EXPECT_EQ(choice("\"required\""), ":" + all);
  EXPECT_EQ(choice(R"({"type":"function","name":"f"})"), "f:" + all);
  EXPECT_EQ(choice(R"({"type":"function","name":"f","namespace":"n"})"), "n__f:" + all);
  EXPECT_EQ(choice(R"({"type":"function","name":"g"})"), "n__g:" + all);
  EXPECT_EQ(choice(R"({"type":"custom","name":"c"})"), "c:" + all);
  // As chat completions have it; a name beside it counts.
  EXPECT_EQ(choice(R"({"type":"function","function":{"name":"g"}})"), "n__g:" + all);
  EXPECT_EQ(choice(R"({"type":"function","name":"f","function":{"name":"g"}})"), "f:" + all);
  EXPECT_EQ(choice(R"({"type":"allowed_tools","allowed_tools":{"mode":"auto","tools":[{"type":"function",)"
                   R"("function":{"name":"f"}}]}})"),
            ":f,");
  EXPECT_EQ(choice(R"({"type":"local_shell"})"), "local_shell:" + all);
  EXPECT_EQ(choice(R"({"type":"allowed_tools","mode":"auto","tools":[{"type":"custom","name":"c"},)"
                   R"({"type":"function","name":"f"},{"type":"web_search"}]})"),
            ":f,c,");
  EXPECT_EQ(choice(R"({"type":"allowed_tools","mode":"required","tools":[{"type":"mcp","server_label":"x"}]})"), ":");
}

TEST(ResponsesRequest, ToolsThatTheClientRuns) {
  const ResponsesRequest request = request_of(body_with(
      R"("tools":[{"type":"shell","environment":{"type":"local","skills":[{"name":"pdf","path":"/s","description":)"
      R"("Reads."}]}},{"type":"apply_patch"}],"tool_choice":{"type":"apply_patch"})"));
  const auto& tools = request.chat.tools;
  ASSERT_EQ(tools.json.size(), 2U);
  EXPECT_EQ(tools.json[0]["function"]["name"], "shell");
  EXPECT_THAT(tools.json[0]["function"]["description"].get<std::string>(), HasSubstr("Skill pdf, in /s: Reads."));
  EXPECT_EQ(tools.json[0]["function"]["parameters"]["required"], Json({"commands"}));
  EXPECT_EQ(tools.json[1]["function"]["parameters"]["properties"]["type"]["enum"][2], "delete_file");
  EXPECT_EQ(tools.choice.name, "apply_patch");
  EXPECT_EQ(request.tools.tool("shell").kind, CallKind::shell);
  EXPECT_THAT(request.chat.notes, IsEmpty());
  for (const char* environment : {R"({"type":"container_auto"})", R"({"type":"container_reference"})"}) {
    const ResponsesRequest away =
        request_of(body_with(R"("tools":[{"type":"shell","environment":)" + std::string(environment) + "}]"));
    EXPECT_TRUE(away.chat.tools.json.empty());
    EXPECT_THAT(away.chat.notes, ElementsAre(HasSubstr("tools[0] is of type \"shell\"")));
  }
  EXPECT_EQ(refusal_of(R"("tools":[{"type":"shell"},{"type":"shell"}])").param, "tools[1]");
  const std::string plain = description_of(*client_tool("shell"), {});
  for (const char* environment : {"{}", "5", R"({"skills":[5]})", R"({"type":"local","skills":5})"}) {
    const ResponsesRequest here =
        request_of(body_with(R"("tools":[{"type":"shell","environment":)" + std::string(environment) + "}]"));
    EXPECT_EQ(here.chat.tools.json.at(0)["function"]["description"], plain) << environment;
  }
}

TEST(ResponsesRequest, WhatTheClientsToolsAnswered) {
  const ResponsesRequest request = request_of(body_of(
      R"({"input":[{"role":"user","content":"Hi"},{"type":"shell_call","call_id":"1","status":"completed","action":)"
      R"({"commands":["make","make test"],"timeout_ms":9,"max_output_length":null}},{"type":"shell_call_output",)"
      R"("call_id":"1","max_output_length":null,"output":[{"stdout":"ok\n","stderr":"","outcome":{"type":"exit",)"
      R"("exit_code":0}},{"stdout":"a","stderr":"b\n","outcome":{"type":"timeout"}}]},{"type":"apply_patch_call",)"
      R"("call_id":"2","status":"completed","operation":{"type":"update_file","path":"a","diff":"@@\n-b\n+c"}},)"
      R"({"type":"apply_patch_call_output","call_id":"2","status":"completed"},{"type":"apply_patch_call_output",)"
      R"("call_id":"2","status":"failed","output":"no such file"},{"type":"shell_call_output","call_id":"1",)"
      R"("output":"text"}]})"));
  const auto& messages = request.chat.messages;
  ASSERT_EQ(messages.size(), 7U);
  EXPECT_EQ(messages[1].calls.at(0).name, "shell");
  EXPECT_EQ(messages[1].calls[0].arguments.dump(), R"({"commands":["make","make test"],"timeout_ms":9})");
  EXPECT_EQ(messages[2].tool_call_id, "1");
  EXPECT_EQ(messages[2].text, "ok\n[exit code 0]\na\n[stderr]\nb\n[the time was up]");
  EXPECT_EQ(messages[3].calls.at(0).arguments.dump(), R"({"type":"update_file","path":"a","diff":"@@\n-b\n+c"})");
  EXPECT_EQ(messages[4].text, "The patch is applied.");
  EXPECT_EQ(messages[5].text, "The patch failed.\nno such file");
  EXPECT_EQ(messages[6].text, "text");
}

TEST(ResponsesRequest, OutcomesNeedNotBeWhole) {
  const auto text = [](const std::string& chunk) {
    const auto request = request_of(
        body_of(R"({"input":[{"type":"shell_call_output","call_id":"1","output":[{"stdout":"a")" + chunk + "}]}]}"));
    return request.chat.messages.at(0).text;
  };
  for (const char* outcome : {"", R"(,"outcome":5)", R"(,"outcome":{})", R"(,"outcome":{"exit_code":"x"})"}) {
    EXPECT_EQ(text(outcome), "a") << outcome;
  }
  EXPECT_EQ(text(R"(,"outcome":{"exit_code":-1})"), "a\n[exit code -1]");
  EXPECT_EQ(
      request_of(body_of(R"({"input":[{"type":"apply_patch_call_output","call_id":"1"}]})")).chat.messages[0].text,
      "The patch is applied.");
}

/// Of what a call was, the model reads what says something; its answer finds it by either id.
TEST(ResponsesRequest, CallsOfALocalShell) {
  const std::string call =
      R"({"type":"local_shell_call","id":"lsh_1","action":{"type":"exec","command":["ls"],"env":{},"user":null}})";
  Json both = Json::parse(call);
  both["call_id"] = "c";
  const auto messages = request_of(body_of("{\"input\":[" + call + "," + both.dump() + "]}")).chat.messages;
  const std::vector<ToolCall>& calls = messages.at(0).calls;
  ASSERT_EQ(calls.size(), 2U);
  EXPECT_EQ(calls[0].id, "lsh_1");
  EXPECT_EQ(calls[1].id, "c");
  EXPECT_EQ(calls[0].arguments.dump(), R"({"command":["ls"]})");
}

TEST(ResponsesRequest, OfTwoNamespacesNeitherIsMeant) {
  const std::string tools =
      R"("tools":[{"type":"namespace","name":"a_","tools":[{"type":"function","name":"f"},{"type":"function","name":)"
      R"("g"}]},{"type":"namespace","name":"___","tools":[{"type":"function","name":"f"}]}])";
  const ResponsesRequest request = request_of(
      body_of(R"({"input":[{"type":"function_call","name":"g"},{"type":"function_call","name":"g","namespace":"b"},)"
              R"({"type":"function_call","name":"f","namespace":"a_"}],)" +
              tools + "}"));
  std::vector<std::string> names;
  for (const ToolCall& call : request.chat.messages.at(0).calls) names.push_back(call.name);
  EXPECT_THAT(names, ElementsAre("a__g", "b__g", "a__f"));
  EXPECT_EQ(request.tools.tool("f").name_space, "___");
  EXPECT_EQ(refusal_of(tools + R"(,"tool_choice":{"type":"function","name":"f"})").param, "tool_choice.name");
  EXPECT_EQ(refusal_of(tools + R"(,"tool_choice":{"type":"function","name":"g","namespace":"b"})").param,
            "tool_choice.name");
}

TEST(ResponsesRequest, NamesOfFunctionsAreTheirOwn) {
  const ResponsesRequest request =
      request_of(body_with(R"("tools":[{"type":"function","name":"a__b"},{"type":"namespace","name":"a","tools":[)"
                           R"({"type":"function","name":"b"},{"type":"custom","name":"c"}]}])"));
  EXPECT_EQ(request.chat.tools.schemas[1].name, "a__b_");
  EXPECT_EQ(request.tools.tool("a__b").name_space, "");
  EXPECT_EQ(request.tools.tool("a__b_").name_space, "a");
  EXPECT_EQ(request.tools.tool("a__c").kind, CallKind::custom);
  const std::string long_name(100, 'x');
  ToolNames names;
  const std::string made = names.add({.name = long_name, .name_space = long_name});
  EXPECT_EQ(made.size(), 128U);
  EXPECT_EQ(names.tool(made).name_space, long_name);
}

TEST(ResponsesRequest, InputOfCustomToolsFollowsTheirFormat) {
  const auto grammar = [](const std::string& format) {
    const ResponsesRequest request = request_of(
        body_with(R"("tools":[{"type":"function","name":"f"},{"type":"custom","name":"c","format":)" + format + "}]"));
    return answer_grammar(request.chat.tools, true, {});
  };
  EXPECT_FALSE(*grammar(R"({"type":"text"})"));
  const auto regex = grammar(R"({"type":"grammar","syntax":"regex","definition":"[0-9]+"})");
  ASSERT_TRUE(regex.ok() && *regex);
  EXPECT_THAT((*regex)->source.text, HasSubstr(R"({"type":"regex","pattern":"[0-9]+"})"));
  const auto lark = grammar(R"({"type":"grammar","grammar":{"syntax":"lark","definition":"start: \"a\""}})");
  ASSERT_TRUE(lark.ok() && *lark);
  EXPECT_THAT((*lark)->source.text, HasSubstr(R"({"type":"grammar","grammar":"start: \"a\""})"));
  EXPECT_EQ(refusal_of(R"("tools":[{"type":"custom","name":"c","format":{"type":"grammar","syntax":"ebnf"}}])").param,
            "tools[0].format.syntax");
}

}  // namespace
}  // namespace tessera::server::responses
