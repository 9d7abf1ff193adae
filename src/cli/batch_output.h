#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/status.h"

namespace tessera::cli {

/// The JSON lines of answers, in a file that outlives interruptions or on standard output. A line is written by one
/// call, so that whatever ends the program leaves at most one torn line, the last.
class BatchOutput {
 public:
  /// Opens `file` to go on where an earlier run ended: reads which indices are done, cuts off a torn last line, takes
  /// out answers to something else, and locks the file against a second run. `digests`: by index, what answers carry
  /// (batch_digest.h). An empty name is standard output, where nothing is done. Errors: a line that is not JSON with an
  /// index below digests.size(), a file that another process is writing.
  static Expected<BatchOutput> open(const std::string& file, std::vector<std::string> digests);

  BatchOutput(BatchOutput&& other) noexcept;
  BatchOutput& operator=(BatchOutput&&) = delete;
  ~BatchOutput();

  [[nodiscard]] const std::set<int64_t>& done() const { return done_; }
  /// How many of them have no answer but an error.
  [[nodiscard]] size_t failed() const { return failed_; }
  /// Lines that were taken out: their prompt, a parameter or the model is another now, or they do not say which.
  [[nodiscard]] size_t stale() const { return stale_; }
  /// What the answer to line `index` of the input is to carry as "digest".
  [[nodiscard]] const std::string& digest(int64_t index) const { return digests_[static_cast<size_t>(index)]; }
  /// `line` without its newline.
  Status write(const std::string& line);

 private:
  BatchOutput(std::string file, int descriptor, std::vector<std::string> digests)
      : file_(std::move(file)), descriptor_(descriptor), digests_(std::move(digests)) {}
  Status read_done();
  Status replace(const std::string& text);

  std::string file_;
  int descriptor_ = -1;  // -1: standard output
  int replaced_ = -1;    // the file that was at this name, whose lock others may still wait for
  std::vector<std::string> digests_;
  std::set<int64_t> done_;
  size_t failed_ = 0, stale_ = 0;
};

}  // namespace tessera::cli
