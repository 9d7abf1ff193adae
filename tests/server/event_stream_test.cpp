#include "server/event_stream.h"

#include <gmock/gmock.h>

#include <future>

#include "base/wait_until.h"
#include "server/http/http_server.h"
#include "server/raw_client.h"

namespace tessera::server {
namespace {

std::unique_ptr<HttpServer> served(std::function<void(const std::shared_ptr<Exchange>&)> answer) {
  auto server = HttpServer::open({.host = "127.0.0.1"},
                                 {.check = [](const HttpRequest&, RequestFacts&) { return std::nullopt; },
                                  .handle = std::move(answer),
                                  .finished = [](const Exchange&) {},
                                  .fault = [](int, const std::string&, const std::string&) { return HttpReply(); }});
  EXPECT_TRUE(server.ok()) << server.status().message();
  (*server)->run();
  return std::move(*server);
}

/// Of what a client has not read, no more is copied out of the log than it may hold back.
TEST(EventStream, CopiesNoMoreThanMayBeUnsent) {
  constexpr size_t kMax = 64 << 10, kFraming = 1 << 10;
  const std::string event = "data: " + std::string(kMax / 4 * 3, 'x') + "\n\n";
  std::string all;
  std::promise<size_t> unsent;
  const auto answer = [&](const std::shared_ptr<Exchange>& exchange) {
    const auto log = std::make_shared<responses::EventLog>();
    log->add(event);
    stream_events(exchange, log, 0, {}, kMax);
    for (int i = 0; i < 8; ++i) log->add(event);  // nothing is sent before this has ended
    unsent.set_value(exchange->unsent());
    log->end();
    all = log->from(0);
  };
  const auto server = served(answer);
  const RawAnswer whole = ask(server->port(), get("/"));
  EXPECT_LE(unsent.get_future().get(), kMax + kFraming);
  EXPECT_TRUE(whole.body == all);
}

TEST(EventStream, ALogGoesOnOnceItsReaderIsGone) {
  const auto log = std::make_shared<responses::EventLog>();
  std::promise<std::weak_ptr<Exchange>> reading;
  const auto server = served([&](const std::shared_ptr<Exchange>& exchange) {
    log->add("data: 1\n\n");
    stream_events(exchange, log, 0, {}, 1000);
    reading.set_value(exchange);
  });
  {
    RawClient client(server->port());
    client.send(get("/"));
    ASSERT_TRUE(client.wait_for("data: 1"));
  }
  const std::weak_ptr<Exchange> exchange = reading.get_future().get();
  ASSERT_TRUE(test::wait_until([&] { return exchange.expired(); }));
  std::promise<size_t> events;
  server->post([&] {
    log->add("data: 2\n\n");
    log->end();
    events.set_value(log->count());
  });
  EXPECT_EQ(events.get_future().get(), 2U);
}

}  // namespace
}  // namespace tessera::server
