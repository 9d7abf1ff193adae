#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <system_error>

#include "base/status.h"
#include "doctor/gather.h"
#include "plan/tuning_cache.h"

namespace tessera::doctor {
namespace {

namespace fs = std::filesystem;

/// Why the server could not listen on this port of the loopback address, where it listens by default.
std::string port_error(int port) {
  const int descriptor = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (descriptor < 0) return std::strerror(errno);
  const int yes = 1;  // as the server: a port that was just closed is free
  (void)::setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<uint16_t>(port));
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  const bool bound = ::bind(descriptor, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0;
  const std::string why = bound ? "" : std::strerror(errno);
  ::close(descriptor);
  return why;
}

}  // namespace

PlaceFacts gather_places(int port) {
  PlaceFacts facts;
  facts.port = port;
  if (port > 0) facts.port_error = port_error(port);
  const fs::path cache = plan::tuning_file("gpu").parent_path();
  facts.cache_directory = cache.string();
  fs::path nearest = cache;  // what is not there is made when it is needed
  std::error_code ignored;
  while (!nearest.empty() && !fs::exists(nearest, ignored) && nearest != nearest.parent_path()) {
    nearest = nearest.parent_path();
  }
  if (nearest.empty() || ::access(nearest.c_str(), W_OK | X_OK) != 0) {
    facts.cache_error = fmt::format("{}: {}", nearest.string(), std::strerror(errno));
  } else if (!fs::is_directory(nearest, ignored)) {
    facts.cache_error = nearest.string() + " is not a directory";
  }
  struct statvfs room {};
  if (facts.cache_error.empty() && ::statvfs(nearest.c_str(), &room) == 0) {
    facts.cache_free_bytes = static_cast<int64_t>(room.f_bavail * room.f_frsize);
  }
  return facts;
}

}  // namespace tessera::doctor
