#pragma once

#include <cstdint>
#include <set>
#include <string>

#include "base/status.h"

namespace tessera::cli {

/// The JSON lines of answers, in a file that outlives interruptions or on standard output. A line is written by one
/// call, so that whatever ends the program leaves at most one torn line, the last.
class BatchOutput {
 public:
  /// Opens `file` to go on where an earlier run ended: reads which indices are done, cuts off a torn last line, and
  /// locks the file against a second run. An empty name is standard output, where nothing is done. Errors: a line that
  /// is not JSON with an index in [0, lines), a file that another process is writing.
  static Expected<BatchOutput> open(const std::string& file, int64_t lines);

  BatchOutput(BatchOutput&& other) noexcept;
  BatchOutput& operator=(BatchOutput&&) = delete;
  ~BatchOutput();

  [[nodiscard]] const std::set<int64_t>& done() const { return done_; }
  /// How many of them have no answer but an error.
  [[nodiscard]] size_t failed() const { return failed_; }
  /// `line` without its newline.
  Status write(const std::string& line);

 private:
  BatchOutput(std::string file, int descriptor) : file_(std::move(file)), descriptor_(descriptor) {}
  Status read_done(int64_t lines);

  std::string file_;
  int descriptor_ = -1;  // -1: standard output
  std::set<int64_t> done_;
  size_t failed_ = 0;
};

}  // namespace tessera::cli
