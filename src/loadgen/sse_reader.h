#pragma once

#include <functional>
#include <string>
#include <string_view>

namespace tessera::loadgen {

/// Server-sent events out of bytes as they come, cut anywhere. Of an event only its data counts here.
class SseReader {
 public:
  static constexpr size_t kEventBytesMax = size_t{16} << 20;

  /// Calls `on_data` for the data of every event that ends in `bytes`; false from it, or an event without end, stops
  /// the reading, and feed returns false from then on.
  bool feed(std::string_view bytes, const std::function<bool(std::string_view)>& on_data);
  /// Whether bytes of an event have come whose end has not.
  [[nodiscard]] bool inside_event() const { return !line_.empty() || has_data_; }

 private:
  bool line(std::string_view text, const std::function<bool(std::string_view)>& on_data);

  std::string line_, data_;
  bool has_data_ = false, stopped_ = false, after_return_ = false;
};

}  // namespace tessera::loadgen
