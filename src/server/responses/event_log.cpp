#include "server/responses/event_log.h"

#include <utility>

namespace tessera::server::responses {

void EventLog::add(std::string_view events) {
  constexpr std::string_view kEnd = "\n\n";
  while (!events.empty()) {
    const size_t end = events.find(kEnd);
    const std::string_view event = events.substr(0, end == std::string_view::npos ? end : end + kEnd.size());
    places_.push_back(text_.size());
    text_ += event;
    events.remove_prefix(event.size());
  }
  tell_readers();
}

void EventLog::end() {
  ended_ = true;
  tell_readers();
}

size_t EventLog::place_of(size_t number) const { return number < places_.size() ? places_[number] : text_.size(); }

void EventLog::tell_readers() {
  std::erase_if(readers_, [](const auto& reader) { return !reader(); });
}

}  // namespace tessera::server::responses
