#include "text/stop_matcher.h"

#include <algorithm>
#include <utility>

#include "base/status.h"

namespace tessera::text {

Expected<StopMatcher> StopMatcher::create(std::vector<std::string> stops, bool include_stop) {
  if (stops.size() > kStopsMax)
    return error(StatusCode::invalid_argument, "{} stop strings, at most {} are supported", stops.size(), kStopsMax);
  StopMatcher matcher;
  matcher.include_stop_ = include_stop;
  for (std::string& text : stops) {
    if (text.empty() || text.size() > kStopBytesMax)
      return error(StatusCode::invalid_argument, "a stop string has {} bytes, expected 1 to {}", text.size(),
                   kStopBytesMax);
    Stop stop{std::move(text), {}, 0};
    stop.fallback.assign(stop.text.size(), 0);
    for (size_t i = 1, border = 0; i < stop.text.size(); ++i) {
      while (border > 0 && stop.text[i] != stop.text[border]) border = stop.fallback[border - 1];
      if (stop.text[i] == stop.text[border]) ++border;
      stop.fallback[i] = border;
    }
    matcher.stops_.push_back(std::move(stop));
  }
  return matcher;
}

void StopMatcher::advance(Stop& stop, char byte) const {
  while (stop.matched > 0 && stop.text[stop.matched] != byte) stop.matched = stop.fallback[stop.matched - 1];
  if (stop.text[stop.matched] == byte) ++stop.matched;
}

StopMatcher::Result StopMatcher::feed(std::string_view piece) {
  if (done_) return {};
  for (size_t i = 0; i < piece.size(); ++i) {
    const Stop* found = nullptr;
    for (Stop& stop : stops_) {
      advance(stop, piece[i]);
      const bool complete = stop.matched == stop.text.size();
      if (complete && (found == nullptr || stop.text.size() > found->text.size())) found = &stop;
    }
    if (found == nullptr) continue;
    done_ = true;
    std::string text = std::exchange(held_, {}).append(piece.substr(0, i + 1));
    if (!include_stop_) text.resize(text.size() - found->text.size());
    return {std::move(text), static_cast<size_t>(found - stops_.data())};
  }
  size_t open = 0;  // bytes at the end that may be the start of a stop string
  for (const Stop& stop : stops_) open = std::max(open, stop.matched);
  std::string text = std::exchange(held_, {}).append(piece);
  held_ = text.substr(text.size() - open);
  text.resize(text.size() - open);
  return {std::move(text), std::nullopt};
}

std::string StopMatcher::flush() {
  for (Stop& stop : stops_) stop.matched = 0;
  done_ = false;
  return std::exchange(held_, {});
}

}  // namespace tessera::text
