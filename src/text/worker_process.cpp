#include "text/worker_process.h"

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <utility>

#include "base/status.h"

namespace tessera::text {

namespace {

constexpr size_t kHeaderBytes = 5;

/// Whatever this process has open, blocks or ignores must not reach the child.
struct SpawnSettings {
  explicit SpawnSettings(int child_end) {
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, child_end, STDIN_FILENO);
    posix_spawn_file_actions_adddup2(&actions, child_end, STDOUT_FILENO);
    posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
    posix_spawn_file_actions_addclosefrom_np(&actions, STDERR_FILENO + 1);
    posix_spawn_file_actions_addchdir_np(&actions, "/");
    sigset_t none, defaults;
    sigemptyset(&none);
    sigemptyset(&defaults);
    for (const int signal : {SIGALRM, SIGCHLD, SIGHUP, SIGINT, SIGPIPE, SIGTERM}) sigaddset(&defaults, signal);
    posix_spawnattr_init(&attributes);
    posix_spawnattr_setsigmask(&attributes, &none);
    posix_spawnattr_setsigdefault(&attributes, &defaults);
    posix_spawnattr_setpgroup(&attributes, 0);  // Ctrl-C in the terminal is not for the child
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETPGROUP);
  }
  ~SpawnSettings() {
    posix_spawn_file_actions_destroy(&actions);
    posix_spawnattr_destroy(&attributes);
  }
  SpawnSettings(const SpawnSettings&) = delete;
  SpawnSettings& operator=(const SpawnSettings&) = delete;

  posix_spawn_file_actions_t actions;
  posix_spawnattr_t attributes;
};

Status gone() { return error(StatusCode::unavailable, "the worker process ended unexpectedly"); }

}  // namespace

Expected<WorkerProcess> WorkerProcess::start(const std::vector<std::string>& arguments) {
  std::array<int, 2> ends{};
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) != 0)
    return error(StatusCode::unavailable, "cannot make a socket: {}", std::strerror(errno));
  std::vector<char*> argv;
  argv.reserve(arguments.size() + 1);
  for (const std::string& argument : arguments) argv.push_back(const_cast<char*>(argument.c_str()));
  argv.push_back(nullptr);
  const char* zone = std::getenv("TZ");
  std::string time_zone = zone != nullptr ? std::string("TZ=") + zone : std::string();
  std::array<char*, 2> environment{zone != nullptr ? time_zone.data() : nullptr, nullptr};

  pid_t pid = -1;
  const SpawnSettings settings(ends[1]);
  const int failure =
      posix_spawn(&pid, arguments[0].c_str(), &settings.actions, &settings.attributes, argv.data(), environment.data());
  close(ends[1]);
  if (failure != 0) {
    close(ends[0]);
    return error(StatusCode::unavailable, "cannot start {}: {}", arguments[0], std::strerror(failure));
  }
  fcntl(ends[0], F_SETFL, O_NONBLOCK);
  return WorkerProcess(pid, ends[0]);
}

WorkerProcess::WorkerProcess(WorkerProcess&& other) noexcept
    : pid_(std::exchange(other.pid_, -1)), socket_(std::exchange(other.socket_, -1)) {}

WorkerProcess& WorkerProcess::operator=(WorkerProcess&& other) noexcept {
  std::swap(pid_, other.pid_);
  std::swap(socket_, other.socket_);
  return *this;
}

void WorkerProcess::stop() {
  if (socket_ >= 0) close(socket_);
  if (pid_ <= 0) return;
  kill(pid_, SIGKILL);
  while (waitpid(pid_, nullptr, 0) < 0 && errno == EINTR) {
  }
}

bool WorkerProcess::idle() const {
  pollfd request{socket_, POLLIN, 0};
  return socket_ >= 0 && poll(&request, 1, 0) == 0;
}

Status WorkerProcess::wait(short events, Deadline deadline) const {
  for (;;) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - std::chrono::steady_clock::now());
    if (left.count() <= 0) return error(StatusCode::resource_exhausted, "the time is up");
    pollfd request{socket_, events, 0};
    const int ready = poll(&request, 1, static_cast<int>(std::min<int64_t>(left.count(), 1'000'000)));
    if (ready > 0) return {};
    if (ready < 0 && errno != EINTR) return gone();
  }
}

Status WorkerProcess::send(char kind, std::string_view payload, Deadline deadline) {
  if (payload.size() > UINT32_MAX)
    return error(StatusCode::resource_exhausted, "a frame of {} bytes is too long", payload.size());
  std::string bytes(1, kind);
  for (int shift = 0; shift < 32; shift += 8) bytes += static_cast<char>(payload.size() >> shift);
  bytes += payload;
  for (size_t sent = 0; sent < bytes.size();) {
    TESSERA_RETURN_IF_ERROR(wait(POLLOUT, deadline));
    const ssize_t count = ::send(socket_, bytes.data() + sent, bytes.size() - sent, MSG_NOSIGNAL);
    if (count < 0 && errno != EAGAIN && errno != EINTR) return gone();
    sent += static_cast<size_t>(std::max<ssize_t>(count, 0));
  }
  return {};
}

Status WorkerProcess::read_exactly(char* to, size_t size, Deadline deadline) {
  for (size_t done = 0; done < size;) {
    TESSERA_RETURN_IF_ERROR(wait(POLLIN, deadline));
    const ssize_t count = recv(socket_, to + done, size - done, 0);
    if (count == 0 || (count < 0 && errno != EAGAIN && errno != EINTR)) return gone();
    done += static_cast<size_t>(std::max<ssize_t>(count, 0));
  }
  return {};
}

Expected<WorkerProcess::Frame> WorkerProcess::receive(size_t payload_bytes_max, Deadline deadline) {
  std::array<char, kHeaderBytes> header{};
  TESSERA_RETURN_IF_ERROR(read_exactly(header.data(), header.size(), deadline));
  size_t length = 0;
  for (size_t i = kHeaderBytes - 1; i > 0; --i) length = length << 8 | static_cast<unsigned char>(header[i]);
  if (length > payload_bytes_max)
    return error(StatusCode::resource_exhausted, "the worker process sends {} bytes, at most {} are accepted", length,
                 payload_bytes_max);
  Frame frame{header[0], std::string(length, '\0')};
  TESSERA_RETURN_IF_ERROR(read_exactly(frame.payload.data(), length, deadline));
  return frame;
}

}  // namespace tessera::text
