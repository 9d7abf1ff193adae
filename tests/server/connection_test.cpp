#include <gmock/gmock.h>
#include <sys/resource.h>

#include <chrono>
#include <ctime>
#include <thread>

#include "base/wait_until.h"
#include "server/http_server_of.h"
#include "server/raw_client.h"

// Connections by themselves, with handlers that do as the path says: what is counted and given back, what ends a
// connection and what does not, and who is told.
namespace tessera::server {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::StartsWith;

TEST(Connection, BodiesAreCountedAndGivenBack) {
  HttpLimits limits;
  limits.all_body_bytes_max = 100'000;
  HttpServerOf served(limits);
  const std::string body(60'000, 'x');
  RawClient kept(served.port());
  for (int i = 0; i < 4; ++i) {
    kept.send(post("/echo", body));
    EXPECT_EQ(kept.answer().body, "60000");
    EXPECT_EQ(ask(served.port(), post("/echo", body)).body, "60000");
  }
  for (int i = 0; i < 4; ++i) {  // those who leave in the middle
    RawClient leaver(served.port());
    leaver.send("POST /echo HTTP/1.1\r\nHost: localhost\r\nContent-Length: 90000\r\n\r\n" + body);
    leaver.close();
  }
  EXPECT_EQ(ask(served.port(), post("/refused", body)).status, 403);
  EXPECT_TRUE(test::wait_until([&] { return served.connections() <= 1; }));
  EXPECT_EQ(ask(served.port(), post("/echo", std::string(100'000, 'x'))).status, 200) << "as many as may be";
  EXPECT_EQ(ask(served.port(), post("/echo", std::string(100'001, 'x'))).status, 503);
  // A request that is being answered holds its body, until it is prepared.
  RawClient holds(served.port());
  holds.send(post("/hold", body));
  ASSERT_TRUE(test::wait_until([&] { return served.exchanges() == 1; }));
  EXPECT_EQ(ask(served.port(), post("/echo", body)).status, 503);
  served.release();
  EXPECT_EQ(holds.answer().body, "released");
  EXPECT_EQ(ask(served.port(), post("/echo", body)).status, 200);
  holds.send(post("/prepared", body));
  ASSERT_TRUE(test::wait_until([&] { return served.exchanges() == 1; }));
  EXPECT_EQ(ask(served.port(), post("/echo", body)).status, 200);
  served.release();
}

TEST(Connection, FactsAreOfOneRequest) {
  HttpServerOf served;
  RawClient client(served.port());
  for (const char* path : {"/counted", "/plain", "/refused", "/stream"}) {
    // What is read in several pieces is looked at once.
    client.send(path == std::string_view("/plain") ? post(path, std::string(1 << 20, 'x')) : get(path));
    EXPECT_NE(client.answer().status, 0);
  }
  client.send("nonsense\r\n\r\n");
  EXPECT_EQ(client.answer().status, 400);
  EXPECT_TRUE(client.ends());
  EXPECT_EQ(served.connections(), 1) << "who is closed to has seen the end, and may yet say why";
  client.close();
  ASSERT_TRUE(test::wait_until([&] { return served.finished().size() == 5; }));
  const auto finished = served.finished();
  std::vector<int> statuses;
  for (const Finished& one : finished) {
    statuses.push_back(one.status);
    EXPECT_THAT(one.client, StartsWith("127.0.0.1:"));
    EXPECT_EQ(one.client, finished[0].client);
    EXPECT_EQ(one.prompt_tokens, one.path == "/counted" ? 5 : -1) << one.path;
    EXPECT_FALSE(one.left) << one.path;
    EXPECT_TRUE(one.arrived) << one.path << ": the log says how long it took";
    EXPECT_EQ(one.checks, one.status == 400 ? 0 : 1) << one.path;
  }
  EXPECT_THAT(statuses, ElementsAre(200, 200, 403, 200, 400));
  EXPECT_EQ(served.gone(), 0) << "who was answered has not left";
  EXPECT_EQ(served.exchanges(), 0);
  EXPECT_TRUE(test::wait_until([&] { return served.connections() == 0; }));
}

TEST(Connection, WhoLeavesIsNoticedWhileARequestIsAnswered) {
  HttpServerOf served;
  int left = 0;
  for (const bool half : {true, false}) {
    RawClient client(served.port());
    client.send(get("/hold"));
    ASSERT_TRUE(test::wait_until([&] { return served.exchanges() == 1; }));
    EXPECT_EQ(served.gone(), left);
    client.send(get("/echo"));  // which waits
    if (half) {
      client.half_close();
    } else {
      client.reset();
    }
    ++left;
    EXPECT_TRUE(test::wait_until([&] { return served.exchanges() == 0 && served.connections() == 0; }));
    EXPECT_EQ(served.gone(), left) << "once";
    const Finished last = served.finished().back();
    EXPECT_EQ(last.status, 499);
    EXPECT_TRUE(last.left);
  }
  served.release();  // to nobody
  EXPECT_EQ(served.finished().size(), 2U);
}

/// A refusal ends a connection only where the request is not at its end.
TEST(Connection, RefusalsKeepWhatCanBeKept) {
  HttpServerOf served;
  RawClient client(served.port());
  client.send(get("/refused"));
  RawAnswer answer = client.answer();
  EXPECT_EQ(answer.status, 403);
  EXPECT_EQ(answer.header("connection"), "keep-alive");
  client.send(get("/refused", "Connection: close\r\n"));
  answer = client.answer();
  EXPECT_EQ(answer.header("connection"), "close");
  EXPECT_TRUE(client.ends());
  RawClient unread(served.port());
  unread.send("POST /refused HTTP/1.1\r\nHost: localhost\r\nContent-Length: 10\r\n\r\n");
  answer = unread.answer();
  EXPECT_EQ(answer.status, 403);
  EXPECT_EQ(answer.header("connection"), "close");
  EXPECT_TRUE(unread.ends());
  RawClient closing(served.port());
  closing.send(get("/echo", "Connection: close\r\n"));
  EXPECT_EQ(closing.answer().header("connection"), "close");
  EXPECT_TRUE(closing.ends());
  RawClient continuing(served.port());
  continuing.send("POST /echo HTTP/1.1\r\nHost: localhost\r\nContent-Length: 3\r\n\r\n");
  EXPECT_TRUE(test::wait_until([&] { return served.receiving(); })) << "before there is a body";
  continuing.send("abc" + get("/echo"));
  EXPECT_EQ(continuing.answer().body, "3") << "nobody asked for a 100 Continue";
  EXPECT_EQ(continuing.answer().body, "0");
}

TEST(Connection, LaterRequestsWait) {
  HttpServerOf served;
  RawClient client(served.port());
  client.send(get("/hold"));
  ASSERT_TRUE(test::wait_until([&] { return served.exchanges() == 1; }));
  std::string more;
  for (int i = 0; i < 700; ++i) more += get("/echo");
  ASSERT_GT(more.size(), 24'000U);
  client.send(more);
  for (int i = 0; i < 20; ++i) EXPECT_EQ(served.exchanges(), 1);  // by then some of them have been read
  served.release();
  EXPECT_EQ(client.answer().body, "released");
  for (int i = 0; i < 700; ++i) ASSERT_EQ(client.answer().body, "0") << i;
}

TEST(Connection, WhoSendsTooMuchAheadIsDropped) {
  HttpServerOf served;
  const RawClient client(served.port());
  client.send(get("/hold") + std::string(1 << 20, 'x'));
  EXPECT_TRUE(test::wait_until([&] { return served.gone() == 1 && served.connections() == 0; }));
  EXPECT_EQ(served.exchanges(), 0);
}

TEST(Connection, AHandlerThatFailsEndsItsConnectionAlone) {
  HttpServerOf served;
  RawClient other(served.port()), client(served.port());
  client.send(get("/throws"));
  EXPECT_TRUE(client.ends());
  EXPECT_EQ(served.exchanges(), 0);
  other.send(get("/echo"));
  EXPECT_EQ(other.answer().status, 200);
  EXPECT_TRUE(test::wait_until([&] { return served.connections() == 1; }));
}

/// Bytes that come behind the last answer neither destroy it nor stay in memory.
TEST(Connection, WhatComesBehindTheLastAnswerIsThrownAway) {
  const auto memory_kib = [] {
    rusage usage{};
    ::getrusage(RUSAGE_SELF, &usage);
    return usage.ru_maxrss;
  };
  HttpLimits limits;
  limits.linger_seconds_max = 3600;
  HttpServerOf served(limits);
  const std::string unread = "POST /refused HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1000000000\r\n\r\n";
  for (const std::string& last :
       {unread, get("/refused", "Connection: close\r\n"), get("/echo", "Connection: close\r\n")}) {
    RawClient client(served.port());
    client.send(last);
    ASSERT_TRUE(client.wait_for("connection: close"));
    const std::string piece(1 << 20, 'x');
    const auto before = memory_kib();
    for (int i = 0; i < 128; ++i) ASSERT_TRUE(client.send(piece)) << last;
    EXPECT_LT(memory_kib() - before, 64 << 10) << last;
    EXPECT_TRUE(client.answer().whole) << last;
    EXPECT_TRUE(client.ends()) << last;
    EXPECT_EQ(served.connections(), 1) << last;
    client.close();
    EXPECT_TRUE(test::wait_until([&] { return served.connections() == 0; })) << last;
  }
}

TEST(Connection, WhoNeverClosesIsClosedTo) {
  HttpLimits limits;
  limits.linger_seconds_max = 1;
  HttpServerOf served(limits);
  RawClient client(served.port()), unread(served.port());
  client.send(get("/echo", "Connection: close\r\n"));
  unread.send("POST /refused HTTP/1.1\r\nHost: localhost\r\nContent-Length: 10\r\n\r\n");
  EXPECT_EQ(client.answer().status, 200);
  EXPECT_EQ(unread.answer().status, 403);
  EXPECT_TRUE(test::wait_until([&] { return served.connections() == 0; }));
}

/// The processor's time, not the clock's.
TEST(Connection, WhoWaitsOrHasLeftCostsNothing) {
  HttpServerOf served;
  RawClient idle(served.port()), begun(served.port()), held(served.port()), closed(served.port());
  begun.send("GET /echo HTTP/1.1\r\nHo");
  held.send(get("/hold"));
  closed.send(get("/echo", "Connection: close\r\n"));
  EXPECT_EQ(closed.answer().status, 200);
  RawClient left(served.port(), 2048);
  left.send(get("/large"));
  ASSERT_TRUE(test::wait_until([&] { return served.sending(); }));
  left.reset();
  ASSERT_TRUE(test::wait_until([&] { return served.connections() == 4; }));
  const auto seconds = [&] {
    return served.on_network([](HttpServer&) {
      timespec used{};
      ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &used);
      return static_cast<double>(used.tv_sec) + 1e-9 * static_cast<double>(used.tv_nsec);
    });
  };
  const double before = seconds();
  std::this_thread::sleep_for(std::chrono::milliseconds(500));
  EXPECT_LT(seconds() - before, 0.05);
}

TEST(Connection, AnswersAreWhole) {
  HttpServerOf served;
  RawClient client(served.port());
  client.send(get("/large") + get("/stream") + get("/drained") + get("/nothing") + get("/nothing?304") + get("/end"));
  EXPECT_TRUE(client.answer().body == std::string(5 << 20, 'x'));
  std::string numbers = "begin ";
  for (int i = 0; i < 100; ++i) numbers += std::to_string(i) + " ";
  EXPECT_EQ(client.answer().body, numbers);
  EXPECT_EQ(client.answer().body.size(), 200'001U);
  EXPECT_EQ(client.answer().status, 204);
  EXPECT_EQ(client.answer().status, 304);
  EXPECT_EQ(client.answer().status, 200) << "nothing stands between them";
  RawClient old(served.port());
  old.send("GET /stream HTTP/1.0\r\nConnection: keep-alive\r\n\r\n");
  const RawAnswer until_end = old.answer();
  EXPECT_EQ(until_end.header("connection"), "close") << "else nobody would know where it ends";
  EXPECT_EQ(until_end.body, numbers);
  RawClient ended_later(served.port());
  ended_later.send("GET /drained HTTP/1.0\r\n\r\n");
  EXPECT_EQ(ended_later.answer().body.size(), 200'001U);
  EXPECT_TRUE(ended_later.ends()) << "with nothing left to send";
}

TEST(Connection, DrainingEndsConnectionsBehindTheirAnswers) {
  HttpServerOf served;
  RawClient idle(served.port()), held(served.port()), begun(served.port()), refused(served.port());
  for (RawClient* client : {&idle, &begun, &refused}) {
    client->send(get("/echo"));
    EXPECT_EQ(client->answer().header("connection"), "keep-alive");
  }
  held.send(get("/hold") + get("/echo"));
  begun.send("GET /echo HTTP/1.1\r\nHo");
  ASSERT_TRUE(test::wait_until([&] { return served.exchanges() == 1; }));
  served.drain();
  EXPECT_FALSE(RawClient(served.port()).connected()) << "nobody listens any more";
  served.release();
  idle.send(get("/stream"));
  begun.send("st: localhost\r\n\r\n");
  refused.send(get("/refused"));
  for (RawClient* client : {&idle, &held, &begun, &refused}) {
    EXPECT_EQ(client->answer().header("connection"), "close");
    EXPECT_TRUE(client->ends());
    client->close();
  }
  EXPECT_TRUE(test::wait_until([&] { return served.connections() == 0; }));
}

TEST(Connection, WhoIsLeftIsToldThatTheServerEnds) {
  HttpServerOf served;
  RawClient held(served.port()), begun(served.port());
  held.send(get("/hold"));
  begun.send("GET /echo HTTP/1.1\r\nHo");
  ASSERT_TRUE(test::wait_until([&] { return served.exchanges() == 1 && served.receiving(); }));
  served.drain();
  served.reset();
  for (RawClient* client : {&held, &begun}) EXPECT_TRUE(client->ends());
  EXPECT_EQ(served.gone(), 1) << "who makes the answer is told too";
  ASSERT_EQ(served.finished().size(), 1U);
  EXPECT_EQ(served.finished()[0].status, 499);
}

TEST(Connection, WhatIsOnItsWayIsKnown) {
  HttpServerOf served;
  const auto receiving = [&] { return served.receiving(); };
  const auto sending = [&] { return served.sending(); };
  RawClient client(served.port());
  client.send(get("/echo"));
  EXPECT_EQ(client.answer().status, 200);
  EXPECT_TRUE(test::wait_until([&] { return !receiving(); })) << "an idle connection";
  client.send("GET /ho");
  EXPECT_TRUE(test::wait_until(receiving));
  client.send("ld HTTP/1.1\r\nHost: localhost\r\n\r\n");
  ASSERT_TRUE(test::wait_until([&] { return served.exchanges() == 1; }));
  EXPECT_FALSE(receiving());
  EXPECT_FALSE(sending());
  served.release();
  EXPECT_EQ(client.answer().body, "released");
  RawClient deaf(served.port(), 2048);
  deaf.send(get("/large"));
  EXPECT_TRUE(test::wait_until(sending));
  deaf.reset();
  EXPECT_TRUE(test::wait_until([&] { return !sending(); }));
  const RawClient slow(served.port(), 256 << 10);
  slow.send(get("/unsent"));
  ASSERT_TRUE(test::wait_until([&] { return served.exchanges() == 1; }));
  EXPECT_TRUE(test::wait_until([&] { return served.unsent() > 0 && served.unsent() < HttpServerOf::kLarge; }))
      << "what the socket has taken is none of it";
  std::string taken(HttpServerOf::kLarge, '\0');
  EXPECT_EQ(::recv(slow.descriptor(), taken.data(), taken.size(), MSG_WAITALL), static_cast<ssize_t>(taken.size()));
  EXPECT_TRUE(test::wait_until([&] { return served.unsent() == 0; }));
}

TEST(Connection, AsManyAsMayBe) {
  HttpLimits limits;
  limits.connections_max = 2;
  HttpServerOf served(limits);
  RawClient first(served.port()), second(served.port());
  for (RawClient* client : {&first, &second}) {
    client->send(get("/echo"));
    EXPECT_EQ(client->answer().status, 200);
  }
  RawClient third(served.port());
  EXPECT_EQ(third.answer().status, 503);
  EXPECT_TRUE(third.ends());
}

TEST(Connection, OnlyHeadersHaveTheTimeOfHeaders) {
  HttpLimits limits;
  limits.header_seconds_max = 1;
  limits.linger_seconds_max = 3600;
  HttpServerOf served(limits);
  RawClient body(served.port()), idle(served.port()), head(served.port());
  body.send("POST /echo HTTP/1.1\r\nHost: localhost\r\nContent-Length: 3\r\n\r\n");
  head.send("GET /echo HTTP/1.1\r\nHo");
  EXPECT_EQ(head.answer().status, 408);
  EXPECT_TRUE(head.ends());
  std::this_thread::sleep_for(std::chrono::milliseconds(500));
  EXPECT_EQ(served.connections(), 3) << "who is out of time may yet take the answer";
  body.send("abc");
  EXPECT_EQ(body.answer().body, "3");
  idle.send(get("/echo"));
  EXPECT_EQ(idle.answer().status, 200);
}

/// The answer as a whole takes longer than a client may stand still: some of it goes on all the time.
TEST(Connection, WhoTakesAnAnswerSlowlyGetsAllOfIt) {
  HttpLimits limits;
  limits.write_stall_seconds_max = 2;
  HttpServerOf served(limits);
  const RawClient slow(served.port(), 256 << 10);
  slow.send(get("/large", "Connection: close\r\n"));
  std::string piece(64 << 10, '\0');
  ssize_t taken = 0;
  for (ssize_t more = 0; (more = ::recv(slow.descriptor(), piece.data(), piece.size(), MSG_WAITALL)) > 0;) {
    taken += more;
    if (taken < 4 << 20) std::this_thread::sleep_for(std::chrono::milliseconds(50));
  }
  EXPECT_GT(taken, 5 << 20);
}

}  // namespace
}  // namespace tessera::server
