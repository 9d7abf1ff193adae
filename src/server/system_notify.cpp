#include "server/system_notify.h"

#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <charconv>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <string>

namespace tessera::server {

void notify_system(std::string_view state) {
  const char* path = std::getenv("NOTIFY_SOCKET");
  sockaddr_un address{};
  if (path == nullptr || (path[0] != '/' && path[0] != '@') || std::strlen(path) >= sizeof address.sun_path) return;
  address.sun_family = AF_UNIX;
  std::memcpy(address.sun_path, path, std::strlen(path));
  if (path[0] == '@') address.sun_path[0] = '\0';  // the abstract namespace
  const int descriptor = ::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  if (descriptor < 0) return;
  const auto length = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + std::strlen(path));
  (void)::sendto(descriptor, state.data(), state.size(), MSG_NOSIGNAL, reinterpret_cast<const sockaddr*>(&address),
                 length);
  ::close(descriptor);
}

double watchdog_interval() {
  const auto number = [](const char* name) {
    const char* text = std::getenv(name);
    long long value = 0;
    if (text != nullptr) std::from_chars(text, text + std::strlen(text), value);
    return value;
  };
  const long long owner = number("WATCHDOG_PID");
  if (owner != 0 && owner != ::getpid()) return 0;
  return static_cast<double>(number("WATCHDOG_USEC")) * 1e-6 / 2;
}

}  // namespace tessera::server
