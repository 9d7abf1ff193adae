#include <gmock/gmock.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "base/temp_directory.h"
#include "server/http_server_of.h"
#include "server/raw_client.h"

// The sockets of connections and of those that listen: what is asked of the kernel, and what is left behind.
namespace tessera::server {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

TEST(Connection, AServerMayFollowAnotherAtOnce) {
  HttpServerOf served;
  const uint16_t port = served.port();
  EXPECT_EQ(served.url(), "http://127.0.0.1:" + std::to_string(port));
  RawClient client(port);
  client.send(get("/echo", "Connection: close\r\n"));
  EXPECT_EQ(client.answer().status, 200);
  EXPECT_TRUE(client.ends()) << "the server's side, whose port the kernel now holds for a while";
  client.close();
  served.reset();
  const auto next = HttpServer::open({.host = "127.0.0.1", .port = port}, {});
  EXPECT_TRUE(next.ok()) << next.status().message();
  const auto v6 = HttpServer::open({.host = "::1"}, {});
  if (v6.ok()) {  // not every machine has it
    EXPECT_THAT((*v6)->url(), StartsWith("http://[::1]:"));
  }
}

/// Binds a socket at `path`, as a server that was killed leaves it: nobody listens.
void leave_socket(const std::string& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  path.copy(address.sun_path, sizeof address.sun_path - 1);
  const int socket = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  EXPECT_EQ(::bind(socket, reinterpret_cast<const sockaddr*>(&address), sizeof address), 0) << path;
  ::close(socket);
}

/// The server's end of a client's connection, among this process's own descriptors; -1: there is none.
int server_end(const RawClient& client) {
  const auto address = [](int descriptor, const auto& of) {
    sockaddr_in found{};
    socklen_t size = sizeof found;
    const bool known = of(descriptor, reinterpret_cast<sockaddr*>(&found), &size) == 0 && found.sin_family == AF_INET;
    return known ? int{found.sin_port} : -1;
  };
  const int port = address(client.descriptor(), ::getsockname);
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd")) {
    const int descriptor = std::stoi(entry.path().filename());
    if (address(descriptor, ::getpeername) == port) return descriptor;
  }
  return -1;
}

/// A machine that was switched off says nothing, so the kernel is to ask, and to give up on what it does not take.
TEST(Connection, TheKernelLooksAfterClientsThatSayNothing) {
  HttpLimits limits;
  limits.write_stall_seconds_max = 7;
  HttpServerOf served(limits);
  RawClient client(served.port());
  client.send(get("/echo"));
  client.answer();
  const int end = server_end(client);
  ASSERT_GE(end, 0);
  const auto option = [&](int level, int name) {
    int value = -1;
    socklen_t size = sizeof value;
    EXPECT_EQ(::getsockopt(end, level, name, &value, &size), 0);
    return value;
  };
  EXPECT_EQ(option(SOL_SOCKET, SO_KEEPALIVE), 1);
  EXPECT_EQ(option(IPPROTO_TCP, TCP_KEEPIDLE) + option(IPPROTO_TCP, TCP_KEEPINTVL) * option(IPPROTO_TCP, TCP_KEEPCNT),
            40)
      << "seconds until it counts as gone";
  EXPECT_EQ(option(IPPROTO_TCP, TCP_USER_TIMEOUT), 7000);
  EXPECT_EQ(option(IPPROTO_TCP, TCP_NODELAY), 1);
}

TEST(Connection, SocketsOfPathsAreLeftAsTheyShouldBe) {
  const test::TempDirectory directory;
  const std::string path = (directory.path() / "s").string();
  leave_socket(path);
  {
    HttpServerOf served({}, path);
    RawClient client(path);
    client.send(get("/echo"));
    EXPECT_EQ(client.answer().status, 200);
    const auto second = HttpServer::open({.host = "", .unix_socket = path}, {});
    EXPECT_THAT(second.status().message(), HasSubstr("a server listens there"));
  }
  EXPECT_FALSE(std::filesystem::exists(path)) << "its own is removed";
  HttpServerOf replaced({}, path);
  std::filesystem::remove(path);
  std::ofstream(path) << "somebody else's";
  replaced.reset();
  EXPECT_TRUE(std::filesystem::exists(path));
  std::filesystem::remove(path);
  const std::string longest = path + std::string(107 - path.size(), 'x');
  EXPECT_TRUE(HttpServer::open({.host = "", .unix_socket = longest}, {}).ok());
  EXPECT_THAT(HttpServer::open({.host = "", .unix_socket = longest + "x"}, {}).status().message(),
              HasSubstr("at most 107 bytes"));
}

}  // namespace
}  // namespace tessera::server
