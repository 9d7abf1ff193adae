#include "engine/event_channel.h"

#include <utility>

#include "base/check.h"

namespace tessera {
namespace engine {

void EventChannel::push(Event event) {
  {
    const std::lock_guard lock(mutex_);
    TESSERA_CHECK_GT(open_choices_, 0);
    if (event.finish_reason != FinishReason::none) --open_choices_;
    events_.push_back(std::move(event));
  }
  ready_.notify_one();
  notify_client();
}

void EventChannel::notify_client() {
  const std::lock_guard lock(callback_mutex_);
  if (callback_) callback_();
}

std::optional<Event> EventChannel::pop() {
  if (events_.empty()) return std::nullopt;
  std::optional<Event> event(std::move(events_.front()));
  events_.pop_front();
  return event;
}

std::optional<Event> EventChannel::next() {
  std::unique_lock lock(mutex_);
  ready_.wait(lock, [this] { return !events_.empty() || open_choices_ == 0; });
  return pop();
}

std::optional<Event> EventChannel::try_next() {
  const std::lock_guard lock(mutex_);
  return pop();
}

bool EventChannel::finished() const {
  const std::lock_guard lock(mutex_);
  return events_.empty() && open_choices_ == 0;
}

void EventChannel::on_ready(std::function<void()> callback) {
  const std::lock_guard lock(callback_mutex_);
  callback_ = std::move(callback);
  if (!callback_) return;
  bool waiting = false;
  {
    const std::lock_guard events_lock(mutex_);
    waiting = !events_.empty();
  }
  if (waiting) callback_();
}

}  // namespace engine

RequestStream::RequestStream(std::shared_ptr<engine::EventChannel> channel) : channel_(std::move(channel)) {}
RequestStream::RequestStream(RequestStream&&) noexcept = default;

RequestStream& RequestStream::operator=(RequestStream&& other) noexcept {
  if (this != &other) {
    const RequestStream old(std::move(*this));
    channel_ = std::move(other.channel_);
  }
  return *this;
}

RequestStream::~RequestStream() {
  if (!channel_) return;
  channel_->on_ready({});
  channel_->cancel();
}

std::optional<Event> RequestStream::next() { return channel_->next(); }
std::optional<Event> RequestStream::try_next() { return channel_->try_next(); }
bool RequestStream::finished() const { return channel_->finished(); }
void RequestStream::cancel() { channel_->cancel(); }
void RequestStream::on_ready(std::function<void()> callback) { channel_->on_ready(std::move(callback)); }

}  // namespace tessera
