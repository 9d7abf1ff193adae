#include "cli/process.h"

#include <fcntl.h>
#include <poll.h>
#include <pty.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <stdexcept>
#include <thread>

#include "test_device.h"

extern char** environ;

namespace tessera::cli {
namespace {

// A test never waits longer for the program; the machine may be busy.
constexpr auto kPatience = std::chrono::seconds(60);
using Clock = std::chrono::steady_clock;

std::string tessera_binary() {
  const char* binary = std::getenv("TESSERA_BINARY");
  return binary != nullptr && *binary != '\0' ? binary : TESSERA_BINARY;
}

Arguments on_device(Arguments arguments, const std::string& device) {
  const bool runs_a_model = !arguments.empty() && (arguments[0] == "run" || arguments[0] == "serve");
  if (!runs_a_model || std::find(arguments.begin(), arguments.end(), "--device") != arguments.end()) return arguments;
  const Arguments flags = {"--device", device, "--gpu-memory-utilization", std::to_string(kTestGpuMemoryUtilization)};
  arguments.insert(arguments.begin() + 1, flags.begin(), flags.end());
  return arguments;
}

std::vector<char*> argument_pointers(const std::string& program, const Arguments& arguments) {
  std::vector<char*> pointers = {const_cast<char*>(program.c_str())};
  for (const std::string& argument : arguments) pointers.push_back(const_cast<char*>(argument.c_str()));
  pointers.push_back(nullptr);
  return pointers;
}

struct Pipe {
  int ends[2] = {-1, -1};
  Pipe() {
    if (::pipe2(ends, O_CLOEXEC) != 0) throw std::runtime_error("pipe2 failed");
  }
};

/// Appends what there is to read; false at the end.
bool read_into(int descriptor, std::string& text) {
  char bytes[65536];
  const ssize_t got = ::read(descriptor, bytes, sizeof bytes);
  if (got > 0) text.append(bytes, static_cast<size_t>(got));
  return got > 0 || (got < 0 && errno == EINTR);
}

void close_once(int& descriptor) {
  if (descriptor >= 0) ::close(descriptor);
  descriptor = -1;
}

int reap(pid_t& pid, Clock::time_point deadline) {
  int status = 0;
  while (::waitpid(pid, &status, WNOHANG) == 0) {
    if (Clock::now() > deadline) {
      ::kill(pid, SIGKILL);
      ::waitpid(pid, &status, 0);
      pid = -1;
      return -1;
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
  pid = -1;
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

void kill_and_reap(pid_t pid) {
  if (pid <= 0) return;
  ::kill(pid, SIGKILL);
  ::waitpid(pid, nullptr, 0);
}

}  // namespace

Process::Process(const Arguments& arguments, const std::string& input)
    : Process(tessera_binary(), on_device(arguments, test_device()), input) {}

Process::Process(const std::string& program, const Arguments& arguments, const std::string& input)
    : deadline_(Clock::now() + kPatience) {
  const Pipe out, err;
  // Input comes from a file, so that no test hangs on a full pipe.
  std::FILE* input_file = std::tmpfile();
  if (input_file == nullptr) throw std::runtime_error("tmpfile failed");
  std::fwrite(input.data(), 1, input.size(), input_file);
  std::rewind(input_file);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, ::fileno(input_file), STDIN_FILENO);
  posix_spawn_file_actions_adddup2(&actions, out.ends[1], STDOUT_FILENO);
  posix_spawn_file_actions_adddup2(&actions, err.ends[1], STDERR_FILENO);
  const int failure =
      ::posix_spawn(&pid_, program.c_str(), &actions, nullptr, argument_pointers(program, arguments).data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  std::fclose(input_file);
  ::close(out.ends[1]);
  ::close(err.ends[1]);
  out_ = out.ends[0];
  err_ = err.ends[0];
  if (failure != 0) throw std::runtime_error("cannot start " + program);
}

Process::~Process() {
  close_once(out_);
  close_once(err_);
  kill_and_reap(pid_);
}

void Process::signal(int number) const { ::kill(pid_, number); }

void Process::close_output() { close_once(out_); }

/// False when both streams have ended or the time is up.
bool Process::read_some() {
  pollfd streams[] = {{.fd = out_, .events = POLLIN, .revents = 0}, {.fd = err_, .events = POLLIN, .revents = 0}};
  if ((out_ < 0 && err_ < 0) || Clock::now() > deadline_) return false;
  ::poll(streams, 2, 100);
  if (out_ >= 0 && streams[0].revents != 0 && !read_into(out_, out_text_)) close_once(out_);
  if (err_ >= 0 && streams[1].revents != 0 && !read_into(err_, err_text_)) close_once(err_);
  return true;
}

bool Process::wait_for_output(const std::string& text) {
  while (out_text_.find(text) == std::string::npos) {
    if (out_ < 0 || !read_some()) return false;
  }
  return true;
}

Finished Process::wait() {
  while (read_some()) {
  }
  return {.exit_code = reap(pid_, deadline_), .out = out_text_, .err = err_text_};
}

Finished run_tessera(const Arguments& arguments, const std::string& input) { return Process(arguments, input).wait(); }

Finished run_tessera_after(const std::string& preparation, const Arguments& arguments) {
  Arguments shell = {"-c", preparation + R"(; exec "$0" "$@")", tessera_binary()};
  const Arguments rest = on_device(arguments, "cpu");
  shell.insert(shell.end(), rest.begin(), rest.end());
  return Process("/bin/sh", shell, "").wait();
}

TerminalSession::TerminalSession(const Arguments& arguments, const std::string& term)
    : deadline_(Clock::now() + kPatience) {
  winsize size{};
  size.ws_row = 25;
  size.ws_col = 80;
  const std::string program = tessera_binary();
  const Arguments all = on_device(arguments, test_device());
  const std::vector<char*> pointers = argument_pointers(program, all);
  pid_ = ::forkpty(&terminal_, nullptr, nullptr, &size);
  if (pid_ < 0) throw std::runtime_error("forkpty failed");
  if (pid_ == 0) {
    ::setenv("TERM", term.c_str(), 1);
    ::unsetenv("NO_COLOR");
    ::execv(program.c_str(), pointers.data());
    ::_exit(127);
  }
}

TerminalSession::~TerminalSession() {
  close_once(terminal_);
  kill_and_reap(pid_);
}

void TerminalSession::type(const std::string& keys) const {
  if (::write(terminal_, keys.data(), keys.size()) != static_cast<ssize_t>(keys.size())) {
    throw std::runtime_error("cannot type");
  }
}

bool TerminalSession::read_some() {
  if (terminal_ < 0 || Clock::now() > deadline_) return false;
  pollfd screen{.fd = terminal_, .events = POLLIN, .revents = 0};
  if (::poll(&screen, 1, 100) > 0 && !read_into(terminal_, shown_)) close_once(terminal_);
  return true;
}

bool TerminalSession::wait_for(const std::string& text) {
  for (;;) {
    const size_t found = shown_.find(text, seen_);
    if (found != std::string::npos) {
      seen_ = found + text.size();
      return true;
    }
    if (!read_some()) return false;
  }
}

void TerminalSession::signal(int number) const { ::kill(pid_, number); }

int TerminalSession::wait() {
  while (read_some()) {
  }
  return reap(pid_, deadline_);
}

}  // namespace tessera::cli
