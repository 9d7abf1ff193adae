// Deltas as items and events of a response.

#include <array>
#include <ctime>
#include <nlohmann/json.hpp>
#include <utility>

#include "server/request/custom_tool.h"
#include "server/responses/output_items.h"
#include "server/responses_json.h"

namespace tessera::server::responses {
namespace {

using nlohmann::json;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

const ResponseHead kHead = {.id = "resp_1", .created = 5, .model = "m"};

std::vector<json> events_of(const std::string& text) {
  std::vector<json> events;
  for (size_t at = 0; at < text.size();) {
    const size_t end = text.find("\n\n", at);
    const std::string block = text.substr(at, end - at);
    const size_t line = block.find("\ndata: ");
    events.push_back(json::parse(block.substr(line + 7)));
    EXPECT_EQ("event: " + events.back()["type"].get<std::string>(), block.substr(0, line));
    EXPECT_EQ(events.back()["sequence_number"], events.size() - 1);
    at = end + 2;
  }
  return events;
}

std::vector<std::string> types_of(const std::vector<json>& events) {
  std::vector<std::string> types;
  for (const json& event : events) types.push_back(event["type"].get<std::string>().substr(9));  // "response."
  return types;
}

/// The deltas as a stream, and what the answer in one piece would be: the two agree.
struct Written {
  std::vector<json> events;
  json response;
};
Written write(const std::vector<ChatDelta>& deltas, const std::string& fields = "",
              ResponseStatus status = ResponseStatus::completed) {
  ResponsesRequest request = request_of(body_with(fields));
  const ResponseState end{.status = status, .usage = Usage{.prompt_tokens = 3, .completion_tokens = 4}};
  std::string text;
  OutputItems whole(kHead, request);
  for (const ChatDelta& delta : deltas) whole.feed(delta, text);
  whole.end(end, text);
  EXPECT_EQ(text, "");
  request.chat.stream.stream = true;
  OutputItems streamed(kHead, request);
  streamed.begin(text);
  for (const ChatDelta& delta : deltas) streamed.feed(delta, text);
  streamed.end(end, text);
  Written written{.events = events_of(text), .response = json::parse(whole.json())};
  EXPECT_EQ(written.events.back()["response"]["output"], written.response["output"]);
  // An item has one id and one place, and is at the end what it was when it was done; its deltas are its text.
  std::string said;
  for (const json& event : written.events) {
    if (!event.contains("output_index")) continue;
    const json& item = written.response["output"][event["output_index"].get<size_t>()];
    const std::string type = event["type"];
    EXPECT_EQ(event.contains("item") ? event["item"]["id"] : event["item_id"], item["id"]) << type;
    if (type == "response.output_item.done") {
      EXPECT_EQ(event["item"], item);
    }
    if (type.starts_with("response.reasoning_summary")) continue;  // says the same
    if (type.ends_with(".delta")) {
      EXPECT_NE(event["delta"], "") << type;
      said += event["delta"];
    }
    for (const char* member : {"text", "arguments", "input", "command"}) {
      if (!type.ends_with(".done") || !event.contains(member)) continue;
      EXPECT_EQ(std::exchange(said, ""), event[member]) << type;
    }
  }
  return written;
}

ChatDelta call(int index, const std::string& name, const std::string& arguments) {
  return {
      .tool_calls = {{.index = index, .id = "call_" + std::to_string(index), .name = name, .arguments = arguments}}};
}
ChatDelta more(int index, const std::string& arguments) {
  return {.tool_calls = {{.index = index, .arguments = arguments}}};
}

TEST(OutputItems, ThinkingAndText) {
  const Written written = write(
      {{.reasoning = "Let "}, {.reasoning = "me."}, {.content = "Hel"}, {.content = "lo", .finish = ChatFinish::stop}});
  EXPECT_THAT(types_of(written.events),
              ElementsAre("created", "in_progress", "output_item.added", "content_part.added", "reasoning_text.delta",
                          "reasoning_text.delta", "reasoning_text.done", "content_part.done", "output_item.done",
                          "output_item.added", "content_part.added", "output_text.delta", "output_text.delta",
                          "output_text.done", "content_part.done", "output_item.done", "completed"));
  const json& created = written.events[0]["response"];
  EXPECT_EQ(created["status"], "in_progress");
  EXPECT_EQ(created["output"], json::array());
  EXPECT_TRUE(created["usage"].is_null() && created["completed_at"].is_null());
  EXPECT_EQ(written.events[2]["item"]["content"], json::array());
  EXPECT_EQ(written.events[9]["item"]["status"], "in_progress");
  EXPECT_EQ(written.events[11]["delta"], "Hel");
  EXPECT_EQ(written.events[13]["text"], "Hello");

  const json& response = written.response;
  EXPECT_EQ(response["id"], "resp_1");
  EXPECT_EQ(response["object"], "response");
  EXPECT_EQ(response["status"], "completed");
  EXPECT_TRUE(response["error"].is_null() && response["incomplete_details"].is_null());
  EXPECT_EQ(response["usage"].dump(),
            R"({"input_tokens":3,"input_tokens_details":{"cache_write_tokens":0,"cached_tokens":0},"output_tokens":4,)"
            R"("output_tokens_details":{"reasoning_tokens":0},"total_tokens":7})");
  const json& thinking = response["output"][0];
  EXPECT_EQ(thinking, json({{"type", "reasoning"},
                            {"id", thinking["id"]},
                            {"status", "completed"},
                            {"summary", json::array()},
                            {"content", {{{"type", "reasoning_text"}, {"text", "Let me."}}}}}));
  const json& message = response["output"][1];
  const json part = {
      {"type", "output_text"}, {"annotations", json::array()}, {"logprobs", json::array()}, {"text", "Hello"}};
  EXPECT_EQ(message, json({{"type", "message"},
                           {"id", message["id"]},
                           {"status", "completed"},
                           {"role", "assistant"},
                           {"content", {part}}}));
}

TEST(OutputItems, SummariesAndSealedThinkingWhereTheyAreAskedFor) {
  const Written written = write({{.reasoning = "a"}, {.reasoning = "b"}, {.content = "c", .finish = ChatFinish::stop}},
                                R"("reasoning":{"summary":"auto"},"include":["reasoning.encrypted_content"])");
  std::string summary;
  for (const json& event : written.events) {
    if (event["type"] == "response.reasoning_summary_text.delta") summary += event["delta"].get<std::string>();
  }
  EXPECT_EQ(summary, "ab");
  const json& begun = written.events[2]["item"];
  EXPECT_EQ(begun["summary"], json::array()) << "there is none yet";
  EXPECT_EQ(begun.at("encrypted_content"), json());
  const json& item = written.response["output"][0];
  EXPECT_EQ(item["summary"].dump(), R"([{"text":"ab","type":"summary_text"}])");
  // Codex sends the item back without its content.
  json sent = {{"type", "reasoning"}, {"summary", json::array()}, {"encrypted_content", item["encrypted_content"]}};
  const Json body = body_of(json{{"input", json::array({sent})}}.dump());
  EXPECT_EQ(request_of(body).chat.messages[0].reasoning, "ab");
}

TEST(OutputItems, SummariesHaveEventsOfTheirOwn) {
  const Written written =
      write({{.reasoning = "a"}, {.content = "c", .finish = ChatFinish::stop}}, R"("reasoning":{"summary":"auto"})");
  EXPECT_THAT(
      types_of(written.events),
      ElementsAre("created", "in_progress", "output_item.added", "content_part.added", "reasoning_summary_part.added",
                  "reasoning_text.delta", "reasoning_summary_text.delta", "reasoning_text.done", "content_part.done",
                  "reasoning_summary_text.done", "reasoning_summary_part.done", "output_item.done", "output_item.added",
                  "content_part.added", "output_text.delta", "output_text.done", "content_part.done",
                  "output_item.done", "completed"));
  EXPECT_EQ(written.events[9]["text"], "a");
  EXPECT_EQ(written.events[10]["part"].dump(), R"({"text":"a","type":"summary_text"})");
}

/// Of a message, at its end, and of no thinking.
TEST(OutputItems, LogprobsOfAMessageComeAtItsEndToo) {
  const std::string logprob = R"({"token":"c","logprob":-0.5,"bytes":[99],"top_logprobs":[]})";
  const Written written = write({{.reasoning = "a"},
                                 {.content = "c", .logprobs = logprob},
                                 {.content = "c", .logprobs = logprob},
                                 {.finish = ChatFinish::stop}},
                                R"("top_logprobs":1)");
  for (const json& event : written.events) {
    if (event["type"] == "response.output_text.done") {
      EXPECT_EQ(event["logprobs"].size(), 2U);
    }
    if (event["type"] == "response.reasoning_text.done") {
      EXPECT_FALSE(event.contains("logprobs"));
    }
  }
  EXPECT_EQ(written.response["output"][1]["content"][0]["logprobs"].size(), 2U);
}

/// How it ended is said by the last event, and kept.
TEST(OutputItems, EndsAreToldApart) {
  const auto last = [](ResponseStatus status, ChatFinish finish = ChatFinish::none) {
    return types_of(write({{.content = "c", .finish = finish}}, "", status).events).back();
  };
  EXPECT_EQ(last(ResponseStatus::completed), "completed");
  EXPECT_EQ(last(ResponseStatus::completed, ChatFinish::length), "incomplete");
  EXPECT_EQ(last(ResponseStatus::failed, ChatFinish::length), "failed");
  EXPECT_EQ(last(ResponseStatus::cancelled), "incomplete");
  EXPECT_EQ(last(ResponseStatus::incomplete), "incomplete");
  EXPECT_EQ(last(ResponseStatus::failed), "failed");
}

TEST(OutputItems, WhatIsCompletedSaysWhen) {
  const std::time_t before = std::time(nullptr);
  const auto at = [](ResponseStatus status, ChatFinish finish) {
    return write({{.content = "c", .finish = finish}}, "", status).response["completed_at"];
  };
  const json completed = at(ResponseStatus::completed, ChatFinish::stop);
  EXPECT_GE(completed, before);
  EXPECT_LE(completed, std::time(nullptr));
  EXPECT_EQ(at(ResponseStatus::completed, ChatFinish::length), json());
  EXPECT_EQ(at(ResponseStatus::failed, ChatFinish::none), json());
  EXPECT_EQ(at(ResponseStatus::cancelled, ChatFinish::none), json());
}

TEST(OutputItems, WhatIsKeptOfAResponse) {
  ResponseStore store({});
  store.put("resp_0", {.input = "[]", .output = "[]"});
  const ResponsesRequest request = request_of(body_with(R"("previous_response_id":"resp_0")"), &store);
  OutputItems items(kHead, request);
  std::string text;
  items.begin(text);
  EXPECT_FALSE(items.stored().ended);
  items.feed({.reasoning = "a"}, text);
  items.feed({.content = "b", .finish = ChatFinish::stop}, text);
  items.end({.status = ResponseStatus::completed}, text);
  const StoredResponse& stored = items.stored();
  EXPECT_TRUE(stored.ended);
  EXPECT_EQ(stored.previous_id, "resp_0");
  EXPECT_EQ(stored.input, request.input);
  EXPECT_FALSE(stored.input.empty());
  const json output = json::parse(stored.output);
  ASSERT_EQ(output.size(), 2U);
  EXPECT_THAT(stored.output_ids, ElementsAre(output[0]["id"], output[1]["id"]));
  EXPECT_TRUE(stored.output_ids[0].starts_with("rs_"));
  EXPECT_TRUE(stored.output_ids[1].starts_with("msg_"));
  EXPECT_EQ(json::parse(stored.json())["id"], "resp_1");
}

TEST(OutputItems, Calls) {
  const std::string tools =
      R"("tools":[{"type":"function","name":"f"},{"type":"custom","name":"c"},{"type":"local_shell"},)"
      R"({"type":"namespace","name":"n","tools":[{"type":"function","name":"g"}]}])";
  const Written written = write({call(0, "f", "{\"input\": "),
                                 more(0, "\"1\"}"),
                                 call(1, "c", "{\"in"),
                                 more(1, "put\": \"x\\ny"),
                                 more(1, "\\u0001z\"}"),
                                 call(2, "n__g", "{}"),
                                 call(3, "local_shell", R"({"command": ["ls", 5], "timeout_ms": 9})"),
                                 {.finish = ChatFinish::tool_calls}},
                                tools);
  EXPECT_THAT(types_of(written.events),
              ElementsAre("created", "in_progress", "output_item.added", "function_call_arguments.delta",
                          "function_call_arguments.delta", "function_call_arguments.done", "output_item.done",
                          "output_item.added", "custom_tool_call_input.delta", "custom_tool_call_input.delta",
                          "custom_tool_call_input.done", "output_item.done", "output_item.added",
                          "function_call_arguments.delta", "function_call_arguments.done", "output_item.done",
                          "output_item.added", "output_item.done", "completed"));
  EXPECT_EQ(written.events[2]["item"]["arguments"], "");
  EXPECT_EQ(written.events[5]["arguments"], R"({"input": "1"})");
  EXPECT_EQ(written.events[8]["delta"], "x\ny");
  const json& output = written.response["output"];
  ASSERT_EQ(output.size(), 4U);
  EXPECT_EQ(output[0]["type"], "function_call");
  EXPECT_EQ(output[0]["call_id"], "call_0");
  EXPECT_EQ(output[0]["status"], "completed");
  EXPECT_FALSE(output[0].contains("namespace"));
  EXPECT_EQ(output[1]["type"], "custom_tool_call");
  EXPECT_EQ(output[1]["input"], "x\ny\x01z");
  EXPECT_EQ(output[2]["namespace"], "n");
  EXPECT_EQ(output[2]["name"], "g");
  EXPECT_EQ(output[3]["type"], "local_shell_call");
  EXPECT_EQ(output[3]["action"].dump(),
            R"({"command":["ls","5"],"env":{},"timeout_ms":9,"type":"exec","user":null,"working_directory":null})");
  EXPECT_EQ(written.response["status"], "completed");
}

/// From the first event on: a client may look for the tool before its call is whole.
TEST(OutputItems, CallsNameTheNamespacesOfTheirTools) {
  const Written written =
      write({call(0, "n__f", R"({"input": "x"})"), call(1, "n__c", R"({"input": "x"})"), call(2, "c", "{}")},
            R"("tools":[{"type":"custom","name":"c"},{"type":"namespace","name":"n","tools":[)"
            R"({"type":"function","name":"f"},{"type":"custom","name":"c"}]}])");
  const std::array<const char*, 3> types = {"function_call", "custom_tool_call", "custom_tool_call"};
  const std::array<const char*, 3> names = {"f", "c", "c"};
  const std::array<json, 3> namespaces = {"n", "n", nullptr};
  int items = 0;
  for (const json& event : written.events) {
    if (!event.contains("item")) continue;
    const auto index = event["output_index"].get<size_t>();
    EXPECT_EQ(event["item"]["type"], types.at(index)) << event;
    EXPECT_EQ(event["item"]["name"], names.at(index)) << event;
    EXPECT_EQ(event["item"].value("namespace", json()), namespaces.at(index)) << event;
    ++items;
  }
  EXPECT_EQ(items, 6);
}

/// Clients get what their types allow, whatever the model wrote.
TEST(OutputItems, ActionsAreOfTheirTypes) {
  const auto action = [](const std::string& name, const std::string& arguments) {
    return write({call(0, name, arguments), {.finish = ChatFinish::tool_calls}},
                 R"("tools":[{"type":")" + name + "\"}]")
        .response["output"][0][name == "apply_patch" ? "operation" : "action"]
        .dump();
  };
  EXPECT_EQ(action("local_shell", R"({"command": "ls -l", "env": {"A": "b", "C": 5}, "working_directory": "/w"})"),
            R"({"command":["sh","-c","ls -l"],"env":{"A":"b","C":"5"},"timeout_ms":null,"type":"exec","user":null,)"
            R"("working_directory":"/w"})");
  EXPECT_EQ(action("local_shell", R"({"command": [], "env": ["A"], "timeout_ms": -1, "working_directory": 5})"),
            R"({"command":[],"env":{},"timeout_ms":null,"type":"exec","user":null,"working_directory":null})");
  EXPECT_EQ(action("shell", R"({"commands": [], "timeout_ms": "9", "max_output_length": 7})"),
            R"({"commands":[],"max_output_length":7,"timeout_ms":null})");
  EXPECT_EQ(action("apply_patch", R"({"type": "create_file", "path": 5, "diff": ["+a"]})"),
            R"({"diff":"","path":"","type":"create_file"})");
}

TEST(OutputItems, EachCustomCallHasAnInputOfItsOwn) {
  const Written written =
      write({call(0, "c", R"({"input": "x"})"), call(1, "c", R"({"other": "y"})"), call(2, "c", R"({"input": "z"})")},
            R"("tools":[{"type":"custom","name":"c"}])");
  std::string inputs;
  for (const json& item : written.response["output"]) inputs += item["input"];
  EXPECT_EQ(inputs, "xyz");
}

TEST(OutputItems, CallsOfAShell) {
  const std::string tools = R"("tools":[{"type":"shell","environment":{"type":"local"}}])";
  const Written written = write({call(0, "shell", R"({"commands": ["ls", )"),
                                 more(0, R"("echo \"é\""], "timeout_ms": 9})"),
                                 {.finish = ChatFinish::tool_calls}},
                                tools);
  EXPECT_THAT(types_of(written.events),
              ElementsAre("created", "in_progress", "output_item.added", "shell_call_command.added",
                          "shell_call_command.delta", "shell_call_command.done", "shell_call_command.added",
                          "shell_call_command.delta", "shell_call_command.done", "output_item.done", "completed"));
  EXPECT_EQ(written.events[2]["item"]["action"]["commands"], json::array());
  EXPECT_EQ(written.events[8]["command"], "echo \"é\"");
  EXPECT_EQ(written.events[8]["command_index"], 1);
  json item = written.response["output"][0];
  EXPECT_THAT(item["id"].get<std::string>(), testing::StartsWith("sh_"));
  item.erase("id");
  EXPECT_EQ(item, json::parse(R"({"type":"shell_call","call_id":"call_0","status":"completed","environment":
      {"type":"local"},"action":{"commands":["ls","echo \"é\""],"timeout_ms":9,"max_output_length":null}})"));
  const auto commands = [&](const std::string& arguments) {
    return write({call(0, "shell", arguments), {.finish = ChatFinish::tool_calls}}, tools)
        .response["output"][0]["action"]["commands"]
        .dump();
  };
  EXPECT_EQ(commands(R"({"commands": "ls -l"})"), R"(["ls -l"])");
  EXPECT_EQ(commands(R"({"command": "ls"})"), R"(["ls"])");
  EXPECT_EQ(commands("{}"), "[]");
}

