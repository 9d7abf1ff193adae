#include "loadgen/client.h"

#include <gmock/gmock.h>

#include <atomic>
#include <map>

#include "base/wait_until.h"
#include "loadgen/scripted_answers.h"

// What becomes of requests, good and bad, on a server that does as it is told.
namespace tessera::loadgen {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

constexpr double kForever = 500;  // what takes so long never comes

std::unique_ptr<Client> client_of(const std::string& url, double timeout_seconds = kForever,
                                  const std::string& key = "") {
  auto client =
      Client::make({.server = *ServerAddress::parse(url), .api_key = key, .timeout_seconds = timeout_seconds});
  EXPECT_TRUE(client.ok()) << client.status().message();
  return *std::move(client);
}

/// A request to its end.
Record ask(Client& client, const std::string& body = "{}") {
  Record record;
  EXPECT_TRUE(client.start(record, body).ok());
  const double until = client.now() + kForever;
  EXPECT_THAT(client.wait(until), ElementsAre(&record));
  EXPECT_LT(client.now(), until);
  EXPECT_EQ(client.running(), 0);
  return record;
}

TEST(Client, PostsAWholeBodyAtOnce) {
  Request seen;
  const ScriptedServer server([&](const Request& request, const Connection& to) {
    seen = request;
    answer_well(to, 3);
  });
  const std::string body(3 << 20, 'x');  // of a size for which libcurl would wait to be told to go on
  for (const std::string key : {"k7", ""}) {
    const auto client = client_of(server.url(), kForever, key);
    const Record record = ask(*client, body);
    EXPECT_TRUE(record.ok()) << record.message;
    EXPECT_EQ(seen.line, "POST /v1/chat/completions HTTP/1.1");
    EXPECT_THAT(seen.head, HasSubstr("Content-Type: application/json\r\n"));
    EXPECT_THAT(seen.head, Not(HasSubstr("Expect")));
    EXPECT_EQ(seen.head.find("Authorization: Bearer k7\r\n") != std::string::npos, key == "k7");
    EXPECT_EQ(seen.head.find("Authorization") != std::string::npos, key == "k7");
    EXPECT_TRUE(seen.body == body);
    EXPECT_EQ(record.start, record.due);
    EXPECT_GT(record.start, 0);
    EXPECT_GE(record.deliveries.front().at, record.start);
    EXPECT_GE(record.end, record.deliveries.back().at);
    EXPECT_EQ(record.usage.completion, 3);
    EXPECT_EQ(record.finish_reason, "stop");
    EXPECT_NE(record.answer_hash, 0U);
  }
}

TEST(Client, FaultsHaveTheirKinds) {
  std::pair<int, std::string> next;
  const ScriptedServer server([&](const Request&, const Connection& to) { to.answer(next.first, next.second); });
  const auto client = client_of(server.url());
  const std::pair<int, ErrorKind> kKinds[] = {
      {400, ErrorKind::bad_request},  {401, ErrorKind::unauthorized}, {403, ErrorKind::unauthorized},
      {404, ErrorKind::not_found},    {422, ErrorKind::bad_request},  {429, ErrorKind::rate_limited},
      {500, ErrorKind::server_error}, {503, ErrorKind::server_error}, {302, ErrorKind::bad_request}};
  for (const auto& [status, kind] : kKinds) {
    // Each on what the one before has left.
    next = {status, fmt::format(R"({{"error":{{"message":"of {}"}}}})", status)};
    const Record record = ask(*client);
    EXPECT_EQ(name_of(record.error), name_of(kind)) << status;
    EXPECT_EQ(record.message, fmt::format("HTTP {}: of {}", status, status));
    EXPECT_GT(record.end, record.start);
  }
  next = {500, "data: " + chunk("text", 1) + "\n\n"};  // which is an answer only behind 200
  const Record record = ask(*client);
  EXPECT_EQ(name_of(record.error), "server_error");
  EXPECT_THAT(record.deliveries, IsEmpty());
  next = {200, R"({"choices":[{"message":{"content":"not streamed"}}]})"};
  EXPECT_EQ(name_of(ask(*client).error), "bad_stream");
  next = {200, ""};
  EXPECT_EQ(name_of(ask(*client).error), "bad_stream");
  next = {200, "data: [DONE]\n\n"};
  EXPECT_TRUE(ask(*client).ok()) << "an answer without text is one";
}

TEST(Client, ConnectionsThatFailHaveTheirKinds) {
  std::string port_of_nobody;
  {
    const ScriptedServer gone([](const Request&, const Connection&) {});
    port_of_nobody = gone.url();
  }
  const Record refused = ask(*client_of(port_of_nobody));
  EXPECT_EQ(name_of(refused.error), "connect");
  EXPECT_THAT(refused.message, HasSubstr(port_of_nobody.substr(port_of_nobody.rfind(':') + 1)))
      << "libcurl's own words, which say more than its code";
  int number = 0;
  const ScriptedServer server([&](const Request&, const Connection& to) {
    if (++number == 1) {
      to.send("\x16\x03 this is no HTTP\r\n\r\n");
    } else if (number == 2) {
      to.begin_stream();
      to.event(chunk("a", 1));
      to.send("data: {\"choi");
    } else if (number == 3) {  // less than was announced
      to.send("HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\ndata: " + chunk("a", 1) + "\n\n");
    } else {
      to.begin_stream();
      to.event(chunk("a", 1));
      to.event(R"({"error":{"message":"kernel failed"}})");
    }
  });
  const auto client = client_of(server.url());
  EXPECT_EQ(name_of(ask(*client).error), "bad_stream");
  EXPECT_EQ(name_of(ask(*client).error), "stream_cut");
  EXPECT_EQ(name_of(ask(*client).error), "stream_cut");
  const Record told = ask(*client);
  EXPECT_EQ(name_of(told.error), "stream_error");
  EXPECT_EQ(told.message, "kernel failed") << "not that the rest was not read";
}

/// What tells of a fault is the last that is read.
TEST(Client, LeavesAStreamThatHasFailed) {
  std::atomic<bool> left = false;
  const ScriptedServer server([&](const Request&, const Connection& to) {
    to.begin_stream();
    to.event(R"({"error":{"message":"gone"}})");
    const std::string more(1 << 16, 'x');
    for (int i = 0; i < 2000 && !left; ++i) left = !to.event(more);  // more than kernels keep
  });
  const auto client = client_of(server.url());
  EXPECT_EQ(name_of(ask(*client).error), "stream_error");
  EXPECT_TRUE(test::wait_until([&] { return left.load(); }));
}

TEST(Client, ARequestHasItsTimeAndNoMore) {
  Gate over;
  const ScriptedServer server([&](const Request&, const Connection& to) {
    to.begin_stream();
    to.event(chunk("a", 1));
    over.pass();
  });
  const auto client = client_of(server.url(), /*timeout_seconds=*/0.5);
  const Record record = ask(*client);
  over.open();
  EXPECT_EQ(name_of(record.error), "timeout");
  EXPECT_EQ(record.message, fmt::format("not done after {:.1f} s, with {} pieces of text", record.end - record.due,
                                        record.deliveries.size()));
}

TEST(Client, WaitsForOneOfSeveral) {
  Gate slow;
  const ScriptedServer server([&](const Request& request, const Connection& to) {
    if (request.body == "slow") slow.pass();
    answer_well(to, 2);
  });
  const auto client = client_of(server.url());
  Record first, second, third;
  ASSERT_TRUE(client->start(first, "slow").ok());
  ASSERT_TRUE(client->start(second, "fast").ok());
  ASSERT_TRUE(client->start(third, "slow").ok());
  EXPECT_EQ(client->running(), 3);
  const double until = client->now() + kForever;
  EXPECT_THAT(client->wait(until), ElementsAre(&second));
  EXPECT_LT(client->now(), until);
  EXPECT_EQ(client->running(), 2);
  EXPECT_THAT(client->wait(client->now() + 0.01), IsEmpty());
  slow.open();
  std::vector<Record*> ended;
  while (ended.size() < 2) {
    for (Record* record : client->wait(client->now() + kForever)) ended.push_back(record);
  }
  EXPECT_THAT(ended, ::testing::UnorderedElementsAre(&first, &third));
  EXPECT_EQ(client->running(), 0);
}

TEST(Client, WhatIsAbandonedIsInterrupted) {
  Gate over;
  const ScriptedServer server([&](const Request& request, const Connection& to) {
    if (request.body == "fast") return answer_well(to, 2);
    to.begin_stream();
    to.event(chunk("a", 1));
    over.pass();
  });
  const auto client = client_of(server.url());
  Record record;
  ASSERT_TRUE(client->start(record, "slow").ok());
  while (record.deliveries.empty()) EXPECT_THAT(client->wait(client->now() + 0.05), IsEmpty());
  EXPECT_THAT(client->abandon(), ElementsAre(&record));
  EXPECT_EQ(client->running(), 0);
  EXPECT_THAT(client->abandon(), IsEmpty());
  EXPECT_EQ(name_of(record.error), "interrupted");
  EXPECT_GE(record.end, record.deliveries.back().at);
  EXPECT_NE(record.answer_hash, 0U) << "what has come of it counts";
  const Record next = ask(*client, "fast");
  EXPECT_TRUE(next.ok()) << next.message;
  EXPECT_EQ(next.deliveries.empty() ? 0 : next.usage.completion.value_or(0), 2);
  over.open();
}

/// With each request on a new connection, connecting would be a part of what is measured.
TEST(Client, ConnectionsAreKept) {
  Gate all;
  std::mutex mutex;
  std::map<int, int> requests;  // of each connection
  const ScriptedServer server([&](const Request&, const Connection& to) {
    {
      const std::lock_guard lock(mutex);
      ++requests[to.number()];
    }
    all.meet(12);  // the first round has a connection each
    to.answer_and_stay("data: " + chunk("a", 1) + "\n\ndata: [DONE]\n\n");
  });
  {
    const auto client = client_of(server.url());
    for (int round = 0; round < 3; ++round) {
      std::vector<Record> records(12);
      for (Record& record : records) ASSERT_TRUE(client->start(record, "{}").ok());
      for (size_t ended = 0; ended < records.size();) ended += client->wait(client->now() + kForever).size();
      for (const Record& record : records) EXPECT_TRUE(record.ok()) << record.message;
    }
  }
  EXPECT_EQ(requests.size(), 12U) << "no connection but those of the first round";
  int all_requests = 0;
  for (const auto& [number, count] : requests) all_requests += count;
  EXPECT_EQ(all_requests, 36);
}

TEST(Client, CostIsOfTheTimeSinceItBegan) {
  const ScriptedServer server([&](const Request&, const Connection& to) { answer_well(to, 20); });
  const auto client = client_of(server.url());
  (void)ask(*client);
  const ClientCost before = client->cost();
  EXPECT_GT(before.cpu_seconds, 0);
  EXPECT_GT(before.turn_max, 0);
  EXPECT_LE(before.turn_p99, before.turn_max);
  EXPECT_LT(before.turn_max, client->now());
  client->begin_cost();
  const ClientCost none = client->cost();
  EXPECT_EQ(none.turn_max, 0);
  EXPECT_EQ(none.turn_p99, 0);
  EXPECT_LT(none.cpu_seconds, before.cpu_seconds);
  // Time spent waiting is none of a turn's.
  (void)client->wait(client->now() + 0.1);
  client->begin_cost();
  const double begin = client->now();
  (void)ask(*client);
  EXPECT_LE(client->cost().turn_max, client->now() - begin);
}

}  // namespace
}  // namespace tessera::loadgen
