#include "server/event_stream.h"

#include <optional>
#include <utility>

namespace tessera::server {
namespace {

/// One client's place in a log.
struct Reader {
  std::shared_ptr<Exchange> exchange;
  std::shared_ptr<responses::EventLog> log;
  size_t first;  // event
  size_t unsent_bytes_max;
  std::optional<size_t> place = {};  // none: the first has not come

  /// False: it is over.
  bool advance() {
    if (exchange->gone()) return false;
    if (!place && log->count() >= first) place = log->place_of(first);
    if (!place && !log->ended()) return true;
    if (!place) place = log->place_of(log->count());
    const size_t unsent = exchange->unsent();
    const size_t room = unsent < unsent_bytes_max ? unsent_bytes_max - unsent : 0;
    const std::string_view more = log->from(*place).substr(0, room);
    *place += more.size();
    exchange->write(more);
    if (!log->ended() || !log->from(*place).empty()) return true;
    exchange->end();
    return false;
  }
};

}  // namespace

HttpReply event_stream_head(HttpHeaders headers) {
  headers.emplace_back("cache-control", "no-cache");
  headers.emplace_back("x-accel-buffering", "no");
  return {.content_type = "text/event-stream; charset=utf-8", .headers = std::move(headers)};
}

void stream_events(const std::shared_ptr<Exchange>& exchange, std::shared_ptr<responses::EventLog> log, size_t first,
                   HttpHeaders headers, size_t unsent_bytes_max) {
  exchange->on_gone({});
  exchange->begin(event_stream_head(std::move(headers)));
  auto reader = std::make_shared<Reader>(Reader{exchange, std::move(log), first, unsent_bytes_max});
  exchange->on_drained([reader] { reader->advance(); });
  if (reader->advance()) {
    reader->log->on_more([weak = std::weak_ptr(reader)] {
      const auto held = weak.lock();  // by its exchange, until that is over
      return held && held->advance();
    });
  }
}

}  // namespace tessera::server
