#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "server/api_keys.h"
#include "server/browser_guard.h"
#include "server/http/exchange.h"

namespace tessera::server {

/// One line of the table of routes.
struct Route {
  std::string_view method;  // GET also answers HEAD
  std::string_view path;    // "/v1/models/{id}": any rest; the first line that fits counts
  bool needs_key = true;
  bool needs_model = false;  // 503 while it is loaded, and while the server goes down
  std::function<void(const std::shared_ptr<Exchange>&)> answer;
};

/// Finds the route of a request, and answers where there is none, no key, or no model. Network thread.
class Router {
 public:
  struct Options {
    std::vector<std::string> api_keys = {};
    BrowserGuard guard = {};  // where no key is asked for; its allowed_origins in any case
    std::function<std::optional<std::string>()> unavailable = {};  // why there is no model now
  };
  Router(Options options, std::vector<Route> routes);

  /// See HttpCallbacks.
  std::optional<HttpReply> check(const HttpRequest& request, RequestFacts& facts) const;
  void handle(const std::shared_ptr<Exchange>& exchange) const;

 private:
  std::optional<HttpReply> refusal(const HttpRequest& request, RequestFacts& facts) const;
  [[nodiscard]] std::optional<HttpReply> unavailable(const Route& route, const HttpRequest& request) const;
  [[nodiscard]] const Route* find(std::string_view method, std::string_view path) const;
  [[nodiscard]] std::string methods(std::string_view path) const;
  void add_headers(const HttpRequest& request, const RequestFacts& facts, HttpHeaders& headers) const;
  [[nodiscard]] bool shows_key(const HttpRequest& request) const;

  Options options_;
  ApiKeys keys_;
  std::vector<Route> routes_;
};

}  // namespace tessera::server
