#include "server/event_stream.h"

#include <gmock/gmock.h>

#include <future>

#include "server/http/http_server.h"
#include "server/raw_client.h"

namespace tessera::server {
namespace {

/// Of what a client has not read, no more is copied out of the log than it may hold back.
TEST(EventStream, CopiesNoMoreThanMayBeUnsent) {
  constexpr size_t kMax = 64 << 10, kFraming = 1 << 10;
  const std::string event = "data: " + std::string(kMax, 'x') + "\n\n";
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
  auto server = HttpServer::open({.host = "127.0.0.1"},
                                 {.check = [](const HttpRequest&, RequestFacts&) { return std::nullopt; },
                                  .handle = answer,
                                  .finished = [](const Exchange&) {},
                                  .fault = [](int, const std::string&, const std::string&) { return HttpReply(); }});
  ASSERT_TRUE(server.ok()) << server.status().message();
  (*server)->run();
  const RawAnswer whole = ask((*server)->port(), get("/"));
  EXPECT_LE(unsent.get_future().get(), kMax + kFraming);
  EXPECT_TRUE(whole.body == all);
}

}  // namespace
}  // namespace tessera::server
