#include "cli/progress.h"

#include <algorithm>

#include "cli/console.h"

namespace tessera::cli {
namespace {

constexpr double kFirstDrawSeconds = 0.5;
constexpr uint64_t kLargeBytes = 500'000'000;
constexpr double kRedrawSeconds = 0.1;

/// Bytes as bytes, steps as a number.
std::string amount(ProgressBar::Unit unit, uint64_t done) {
  return unit == ProgressBar::Unit::bytes ? format_bytes(done) : std::to_string(done);
}

}  // namespace

std::string pace_text(ProgressBar::Unit unit, uint64_t done, uint64_t total, double seconds) {
  if (done == 0) return format_seconds(seconds);
  const double rate = static_cast<double>(done) / std::max(seconds, 0.001);
  const double left = static_cast<double>(total - std::min(done, total)) / rate;
  return fmt::format(
      "{}, {} left",
      unit == ProgressBar::Unit::bytes ? format_bytes(static_cast<uint64_t>(rate)) + "/s" : format_seconds(seconds),
      format_seconds(left));
}

ProgressBar::ProgressBar(std::string verb, bool quiet, Unit unit)
    : verb_(std::move(verb)), quiet_(quiet), unit_(unit), terminal_(has_style(Stream::err)) {}

ProgressBar::~ProgressBar() { clear(); }

double ProgressBar::seconds() const {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
}

void ProgressBar::update(uint64_t done, uint64_t total) {
  const double now = seconds();
  if (quiet_ || total == 0 || (now < kFirstDrawSeconds && total < kLargeBytes)) return;
  if (terminal_) {
    if (!drawn_ || now - last_draw_ >= kRedrawSeconds) draw(done, total, now);
    return;
  }
  const uint64_t tenth = done / std::max<uint64_t>(total / 10, 1);
  if (tenth == last_tenth_ || tenth >= 10) return;
  last_tenth_ = tenth;
  note("{}: {} of {} ({} %), {}", verb_, amount(unit_, done), amount(unit_, total), 10 * tenth,
       pace_text(unit_, done, total, now));
}

void ProgressBar::draw(uint64_t done, uint64_t total, double now) {
  last_draw_ = now;
  drawn_ = true;
  const double part = std::min(1.0, static_cast<double>(done) / static_cast<double>(total));
  const std::string tail = fmt::format(" {:3.0f} %  {} of {}, {}", 100 * part, amount(unit_, done),
                                       amount(unit_, total), pace_text(unit_, done, total, now));
  const int room = terminal_columns(Stream::err) - static_cast<int>(verb_.size() + tail.size()) - 4;
  const int width = std::clamp(room, 0, 40);
  const int full = static_cast<int>(part * width);
  write_err(fmt::format("\r\x1b[K{} [{:=<{}}{:{}}]{}", verb_, "", full, "", width - full, tail));
}

void ProgressBar::clear() {
  if (drawn_) write_err("\r\x1b[K");
  drawn_ = false;
}

}  // namespace tessera::cli
