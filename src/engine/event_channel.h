#pragma once

#include <atomic>
#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <optional>

#include "tessera/engine.h"

namespace tessera::engine {

/// Events of one request on their way from the engine thread to the client. Neither side waits for the other: the
/// queue has no more events than tokens (one each, and one for each choice's end), and cancelling is a flag that the
/// engine reads between steps. Both sides hold the channel, so either may go first.
class EventChannel {
 public:
  explicit EventChannel(int choices) : open_choices_(choices) {}

  // Engine side.
  void push(Event event);
  [[nodiscard]] bool cancelled() const { return cancelled_.load(std::memory_order_relaxed); }

  // Client side; see RequestStream.
  std::optional<Event> next();
  std::optional<Event> try_next();
  [[nodiscard]] bool finished() const;
  void cancel() { cancelled_.store(true, std::memory_order_relaxed); }
  void on_ready(std::function<void()> callback);

 private:
  std::optional<Event> pop();
  void notify_client();

  std::atomic<bool> cancelled_{false};
  mutable std::mutex mutex_;
  std::condition_variable ready_;
  std::deque<Event> events_;
  int open_choices_;
  std::mutex callback_mutex_;  // held while the callback runs, so that on_ready({}) waits for its end
  std::function<void()> callback_;
};

}  // namespace tessera::engine
