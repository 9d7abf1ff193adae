#pragma once

#include <chrono>
#include <cstdint>
#include <string>

namespace tessera::cli {

/// Progress of a long job on standard error, with its rate and the time left: a bar that redraws itself on a terminal,
/// a line every tenth part otherwise, nothing when quiet. Short jobs show nothing: the first half second, unless they
/// are large.
class ProgressBar {
 public:
  enum class Unit { bytes, steps };
  /// `verb`: "loading", "writing".
  ProgressBar(std::string verb, bool quiet, Unit unit = Unit::bytes);
  ~ProgressBar();
  ProgressBar(const ProgressBar&) = delete;
  ProgressBar& operator=(const ProgressBar&) = delete;

  void update(uint64_t done, uint64_t total);
  /// Removes the bar.
  void clear();
  [[nodiscard]] double seconds() const;

 private:
  void draw(uint64_t done, uint64_t total, double now);

  std::string verb_;
  bool quiet_;
  Unit unit_;
  bool terminal_;
  bool drawn_ = false;
  double last_draw_ = 0;  // seconds since the start
  uint64_t last_tenth_ = 0;
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

/// How fast a job goes that has done so much in so many seconds, and how long the rest takes: "5.20 GB/s, 12.3 s left";
/// of steps, how long it has taken: "30.1 s, 12.3 s left".
std::string pace_text(ProgressBar::Unit unit, uint64_t done, uint64_t total, double seconds);

}  // namespace tessera::cli
