#include "loadgen/server_address.h"

#include <string_view>

namespace tessera::loadgen {

Expected<ServerAddress> ServerAddress::parse(const std::string& url) {
  constexpr std::string_view kUnix = "unix:";
  ServerAddress address;
  if (url.starts_with(kUnix)) {
    std::string path = url.substr(kUnix.size());
    if (path.starts_with("//")) path.erase(0, 2);
    if (path.empty()) {
      return error(StatusCode::invalid_argument, "found \"{}\", expected unix:PATH, the path of a socket", url);
    }
    return ServerAddress{"http://localhost", "http://localhost/v1", path};
  }
  address.root = url.find("://") == std::string::npos ? "http://" + url : url;
  if (!address.root.starts_with("http://") && !address.root.starts_with("https://")) {
    return error(StatusCode::invalid_argument, "found \"{}\", expected http://HOST:PORT, https://HOST or unix:PATH",
                 url);
  }
  const auto drop = [&](std::string_view end) {
    if (address.root.ends_with(end)) address.root.resize(address.root.size() - end.size());
  };
  drop("/");
  drop("/chat/completions");
  drop("/v1");
  if (address.root.ends_with("/") || address.root.find_first_of(" \t\n") != std::string::npos) {
    return error(StatusCode::invalid_argument, "found \"{}\", expected http://HOST:PORT with or without /v1", url);
  }
  address.api = address.root + "/v1";
  return address;
}

}  // namespace tessera::loadgen
