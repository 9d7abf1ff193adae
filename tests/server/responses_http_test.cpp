#include <gmock/gmock.h>

#include "server/responses_http.h"
#include "server/responses_json.h"

// /v1/responses over HTTP, as OpenAI's clients and Codex speak it.
namespace tessera::server {
namespace {

using ::testing::HasSubstr;

TEST(Responses, AnswersWholeAndStreamed) {
  const ServedModel served;
  const json whole = answer_to(served, kHello);
  EXPECT_EQ(whole["object"], "response");
  EXPECT_EQ(whole["status"], "incomplete");
  EXPECT_EQ(whole["usage"]["output_tokens"], 6);
  EXPECT_EQ(whole["max_output_tokens"], 6);

  const RawAnswer stream = ask(served.port(), post("/v1/responses", with("\"stream\":true")));
  EXPECT_THAT(std::string(stream.header("content-type")), HasSubstr("text/event-stream"));
  const std::vector<json> events = events_of(stream.body);
  ASSERT_GE(events.size(), 6U);
  EXPECT_EQ(events[0]["type"], "response.created");
  EXPECT_EQ(events[1]["type"], "response.in_progress");
  EXPECT_EQ(events.back()["type"], "response.incomplete");
  for (size_t i = 0; i < events.size(); ++i) EXPECT_EQ(events[i]["sequence_number"], i);
  std::string text;
  for (const json& event : events) {
    if (event["type"].get<std::string>().ends_with("_text.delta")) text += event["delta"].get<std::string>();
  }
  std::string all;
  for (const json& item : whole["output"]) all += item["content"][0]["text"].get<std::string>();
  EXPECT_EQ(text, all);
  EXPECT_EQ(served.left_over(), "");
}

TEST(Responses, AreKeptListedAndDeleted) {
  const ServedModel served;
  const json first = answer_to(served, kHello);
  const std::string path = "/v1/responses/" + first["id"].get<std::string>();
  EXPECT_EQ(json::parse(ask(served.port(), get(path)).body), first);
  EXPECT_EQ(json::parse(ask(served.port(), post(path + "/cancel", "")).body), first);  // it has ended

  json next = json::parse(with(R"("previous_response_id":)" + first["id"].dump()));
  next["input"] = "Go on";
  const json second = answer_to(served, next.dump());
  EXPECT_EQ(second["previous_response_id"], first["id"]);
  EXPECT_GT(second["usage"]["input_tokens"], first["usage"]["input_tokens"]);
  const std::string items = "/v1/responses/" + second["id"].get<std::string>() + "/input_items";
  const json list = json::parse(ask(served.port(), get(items + "?order=asc&limit=50")).body);
  EXPECT_EQ(list["data"].size(), 2 + first["output"].size());
  EXPECT_EQ(list["data"][0]["content"][0]["text"], "Hi");
  EXPECT_EQ(list["data"].back()["content"][0]["text"], "Go on");
  EXPECT_EQ(json::parse(ask(served.port(), get(items + "?limit=1")).body)["data"], json::array({list["data"].back()}));
  EXPECT_EQ(ask(served.port(), get(items + "?limit=0")).status, 400);

  const RawAnswer deleted = ask(served.port(), del(path));
  EXPECT_EQ(json::parse(deleted.body)["deleted"], true);
  for (const std::string& request : {get(path), del(path), post(path + "/cancel", ""), get(path + "/input_items")}) {
    const RawAnswer gone = ask(served.port(), request);
    EXPECT_EQ(gone.status, 404) << request;
    EXPECT_THAT(gone.body, HasSubstr("not found"));
  }
  const RawAnswer lost =
      ask(served.port(),
          post("/v1/responses", with(R"("previous_response_id":")" + first["id"].get<std::string>() + "\"")));
  EXPECT_EQ(lost.status, 400);
  EXPECT_EQ(json::parse(lost.body)["error"]["code"], "previous_response_not_found");

