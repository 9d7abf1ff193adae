#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tessera/status.h"

namespace tessera::text {

/// Finds stop strings in text that arrives in pieces. The match is the stop string that is complete first; of those
/// that end at the same byte, the longest. How the text is cut into pieces does not matter.
class StopMatcher {
 public:
  static constexpr size_t kStopsMax = 64;
  static constexpr size_t kStopBytesMax = 4096;

  /// include_stop: the text that is let through ends with the stop string rather than before it.
  /// invalid_argument for an empty stop string, one above kStopBytesMax, or more than kStopsMax.
  static Expected<StopMatcher> create(std::vector<std::string> stops, bool include_stop);

  struct Result {
    std::string text;            // what may be shown now
    std::optional<size_t> stop;  // index of the stop string that was found: nothing more will come
  };

  /// Takes the next piece, lets through all that cannot be the start of a stop string. After a match: nothing.
  Result feed(std::string_view piece);

  /// The end of the text without a match: what was held back. Afterwards the matcher is as new.
  std::string flush();

 private:
  struct Stop {
    std::string text;
    std::vector<size_t> fallback;  // Knuth-Morris-Pratt: longest border of text[0, i]
    size_t matched = 0;            // bytes of text that the input ends with
  };
  void advance(Stop& stop, char byte) const;

  std::vector<Stop> stops_;
  bool include_stop_ = false;
  std::string held_;  // not yet let through
  bool done_ = false;
};

}  // namespace tessera::text