TEST(OutputItems, CallsOfApplyPatch) {
  const auto item = [](const std::string& arguments) {
    json made = write({call(0, "apply_patch", arguments), {.finish = ChatFinish::tool_calls}},
                      R"("tools":[{"type":"apply_patch"}])")
                    .response["output"][0];
    EXPECT_EQ(made["type"], "apply_patch_call");
    EXPECT_EQ(made["call_id"], "call_0");
    EXPECT_EQ(made["status"], "completed");
    EXPECT_THAT(made["id"].get<std::string>(), testing::StartsWith("apc_"));
    return made["operation"].dump();
  };
  EXPECT_EQ(item(R"({"type": "create_file", "path": "a", "diff": "+b"})"),
            R"({"diff":"+b","path":"a","type":"create_file"})");
  EXPECT_EQ(item(R"({"type": "delete_file", "path": "a", "diff": "-b"})"), R"({"path":"a","type":"delete_file"})");
  // What is no operation changes nothing.
  for (const char* other : {R"({"type": "remove", "path": "a"})", R"({"path": "a"})"}) {
    EXPECT_EQ(item(other), R"({"diff":"","path":"a","type":"update_file"})") << other;
  }
}

TEST(OutputItems, OfACutCallNothingCanBeRun) {
  const auto cut = [](const std::string& name, const std::string& arguments) {
    const Written written = write({call(0, name, arguments), {.finish = ChatFinish::length, .call_is_cut = true}},
                                  R"("tools":[{"type":"local_shell"},{"type":"shell"},{"type":"apply_patch"}])");
    EXPECT_EQ(written.response["status"], "incomplete");
    EXPECT_EQ(types_of(written.events).size(), 5U) << name;
    return written.response["output"][0];
  };
  EXPECT_EQ(cut("local_shell", R"({"command": ["rm", "-rf", "/tm)")["action"]["command"], json::array());
  const json shell = cut("shell", R"({"commands": ["rm -rf /tm)");
  EXPECT_EQ(shell["action"]["commands"], json::array());
  EXPECT_EQ(shell["status"], "incomplete");
  const json patch = cut("apply_patch", R"({"type": "delete_file", "path": "/tm)");
  EXPECT_EQ(patch["operation"], json({{"type", "update_file"}, {"path", ""}, {"diff", ""}}));
  EXPECT_EQ(patch["status"], "in_progress");
}

TEST(OutputItems, ASearchForToolsIsTheClients) {
  const Written written = write({call(0, "tool_search", R"({"query": "mail"})"), {.finish = ChatFinish::tool_calls}},
                                R"("tools":[{"type":"tool_search","execution":"client"}])");
  EXPECT_THAT(types_of(written.events),
              ElementsAre("created", "in_progress", "output_item.added", "output_item.done", "completed"));
  const json& item = written.response["output"][0];
  EXPECT_EQ(item["type"], "tool_search_call");
  EXPECT_EQ(item["call_id"], "call_0");
  EXPECT_EQ(item["execution"], "client");
  EXPECT_EQ(item["arguments"], json({{"query", "mail"}}));
  EXPECT_EQ(written.events[3]["item"], item);
}

TEST(OutputItems, ACallThatIsCutIsIncomplete) {
  const Written cut =
      write({{.content = "I "}, call(0, "f", "{\"a\": \"b"), {.finish = ChatFinish::length, .call_is_cut = true}});
  EXPECT_EQ(cut.response["status"], "incomplete");
  EXPECT_EQ(cut.response["incomplete_details"]["reason"], "max_output_tokens");
  EXPECT_EQ(cut.response["output"][0]["status"], "completed");
  EXPECT_EQ(cut.response["output"][1]["status"], "incomplete");
  EXPECT_EQ(cut.response["output"][1]["arguments"], "{\"a\": \"b");
  EXPECT_EQ(types_of(cut.events).back(), "incomplete");
  // A limit behind a whole call leaves it whole.
  const Written behind = write({call(0, "f", "{}"), {.finish = ChatFinish::length}});
  EXPECT_EQ(behind.response["status"], "incomplete");
  EXPECT_EQ(behind.response["output"][0]["status"], "completed");
  const Written text = write({{.content = "I "}, {.finish = ChatFinish::length}});
  EXPECT_EQ(text.response["output"][0]["status"], "incomplete");
}

TEST(OutputItems, NothingIsAnEmptyMessage) {
  const Written nothing = write({{.finish = ChatFinish::stop}});
  ASSERT_EQ(nothing.response["output"].size(), 1U);
  EXPECT_EQ(nothing.response["output"][0]["content"][0]["text"], "");
  EXPECT_EQ(write({{.reasoning = "x"}, {.finish = ChatFinish::stop}}).response["output"].size(), 2U);
  EXPECT_EQ(write({{.reasoning = "x"}, {.finish = ChatFinish::length}}).response["output"].size(), 1U);
}

TEST(OutputItems, EndedEarly) {
  const Written cancelled = write({{.content = "I "}}, "", ResponseStatus::cancelled);
  EXPECT_EQ(cancelled.response["status"], "cancelled");
  EXPECT_EQ(cancelled.response["output"][0]["status"], "incomplete");
  for (const ResponseStatus early : {ResponseStatus::cancelled, ResponseStatus::failed}) {
    EXPECT_EQ(write({call(0, "f", "{\"a\":")}, "", early).response["output"][0]["status"], "incomplete")
        << "not to be run";
  }
  ResponsesRequest request = request_of(body_with("\"stream\":true"));
  OutputItems items(kHead, request);
  std::string text;
  items.feed({.content = "I "}, text);
  text.clear();
  const ApiError error{.http_status = 500, .message = "gone", .code = "internal_error"};
  items.end({.status = ResponseStatus::failed, .error = error}, text);
  const size_t at = text.rfind("data: ");
  const json last = json::parse(text.substr(at + 6));
  EXPECT_EQ(last["type"], "response.failed");
  EXPECT_EQ(last["response"]["error"].dump(), R"({"code":"server_error","message":"gone"})");
  EXPECT_EQ(last["response"]["output"].size(), 1U);
}

TEST(OutputItems, LogprobsAreOfText) {
  const Written written = write({{.content = "a", .logprobs = R"({"token":"a"})"},
                                 {.content = "b", .logprobs = R"({"token":"b"})"},
                                 {.content = "c", .finish = ChatFinish::stop}});  // of a token that had come
  std::string of_deltas;
  for (const json& event : written.events) {
    if (event["type"] == "response.output_text.delta") of_deltas += event["logprobs"].dump();
  }
  EXPECT_EQ(of_deltas, R"([{"token":"a"}][{"token":"b"}][])") << "each has its own";
  EXPECT_EQ(written.events[7]["type"], "response.output_text.done");
  EXPECT_EQ(written.events[7]["logprobs"].size(), 2U);
  EXPECT_EQ(written.response["output"][0]["content"][0]["logprobs"].dump(), R"([{"token":"a"},{"token":"b"}])");
}

TEST(OutputItems, SilenceHasEventsThatCount) {
  std::string text;
  OutputItems silent(kHead, request_of(body_with("\"stream\":true")));
  silent.begin(text);
  silent.keep_alive(text);
  silent.end({.status = ResponseStatus::completed}, text);
  const std::vector<json> events = events_of(text);  // looks at the numbers
  EXPECT_EQ(events[2]["type"], "keepalive");
  OutputItems whole(kHead, request_of(body_with("")));
  text.clear();
  whole.keep_alive(text);
  EXPECT_EQ(text, "");
}

/// Whatever comes of the answer behind it.
TEST(OutputItems, ACompactionIsDoneAtOnce) {
  std::string text;
  OutputItems items(kHead, request_of(body_with("\"stream\":true")));
  items.begin(text);
  items.add_compaction({.summary = "s"}, text);
  EXPECT_THAT(types_of(events_of(text)),
              ElementsAre("created", "in_progress", "output_item.added", "output_item.done"));
  items.end({.status = ResponseStatus::failed}, text);
  EXPECT_EQ(events_of(text).back()["response"]["output"].at(0)["status"], "completed");
}

TEST(CallInput, DoesNotDependOnPieces) {
  const std::string arguments = R"({"input": "a\"b\\\n\u00e9\ud83d\ude00\u0007c"})";
  const std::string with_large_digits = R"({"input": "a\"b\\\n\u00E9\uD83D\uDE00\u0007c"})";
  const std::string text =
      "a\"b\\\n\xc3\xa9\xf0\x9f\x98\x80\x07"
      "c";
  for (const std::string& given : {arguments, with_large_digits}) {
    for (size_t size = 1; size <= given.size(); ++size) {
      CallInput input;
      std::string streamed;
      for (size_t at = 0; at < given.size(); at += size) streamed += input.feed(given.substr(at, size));
      EXPECT_EQ(streamed, text) << size;
      EXPECT_EQ(input.whole(), text) << size;
    }
  }
}

TEST(CallInput, HalvesOfEveryPairBelongTogether) {
  for (const char* first : {"\\ud800", "\\ud9ff", "\\uDA00", "\\udaff", "\\uDBFF"}) {
    CallInput input;
    EXPECT_EQ(input.feed(std::string(R"({"input": ")") + first), "") << first;
    EXPECT_EQ(input.feed("\\uDC00").size(), 4U) << first;
  }
}

TEST(CallInput, OfOtherArguments) {
  const auto whole = [](const std::string& arguments) {
    CallInput input;
    EXPECT_EQ(input.feed(arguments), "");
    return input.whole();
  };
  EXPECT_EQ(whole(R"({"patch": "x"})"), "x");
  EXPECT_EQ(whole(R"({"a": "x", "input": "y"})"), "y");
  EXPECT_EQ(whole(R"({"a": 1})"), R"({"a": 1})");
  EXPECT_EQ(whole("{}"), "");
  EXPECT_EQ(whole(R"({"pat)"), R"({"pat)");
}

}  // namespace
}  // namespace tessera::server::responses