  const json unkept = answer_to(served, with("\"store\":false"));
  EXPECT_EQ(ask(served.port(), get("/v1/responses/" + unkept["id"].get<std::string>())).status, 404);
}

/// What is kept of an answer to a client that hangs up while it comes.
json kept_of_a_client_that_leaves(const ServedModel& served) {
  RawClient client(served.port());
  const std::string body = R"({"stream":true,"max_output_tokens":4000,"seed":1,"input":"Hi","ignore_eos":true})";
  EXPECT_TRUE(client.send(post("/v1/responses", body)));
  EXPECT_TRUE(client.wait_for("_text.delta"));
  client.half_close();
  const std::string read = client.answer().body;
  const size_t at = read.find("resp_");
  EXPECT_NE(at, std::string::npos);
  if (at == std::string::npos) return {};
  const std::string path = "/v1/responses/" + read.substr(at, read.find('"', at) - at);
  json kept;
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(120);
  do {
    kept = json::parse(ask(served.port(), get(path)).body);
  } while (kept["status"] == "in_progress" && std::chrono::steady_clock::now() < deadline);
  return kept;
}

TEST(Responses, EndedEarlyAreKept) {
  const ServedModel served;
  json kept;
  for (int i = 0; i < 20 && kept["status"] != "cancelled"; ++i) {  // the answer may be faster than the client
    kept = kept_of_a_client_that_leaves(served);
  }
  ASSERT_EQ(kept["status"], "cancelled") << kept.dump().substr(0, 300);
  EXPECT_EQ(kept["output"].back()["status"], "incomplete");
  EXPECT_NE(kept["output"].back()["content"][0]["text"], "");
  EXPECT_EQ(served.left_over(), "");
}

TEST(Responses, CodexTurns) {
  const ServedModel served;
  Json requests = responses::codex_requests();
  for (auto& [name, request] : requests.items()) {
    request["max_output_tokens"] = 12;
    const RawAnswer answer = ask(served.port(), post("/v1/responses", request.dump()));
    ASSERT_EQ(answer.status, 200) << name << answer.body;
    if (request.contains("stream")) {
      EXPECT_EQ(events_of(answer.body).back()["type"], "response.incomplete") << name;
    }
  }
  const json models = json::parse(ask(served.port(), get("/v1/models?client_version=0.150.0")).body)["models"];
  ASSERT_EQ(models.size(), 2U);
  EXPECT_EQ(models[0]["slug"], "tiny");
  EXPECT_EQ(models[0]["context_window"], 4096);
  EXPECT_EQ(served.left_over(), "");
}

TEST(Responses, APromptThatIsTooLong) {
  const ServedModel served;
  json body = json::parse(kHello);
  std::string words;
  for (int i = 0; i < 3000; ++i) words += "word and ";
  body["input"] = json::array({{{"role", "user"}, {"content", words}},
                               {{"role", "assistant"}, {"content", "Well."}},
                               {{"role", "user"}, {"content", "And?"}}});
  const RawAnswer refused = ask(served.port(), post("/v1/responses", body.dump()));
  EXPECT_EQ(refused.status, 400);
  EXPECT_EQ(json::parse(refused.body)["error"]["param"], "input");
  // In a stream Codex looks for it there.
  body["stream"] = true;
  for (const bool background : {true, false}) {
    body["background"] = background;
    const RawAnswer stream = ask(served.port(), post("/v1/responses", body.dump()));
    ASSERT_EQ(stream.status, 200);
    const std::vector<json> events = events_of(stream.body);
    ASSERT_FALSE(events.empty());
    EXPECT_EQ(events[0]["type"], "response.created");
    EXPECT_EQ(events.back()["type"], "response.failed");
    EXPECT_EQ(events.back()["response"]["error"]["code"], "context_length_exceeded");
  }
  // Or it is made to fit.
  body["stream"] = false;
  body["truncation"] = "auto";
  const RawAnswer fits = ask(served.port(), post("/v1/responses", body.dump()));
  EXPECT_EQ(fits.status, 200) << fits.body;
  EXPECT_THAT(std::string(fits.header("x-tessera-warning")), HasSubstr("did not fit"));
  // By bytes the first message is enough, by tokens it is not: both count.
  std::string costly;
  for (int i = 0; i < 1800; ++i) costly += "q7#";
  json twice = body;
  twice["input"][0]["content"] = std::string(20000, ' ');
  twice["input"][1]["content"] = costly;
  EXPECT_THAT(std::string(ask(served.port(), post("/v1/responses", twice.dump())).header("x-tessera-warning")),
              HasSubstr("2 messages did not fit"));
  body["truncate_prompt_tokens"] = 10;
  EXPECT_EQ(answer_to(served, body.dump())["usage"]["input_tokens"], 10);
  body.erase("truncate_prompt_tokens");
  body["input"] = words;  // what the user says last is never left out
  const RawAnswer last = ask(served.port(), post("/v1/responses", body.dump()));
  EXPECT_EQ(last.status, 400);
  EXPECT_EQ(json::parse(last.body)["error"]["code"], "context_length_exceeded");
  EXPECT_EQ(served.left_over(), "");
}

/// For what may come, and no more than a quarter of the context; nothing is left out of what is not to be cut.
TEST(Responses, TruncationLeavesRoomForTheAnswer) {
  const ServedModel served;
  json body = {{"truncation", "auto"}, {"input", json::array()}};
  for (int i = 0; i < 1000; ++i) body["input"].push_back({{"role", "user"}, {"content", "word and"}});
  const auto counted = [&] {
    const RawAnswer answer = ask(served.port(), post("/v1/responses/input_tokens", body.dump()));
    return json::parse(answer.body).value("input_tokens", 0);
  };
  constexpr int kOneMessage = 20;
  const auto expect_about = [&](int room) {
    EXPECT_LE(counted(), room);
    EXPECT_GT(counted(), room - kOneMessage);
  };
  expect_about(4096 - 1024);
  body["max_output_tokens"] = 2000;
  expect_about(4096 - 1024);
  body["max_output_tokens"] = 100;
  expect_about(4096 - 100);
  body["truncation"] = "disabled";
  EXPECT_GT(counted(), 5000);
}

/// A stream has begun only for a prompt that is too long.
TEST(Responses, OtherErrorsComeInPlaceOfAStream) {
  const ServedModel served;
  json body = json::parse(kHello);
  body["stream"] = true;
  body["text"] = {{"format", {{"type", "json_schema"}, {"name", "n"}, {"schema", {{"$ref", "#/nowhere"}}}}}};
  EXPECT_EQ(ask(served.port(), post("/v1/responses", body.dump())).status, 400);
  body.erase("text");
  body["model"] = "none";
  EXPECT_EQ(ask(served.port(), post("/v1/responses", body.dump())).status, 404);
}

TEST(Responses, AreCompacted) {
  const ServedModel served;
  const json first = answer_to(served, kHello);
  const auto compact = [&](const json& body) {
    const RawAnswer answer = ask(served.port(), post("/v1/responses/compact", body.dump()));
    EXPECT_EQ(answer.status, 200) << answer.body;
    return json::parse(answer.body, nullptr, false);
  };
  json body = {{"model", "tiny"},
               {"max_output_tokens", 6},
               {"reasoning", {{"effort", "none"}}},
               {"seed", 1},
               {"ignore_eos", true},
               {"tools", {{{"type", "function"}, {"name", "f"}}}},
               {"stream", true},  // there are no events of it
               {"previous_response_id", first["id"]},
               {"input", {{{"role", "assistant"}, {"content", "Well."}}, {{"role", "user"}, {"content", "More"}}}}};
  const json compacted = compact(body);
  EXPECT_EQ(compacted["object"], "response.compaction");
  EXPECT_EQ(compacted["usage"]["output_tokens"], 6);
  ASSERT_EQ(compacted["output"].size(), 3U);
  EXPECT_EQ(compacted["output"][0]["content"][0]["text"], "Hi");
  EXPECT_EQ(compacted["output"][1]["content"][0]["text"], "More");
  EXPECT_EQ(compacted["output"][2]["type"], "compaction");
  EXPECT_GT(compacted["output"][2]["encrypted_content"].get<std::string>().size(),
            std::string("tessera-summary:").size());
  // What it gives is what a client goes on with.
  json next = {{"max_output_tokens", 4}, {"input", compacted["output"]}};
  next["input"].push_back({{"role", "user"}, {"content", "Go on"}});
  const RawAnswer after = ask(served.port(), post("/v1/responses", next.dump()));
  EXPECT_EQ(after.status, 200) << after.body;
  EXPECT_EQ(after.header("x-tessera-warning"), "");
  // One that is too long already is made to fit.
  std::string words;
  for (int i = 0; i < 3000; ++i) words += "word and ";
  body.erase("previous_response_id");
  body["input"] = {{{"role", "user"}, {"content", words}}, {{"role", "user"}, {"content", "And?"}}};
  json shorter = {{"max_output_tokens", 4}, {"input", compact(body)["output"]}};
  ASSERT_EQ(shorter["input"].size(), 2U);  // the first message is not repeated: what comes back fits
  EXPECT_EQ(shorter["input"][0]["content"][0]["text"], "And?");
  shorter["input"].push_back({{"role", "user"}, {"content", "Go on"}});
  EXPECT_EQ(ask(served.port(), post("/v1/responses", shorter.dump())).status, 200);
  // Of what the user has said no more is repeated than a quarter of the context.
  body["input"][0]["content"] = words.substr(0, words.size() / 4);
  EXPECT_EQ(compact(body)["output"].size(), 2U);
  // Nothing is left to sum up, or nothing came of it.
  body["input"] = words;
  EXPECT_THAT(ask(served.port(), post("/v1/responses/compact", body.dump())).body,
              HasSubstr("no message of the conversation fits"));
  EXPECT_EQ(ask(served.port(), post("/v1/responses/compact", "{}")).status, 400);
  EXPECT_EQ(served.left_over(), "");
}

TEST(Responses, CountTokens) {
  const ServedModel served;
  const RawAnswer answer = ask(served.port(), post("/v1/responses/input_tokens", kHello));
  EXPECT_EQ(json::parse(answer.body)["object"], "response.input_tokens");
  EXPECT_EQ(json::parse(answer.body)["input_tokens"], answer_to(served, kHello)["usage"]["input_tokens"]);
}

TEST(Responses, FollowFormats) {
  const ServedModel served(test_options(), 8, tiny_model_that_ends());
  json body = json::parse(kHello);
  body["max_output_tokens"] = 60;
  body["reasoning"] = {{"effort", "none"}};
  body["text"] = {{"format", {{"type", "json_schema"}, {"name", "n"}, {"schema", {{"enum", {"yes", "no"}}}}}}};
  const json answer = answer_to(served, body.dump());
  EXPECT_EQ(answer["status"], "completed") << answer;
  EXPECT_THAT(answer["output"][0]["content"][0]["text"], testing::AnyOf("\"yes\"", "\"no\""));
  // What a stop string cuts follows none.
  body["text"]["format"]["schema"] = {{"const", "yes"}};
  body["stop"] = {"e"};
  const json cut = answer_to(served, body.dump());
  EXPECT_EQ(cut["output"][0]["content"][0]["text"], "\"y");
  EXPECT_EQ(cut["status"], "incomplete");
  EXPECT_EQ(cut["output"][0]["status"], "incomplete");
}

/// Without thinking, whose answer is one call.
json one_call() {
  json body = json::parse(kHello);
  body["max_output_tokens"] = 200;
  body["reasoning"] = {{"effort", "none"}};
  body["tool_choice"] = "required";
  body["parallel_tool_calls"] = false;
  return body;
}

TEST(Responses, InputOfCustomToolsFollowsGrammars) {
  const ServedModel served(test_options(), 8, tiny_model_that_ends());
  json body = one_call();
  const auto input = [&](const json& format) {
    body["tools"] = json::array({{{"type", "custom"}, {"name", "t"}, {"format", format}}});
    const RawAnswer answer = ask(served.port(), post("/v1/responses", body.dump()));
    EXPECT_EQ(answer.status, 200) << answer.body;
    const json response = json::parse(answer.body);
    EXPECT_EQ(response["output"][0]["type"], "custom_tool_call") << response;
    return response["output"][0].value("input", "") + std::string(answer.header("x-tessera-warning"));
  };
  const auto grammar = [](const char* syntax, const char* definition) {
    return json{{"type", "grammar"}, {"syntax", syntax}, {"definition", definition}};
  };
  EXPECT_THAT(input(grammar("regex", "[ab]{2}!")), testing::MatchesRegex("[ab][ab]!"));
  EXPECT_THAT(input(grammar("lark", "start: line LF line\nline: \"+\" /[xy]{3}/\n%import common.LF\n")),
              testing::MatchesRegex("[+][xy][xy][xy]\n[+][xy][xy][xy]"));
  // One that cannot be followed is not, and the answer says so.
  EXPECT_THAT(input(grammar("regex", "(?=a)b")), HasSubstr("not enforced"));
}

TEST(Responses, ToolsHaveNamesInAnyScript) {
  const ServedModel served(test_options(), 8, tiny_model_that_ends());
  json body = one_call();
  body["tools"] = {{{"type", "function"},
                    {"name", "größe_大きさ"},
                    {"parameters", {{"type", "object"}, {"properties", json::object()}}}}};
  const json call = answer_to(served, body.dump())["output"][0];
  EXPECT_EQ(call["type"], "function_call") << call;
  EXPECT_EQ(call["name"], "größe_大きさ");
}

TEST(Responses, RequestsOfOneNameHaveAnswersOfTheirOwn) {
  const ServedModel served;
  const std::string request = post("/v1/responses", kHello, "X-Request-Id: again\r\n");
  const json first = json::parse(ask(served.port(), request).body);
  const json second = json::parse(ask(served.port(), request).body);
  EXPECT_NE(first["id"], second["id"]);
  EXPECT_EQ(json::parse(ask(served.port(), get(path_of(first))).body), first);
}

TEST(Responses, NoMoreIsKeptThanIsSaid) {
  ServerOptions options = test_options();
  options.limits.stored_responses_max = 1;
  const ServedModel served(options);
  const json first = answer_to(served, kHello);
  const json second = answer_to(served, kHello);
  EXPECT_EQ(ask(served.port(), get("/v1/responses/" + first["id"].get<std::string>())).status, 404);
  EXPECT_EQ(ask(served.port(), get("/v1/responses/" + second["id"].get<std::string>())).status, 200);
}

}  // namespace
}  // namespace tessera::server
