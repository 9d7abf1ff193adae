#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <future>
#include <memory>
#include <mutex>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "server/http/exchange.h"
#include "server/http/http_server.h"

namespace tessera::server {

/// What is known of a request in the end.
struct Finished {
  std::string path, client;
  int status = 0;
  int64_t prompt_tokens = 0, checks = 0;
  bool left = false, arrived = false;
};

/// An HTTP server whose handler does as the path says.
class HttpServerOf {
 public:
  static constexpr size_t kLarge = 5 << 20;  // more than sockets hold

  explicit HttpServerOf(HttpLimits limits = {}, std::string unix_socket = {}) {
    auto opened = HttpServer::open(
        {.host = "127.0.0.1", .unix_socket = std::move(unix_socket), .limits = limits},
        {.check = [this](const HttpRequest& request, RequestFacts& facts) { return check(request, facts); },
         .handle = [this](const std::shared_ptr<Exchange>& exchange) { handle(exchange); },
         .finished =
             [this](const Exchange& exchange) {
               const std::lock_guard lock(mutex_);
               finished_.push_back({exchange.request.path, exchange.request.client, exchange.facts.status,
                                    exchange.facts.prompt_tokens, exchange.facts.matched_tokens + 1,
                                    exchange.facts.client_left,
                                    exchange.request.arrived != std::chrono::steady_clock::time_point()});
             },
         .fault = [](int status, const std::string& message,
                     const std::string& path) { return HttpReply{.status = status, .body = path + ": " + message}; }});
    EXPECT_TRUE(opened.ok()) << opened.status().message();
    server_ = *std::move(opened);
    server_->run();
  }

  [[nodiscard]] uint16_t port() const { return server_->port(); }
  [[nodiscard]] const std::string& url() const { return server_->url(); }
  void reset() { server_.reset(); }

  /// On the network thread.
  template <typename Task>
  auto on_network(Task task) {
    std::promise<decltype(task(*server_))> done;
    server_->post([&] { done.set_value(task(*server_)); });
    return done.get_future().get();
  }
  int connections() {
    return on_network([](HttpServer& server) { return server.connections(); });
  }
  int exchanges() {
    return on_network([](HttpServer& server) { return server.exchanges(); });
  }
  void drain() {
    on_network([](HttpServer& server) { return server.drain(), 0; });
  }
  /// Answers all that is held.
  void release() {
    on_network([this](HttpServer&) {
      for (const auto& exchange : std::exchange(held_, {})) exchange->reply({.body = "released"});
      return 0;
    });
  }
  int gone() {
    return server_ ? on_network([this](HttpServer&) { return gone_; }) : gone_;
  }
  bool receiving() {
    return on_network([](HttpServer& server) { return server.receiving(); });
  }
  bool sending() {
    return on_network([](HttpServer& server) { return server.sending(); });
  }
  /// Of the one exchange that is held.
  size_t unsent() {
    return on_network([this](HttpServer&) { return held_.at(0)->unsent(); });
  }
  std::vector<Finished> finished() {
    const std::lock_guard lock(mutex_);
    return finished_;
  }

 private:
  static std::optional<HttpReply> check(const HttpRequest& request, RequestFacts& facts) {
    EXPECT_THAT(request.client, testing::AnyOf(testing::StartsWith("127.0.0.1:"), "unix"));
    if (request.path == "/counted") facts.prompt_tokens = 5;
    ++facts.matched_tokens;  // from -1 on: how often it is looked at
    if (request.path == "/refused") return HttpReply{.status = 403, .body = "no"};
    return std::nullopt;
  }

  void handle(const std::shared_ptr<Exchange>& exchange) {
    const std::string& path = exchange->request.path;
    exchange->on_gone([this] { ++gone_; });
    if (path == "/hold" || path == "/prepared") {
      if (path == "/prepared") exchange->body_prepared();
      held_.push_back(exchange);
    } else if (path == "/nothing") {
      exchange->reply({.status = exchange->request.query == "304" ? 304 : 204, .body = "not to be seen"});
    } else if (path == "/large") {
      exchange->reply({.body = std::string(kLarge, 'x')});
    } else if (path == "/stream") {
      exchange->begin({.body = "begin "});
      for (int i = 0; i < 100; ++i) exchange->write(std::to_string(i) + " ");
      exchange->write("");
      exchange->end();
    } else if (path == "/throws") {
      throw std::runtime_error("a handler's failure");
    } else if (path == "/unsent") {
      exchange->begin({.body = std::string(kLarge, 'x')});
      held_.push_back(exchange);
    } else if (path == "/drained") {
      exchange->begin({});
      const std::weak_ptr<Exchange> weak = exchange;
      exchange->on_drained([weak, pieces = std::make_shared<int>(0)] {
        const auto self = weak.lock();
        if (++*pieces > 20) return self->end();
        self->write(std::string(10'000, 'y'));
      });
      exchange->write("z");
    } else {
      exchange->reply({.body = std::to_string(exchange->request.body.size())});
    }
  }

  std::vector<std::shared_ptr<Exchange>> held_;  // of the network thread
  int gone_ = 0;
  std::mutex mutex_;  // guards the one below
  std::vector<Finished> finished_;
  std::unique_ptr<HttpServer> server_;  // the last: it ends before what its callbacks look at
};

}  // namespace tessera::server
