// Responses that are kept.

#include <functional>
#include <nlohmann/json.hpp>

#include "server/responses/response_json.h"
#include "server/responses_json.h"

namespace tessera::server::responses {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;

TEST(ResponseStore, ForgetsWhatWasUsedLongestAgo) {
  ResponseStore store({.count_max = 2});
  store.put("a", {.output_ids = {"ia"}});
  store.put("b", {.previous_id = "a", .output_ids = {"ib"}});
  EXPECT_NE(store.find_item("ia"), nullptr);
  store.put("c", {});
  EXPECT_EQ(store.find("b"), nullptr);
  EXPECT_EQ(store.find_item("ib"), nullptr);
  EXPECT_NE(store.find("a"), nullptr);
  EXPECT_TRUE(store.erase("a"));
  EXPECT_FALSE(store.erase("a"));
  EXPECT_TRUE(store.erase("c"));
  EXPECT_EQ(store.bytes(), 0U);
}

/// To be asked for in any way is a use.
TEST(ResponseStore, WhatIsUsedStays) {
  const auto used = [](const std::function<void(ResponseStore&)>& use) {
    ResponseStore store({.count_max = 2});
    store.put("a", {.output_ids = {"ia"}});
    store.put("b", {});
    use(store);
    store.put("c", {});
    return store.find("a") != nullptr && store.find("b") == nullptr && store.find("c") != nullptr;
  };
  EXPECT_FALSE(used([](ResponseStore&) {}));
  EXPECT_TRUE(used([](ResponseStore& store) { store.find("a"); }));
  EXPECT_TRUE(used([](ResponseStore& store) { store.find_item("ia"); }));
  EXPECT_TRUE(used([](ResponseStore& store) {
    std::vector<SharedResponse> all;
    EXPECT_FALSE(store.conversation("a", all));
  }));
  EXPECT_TRUE(used([](ResponseStore& store) {  // by what goes on from it, too
    store.put("b", {.previous_id = "a"});
    std::vector<SharedResponse> all;
    EXPECT_FALSE(store.conversation("b", all));
  }));
  EXPECT_TRUE(used([](ResponseStore& store) { store.put("a", {}); }));
  EXPECT_FALSE(used([](ResponseStore& store) {
    store.find("a");
    store.find("b");
  }));
}

/// One that is being made stays, whatever the limits; the oldest that has ended goes in its place.
TEST(ResponseStore, ForgetsNoneThatIsBeingMade) {
  ResponseStore store({.count_max = 2});
  store.put("a", {.ended = false});
  store.put("b", {});
  store.put("c", {});
  EXPECT_NE(store.find("a"), nullptr);
  EXPECT_EQ(store.find("b"), nullptr);
  EXPECT_NE(store.find("c"), nullptr);
  store.put("d", {.ended = false});
  store.put("e", {.ended = false});
  for (const char* id : {"a", "d", "e"}) EXPECT_NE(store.find(id), nullptr) << id;
  EXPECT_EQ(store.find("c"), nullptr);
}

/// Events count as what they are, and a response that is as large as the limit is kept with them.
TEST(ResponseStore, CountsTheBytesOfEvents) {
  const auto events = [](size_t bytes) {
    auto log = std::make_shared<EventLog>();
    log->add(std::string(bytes - 2, 'x') + "\n\n");
    return log;
  };
  ResponseStore any({});
  any.put("a", {});
  const size_t bare = any.bytes();
  any.put("a", {.events = events(1000)});
  EXPECT_EQ(any.bytes(), bare + 1000);
  any.put("a", {.previous_id = "12345", .input = "1", .head = "22", .output = "333"});
  EXPECT_EQ(any.bytes(), bare + 11);

  ResponseStore store({.bytes_max = 2 * bare + 1000});
  store.put("a", {});
  store.put("b", {.events = events(1000)});
  EXPECT_NE(store.find("a"), nullptr);
  store.put("b", {.events = events(1001)});
  EXPECT_EQ(store.find("a"), nullptr);
  EXPECT_NE(store.find("b")->events, nullptr);
  store.put("c", {.events = events(bare + 1000)});
  EXPECT_EQ(store.find("b"), nullptr);
  EXPECT_NE(store.find("c")->events, nullptr);
  store.put("d", {.events = events(bare + 1001)});
  ASSERT_NE(store.find("d"), nullptr);
  EXPECT_EQ(store.find("d")->events, nullptr);
}

TEST(ResponseStore, ForgetsBeyondItsBytes) {
  ResponseStore store({.bytes_max = 100'000});
  for (int i = 0; i < 100; ++i) {
    store.put(std::to_string(i), {.head = std::string(10'000, 'x')});
    EXPECT_LE(store.bytes(), 100'000U);
  }
  EXPECT_NE(store.find("99"), nullptr);
  EXPECT_EQ(store.find("0"), nullptr);
  store.put("99", {.head = std::string(200'000, 'x')});  // in place of what was there, and too large
  EXPECT_EQ(store.find("99"), nullptr);
  ResponseStore none({.count_max = 0});
  for (const bool ended : {true, false}) {
    none.put("a", {.ended = ended});
    EXPECT_EQ(none.find("a"), nullptr);
  }
}

TEST(ResponseStore, OneThatIsTooLargeDrivesNoneOut) {
  ResponseStore store({.bytes_max = 4000});
  store.put("a", {});
  store.put("b", {.head = std::string(4000, 'x')});
  store.put("c", {.head = std::string(4000, 'x'), .ended = false});
  store.put("d", {.output_ids = std::vector<std::string>(8, "item")});  // whose places take room, too
  EXPECT_NE(store.find("a"), nullptr);
  for (const char* id : {"b", "c", "d"}) EXPECT_EQ(store.find(id), nullptr) << id;
}

TEST(ResponseStore, EventsGoBeforeTheResponseDoes) {
  ResponseStore store({.bytes_max = 4000});
  auto events = std::make_shared<EventLog>();
  events->add("data: {}\n\n");
  store.put("a", {.input = "[]", .events = events});
  EXPECT_NE(store.find("a")->events, nullptr);
  EXPECT_GT(store.bytes(), events->bytes());
  events->add(std::string(5000, 'x') + "\n\n");
  store.put("a", {.input = "[]", .events = events});
  ASSERT_NE(store.find("a"), nullptr);
  EXPECT_EQ(store.find("a")->events, nullptr);
}

TEST(EventLog, FindsEventsByNumberAndTellsWhoReads) {
  EventLog log;
  int told = 0;
  log.on_more([&] { return ++told < 2; });
  log.add("event: a\ndata: {}\n\nevent: b\ndata: {}\n\n");
  EXPECT_EQ(log.from(log.place_of(1)), "event: b\ndata: {}\n\n");
  EXPECT_EQ(log.from(log.place_of(2)), "");
  log.add("event: c\ndata: {}\n\n");
  int told_of_the_end = 0;
  log.on_more([&] { return ++told_of_the_end < 2; });
  log.end();
  EXPECT_EQ(told_of_the_end, 1);
  EXPECT_EQ(log.from(log.place_of(2)), "event: c\ndata: {}\n\n");
  EXPECT_EQ(log.from(log.place_of(9)), "");
  EXPECT_TRUE(log.ended());
  EXPECT_EQ(told, 2);  // it wanted no more
}

TEST(ResponseStore, AConversationIsWholeOrAnError) {
  ResponseStore store({});
  store.put("a", {});
  store.put("b", {.previous_id = "a"});
  store.put("c", {.previous_id = "b", .ended = false});
  std::vector<SharedResponse> all;
  EXPECT_FALSE(store.conversation("b", all));
  ASSERT_EQ(all.size(), 2U);
  EXPECT_EQ(all[0]->previous_id, "");
  EXPECT_THAT(store.conversation("c", all)->message, HasSubstr("not ended"));
  store.erase("a");
  EXPECT_EQ(store.conversation("b", all)->code, "previous_response_not_found");
}

TEST(InputItems, PagesOfAConversation) {
  const auto kept = std::make_shared<const StoredResponse>(
      StoredResponse{.input = R"([{"id":"1"},{"id":"2"}])", .output = R"([{"id":"3"}])"});
  const auto last = std::make_shared<const StoredResponse>(StoredResponse{.input = R"([{"id":"4"}])", .output = "[]"});
  const auto page = [&](const ItemPage& given) { return json::parse(input_items_json({kept, last}, given)); };
  EXPECT_EQ(page({}).dump(),
            R"({"data":[{"id":"4"},{"id":"3"},{"id":"2"},{"id":"1"}],"first_id":"4","has_more":false,"last_id":"1",)"
            R"("object":"list"})");
  const json some = page({.limit = 2, .ascending = true, .after = "1"});
  EXPECT_EQ(some["data"].dump(), R"([{"id":"2"},{"id":"3"}])");
  EXPECT_EQ(some["has_more"], true);
  EXPECT_EQ(page({.after = "x"})["data"], json::array());
  // Whoever goes on behind the last of each page finds all items once, in either order.
  for (const bool ascending : {true, false}) {
    for (int64_t limit = 1; limit <= 4; ++limit) {
      ItemPage next{.limit = limit, .ascending = ascending};
      json all = json::array(), one;
      do {
        one = page(next);
        ASSERT_LE(one["data"].size(), limit);
        for (const json& item : one["data"]) all.push_back(item["id"]);
        next.after = one["last_id"];
      } while (one["has_more"] && all.size() < 4);
      EXPECT_EQ(all, ascending ? json({"1", "2", "3", "4"}) : json({"4", "3", "2", "1"})) << limit;
      EXPECT_FALSE(one["has_more"]) << "the last page";
    }
  }
  const auto many = std::make_shared<const StoredResponse>(
      StoredResponse{.input = json(std::vector<json>(21, {{"id", "i"}})).dump(), .output = "[]"});
  EXPECT_EQ(json::parse(input_items_json({many}, {}))["data"].size(), 20U) << "as many as OpenAI gives";
}

}  // namespace
}  // namespace tessera::server::responses
