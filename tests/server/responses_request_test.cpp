// Requests of /v1/responses as conversations.

#include "server/responses/responses_request.h"

#include "server/request/call_grammar.h"
#include "server/responses/client_tools.h"
#include "server/responses/compaction.h"
#include "server/responses/input_items.h"
#include "server/responses_json.h"

namespace tessera::server::responses {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

TEST(ResponsesRequest, ACodexTurn) {
  const ResponsesRequest request = request_of(codex_requests()["first turn"]);
  EXPECT_TRUE(request.chat.stream.stream && request.shows_summary && request.shows_sealed_reasoning);
  EXPECT_FALSE(request.store);
  EXPECT_EQ(request.input, "");
  EXPECT_THAT(request.chat.notes, ElementsAre(HasSubstr("web_search"), HasSubstr("image_generation")));
  std::vector<std::string> names;
  for (const auto& tool : request.chat.tools.schemas) names.push_back(tool.name);
  EXPECT_THAT(names, ElementsAre("exec_command", "update_plan", "apply_patch", "collaboration__spawn_agent",
                                 "collaboration__wait", "mcp__files__wait"));
  EXPECT_EQ(request.tools.tool("mcp__files__wait").name_space, "mcp__files__");
  EXPECT_EQ(request.tools.tool("apply_patch").kind, CallKind::custom);
  EXPECT_EQ(request.chat.tools.origins[2].input->source.kind, GrammarSource::Kind::grammar);
  EXPECT_EQ(request.chat.template_variables["enable_thinking"], true);
  const Json prompt = template_request(request.chat);
  ASSERT_EQ(prompt["messages"].size(), 3U);
  EXPECT_EQ(prompt["messages"][0]["content"],
            "You are a coding agent in a terminal. Be brief.\n\n<permissions>read only</permissions>");
  EXPECT_THAT(prompt["tools"][2]["function"]["parameters"]["properties"]["input"]["description"].get<std::string>(),
              HasSubstr("*** Begin Patch"));
}

/// The response repeats what was asked for, and says what counts where nothing was.
TEST(ResponsesRequest, TheResponseRepeatsIt) {
  RequestOptions options;
  options.sampling.temperature = 0.7F;
  options.sampling.top_p = 0.95F;
  EXPECT_EQ(request_of(body_with(""), nullptr, options).echo.dump(),
            R"({"instructions":null,"max_output_tokens":null,"max_tool_calls":null,"metadata":{},)"
            R"("parallel_tool_calls":true,"previous_response_id":null,"prompt_cache_key":null,)"
            R"("prompt_cache_retention":null,"safety_identifier":null,"user":null,)"
            R"("reasoning":{"effort":null,"summary":null},"service_tier":"default","store":true,"temperature":0.7,)"
            R"("top_p":0.95,"presence_penalty":0,"frequency_penalty":0,"top_logprobs":0,)"
            R"("text":{"format":{"type":"text"},"verbosity":"medium"},"tool_choice":"auto","tools":[],)"
            R"("truncation":"disabled","background":false})");
  ResponseStore store({});
  store.put("resp_0", {.input = "[]", .output = "[]"});
  const Json body = body_with(
      R"("frequency_penalty":0.5,"instructions":"Be brief.","max_output_tokens":9,"max_tool_calls":3,)"
      R"("metadata":{"a":"b"},"parallel_tool_calls":false,"presence_penalty":-0.5,"previous_response_id":"resp_0",)"
      R"("prompt_cache_key":"k","reasoning":{"effort":"low"},"safety_identifier":"s","temperature":0.25,)"
      R"("text":{"verbosity":"low"},"tools":[{"type":"function","name":"f"}],"tool_choice":"required",)"
      R"("top_logprobs":2,"top_p":0.5,"truncation":"auto","user":"u","background":true)");
  const ResponsesRequest request = request_of(body, &store, options);
  for (const auto& [key, value] : body.items()) {
    if (key == "input") continue;
    const Json expected = key == "reasoning" ? Json{{"effort", "low"}, {"summary", nullptr}}
                          : key == "text"    ? Json{{"format", {{"type", "text"}}}, {"verbosity", "low"}}
                                             : value;
    EXPECT_EQ(request.echo[key], expected) << key;
  }
  EXPECT_EQ(request.previous_id, "resp_0");
  EXPECT_TRUE(request.truncates && request.background && request.store);
  EXPECT_EQ(request.chat.sampling.max_tokens, 9);
  EXPECT_EQ(request.chat.sampling.logprobs, 2);
  EXPECT_EQ(request_of(body_with(R"("store":false)")).echo["store"], false);
  EXPECT_EQ(request_of(body_with(R"("service_tier":"flex")")).echo["service_tier"], "default") << "there is no other";
  EXPECT_FALSE(request_of(body_with(R"("truncation":"disabled")")).truncates);
}

/// One answer, and log-probabilities where they are asked for, whatever the server's defaults are.
TEST(ResponsesRequest, LogprobsOfTheAnswer) {
  RequestOptions options;
  options.sampling.n = 2;
  options.sampling.logprobs = options.sampling.prompt_logprobs = 1;
  options.sampling.max_tokens = 77;
  const SamplingParams plain = request_of(body_with(""), nullptr, options).chat.sampling;
  EXPECT_EQ(plain.n, 1);
  EXPECT_EQ(plain.logprobs, std::nullopt);
  EXPECT_EQ(plain.prompt_logprobs, std::nullopt);
  EXPECT_EQ(plain.max_tokens, 77);
  const std::string logprobs = R"("message.output_text.logprobs")", sealed = R"("reasoning.encrypted_content")";
  for (const std::string& list :
       {logprobs, logprobs + "," + sealed, sealed + "," + logprobs, sealed, sealed + R"(,"x")"}) {
    const ResponsesRequest request = request_of(body_with(R"("include":[)" + list + "]"));
    const bool asks = list.find("logprobs") != std::string::npos;
    EXPECT_EQ(request.chat.sampling.logprobs, asks ? std::optional(0) : std::nullopt) << list;
    EXPECT_EQ(request.shows_sealed_reasoning, list.find("reasoning") != std::string::npos) << list;
  }
  EXPECT_EQ(request_of(body_with(R"("top_logprobs":0)")).chat.sampling.logprobs, std::nullopt);
  EXPECT_EQ(request_of(body_with(R"("top_logprobs":1)")).chat.sampling.logprobs, 1);
  EXPECT_EQ(request_of(body_with(R"("n":1)"), nullptr, options).chat.sampling.n, 1);
  EXPECT_EQ(refusal_of(R"("include":[7])").param, "include[0]");
  EXPECT_EQ(refusal_of(R"("n":2)").param, "n");
}

/// What is kept can be listed: every item has an id and a type.
TEST(ResponsesRequest, ItemsAreKeptWithIdsAndTypes) {
  ResponseStore store({});
  store.put("resp_a", {.input = "[]",
                       .head = "{",
                       .output = R"([{"id":"msg_a","role":"assistant","content":"x"}])",
                       .output_ids = {"msg_a"}});
  const Json kept = Json::parse(
      request_of(body_of(R"({"input":[{"role":"user","content":"a"},{"id":"mine","type":"message","role":"user",)"
                         R"("content":"b"},{"type":"function_call","call_id":"c","name":"f","arguments":"{}"},)"
                         R"({"type":"additional_tools","role":"developer","tools":[]},{"id":"msg_a"}]})"),
                 &store)
          .input);
  ASSERT_EQ(kept.size(), 5U);
  EXPECT_EQ(kept[0]["type"], "message");
  EXPECT_EQ(kept[1]["id"], "mine");
  EXPECT_EQ(kept[2]["type"], "function_call");
  EXPECT_EQ(kept[3]["type"], "additional_tools");
  EXPECT_EQ(kept[4]["type"], "item_reference");
  EXPECT_TRUE(kept[0]["id"].get<std::string>().starts_with("item_"));
  EXPECT_TRUE(kept[2]["id"].get<std::string>().starts_with("item_"));
  EXPECT_NE(kept[0]["id"], kept[2]["id"]);
  const Json text = Json::parse(request_of(body_of(R"({"input":"Hi"})")).input);
  EXPECT_EQ(text[0]["content"].dump(), R"([{"type":"input_text","text":"Hi"}])");
}

TEST(ResponsesRequest, ShapesThatAreNotReadAreToldApart) {
  EXPECT_EQ(refusal_of(R"("text":7)").param, "text");
  EXPECT_EQ(refusal_of(R"("text":{"format":{}})").param, "text.format");
  EXPECT_EQ(refusal_of(R"("text":{"format":7})").param, "text.format");
  EXPECT_EQ(refusal_of(R"("text":{"format":{"type":"json_schema","name":"n","schema":7}})").param,
            "text.format.schema");
  EXPECT_EQ(refusal_of(R"("metadata":[])").param, "metadata");
  EXPECT_EQ(refusal_of(R"("background":true,"store":false)").param, "background");
  EXPECT_EQ(refusal_of(R"("context_management":[7])").param, "context_management[0].type");
  EXPECT_EQ(refusal_of(R"("context_management":[{"type":"x"}])").param, "context_management[0].type");
  EXPECT_EQ(refusal_of(R"("context_management":[{"type":"compaction","compact_threshold":0}])").param,
            "context_management[0].compact_threshold");
  ResponsesRequest request;
  ResponseStore none({.count_max = 0});
  EXPECT_EQ(parse_responses_request(body_with(R"("background":true)"), {}, "resp_1", none, request)->param,
            "background");
  ResponseStore store({});
  store.put("resp_0", {.input = "[]", .output = "[]"});
  EXPECT_FALSE(parse_responses_request(body_of(R"({"previous_response_id":"resp_0"})"), {}, "resp_1", store, request));
  EXPECT_EQ(parse_responses_request(body_of("{}"), {}, "resp_1", store, request)->param, "input");
}

TEST(ResponsesRequest, SummariesWhereAnyAreAskedFor) {
  EXPECT_FALSE(request_of(body_with(R"("reasoning":{})")).shows_summary);
  EXPECT_FALSE(request_of(body_with(R"("reasoning":{"summary":"none"})")).shows_summary);
  EXPECT_TRUE(request_of(body_with(R"("reasoning":{"summary":"concise"})")).shows_summary);
  EXPECT_TRUE(request_of(body_with(R"("reasoning":{"generate_summary":"auto"})")).shows_summary);
}

TEST(ResponsesRequest, ACodexConversation) {
  const ResponsesRequest request = request_of(codex_requests()["later turn"]);
  const std::vector<Message>& messages = request.chat.messages;
  ASSERT_EQ(messages.size(), 13U);
  const Message& first = messages[4];
  EXPECT_EQ(first.reasoning, "Look first.");
  EXPECT_EQ(first.text, "I look at the file.");
  ASSERT_EQ(first.calls.size(), 2U);
  EXPECT_EQ(first.calls[0].arguments.dump(), R"({"cmd":"cat a.py"})");
  EXPECT_EQ(first.calls[1].name, "collaboration__wait");
  EXPECT_EQ(messages[5].text, "print(1");
  EXPECT_EQ(messages[5].tool_call_id, "call_1");
  EXPECT_EQ(messages[6].text, "nobody" + left_out_text("input_image"));
  EXPECT_EQ(messages[7].reasoning, "");  // sealed by someone else
  EXPECT_EQ(messages[7].calls.at(0).name, "apply_patch");
  EXPECT_THAT(messages[7].calls[0].arguments["input"].get<std::string>(), HasSubstr("+print(1)"));
  EXPECT_EQ(messages[9].calls.at(0).arguments.dump(), R"({"command":["ls","-l"]})");
  EXPECT_EQ(messages[10].tool_call_id, "call_4");
  EXPECT_EQ(messages[11].text, "[helper]\na.py is fine now");
  EXPECT_EQ(messages[12].role, Role::user);
  EXPECT_THAT(request.chat.notes, testing::Contains(HasSubstr("ghost_snapshot")));
}

TEST(ResponsesRequest, ItemsBecomeMessages) {
  const std::string user = R"({"role":"user","content":"Hi"})";
  EXPECT_EQ(messages_of("\"Hi\""), "[" + user + "]");
  EXPECT_EQ(messages_of(R"([{"role":"user","content":[{"type":"input_text","text":"H"},{"type":"text","text":"i"}]}])",
                        R"(,"instructions":"Be.")"),
            R"([{"role":"system","content":"Be."},)" + user + "]");
  // Items of the assistant's are one message until something else comes, or what cannot stand behind the rest.
  EXPECT_EQ(
      messages_of(R"([{"role":"user","content":"Hi"},)"
                  R"({"type":"reasoning","summary":[],"content":[{"type":"reasoning_text","text":"a"}]},)"
                  R"({"type":"reasoning","summary":[{"type":"summary_text","text":"b"}],"encrypted_content":"other"},)"
                  R"({"type":"message","role":"assistant","content":[{"type":"output_text","text":"c"}]},)"
                  R"({"type":"message","role":"assistant","content":[{"type":"refusal","refusal":"d"}]},)"
                  R"({"type":"function_call","call_id":"1","name":"f","arguments":"{}"},)"
                  R"({"type":"message","role":"assistant","content":"e"},)"
                  R"({"type":"reasoning","summary":[],"encrypted_content":"tessera-reasoning:g"},)"
                  R"({"type":"reasoning","summary":[]},{"role":"user","content":""}])"),
      "[" + user +
          R"(,{"role":"assistant","content":"c\n\nd","reasoning_content":"a\nb","tool_calls":[{"id":"1","type":"function","function":{"name":"f","arguments":{}}}]},)"
          R"({"role":"assistant","content":"e"},{"role":"assistant","content":"","reasoning_content":"g"},)"
          R"({"role":"user","content":""}])");
  // Text and thinking without any add nothing; thinking behind a call begins a message.
  EXPECT_EQ(
      messages_of(R"([{"role":"user","content":"Hi"},)"
                  R"({"type":"function_call","call_id":"1","name":"f","arguments":{"a":1}},)"
                  R"({"type":"reasoning","content":"c","encrypted_content":"tessera-reasoning:d"},)"
                  R"({"role":"assistant","content":["a","b"]},{"role":"assistant","content":""}])"),
      "[" + user +
          R"(,{"role":"assistant","content":"","tool_calls":[{"id":"1","type":"function","function":{"name":"f","arguments":{"a":1}}}]},)"
          R"({"role":"assistant","content":"ab","reasoning_content":"c"}])");
  EXPECT_EQ(messages_of(R"([{"role":"user","content":"Hi"},)"
                        R"({"type":"function_call_output","call_id":"1","output":{"error":"x"}}])"),
            "[" + user + R"(,{"role":"tool","content":"{\"error\":\"x\"}","tool_call_id":"1"}])");
  EXPECT_EQ(messages_of(R"([{"type":"agent_message","content":"Hi"}])"), "[" + user + "]") << "of nobody in particular";
  // What models write as arguments need be no JSON.
  const ResponsesRequest repaired =
      request_of(body_of(R"({"input":[{"type":"function_call","call_id":"1","name":"f","arguments":"{'a': 1"}]})"));
  EXPECT_THAT(repaired.chat.notes, ElementsAre(HasSubstr("input[0].arguments")));
}

TEST(ResponsesRequest, CompactionsAreReadWhereTheyAreOurs) {
  const auto own = request_of(body_of(
      R"({"input":[{"type":"compaction","encrypted_content":"tessera-summary:It went well."},{"role":"user","content":"x"}]})"));
  ASSERT_EQ(own.chat.messages.size(), 2U);
  EXPECT_EQ(own.chat.messages[0].role, Role::system);  // it stays where a conversation is shortened
  EXPECT_EQ(own.chat.messages[0].text, "The conversation before, in short:\n\nIt went well.");
  const auto other = request_of(
      body_of(R"({"input":[{"type":"compaction","encrypted_content":"gAAA"},{"role":"user","content":"x"}]})"));
  EXPECT_EQ(other.chat.messages.size(), 1U);
  EXPECT_THAT(other.chat.notes, ElementsAre(HasSubstr("input[0] is of type \"compaction\"")));
}

TEST(ResponsesRequest, ACompactionStandsForWhatIsBeforeIt) {
  const std::string before =
      R"({"role":"system","content":"s"},{"role":"user","content":"a"},{"role":"assistant","content":"b"},)"
      R"({"type":"function_call","call_id":"1","name":"f"},{"type":"function_call_output","call_id":"1","output":"c"},)"
      R"({"type":"compaction","encrypted_content":"tessera-summary:old"},{"role":"user","content":"d"},)";
  const auto texts = [&](const std::string& seal) {
    const Json item = {{"type", "compaction"}, {"encrypted_content", seal}};
    const auto request =
        request_of(body_of(R"({"input":[)" + before + item.dump() + R"(,{"role":"assistant","content":"e"}]})"));
    std::string all;
    for (const Message& message : request.chat.messages) all += message.text.substr(message.text.rfind('\n') + 1) + " ";
    return all;
  };
  EXPECT_EQ(texts("gAAA"), "s a old d e ");
  EXPECT_EQ(texts("tessera-summary:new"), "s a d new e ");
  EXPECT_EQ(texts(sealed({.summary = "new", .whole = true, .said = {"x", "y"}, .asked = "z"})), "s x y new z e ");
  EXPECT_EQ(texts(sealed({.summary = "new", .whole = true})), "s new e  ");  // a template wants a user
  EXPECT_EQ(texts(sealed({.whole = true, .asked = "z"})), "s z e ");
}

/// However it begins: only the server's own messages are summaries.
TEST(ResponsesRequest, WhatTheUserSaidOfASummaryStays) {
  const std::string said = R"({"role":"user","content":"The conversation before, in short:\n\nHi"})";
  const auto request = request_of(
      body_of(R"({"input":[)" + said + R"(,{"type":"compaction","encrypted_content":"tessera-summary:s"}]})"));
  ASSERT_EQ(request.chat.messages.size(), 2U);
  EXPECT_EQ(request.chat.messages[0].role, Role::user);
}

TEST(Compaction, IsReadAsItWasSealed) {
  const std::vector<std::string> texts = {"", "a", "12,3:", "\xc3\xa9\n", std::string(3000, 'x')};
  for (size_t i = 0; i < 125; ++i) {
    const Compaction made{.summary = texts[i % 5],
                          .whole = true,
                          .said = std::vector<std::string>(i % 4, texts[i / 5 % 5]),
                          .asked = texts[i / 25]};
    Compaction read;
    ASSERT_TRUE(unseal(sealed(made), read)) << i;
    EXPECT_TRUE(read.whole);
    EXPECT_EQ(read.summary, made.summary);
    EXPECT_EQ(read.said, made.said);
    EXPECT_EQ(read.asked, made.asked);
    // What was cut or grew on its way is none.
    EXPECT_FALSE(unseal(sealed(made) + "x", read));
    EXPECT_FALSE(unseal(sealed(made).substr(0, sealed(made).size() - 1), read));
  }
  std::string many = "tessera-context:0,0";
  for (size_t i = 0; i < kSaidMax; ++i) many += ",0";
  Compaction read;
  EXPECT_TRUE(unseal(many + ":", read));
  EXPECT_EQ(read.said.size(), kSaidMax);
  for (const std::string& wrong :
       {std::string("tessera-context:"), std::string("tessera-context:1"), std::string("tessera-context:1:a"),
        std::string("tessera-context:-1,2:a"), std::string("tessera-context:1,99999999999999999999:a"),
        std::string("tessera-context:1,18446744073709551615:ab"), std::string("tessera-context:1;1:ab"),
        std::string("tessera-context:3,18446744073709551615:ab"),
        std::string("tessera-context:4000000000000000000,1:a"), std::string("tessera-context:1,1:\xc3\xa9"),
        many + ",0:", std::string("tessera-")}) {
    EXPECT_FALSE(unseal(wrong, read)) << wrong;
  }
}

TEST(ResponsesRequest, FieldsOfOtherEndpointsAreNoted) {
  const auto request =
      request_of(body_with(R"("messages": [], "max_completion_tokens": 5, "best_of": 1, "echo": false)"));
  EXPECT_THAT(request.chat.notes, ElementsAre("not known here and left out: messages, max_completion_tokens"));
}

TEST(ResponsesRequest, ShorteningByTheServer) {
  EXPECT_FALSE(request_of(body_with("")).tokens_before_summary);
  const auto tokens = [](const std::string& list) {
    const auto request = request_of(body_with("\"context_management\":" + list));
    EXPECT_THAT(request.chat.notes, IsEmpty()) << "it is read";
    return request.tokens_before_summary;
  };
  EXPECT_EQ(tokens(R"([{"type":"compaction","compact_threshold":5000}])"), 5000);
  EXPECT_EQ(tokens(R"([{"type":"compaction","compact_threshold":1}])"), 1);
  EXPECT_EQ(tokens(R"([{"type":"compaction"}])"), 0);
  EXPECT_EQ(tokens("[]"), std::nullopt);
  for (const auto& [list, param] :
       {std::pair{"{}", "context_management"}, std::pair{"[5]", "context_management[0].type"},
        std::pair{R"([{"type":"clear"}])", "context_management[0].type"},
        std::pair{R"([{"type":"compaction","compact_threshold":0}])", "context_management[0].compact_threshold"},
        std::pair{R"([{"type":"compaction","compact_threshold":"5"}])", "context_management[0].compact_threshold"}}) {
    EXPECT_EQ(refusal_of("\"context_management\":" + std::string(list)).param, param) << list;
  }
  const auto asked = request_of(body_of(R"({"input":[{"role":"user","content":"a"},{"type":"compaction_trigger"}]})"));
  EXPECT_TRUE(asked.sums_up);
  EXPECT_EQ(asked.chat.messages.size(), 1U);
  EXPECT_EQ(Json::parse(asked.input).size(), 1U);  // a response that goes on from this one asks for no summary
  EXPECT_THAT(asked.chat.notes, IsEmpty());
  EXPECT_EQ(refusal_of("", R"([{"type":"compaction_trigger"},{"role":"user","content":"a"}])").param, "input[0].type");
}

TEST(ResponsesRequest, Sampling) {
  const ResponsesRequest request = request_of(body_with(
      R"("max_output_tokens":7,"temperature":0.7,"top_p":0.5,"top_logprobs":2,"seed":5,"min_p":0.1,"stop":"x",)"
      R"("include":["message.output_text.logprobs"],"metadata":{"a":"b"},"user":"me","text":{"verbosity":"low"})"));
  EXPECT_EQ(request.chat.sampling.max_tokens, 7);
  EXPECT_EQ(request.chat.sampling.logprobs, 2);
  EXPECT_EQ(request.chat.sampling.seed, 5U);
  EXPECT_THAT(request.chat.sampling.stop, ElementsAre("x"));
  EXPECT_EQ(request.echo["temperature"].dump(), "0.7");
  EXPECT_EQ(request.echo["text"].dump(), R"({"format":{"type":"text"},"verbosity":"low"})");
  EXPECT_EQ(request.echo["metadata"].dump(), R"({"a":"b"})");
  EXPECT_EQ(request.echo["user"], "me");
  EXPECT_EQ(request_of(body_with("")).chat.sampling.logprobs, std::nullopt);
}

TEST(ResponsesRequest, Thinking) {
  const auto variables = [](const std::string& fields) {
    return request_of(body_with(fields)).chat.template_variables.dump();
  };
  EXPECT_EQ(variables(""), "{}");
  EXPECT_THAT(variables(R"("reasoning":{"effort":"none"})"), HasSubstr(R"("enable_thinking":false)"));
  EXPECT_THAT(variables(R"("reasoning":{"effort":"high","summary":"auto"})"), HasSubstr(R"("enable_thinking":true)"));
  EXPECT_EQ(request_of(body_with(R"("reasoning":{"effort":"low"})")).chat.thinking_budget, 2048);
  EXPECT_TRUE(request_of(body_with("")).chat.returns_reasoning);  // items of it are in what comes next
  EXPECT_THAT(variables(R"("chat_template_kwargs":{"enable_thinking":false})"), HasSubstr("false"));
}

TEST(ResponsesRequest, Formats) {
  const auto format = [](const std::string& text) { return request_of(body_with("\"text\":" + text)).chat.format; };
  EXPECT_FALSE(format(R"({"format":{"type":"text"}})"));
  const auto object = format(R"({"format":{"type":"json_object"}})");
  ASSERT_TRUE(object);
  EXPECT_EQ(object->source.kind, GrammarSource::Kind::json_object);
  EXPECT_EQ(object->param, "text.format");
  const auto schema =
      format(R"({"format":{"type":"json_schema","name":"n","strict":true,"schema":{"type":"object"}}})");
  EXPECT_EQ(schema->source.text, R"({"type":"object"})");
  EXPECT_EQ(schema->param, "text.format.schema");
  EXPECT_EQ(request_of(body_with(R"("guided_regex":"a")")).chat.format->source.text, "a");
}

TEST(ResponsesRequest, NamesWhatIsWrong) {
  const char* const cases[][3] = {
      {"\"Hi\"", R"("background":true,"store":false)", "background"},
      {"\"Hi\"", R"("conversation":"c")", "conversation"},
      {"\"Hi\"", R"("prompt":{"id":"p"})", "prompt"},
      {"\"Hi\"", R"("previous_response_id":"resp_x")", "previous_response_id"},
      {"\"Hi\"", R"("max_output_tokens":0)", "max_output_tokens"},
      {"\"Hi\"", R"("truncation":"maybe")", "truncation"},
      {"\"Hi\"", R"("include":"x")", "include"},
      {"\"Hi\"", R"("metadata":[])", "metadata"},
      {"\"Hi\"", R"("n":2)", "n"},
      {"\"Hi\"", R"("best_of":2)", "best_of"},
      {"\"Hi\"", R"("modalities":["text","audio"])", "modalities"},
      {"\"Hi\"", R"("audio":{})", "audio"},
      {"\"Hi\"", R"("web_search_options":{})", "web_search_options"},
      {"\"Hi\"", R"("documents":[{}])", "documents"},
      {"\"Hi\"", R"("echo":true)", "echo"},
      {"\"Hi\"", R"("chat_template":"x")", "chat_template"},
      {"\"Hi\"", R"("text":{"format":{"type":"json_schema"}})", "text.format.schema"},
      {"\"Hi\"", R"("text":{"format":{"type":"xml"}})", "text.format.type"},
      {"\"Hi\"", R"("text":{"format":{"type":"json_object"}},"guided_regex":"a")", "text.format"},
      {"\"Hi\"", R"("reasoning":{"effort":"much"})", "reasoning.effort"},
      {"\"Hi\"", R"("reasoning":5)", "reasoning"},
      {"\"Hi\"", R"("tools":[{}])", "tools[0].type"},
      {"\"Hi\"", R"("tools":[{"type":5}])", "tools[0].type"},
      {"\"Hi\"", R"("tools":[{"type":"function"}])", "tools[0].name"},
      {"\"Hi\"", R"("tools":[{"type":"function","name":"f"},{"type":"custom","name":"f"}])", "tools[1].name"},
      {"\"Hi\"", R"("tools":[{"type":"namespace","name":"n","tools":[{"type":"function","name":"f f"}]}])",
       "tools[0].tools[0].name"},
      {"\"Hi\"", R"("tool_choice":{"type":"function","name":"f"})", "tool_choice.name"},
      {"\"Hi\"", R"("tool_choice":{"type":"web_search"})", "tool_choice.type"},
      {"\"Hi\"", R"("tool_choice":{"type":5})", "tool_choice.type"},
      {"\"Hi\"", R"("tools":[{"type":"function","name":"f"}],"tool_choice":{"type":"function"})", "tool_choice.name"},
      {"\"Hi\"", R"("tools":[{"type":"function","name":"f"}],"tool_choice":{"type":"function","function":{}})",
       "tool_choice.function.name"},
      {"\"Hi\"", R"("tool_choice":{"type":"allowed_tools","allowed_tools":{"mode":5}})",
       "tool_choice.allowed_tools.mode"},
      {"\"Hi\"", R"("tool_choice":"required")", "tool_choice"},
      {"5", "", "input"},
      {"[5]", "", "input[0]"},
      {"[{}]", "", "input[0].type"},
      {R"([{"content":"x"}])", "", "input[0].type"},
      {R"([{"id":"msg_x","content":"x"}])", "", "input[0].type"},
      {R"([{"id":"msg_x"}])", "", "input[0].id"},
      {R"([{"type":"additional_tools","tools":[{"type":"function"}]}])", "", "input[0].tools[0].name"},
      {R"([{"type":"additional_tools","tools":[{"type":"function","name":5}]}])", "", "input[0].tools[0].name"},
      {R"([{"type":"custom_tool_call","call_id":"1","name":"c","input":{}}])", "", "input[0].input"},
      {R"([{"role":"user","content":[{}]}])", "", "input[0].content[0]"},
      {R"([{"role":"user","content":[{"type":5}]}])", "", "input[0].content[0]"},
      {R"([{"role":"tool","content":"x"}])", "", "input[0].role"},
      {R"([{"role":"user"}])", "", "input[0].content"},
      {R"([{"role":"user","content":[{"type":"input_image","image_url":"x"}]}])", "", "input[0].content[0].type"},
      {R"([{"role":"user","content":[{"type":"input_text"}]}])", "", "input[0].content[0].text"},
      {R"([{"type":"function_call","call_id":"1"}])", "", "input[0].name"},
      {R"([{"type":"function_call_output","call_id":"1"}])", "", "input[0].output"},
      {R"([{"type":"local_shell_call","call_id":"1"}])", "", "input[0].action"},
      {R"([{"type":"shell_call","call_id":"1","action":5}])", "", "input[0].action"},
      {R"([{"type":"shell_call_output","call_id":"1","output":[5]}])", "", "input[0].output[0]"},
      {R"([{"type":"shell_call_output","call_id":"1","output":[{"stdout":5}]}])", "", "input[0].output[0].stdout"},
      {R"([{"type":"apply_patch_call","call_id":"1"}])", "", "input[0].operation"},
      {R"([{"type":"apply_patch_call_output","call_id":"1","output":5}])", "", "input[0].output"},
      {R"([{"type":"item_reference","id":"msg_x"}])", "", "input[0].id"},
  };
  for (const auto& [input, fields, param] : cases) {
    const ApiError error = refusal_of(fields, input);
    EXPECT_EQ(error.param, param) << input << fields;
    EXPECT_THAT(error.message, testing::Not(IsEmpty()));
  }
  RequestOptions drops;
  drops.drops_media = true;
  const Json picture = body_of(R"({"input":[{"role":"user","content":[{"type":"input_image","image_url":"x"}]}]})");
  const ResponsesRequest dropped = request_of(picture, nullptr, drops);
  EXPECT_EQ(dropped.chat.messages[0].text, left_out_text("input_image"));
  EXPECT_THAT(dropped.chat.notes, ElementsAre(HasSubstr("input[0].content[0] is of type \"input_image\"")));
}

TEST(ResponsesRequest, IsWithinLimits) {
  RequestOptions options;
  options.limits.messages_max = 2;
  options.limits.tools_max = 2;
  ResponseStore store({});
  ResponsesRequest request;
  const Json items = body_of(R"({"input":[{"role":"user","content":""},{"role":"user","content":""},{"type":"x"}]})");
  EXPECT_EQ(parse_responses_request(items, options, "", store, request)->param, "input");
  const Json tools = body_with(R"("tools":[{"type":"function","name":"a"},{"type":"namespace","name":"n","tools":[)"
                               R"({"type":"function","name":"b"},{"type":"function","name":"c"}]}])");
  EXPECT_EQ(parse_responses_request(tools, options, "", store, request)->param, "tools[1].tools");
  options = {};
  options.limits.tool_calls_max = 1;
  const std::string call = R"({"type":"function_call","name":"f"})";
  EXPECT_FALSE(parse_responses_request(body_of("{\"input\":[" + call + "]}"), options, "", store, request));
  const Json calls = body_of("{\"input\":[" + call + "," + call + "]}");
  EXPECT_EQ(parse_responses_request(calls, options, "", store, request)->param, "input[1]");
  options = {};
  options.limits.parts_max = 1;
  const std::string part = R"({"type":"text","text":"a"})";
  const std::pair<std::string, std::string> lists[] = {{R"({"role":"user","content":)", "content"},
                                                       {R"({"type":"reasoning","content":)", "content"},
                                                       {R"({"type":"function_call_output","output":)", "output"},
                                                       {R"({"type":"shell_call_output","output":)", "output"}};
  for (const auto& [item, key] : lists) {
    const auto param = [&](const std::string& parts) {
      const Json body = body_of("{\"input\":[" + item + "[" + parts + "]}]}");
      const auto error = parse_responses_request(body, options, "", store, request);
      return error ? error->param : "";
    };
    EXPECT_EQ(param(part), "") << item;
    EXPECT_EQ(param(part + "," + part), "input[0]." + key) << item;
  }
  // Those of items count too.
  options = {};
  const std::string one = R"([{"type":"function","name":"a"}])", other = R"([{"type":"function","name":"b"}])";
  const Json both = body_of(R"({"input":[{"type":"additional_tools","tools":)" + other + "}],\"tools\":" + one + "}");
  options.limits.tool_bytes_max = one.size() + other.size();
  EXPECT_FALSE(parse_responses_request(both, options, "", store, request));
  --options.limits.tool_bytes_max;
  EXPECT_EQ(parse_responses_request(both, options, "", store, request)->param, "input[0].tools");
}

TEST(DropOldest, KeepsSystemMessagesAndTheLastTurn) {
  const auto dropped = [](double share) {
    std::vector<Message> messages = {{.role = Role::system, .text = "s"},
                                     {.role = Role::user, .text = "a"},
                                     {.role = Role::assistant, .calls = {{.id = "1", .name = "f"}}},
                                     {.role = Role::tool, .text = "b"},
                                     {.role = Role::user, .text = "c"},
                                     {.role = Role::assistant, .text = "d"}};
    const size_t count = drop_oldest(share, messages);
    std::string left = std::to_string(count);
    for (const Message& message : messages) left += message.text + (message.calls.empty() ? "" : "call");
    return left;
  };
  EXPECT_EQ(dropped(0.01), "1scallbcd");
  EXPECT_EQ(dropped(0.3), "3scd");  // an answer goes with its call
  EXPECT_EQ(dropped(0.99), "3scd");
}

/// Calls and answers of tools take room too: for half of it no more need go than the large one and what is before.
TEST(DropOldest, CountsWhatCallsAndTheirAnswersTake) {
  const std::string large(400, 'x');
  for (const bool call : {true, false}) {
    ToolCall asked{.id = "1", .name = "f"};
    if (call) asked.arguments = {{"text", large}};
    std::vector<Message> messages = {{.role = Role::user, .text = "a"}, {.role = Role::assistant, .calls = {asked}}};
    if (!call) messages.push_back({.role = Role::tool, .text = large});
    messages.push_back({.role = Role::user, .text = "b"});
    messages.push_back({.role = Role::user, .text = "c"});
    EXPECT_EQ(drop_oldest(0.5, messages), call ? 2U : 3U);
    EXPECT_EQ(messages.front().text, "b");
  }
}

}  // namespace
}  // namespace tessera::server::responses
