#pragma once

#include <sys/types.h>

#include <chrono>
#include <string>
#include <vector>

// Runs the built program the way a user does: the one that the environment's TESSERA_BINARY names, else the one of this
// build. Commands that run a model do so on test_device(), unless they say --device themselves.
namespace tessera::cli {

using Arguments = std::vector<std::string>;

struct Finished {
  int exit_code = -1;  // 128 + signal for a process that a signal ended; -1: it hung and was killed
  std::string out, err;
};

/// A running `tessera`, its standard streams piped; killed when destroyed.
class Process {
 public:
  explicit Process(const Arguments& arguments, const std::string& input = "");
  ~Process();
  Process(const Process&) = delete;
  Process& operator=(const Process&) = delete;

  /// Any program.
  Process(const std::string& program, const Arguments& arguments, const std::string& input);

  void signal(int number) const;
  /// Reads standard output until it holds `text`; false when it ends, or after a minute, without it.
  bool wait_for_output(const std::string& text);
  /// Closes our end of its standard output.
  void close_output();
  Finished wait();

 private:
  bool read_some();

  pid_t pid_ = -1;
  int out_ = -1, err_ = -1;
  std::string out_text_, err_text_;
  std::chrono::steady_clock::time_point deadline_;
};

Finished run_tessera(const Arguments& arguments, const std::string& input = "");

/// The same from a shell that first does `preparation`: "ulimit -f 8", or "exec >&-". Models run on the CPU: limits of
/// a process are not for the driver of a GPU, which takes more of everything.
Finished run_tessera_after(const std::string& preparation, const Arguments& arguments);

/// `tessera` on a terminal of its own, 80 columns.
class TerminalSession {
 public:
  explicit TerminalSession(const Arguments& arguments, const std::string& term = "xterm");
  ~TerminalSession();
  TerminalSession(const TerminalSession&) = delete;
  TerminalSession& operator=(const TerminalSession&) = delete;

  void type(const std::string& keys) const;
  /// Waits until the screen has shown `text` after what an earlier call found; false after a minute without it.
  bool wait_for(const std::string& text);
  [[nodiscard]] const std::string& shown() const { return shown_; }
  void signal(int number) const;
  /// The exit code, as in Finished.
  int wait();

 private:
  bool read_some();

  pid_t pid_ = -1;
  int terminal_ = -1;
  std::string shown_;
  size_t seen_ = 0;
  std::chrono::steady_clock::time_point deadline_;
};

}  // namespace tessera::cli
