#include "server/router.h"

#include <fmt/format.h>

#include <algorithm>
#include <random>
#include <set>
#include <utility>

#include "server/error_reply.h"
#include "server/http/http_text.h"
#include "server/request/json_text.h"

namespace tessera::server {
namespace {

constexpr std::string_view kId = "{id}";
constexpr size_t kRequestIdBytesMax = 128;
constexpr const char* kPreflightSeconds = "86400";

bool matches(std::string_view pattern, std::string_view path) {
  const size_t at = pattern.find(kId);
  if (at == std::string_view::npos) return pattern == path;
  const std::string_view before = pattern.substr(0, at);
  const std::string_view behind = pattern.substr(at + kId.size());
  return path.size() > before.size() + behind.size() && path.starts_with(before) && path.ends_with(behind);
}

/// 128 random bits; unpredictable is not asked for, unique is.
std::string make_id() {
  static thread_local std::mt19937_64 generator = [] {
    std::random_device device;
    std::seed_seq seed{device(), device(), device(), device(), device(), device()};
    return std::mt19937_64(seed);
  }();
  return fmt::format("{:016x}{:016x}", generator(), generator());
}

/// What may stand in a log line and a header.
bool is_fit_id(std::string_view id) {
  return !id.empty() && id.size() <= kRequestIdBytesMax && std::all_of(id.begin(), id.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '_' ||
           c == '.' || c == ':';
  });
}

std::string_view get_for_head(std::string_view method) { return method == "HEAD" ? "GET" : method; }

}  // namespace

Router::Router(Options options, std::vector<Route> routes)
    : options_(std::move(options)), keys_(options_.api_keys), routes_(std::move(routes)) {}

const Route* Router::find(std::string_view method, std::string_view path) const {
  for (const Route& route : routes_) {
    if (route.method == get_for_head(method) && matches(route.path, path)) return &route;
  }
  return nullptr;
}

/// "GET, HEAD": what `path` answers to; empty if nothing.
std::string Router::methods(std::string_view path) const {
  std::string list;
  std::set<std::string_view> seen;  // several lines may fit
  for (const Route& route : routes_) {
    if (!matches(route.path, path) || !seen.insert(route.method).second) continue;
    if (!list.empty()) list += ", ";
    list += route.method;
    if (route.method == "GET") list += ", HEAD";
  }
  return list;
}

std::optional<HttpReply> Router::check(const HttpRequest& request, RequestFacts& facts) const {
  facts.unique_id = make_id();
  const std::string_view given = request.header("x-request-id");
  facts.id = is_fit_id(given) ? std::string(given) : facts.unique_id;
  auto reply = refusal(request, facts);
  if (reply) add_headers(request, facts, reply->headers);
  return reply;
}

std::optional<HttpReply> Router::refusal(const HttpRequest& request, RequestFacts& facts) const {
  const std::string allowed = methods(request.path);
  const bool preflight = request.method == "OPTIONS" && !request.header("access-control-request-method").empty();
  if (preflight && !allowed.empty() && allows_origin(options_.guard.allowed_origins, request.header("origin"))) {
    const std::string_view wanted = request.header("access-control-request-headers");
    return HttpReply{.status = 204,
                     .content_type = "",
                     .headers = {{"access-control-allow-methods", allowed + ", OPTIONS"},
                                 {"access-control-allow-headers", wanted.empty() ? "*" : std::string(wanted)},
                                 {"access-control-max-age", kPreflightSeconds}}};
  }
  if (allowed.empty()) {
    return error_reply({.http_status = 404,
                        .message = fmt::format("there is nothing at {}; the API begins at /v1", request.path),
                        .code = "not_found"},
                       request.path);
  }
  const Route* route = find(request.method, request.path);
  if (route == nullptr) {
    auto reply =
        error_reply({.http_status = 405,
                     .message = fmt::format("{} answers to {}, not to {}", request.path, allowed, request.method),
                     .code = "method_not_allowed"},
                    request.path);
    reply.headers.emplace_back("allow", allowed);
    return reply;
  }
  facts.route = route->path;
  if (route->needs_key && keys_.asked_for() && !shows_key(request)) {
    return error_reply(invalid_api_key(), request.path);
  }
  if (route->needs_key && !keys_.asked_for()) {
    if (const auto error = refuse_page(options_.guard, request)) return error_reply(*error, request.path);
  }
  const std::string_view expect = request.header("expect");
  if (!expect.empty() && !same_text(expect, "100-continue")) {
    return error_reply({.http_status = 417, .message = "the only expectation that is understood is 100-continue"},
                       request.path);
  }
  const std::string_view coding = request.header("content-encoding");
  if (!coding.empty() && !same_text(coding, "identity")) {
    return error_reply({.http_status = 415,
                        .message = fmt::format("the request's body is encoded ({}), expected plain JSON: let the "
                                               "client send it without compression",
                                               shortened(coding, 40))},
                       request.path);
  }
  return unavailable(*route, request);
}

std::optional<HttpReply> Router::unavailable(const Route& route, const HttpRequest& request) const {
  if (!route.needs_model) return std::nullopt;
  const auto why = options_.unavailable();
  if (!why) return std::nullopt;
  return error_reply({.http_status = 503, .message = *why, .type = "server_error", .code = "service_unavailable"},
                     request.path);
}

/// "Authorization: Bearer KEY" or "x-api-key: KEY". Clients of Anthropic's API may send both, one of them a
/// placeholder.
bool Router::shows_key(const HttpRequest& request) const {
  const bool bearer = keys_.has(bearer_key(request.header("authorization")));
  const bool own = keys_.has(request.header("x-api-key"));
  return bearer || own;
}

void Router::handle(const std::shared_ptr<Exchange>& exchange) const {
  add_headers(exchange->request, exchange->facts, exchange->reply_headers);
  const Route& route = *find(exchange->request.method, exchange->request.path);
  // The server may have begun to go down while the body came.
  if (auto reply = unavailable(route, exchange->request)) return exchange->reply(std::move(*reply));
  route.answer(exchange);
}

void Router::add_headers(const HttpRequest& request, const RequestFacts& facts, HttpHeaders& headers) const {
  headers.emplace_back("x-request-id", facts.id);
  if (request.path.starts_with("/v1/messages")) headers.emplace_back("request-id", facts.id);
  const std::vector<std::string>& allowed = options_.guard.allowed_origins;
  if (allowed.empty()) return;
  headers.emplace_back("vary", "origin");
  const std::string_view origin = request.header("origin");
  if (!allows_origin(allowed, origin)) return;
  const bool all = std::find(allowed.begin(), allowed.end(), "*") != allowed.end();
  headers.emplace_back("access-control-allow-origin", all ? "*" : std::string(origin));
  headers.emplace_back("access-control-expose-headers", "x-request-id, retry-after, x-tessera-warning");
}

}  // namespace tessera::server
