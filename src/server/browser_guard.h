#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "server/http/http_request.h"
#include "server/request/api_error.h"

// What keeps web pages off a server that asks for no key. A browser sends a page's requests to any address, also to one
// that only this machine reaches, and says three things with them that the page cannot change: by which name it found
// the server (a page whose name its owner points at 127.0.0.1 counts as the server's own, and may read the answers),
// the page's origin, and a content type that, were it JSON, would be asked for beforehand.
namespace tessera::server {

struct BrowserGuard {
  std::vector<std::string> allowed_hosts = {};    // besides addresses and localhost; "*": all
  std::vector<std::string> allowed_origins = {};  // besides the server's own; "*": all
  bool any_host = false;                          // no browser can choose the name: the server has no port
};

/// Why a request that may have come from a web page is not answered: 403 or 415.
std::optional<ApiError> refuse_page(const BrowserGuard& guard, const HttpRequest& request);

/// Whether `origin` is one of `allowed`, or they are "*".
bool allows_origin(const std::vector<std::string>& allowed, std::string_view origin);

}  // namespace tessera::server
