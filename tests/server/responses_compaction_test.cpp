#include <gmock/gmock.h>

#include <algorithm>
#include <cctype>
#include <chrono>
#include <cstring>
#include <thread>

#include "server/responses/compaction.h"
#include "server/responses_http.h"

// Responses that sum their conversation up: where a request asks for it, or before a long one is answered.
namespace tessera::server {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::StartsWith;

json user(const std::string& text) { return {{"role", "user"}, {"content", text}}; }
json assistant(const std::string& text) { return {{"role", "assistant"}, {"content", text}}; }

std::string words(int count) {
  std::string all;
  for (int i = 0; i < count; ++i) all += "word and ";
  return all;
}

json body_of(json input, json more = json::object()) {
  json body = {{"model", "tiny"}, {"max_output_tokens", 6},   {"reasoning", {{"effort", "none"}}}, {"ignore_eos", true},
               {"seed", 1},       {"input", std::move(input)}};
  body.update(more);
  return body;
}

json limit(int64_t tokens) {
  return {{"context_management", {{{"type", "compaction"}, {"compact_threshold", tokens}}}}};
}

/// The response, whole and as a stream: the two agree.
json both(const ServedModel& served, json body) {
  const json whole = answer_to(served, body.dump());
  body["stream"] = true;
  const std::vector<json> events = events_of(ask(served.port(), post("/v1/responses", body.dump())).body);
  EXPECT_FALSE(events.empty());
  for (size_t i = 0; i < events.size(); ++i) EXPECT_EQ(events[i]["sequence_number"], i);
  json last = events.back()["response"];
  EXPECT_EQ(last["output"].size(), whole["output"].size());
  size_t done = 0;
  for (const json& event : events) {
    if (event["type"] != "response.output_item.done") continue;
    EXPECT_EQ(event["item"], last["output"][done++]);
  }
  for (size_t i = 0; i < last["output"].size(); ++i) {
    json streamed = last["output"][i];
    json at_once = whole["output"][i];
    streamed.erase("id");
    at_once.erase("id");
    EXPECT_EQ(streamed, at_once);
  }
  EXPECT_EQ(last["usage"]["input_tokens"], whole["usage"]["input_tokens"]);
  EXPECT_EQ(last["usage"]["output_tokens"], whole["usage"]["output_tokens"]);
  return whole;
}

TEST(Compaction, IsTheAnswerWhereTheInputEndsWithItsTrigger) {
  const ServedModel served;
  json input = {user("Hi"), assistant("Hello. " + words(50)), user("More"), {{"type", "compaction_trigger"}}};
  const json response = both(served, body_of(input, {{"tools", {{{"type", "function"}, {"name", "f"}}}}}));
  EXPECT_EQ(response["status"], "completed");
  ASSERT_EQ(response["output"].size(), 1U);
  const json& item = response["output"][0];
  EXPECT_EQ(item["type"], "compaction");
  EXPECT_THAT(item["id"].get<std::string>(), StartsWith("cmp_"));
  EXPECT_THAT(item["encrypted_content"].get<std::string>(), StartsWith("tessera-summary:"));
  EXPECT_EQ(response["usage"]["output_tokens"], 6);
  // The client's own shorter conversation, and one that goes on from what is kept: without what was summed up.
  const json by_hand = answer_to(served, body_of({user("Hi"), user("More"), item, user("Go on")}).dump());
  const json kept = answer_to(served, body_of("Go on", {{"previous_response_id", response["id"]}}).dump());
  EXPECT_EQ(kept["usage"]["input_tokens"], by_hand["usage"]["input_tokens"]);
  input.erase(3);
  const json all = answer_to(served, body_of(input).dump());
  EXPECT_LT(kept["usage"]["input_tokens"], all["usage"]["input_tokens"]);
  const json none = {{{"role", "system"}, {"content", "Be."}}, {{"type", "compaction_trigger"}}};
  EXPECT_EQ(answer_to(served, body_of(none).dump())["output"].size(), 1U);
  EXPECT_EQ(served.left_over(), "");
}

TEST(Compaction, ComesBeforeTheAnswerOfALongConversation) {
  const ServedModel served;
  const json input = {
      {{"role", "system"}, {"content", "Be."}}, user("One"), assistant(words(100)), user(""), user("Two")};
  const json plain = answer_to(served, body_of(input).dump());
  const json response = both(served, body_of(input, limit(100)));
  ASSERT_GE(response["output"].size(), 2U);
  const json& item = response["output"][0];
  EXPECT_EQ(item["type"], "compaction");
  responses::Compaction stands;
  ASSERT_TRUE(responses::unseal(item["encrypted_content"].get<std::string>(), stands));
  EXPECT_THAT(stands.said, ElementsAre("One"));
  EXPECT_EQ(stands.asked, "Two");
  EXPECT_EQ(response["output"][1]["type"], "message");
  EXPECT_EQ(response["usage"]["output_tokens"], 6);  // of the answer
  EXPECT_LT(response["usage"]["input_tokens"], plain["usage"]["input_tokens"]);
  const json by_hand = answer_to(served, body_of({input[0], item}).dump());
  EXPECT_EQ(response["usage"]["input_tokens"], by_hand["usage"]["input_tokens"]) << "the item alone is answered";
  // The whole conversation again, with what came: what stands before the summary counts no more.
  json again = input;
  for (const json& one : response["output"]) again.push_back(one);
  again.push_back(user("Three"));
  const json first_kept = answer_to(served, body_of(input, limit(100)).dump());
  json kept = body_of("Three", {{"previous_response_id", first_kept["id"]}});
  EXPECT_EQ(answer_to(served, body_of(again).dump())["usage"]["input_tokens"],
            answer_to(served, kept.dump())["usage"]["input_tokens"]);
  EXPECT_LT(answer_to(served, kept.dump())["usage"]["input_tokens"], plain["usage"]["input_tokens"]);
  EXPECT_EQ(served.left_over(), "");
}

/// Each of the two passes has a first token, and how the request ended is how its answer did.
TEST(Compaction, MetricsAreOfBothPassesAndOfTheAnswersEnd) {
  const ServedModel served(test_options(), 8, tiny_model_that_ends());
  const json format = {{"type", "json_schema"}, {"name", "one"}, {"schema", {{"const", 1}}}};
  json body = body_of({user("One"), assistant(words(100)), user("Two")}, limit(100));
  body["ignore_eos"] = false;
  body["text"] = {{"format", format}};
  const json response = answer_to(served, body.dump());
  ASSERT_EQ(response["output"].size(), 2U);
  EXPECT_EQ(response["output"][0]["type"], "compaction");
  EXPECT_EQ(response["status"], "completed");
  EXPECT_EQ(served.metric("vllm:request_success_total{finished_reason=\"stop\""), 1);
  EXPECT_EQ(served.metric("vllm:request_success_total{finished_reason=\"length\""), 0);
  EXPECT_EQ(served.metric("vllm:inter_token_latency_seconds_count"),
            served.metric("vllm:request_generation_tokens_sum") - 2);
  EXPECT_GT(served.metric("vllm:request_prompt_tokens_sum"), response["usage"]["input_tokens"].get<double>() + 100);
}

/// They are of the answer that the request asks for.
TEST(Compaction, StopStringsDoNotEndASummary) {
  const ServedModel served;
  const json input = {user("Hi"), assistant("Hello. " + words(50)), {{"type", "compaction_trigger"}}};
  const json plain = answer_to(served, body_of(input).dump())["output"][0];
  const std::string summary = plain["encrypted_content"].get<std::string>().substr(strlen("tessera-summary:"));
  const auto letter = std::ranges::find_if(summary, [](unsigned char c) { return std::isalnum(c) != 0; });
  ASSERT_NE(letter, summary.end()) << summary;
  const json stopped = answer_to(served, body_of(input, {{"stop", std::string(1, *letter)}}).dump());
  EXPECT_EQ(stopped["output"].at(0)["encrypted_content"], plain["encrypted_content"]);
}

/// So is how long it is at least, and which tokens it may have and ends at.
TEST(Compaction, WhatIsAskedOfTheAnswersTokensIsNotAskedOfASummary) {
  const ServedModel served;
  const json trigger = {user("Hi"), assistant("Hello. " + words(50)), {{"type", "compaction_trigger"}}};
  const json plain = answer_to(served, body_of(trigger).dump())["output"].at(0)["encrypted_content"];
  const json text = {{"prompt", plain.get<std::string>().substr(strlen("tessera-summary:"))}};
  const json its = json::parse(ask(served.port(), post("/tokenize", text.dump())).body)["tokens"];
  const json first = {{"tokens", {its[0]}}};
  const json word = json::parse(ask(served.port(), post("/detokenize", first.dump())).body)["prompt"];
  for (const json& more :
       {json{{"min_tokens", 6}}, json{{"allowed_token_ids", {5, 6, 7}}}, json{{"stop_token_ids", its}},
        json{{"logit_bias", {{"5", 100}}}}, json{{"bad_words", {word}}}, json{{"truncate_prompt_tokens", 8}}}) {
    EXPECT_EQ(answer_to(served, body_of(trigger, more).dump())["output"].at(0)["encrypted_content"], plain) << more;
  }
  const engine::TinyModel ends(engine::TinyKind::moe, 1, json{{"eos_token_id", its}}.dump());
  const ServedModel ending(test_options(), 8, ends);
  const json ended = answer_to(ending, body_of(trigger, {{"ignore_eos", true}}).dump());
  EXPECT_EQ(ended["output"].at(0)["encrypted_content"], "tessera-summary:") << "the model ended it at once";
  json longer = limit(100);  // a summary of 25 tokens at most, and more of the answer
  longer.update({{"min_tokens", 40}, {"max_output_tokens", 40}});
  const json input = {user("One"), assistant(words(100)), user("Two")};
  const json response = answer_to(served, body_of(input, longer).dump());
  EXPECT_EQ(response["output"].at(0)["type"], "compaction") << response;
  EXPECT_EQ(response["usage"]["output_tokens"], 40);
}

/// Whoever asks for an answer that cannot be is told before anything is summed up.
TEST(Compaction, WhatCannotBeIsRefusedBeforeIt) {
  const ServedModel served;
  const json trigger = {user("Hi"), assistant("Hello. " + words(50)), {{"type", "compaction_trigger"}}};
  const json input = {user("One"), assistant(words(100)), user("Two")};
  for (const json& wrong : {json{{"min_tokens", 41}, {"max_output_tokens", 40}}, json{{"stop_token_ids", {99'999}}},
                            json{{"allowed_token_ids", {99'999}}}, json{{"logit_bias", {{"99999", 1}}}}}) {
    json limited = limit(100);
    limited.update(wrong);
    for (const json& body : {body_of(trigger, wrong), body_of(input, limited)}) {
      EXPECT_EQ(ask(served.port(), post("/v1/responses", body.dump())).status, 400) << wrong;
    }
    EXPECT_EQ(ask(served.port(), post("/v1/responses/compact", body_of(input, wrong).dump())).status, 400) << wrong;
  }
  EXPECT_EQ(served.metric("vllm:request_prompt_tokens_count"), 0);
}

/// So are tools, formats and thinking.
TEST(Compaction, IsPlainText) {
  const ServedModel served(test_options(), 8, tiny_model_that_ends());
  const json input = {user("Hi"), assistant("Hello. " + words(50)), {{"type", "compaction_trigger"}}};
  const auto summary = [&](const json& more) {
    return answer_to(served, body_of(input, more).dump())["output"].at(0)["encrypted_content"];
  };
  const json plain = summary(json::object());
  EXPECT_EQ(summary({{"tools", {{{"type", "function"}, {"name", "f"}}}}, {"tool_choice", "required"}}), plain);
  const json format = {{"type", "json_schema"}, {"name", "one"}, {"schema", {{"const", 1}}}};
  EXPECT_EQ(summary({{"text", {{"format", format}}}}), plain);
  EXPECT_EQ(summary({{"reasoning", {{"effort", "medium"}}}}), plain);
}

/// Of what a conversation may have before it is summed up; how long the answer may be is another matter.
TEST(Compaction, HasNoMoreThanAQuarter) {
  const ServedModel served;
  answer_to(served, body_of({user("One"), assistant(words(100)), user("Two")}, limit(100)).dump());
  EXPECT_EQ(served.metric("vllm:request_generation_tokens_sum"), 25 + 6);
}

/// The summary does not think; the answer may.
TEST(Compaction, WhatIsThoughtBehindASummaryIsNotTheAnswer) {
  const ServedModel served;
  const json thinks = {{"reasoning", {{"effort", "medium"}}}};
  const json input = {user("One"), assistant(words(100)), user("Two")};
  EXPECT_EQ(answer_to(served, body_of(input, thinks).dump())["output"].at(0)["type"], "reasoning");
  json more = limit(100);
  more.update(thinks);
  const json response = both(served, body_of(input, more));
  ASSERT_EQ(response["output"].size(), 2U);
  EXPECT_EQ(response["output"][0]["type"], "compaction");
  EXPECT_EQ(response["output"][1]["type"], "reasoning");
}

/// Of many messages the newest are kept, no more than can be read again.
TEST(Compaction, IsReadAgainHoweverOftenTheUserHasSpoken) {
  const ServedModel served;
  json input = {user("One"), assistant(words(250))};
  for (int i = 0; i < 70; ++i) input.push_back(user("a"));
  input.push_back(user("Two"));
  const json first = answer_to(served, body_of(input, limit(500)).dump());
  ASSERT_EQ(first["output"].at(0)["type"], "compaction");
  const json next = body_of("Three", {{"previous_response_id", first["id"]}});
  const RawAnswer answer = ask(served.port(), post("/v1/responses", next.dump()));
  EXPECT_EQ(answer.status, 200) << answer.body;
  EXPECT_EQ(answer.header("x-tessera-warning"), "");
}

/// What does not fit is not left out from among others: what is older is left out with it.
TEST(Compaction, HasTheNewestOfWhatTheUserSaid) {
  const ServedModel served;
  const json input = {user("One"), user(words(20)), user("Two"), assistant(words(100)), user("Three")};
  const json item = answer_to(served, body_of(input, limit(100)).dump())["output"].at(0);
  responses::Compaction stands;
  ASSERT_TRUE(responses::unseal(item["encrypted_content"].get<std::string>(), stands));
  EXPECT_THAT(stands.said, ElementsAre("Two"));
}

TEST(Compaction, NeedsAReason) {
  const ServedModel served;
  const auto output = [&](json input, int64_t tokens) {
    return answer_to(served, body_of(std::move(input), limit(tokens)).dump())["output"];
  };
  EXPECT_EQ(output({user("One"), assistant(words(100)), user("Two")}, 100'000).size(), 1U);
  EXPECT_EQ(output({user("One"), user(words(100))}, 10).size(), 1U);  // nothing was said but by the user
  EXPECT_EQ(output({user("One"), assistant(words(100)), user("Two")}, 100).size(), 2U);
  const json answer_alone = {user("One"), {{"type", "function_call_output"}, {"call_id", "1"}, {"output", words(100)}}};
  EXPECT_EQ(output(answer_alone, 100).size(), 2U);
  // Of the server's own: three quarters of the context.
  const json any = {{"context_management", {{{"type", "compaction"}}}}};
  for (const int count : {1400, 1650}) {
    const std::string half = words(count / 2);
    const json input = {user("One"), assistant(half), user("And"), assistant(half), user("Two")};
    const int64_t tokens = answer_to(served, body_of(input).dump())["usage"]["input_tokens"];
    EXPECT_EQ(tokens > 4096 * 3 / 4, count == 1650) << tokens;
    for (const json& more : {any, limit(100'000)}) {
      EXPECT_EQ(answer_to(served, body_of(input, more).dump())["output"].size(), count == 1650 ? 2U : 1U) << tokens;
    }
  }
}

TEST(Compaction, ComesWhereAToolHasAnswered) {
  const ServedModel served;
  const json input = {user("One"),
                      {{"type", "function_call"}, {"call_id", "1"}, {"name", "f"}, {"arguments", "{}"}},
                      {{"type", "function_call_output"}, {"call_id", "1"}, {"output", words(100)}}};
  const json response = both(served, body_of(input, limit(100)));
  ASSERT_GE(response["output"].size(), 2U);
  EXPECT_EQ(response["output"][0]["type"], "compaction");
  EXPECT_LT(response["usage"]["input_tokens"], 250);
  json nothing_said = input;  // of the user's that there is room for: templates want a message of theirs
  nothing_said[0] = user(words(100));
  EXPECT_EQ(answer_to(served, body_of(nothing_said, limit(100)).dump())["output"].at(0)["type"], "compaction");
}

TEST(Compaction, MakesRoomForWhatDoesNotFit) {
  const ServedModel served;
  const json input = {user("One"), assistant(words(3000)), user("Then"), assistant("Yes."), user("Two")};
  EXPECT_EQ(ask(served.port(), post("/v1/responses", body_of(input).dump())).status, 400);
  const RawAnswer fits = ask(served.port(), post("/v1/responses", body_of(input, limit(100'000)).dump()));
  EXPECT_EQ(fits.status, 200) << fits.body;
  EXPECT_EQ(json::parse(fits.body)["output"][0]["type"], "compaction");
  json truncates = limit(100'000);
  truncates["truncation"] = "auto";
  EXPECT_EQ(answer_to(served, body_of(input, truncates).dump())["output"].at(0)["type"], "compaction")
      << "before anything is left out";
  const json one_alone = {user("One"), assistant(words(3000)), user("Two")};  // nothing of it could be summed up
  const RawAnswer too_long = ask(served.port(), post("/v1/responses", body_of(one_alone, limit(100)).dump()));
  EXPECT_EQ(too_long.status, 400);
  EXPECT_THAT(too_long.body, HasSubstr("context_length_exceeded"));
  json background = body_of(one_alone, limit(100));
  background["background"] = background["stream"] = true;
  const std::vector<json> failed = events_of(ask(served.port(), post("/v1/responses", background.dump())).body);
  EXPECT_EQ(failed.back()["response"]["error"]["code"], "context_length_exceeded");
  EXPECT_EQ(json::parse(ask(served.port(), get(path_of(failed.back()["response"]))).body), failed.back()["response"]);
  json truncated = body_of(one_alone, limit(100));
  truncated["truncation"] = "auto";
  EXPECT_EQ(answer_to(served, truncated.dump())["output"].size(), 1U);
  // What the user says last is never cut.
  const json long_last = {user("One"), assistant("Yes."), user(words(3000))};
  const RawAnswer refused = ask(served.port(), post("/v1/responses", body_of(long_last, limit(100)).dump()));
  EXPECT_EQ(refused.status, 400);
  EXPECT_THAT(refused.body, HasSubstr("context_length_exceeded"));
  json streamed = body_of(long_last, limit(100));
  streamed["stream"] = true;
  const std::vector<json> events = events_of(ask(served.port(), post("/v1/responses", streamed.dump())).body);
  EXPECT_EQ(events.back()["type"], "response.failed");
  EXPECT_EQ(events.back()["response"]["error"]["code"], "context_length_exceeded");
  EXPECT_EQ(served.left_over(), "");
}

TEST(Compaction, InTheBackground) {
  const ServedModel served;
  json body = body_of({user("One"), assistant(words(100)), user("Two")}, limit(100));
  const json whole = answer_to(served, body.dump());
  body["background"] = true;
  const json begun = answer_to(served, body.dump());
  EXPECT_EQ(begun["status"], "in_progress");
  EXPECT_EQ(served.left_over(), "");
  const json made = json::parse(ask(served.port(), get(path_of(begun))).body);
  EXPECT_EQ(made["status"], whole["status"]);
  ASSERT_EQ(made["output"].size(), 2U);
  EXPECT_EQ(made["output"][0]["encrypted_content"], whole["output"][0]["encrypted_content"]);
  EXPECT_EQ(made["output"][1]["content"], whole["output"][1]["content"]);
}

TEST(Compaction, CanBeCancelledAtAnyTime) {
  const ServedModel served;
  json body = body_of({user("One"), assistant(words(100)), user("Two")}, limit(100));
  body["background"] = true;
  body["max_output_tokens"] = 1000;
  int cancelled = 0;
  for (int wait = 0; wait < 12; ++wait) {  // in the summary, behind it, in the answer, and where that is fast behind it
    const json begun = answer_to(served, body.dump());
    std::this_thread::sleep_for(std::chrono::milliseconds(5 * wait));
    EXPECT_EQ(ask(served.port(), post(path_of(begun) + "/cancel", "")).status, 200);
    EXPECT_EQ(served.left_over(), "");
    const json made = json::parse(ask(served.port(), get(path_of(begun))).body);
    if (made["status"] == "cancelled") {
      ++cancelled;
    } else {
      EXPECT_EQ(made["status"], "incomplete") << wait;
      EXPECT_EQ(made["usage"]["output_tokens"], 1000) << wait;
    }
  }
  EXPECT_GE(cancelled, 1);
}

TEST(Compaction, EndsWithItsClient) {
  const ServedModel served;
  json body = body_of({user("One"), assistant(words(100)), user("Two")}, limit(1500));
  body["context_management"][0]["compact_threshold"] = 100;
  body["max_output_tokens"] = 1000;
  body["stream"] = true;
  for (int wait = 0; wait < 4; ++wait) {  // before, in and behind the summary
    RawClient client(served.port());
    EXPECT_TRUE(client.send(post("/v1/responses", body.dump())));
    const char* const seen[] = {"", "response.created", "\"compaction\"", "output_text.delta"};
    EXPECT_TRUE(client.wait_for(seen[wait])) << wait;
    client.reset();
  }
  EXPECT_EQ(served.left_over(), "");
}

}  // namespace
}  // namespace tessera::server
