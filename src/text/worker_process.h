#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "tessera/status.h"

namespace tessera::text {

/// A child process that is spoken to in frames over its standard input and output: a kind (one byte), a length (four
/// bytes, little-endian), a payload. It inherits nothing: no descriptors, no environment but TZ, no signal mask, its
/// own process group; standard error is discarded. Destroying it kills and reaps it. Not thread-safe.
class WorkerProcess {
 public:
  using Deadline = std::chrono::steady_clock::time_point;
  struct Frame {
    char kind;
    std::string payload;
  };

  /// arguments[0] is an absolute path. unavailable if it cannot be started.
  static Expected<WorkerProcess> start(const std::vector<std::string>& arguments);

  ~WorkerProcess() { stop(); }
  WorkerProcess(WorkerProcess&& other) noexcept;
  WorkerProcess& operator=(WorkerProcess&& other) noexcept;

  /// resource_exhausted when the deadline passes, unavailable when the process is gone. After an error, or a frame
  /// that was not received, the process is of no more use.
  Status send(char kind, std::string_view payload, Deadline deadline);
  Expected<Frame> receive(size_t payload_bytes_max, Deadline deadline);

  /// False once the process has ended, or has said something unasked.
  [[nodiscard]] bool idle() const;
  [[nodiscard]] pid_t pid() const { return pid_; }

 private:
  WorkerProcess(pid_t pid, int socket) : pid_(pid), socket_(socket) {}
  void stop();
  Status wait(short events, Deadline deadline) const;
  Status read_exactly(char* to, size_t size, Deadline deadline);

  pid_t pid_ = -1;
  int socket_ = -1;
};

}  // namespace tessera::text
