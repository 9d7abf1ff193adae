#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "base/status.h"
#include "server/http/exchange.h"
#include "server/http/http_limits.h"

namespace tessera::server {

struct HttpOptions {
  std::string host;
  uint16_t port = 0;
  std::string unix_socket = {};
  std::string ssl_certfile = {}, ssl_keyfile = {};
  HttpLimits limits = {};
};

/// What a server does with requests. All are called on the network thread.
struct HttpCallbacks {
  /// Looks at a request before its body is read; an answer here is the only one, and the body is not read.
  std::function<std::optional<HttpReply>(const HttpRequest&, RequestFacts&)> check;
  std::function<void(const std::shared_ptr<Exchange>&)> handle;
  /// The answer has ended, or the client is gone.
  std::function<void(const Exchange&)> finished;
  /// The answer to bytes that are no request, or to a limit; its body is made from status and message. `path`: as far
  /// as it is known.
  std::function<HttpReply(int status, const std::string& message, const std::string& path)> fault;
};

/// Listens, and runs the network thread, which owns every connection and everything that handlers keep.
class HttpServer {
 public:
  /// Binds; errors name the address. Connections are accepted once run() was called.
  static Expected<std::unique_ptr<HttpServer>> open(HttpOptions options, HttpCallbacks callbacks);
  /// Ends every connection and joins.
  ~HttpServer();

  void run();  // starts the network thread
  /// "http://127.0.0.1:8000"
  [[nodiscard]] const std::string& url() const;
  [[nodiscard]] uint16_t port() const;

  /// Has `task` run on the network thread. Any thread.
  void post(std::function<void()> task);
  /// Has `task` run there every so often, until the server ends. Before run().
  void every(double seconds, std::function<void()> task);

  // On the network thread.

  /// Stops listening; every connection is closed when its request has been answered, idle ones at their next request.
  void drain();
  /// Ends every connection now.
  void close_connections();
  [[nodiscard]] int connections() const;
  [[nodiscard]] int exchanges() const;   // requests being answered
  [[nodiscard]] bool receiving() const;  // bytes of requests are still on their way
  [[nodiscard]] bool sending() const;    // bytes of answers are

 private:
  struct State;
  explicit HttpServer(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace tessera::server
