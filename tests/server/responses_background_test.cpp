#include <gmock/gmock.h>

#include "server/responses_http.h"

// Responses that are made in the background, and their events, which clients read in parts.
namespace tessera::server {
namespace {

using ::testing::HasSubstr;

constexpr int kLong = 4000;  // tokens: an answer that is there for as long as a test looks at it

std::string long_answer(const std::string& fields = {}) {
  return R"({"background":true,"seed":1,"input":"Hi","ignore_eos":true,"max_output_tokens":)" + std::to_string(kLong) +
         fields + "}";
}

json ended(const ServedModel& served, const json& response) {
  json now = response;
  while (now["status"] == "in_progress") now = json::parse(ask(served.port(), get(path_of(response))).body);
  return now;
}

std::vector<json> events_behind(const ServedModel& served, const json& response, const std::string& query) {
  const RawAnswer answer = ask(served.port(), get(path_of(response) + "?stream=true" + query));
  EXPECT_EQ(answer.status, 200) << answer.body;
  EXPECT_THAT(std::string(answer.header("content-type")), HasSubstr("text/event-stream"));
  return events_of(answer.body);
}

/// Every event once, from `first` on, up to the end of the response.
void expect_all_from(const std::vector<json>& events, size_t first) {
  ASSERT_FALSE(events.empty());
  for (size_t i = 0; i < events.size(); ++i) ASSERT_EQ(events[i]["sequence_number"], first + i);
  EXPECT_TRUE(events.back().contains("response")) << events.back();
}

TEST(BackgroundResponses, AreAskedForLater) {
  const ServedModel served;
  const json whole = answer_to(served, kHello);
  const json begun = answer_to(served, with("\"background\":true"));
  EXPECT_EQ(begun["status"], "in_progress");
  EXPECT_EQ(begun["background"], true);
  EXPECT_EQ(begun["output"], json::array());
  const json made = ended(served, begun);
  EXPECT_EQ(made["id"], begun["id"]);
  EXPECT_EQ(made["status"], whole["status"]);
  EXPECT_EQ(made["usage"]["output_tokens"], whole["usage"]["output_tokens"]);
  ASSERT_EQ(made["output"].size(), whole["output"].size());
  EXPECT_EQ(made["output"][0]["content"], whole["output"][0]["content"]);
  // Its events are there too, all or the last of them.
  const std::vector<json> events = events_behind(served, begun, "");
  expect_all_from(events, 0);
  EXPECT_EQ(events.back()["response"], made);
  const std::vector<json> last = events_behind(served, begun, "&starting_after=" + std::to_string(events.size() - 3));
  EXPECT_EQ(last, std::vector<json>(events.end() - 2, events.end()));
  const auto behind = [&](size_t number) {
    return path_of(begun) + "?stream=true&starting_after=" + std::to_string(number);
  };
  EXPECT_EQ(ask(served.port(), get(behind(events.size() - 1))).status, 200);  // all of them are known
  const RawAnswer none = ask(served.port(), get(behind(events.size())));
  EXPECT_EQ(none.status, 400);
  EXPECT_THAT(none.body, HasSubstr("the last event of this response has number " + std::to_string(events.size() - 1)));
  expect_all_from(events_behind(served, begun, "&starting_after=0"), 1);
  const RawAnswer head =
      ask(served.port(), "HEAD " + path_of(begun) + "?stream=true HTTP/1.1\r\nHost: localhost\r\n\r\n");
  EXPECT_THAT(std::string(head.header("content-type")), HasSubstr("application/json")) << "it follows no events";
  const json next = answer_to(served, with(R"("previous_response_id":)" + begun["id"].dump()));
  EXPECT_GT(next["usage"]["input_tokens"], whole["usage"]["input_tokens"]);
  EXPECT_EQ(served.left_over(), "");
}

TEST(BackgroundResponses, GoOnWithoutTheirClients) {
  const ServedModel served;
  std::string read;
  {
    RawClient client(served.port());
    ASSERT_TRUE(client.send(post("/v1/responses", long_answer(R"(,"stream":true)"))));
    ASSERT_TRUE(client.wait_for("_text.delta"));
    read = client.received();
  }  // it leaves
  json begun;
  begun["id"] = read.substr(read.find("resp_"), read.find('"', read.find("resp_")) - read.find("resp_"));
  const std::vector<json> rest = events_behind(served, begun, "&starting_after=2");  // while it is made
  expect_all_from(rest, 3);
  EXPECT_EQ(rest.back()["type"], "response.incomplete");
  EXPECT_EQ(rest.back()["response"]["usage"]["output_tokens"], kLong);
  std::string text;
  for (const json& event : events_behind(served, begun, "")) {
    if (event["type"].get<std::string>().ends_with("_text.delta")) text += event["delta"].get<std::string>();
  }
  std::string all;
  for (const json& item : rest.back()["response"]["output"]) all += item["content"][0]["text"].get<std::string>();
  EXPECT_EQ(text, all);
  EXPECT_EQ(served.left_over(), "");
}

TEST(BackgroundResponses, StreamsBeginAsOthersDo) {
  const ServedModel served;
  const auto head = [](const RawAnswer& answer) {
    EXPECT_EQ(answer.status, 200) << answer.body;
    std::string said;
    for (const char* name : {"content-type", "cache-control", "x-accel-buffering", "x-tessera-warning"}) {
      said += std::string(answer.header(name)) + "; ";
    }
    return said;
  };
  const std::string request = with(R"("stream":true,"an_unknown_field":1)");
  const std::string expected = head(ask(served.port(), post("/v1/responses", request)));
  EXPECT_THAT(expected, HasSubstr("no-cache; no; "));
  EXPECT_THAT(expected, HasSubstr("an_unknown_field"));
  EXPECT_EQ(head(ask(served.port(), post("/v1/responses", std::string(request).insert(1, "\"background\":true,")))),
            expected);
}

TEST(BackgroundResponses, EventsThatAreFarAheadAreWaitedFor) {
  const ServedModel served;
  const json begun = answer_to(served, long_answer());
  const std::vector<json> late = events_behind(served, begun, "&starting_after=3000");  // at once
  expect_all_from(late, 3001);
  EXPECT_EQ(served.left_over(), "");
}

TEST(BackgroundResponses, AreFoundAsLongAsTheyAreMade) {
  ServerOptions options = test_options();
  options.limits.stored_responses_max = 1;
  const ServedModel served(options);
  const json begun = answer_to(served, long_answer());
  for (int i = 0; i < 3; ++i) answer_to(served, kHello);
  EXPECT_EQ(ask(served.port(), get(path_of(begun))).status, 200);
  EXPECT_EQ(ask(served.port(), post(path_of(begun) + "/cancel", "")).status, 200);
  EXPECT_EQ(served.left_over(), "");
}

TEST(BackgroundResponses, AreCancelledForAllWhoRead) {
  const ServedModel served;
  const json begun = answer_to(served, long_answer());
  RawClient reader(served.port());
  ASSERT_TRUE(reader.send(get(path_of(begun) + "?stream=true")));
  ASSERT_TRUE(reader.wait_for("_text.delta"));
  const json cancelled = json::parse(ask(served.port(), post(path_of(begun) + "/cancel", "")).body);
  EXPECT_EQ(cancelled["status"], "cancelled");
  EXPECT_EQ(served.metric("vllm:request_success_total{finished_reason=\"abort\""), 1);
  const std::vector<json> events = events_of(reader.answer().body);
  expect_all_from(events, 0);
  EXPECT_EQ(events.back()["response"], cancelled);
  reader.close();
  EXPECT_EQ(json::parse(ask(served.port(), post(path_of(begun) + "/cancel", "")).body), cancelled);
  EXPECT_EQ(answer_to(served, with(R"("previous_response_id":)" + begun["id"].dump()))["previous_response_id"],
            begun["id"]);
  EXPECT_EQ(served.left_over(), "");
}

TEST(BackgroundResponses, AreGoneOnceTheyAreDeleted) {
  const ServedModel served;
  const json begun = answer_to(served, long_answer());
  EXPECT_EQ(ask(served.port(), del(path_of(begun))).status, 200);
  EXPECT_EQ(served.left_over(), "");
  EXPECT_EQ(ask(served.port(), get(path_of(begun))).status, 404);
}

TEST(BackgroundResponses, EndBeforeTheServerDoes) {
  ServedModel served;
  const json begun = answer_to(served, long_answer());
  RawClient reader(served.port());
  ASSERT_TRUE(reader.send(get(path_of(begun) + "?stream=true")));
  ASSERT_TRUE(reader.wait_for("_text.delta"));
  served.server().shut_down();
  EXPECT_EQ(events_of(reader.answer().body).back()["response"]["usage"]["output_tokens"], kLong);
  EXPECT_TRUE(served.server().wait().ok());
}

/// Though nobody reads them.
TEST(BackgroundResponses, AreWaitedForByAServerThatGoesDown) {
  ServedModel served;
  RawClient keeps(served.port());
  keeps.send(get("/live"));
  EXPECT_EQ(keeps.answer().status, 200);
  answer_to(served, long_answer());
  served.server().shut_down();
  EXPECT_TRUE(served.server().wait().ok());
  keeps.send(get("/metrics"));
  const std::string metrics = keeps.answer().body;
  EXPECT_THAT(metrics, HasSubstr("\ntessera:http_requests_in_flight 0\n"));
  EXPECT_THAT(metrics, HasSubstr("\nvllm:request_success_total{finished_reason=\"length\",model_name=\"tiny\"} 1\n"));
}

TEST(BackgroundResponses, NeedToBeKept) {
  const ServedModel served;
  const RawAnswer unkept = ask(served.port(), post("/v1/responses", with(R"("background":true,"store":false)")));
  EXPECT_EQ(unkept.status, 400);
  EXPECT_EQ(json::parse(unkept.body)["error"]["param"], "background");
  EXPECT_EQ(ask(served.port(), get(path_of(answer_to(served, kHello)) + "?stream=true")).status, 400);
  const json begun = answer_to(served, with("\"background\":true"));
  for (const char* after : {"-1", "x", "1x", "99999999999999999999"}) {
    const RawAnswer wrong = ask(served.port(), get(path_of(begun) + "?stream=true&starting_after=" + after));
    EXPECT_EQ(wrong.status, 400) << after;
    EXPECT_EQ(json::parse(wrong.body)["error"]["param"], "starting_after");
  }
  for (const auto limit : {&Limits::stored_responses_max, &Limits::stored_bytes_max}) {
    ServerOptions options = test_options();
    options.limits.*limit = 0;
    const ServedModel forgetful(options);
    EXPECT_EQ(ask(forgetful.port(), post("/v1/responses", with("\"background\":true"))).status, 400);
    EXPECT_EQ(ask(forgetful.port(), get(path_of(answer_to(forgetful, kHello)))).status, 404);
  }
}

}  // namespace
}  // namespace tessera::server
