#include "server/browser_guard.h"

#include <arpa/inet.h>
#include <fmt/format.h>

#include <algorithm>

#include "server/http/http_text.h"
#include "server/request/json_text.h"

namespace tessera::server {
namespace {

constexpr size_t kShownBytesMax = 200;

ApiError refused(int status, std::string message) {
  return {.http_status = status, .message = std::move(message), .code = "request_refused"};
}

/// "localhost" of "localhost:8000", "::1" of "[::1]:8000".
std::string host_name(std::string_view host) {
  if (host.starts_with('[')) return std::string(host.substr(1, host.find(']') - 1));
  return std::string(host.substr(0, host.rfind(':')));
}

bool is_address(const std::string& name) {
  in6_addr scratch;
  return ::inet_pton(AF_INET, name.c_str(), &scratch) == 1 || ::inet_pton(AF_INET6, name.c_str(), &scratch) == 1;
}

bool allows_host(const BrowserGuard& guard, std::string_view host) {
  std::string name = host_name(host);
  if (name.ends_with('.')) name.pop_back();  // a name that is whole
  return guard.any_host || is_address(name) || same_text(name, "localhost") ||
         std::ranges::any_of(guard.allowed_hosts,
                             [&](const std::string& one) { return one == "*" || same_text(one, name); });
}

/// An origin is "https://HOST:PORT", HOST:PORT as in the header Host; of what is before a proxy only that is known.
bool is_own(std::string_view origin, std::string_view host) {
  const size_t at = origin.find("://");
  return at != std::string_view::npos && same_text(origin.substr(at + 3), host);
}

/// "text/plain" of "text/plain; charset=utf-8".
std::string_view media_type(std::string_view content_type) {
  content_type = content_type.substr(0, content_type.find(';'));
  return content_type.substr(0, content_type.find_last_not_of(' ') + 1);
}

}  // namespace

bool allows_origin(const std::vector<std::string>& allowed, std::string_view origin) {
  return !origin.empty() &&
         std::ranges::any_of(allowed, [&](const std::string& one) { return one == "*" || one == origin; });
}

std::optional<ApiError> refuse_page(const BrowserGuard& guard, const HttpRequest& request) {
  const std::string_view host = request.header("host");
  // Browsers always say a host; some programs of HTTP/1.0 do not.
  if (!host.empty() && !allows_host(guard, host)) {
    return refused(403, fmt::format("this server is not known as {}: without a key it answers to addresses and "
                                    "localhost; start it with --allowed-hosts {} or with --api-key",
                                    shortened(host, kShownBytesMax), shortened(host_name(host), kShownBytesMax)));
  }
  if (request.method == "GET" || request.method == "HEAD") return std::nullopt;  // other pages cannot read the answer
  const std::string_view origin = request.header("origin");
  if (!origin.empty() && !is_own(origin, host) && !allows_origin(guard.allowed_origins, origin)) {
    return refused(403, fmt::format("web pages of {} may not use this server; start it with --allowed-origins {}",
                                    shortened(origin, kShownBytesMax), shortened(origin, kShownBytesMax)));
  }
  const std::string_view type = media_type(request.header("content-type"));
  if (same_text(type, "text/plain") || same_text(type, "multipart/form-data")) {
    return refused(415, fmt::format("the Content-Type is {}, which any web page may send; expected application/json "
                                    "(a server with --api-key takes any)",
                                    type));
  }
  return std::nullopt;
}

}  // namespace tessera::server
