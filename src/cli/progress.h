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
  [[nodiscard]] std::string amount(uint64_t done) const;
  /// How fast it goes, and how long it will take: "5.2 GB/s, 3.1 s left".
  [[nodiscard]] std::string pace(uint64_t done, uint64_t total, double now) const;

  std::string verb_;
  bool quiet_;
  Unit unit_;
  bool terminal_;
  bool drawn_ = false;
  double last_draw_ = 0;  // seconds since the start
  uint64_t last_tenth_ = 0;
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

}  // namespace tessera::cli
