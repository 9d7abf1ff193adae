#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace tessera::server::responses {

/// The events of a response that is made in the background, by their sequence numbers, for clients that read them while
/// they come, leave, and come back. Network thread.
class EventLog {
 public:
  /// Whole events, each of which ends with an empty line.
  void add(std::string_view events);
  /// Nothing will be added.
  void end();

  [[nodiscard]] bool ended() const { return ended_; }
  [[nodiscard]] size_t bytes() const { return text_.size(); }
  [[nodiscard]] size_t count() const { return places_.size(); }
  /// Where event `number`, at most count(), begins or will begin.
  [[nodiscard]] size_t place_of(size_t number) const;
  /// What stands at `place` and behind.
  [[nodiscard]] std::string_view from(size_t place) const { return std::string_view(text_).substr(place); }

  /// Called whenever there is more, or no more will come; forgotten once it says false.
  void on_more(std::function<bool()> reader) { readers_.push_back(std::move(reader)); }

 private:
  void tell_readers();

  std::string text_;
  std::vector<size_t> places_;  // of each event
  bool ended_ = false;
  std::vector<std::function<bool()>> readers_;
};

}  // namespace tessera::server::responses
