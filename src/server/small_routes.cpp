#include "server/small_routes.h"

#include <fmt/format.h>

#include <cstdint>

#include "base/hash.h"
#include "server/web_files.h"

namespace tessera::server {
namespace {

std::string content_type(std::string_view path) {
  if (path.ends_with(".js")) return "text/javascript; charset=utf-8";
  if (path.ends_with(".css")) return "text/css; charset=utf-8";
  if (path.ends_with(".svg")) return "image/svg+xml";
  if (path.ends_with(".woff2")) return "font/woff2";
  if (path.ends_with(".txt")) return "text/plain; charset=utf-8";
  return "text/html; charset=utf-8";
}

/// Of a file's content.
std::string entity_tag(std::string_view bytes) { return fmt::format("\"{:016x}\"", fnv1a(bytes)); }

/// The page runs its own scripts alone, talks to its own server alone, and is shown in no other page.
constexpr const char* kPolicy =
    "default-src 'self'; img-src 'self' data:; object-src 'none'; base-uri 'none'; form-action 'none'; "
    "frame-ancestors 'none'";

}  // namespace

void add_page_routes(std::vector<Route>& routes) {
  for (const WebFile& file : web_files()) {
    const auto answer = [bytes = file.bytes, type = content_type(file.path),
                         tag = entity_tag(file.bytes)](const std::shared_ptr<Exchange>& exchange) {
      const bool known = exchange->request.header("if-none-match") == tag;
      exchange->reply({.status = known ? 304 : 200,
                       .content_type = known ? "" : type,
                       .headers = {{"etag", tag},
                                   {"cache-control", "no-cache"},
                                   {"content-security-policy", kPolicy},
                                   {"x-content-type-options", "nosniff"},
                                   {"referrer-policy", "no-referrer"}},
                       .body = known ? "" : std::string(bytes)});
    };
    routes.push_back({.method = "GET", .path = file.path, .needs_key = false, .answer = answer});
    if (file.path == "/index.html") {
      routes.push_back({.method = "GET", .path = "/", .needs_key = false, .answer = answer});
    }
  }
}

}  // namespace tessera::server
