#include "server/http/connection.h"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/buffer.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <exception>
#include <utility>

#include "server/http/http_text.h"

namespace tessera::server {
namespace {

using boost::system::error_code;

constexpr size_t kReadBytes = 4 << 10;
constexpr size_t kBodyReadBytes = 64 << 10;
// Bytes of later requests that are read while one is being answered. Who sends more is dropped: were reading to pause,
// nobody would see the client leave.
constexpr size_t kPipelinedBytesMax = 64 << 10;
// Buffers that grew larger are given back when they are empty.
constexpr size_t kKeptBytes = 16 << 10;

// The status that logs of this field have where nobody was there for an answer.
constexpr int kClientLeft = 499;

Clock::time_point in_seconds(int64_t seconds) { return Clock::now() + std::chrono::seconds(seconds); }

void clear(std::string& buffer) {
  buffer.clear();
  if (buffer.capacity() > kKeptBytes) buffer.shrink_to_fit();
}

}  // namespace

Connection::Connection(Socket socket, std::string client, Network& network)
    : socket_(std::move(socket)), client_(std::move(client)), network_(network), changed_(socket_.get_executor()) {
  changed_.expires_at(Clock::time_point::max());
  if (network.tls) tls_.emplace(socket_, *network.tls);
}

void Connection::start() {
  network_.connections.insert(shared_from_this());
  asio::co_spawn(
      socket_.get_executor(), [self = shared_from_this()] { return self->run(); },
      [self = shared_from_this()](const std::exception_ptr& failure) {
        if (failure) self->fail(failure);
        self->lose();
        self->count_body(0);
        self->network_.connections.erase(self);
      });
}

/// Such as out of memory: this connection ends, the others go on.
void Connection::fail(const std::exception_ptr& failure) {
  try {
    std::rethrow_exception(failure);
  } catch (const std::exception& what) {
    spdlog::error("a connection ended with {}", what.what());
  }
}

asio::awaitable<void> Connection::run() {
  if (!tls_ || co_await handshake()) {
    while (!lost()) {
      std::optional<HttpRequest> request = co_await read_request();
      if (request) co_await answer(std::move(*request));
      if (then_ != Then::next_request) break;
    }
    co_await finish();
  }
}

asio::awaitable<bool> Connection::handshake() {
  expect_within(network_.limits.handshake_seconds_max);
  bool done = false, failed = false;
  tls_->async_handshake(asio::ssl::stream_base::server, [&, self = shared_from_this()](error_code ec) {
    done = true;
    failed = static_cast<bool>(ec);
    notify();
  });
  while (!done) {
    if (timed_out_) lose();
    co_await change();
  }
  co_return !failed;
}

/// The next request, with its body; none if it was refused, or will not come.
asio::awaitable<std::optional<HttpRequest>> Connection::read_request() {
  const HttpLimits& limits = network_.limits;
  RequestReader reader({.header_bytes = static_cast<size_t>(limits.header_bytes_max),
                        .headers = static_cast<size_t>(limits.headers_max),
                        .body_bytes = static_cast<uint64_t>(limits.body_bytes_max)});
  facts_ = {};
  then_ = Then::close;
  enter(Phase::idle);
  expect_within(limits.idle_seconds_max);
  bool begun = false, checked = false;
  for (;;) {
    if (!in_.empty()) in_.erase(0, reader.feed(in_));
    if (reader.begun()) enter(Phase::receiving);
    if (reader.begun() && !std::exchange(begun, true)) expect_within(limits.header_seconds_max);
    if (reader.fault()) {
      refuse(reader, network_.callbacks.fault(reader.fault()->status, reader.fault()->message, reader.request().path));
      co_return std::nullopt;
    }
    if (reader.head_done() && !std::exchange(checked, true)) {
      if (!check_head(reader)) co_return std::nullopt;
      expect_within(limits.body_seconds_max);
      if (!reader.done()) continue;  // the body's beginning may be there
    }
    count_body(reader.body_bytes());
    if (network_.body_bytes > static_cast<size_t>(limits.all_body_bytes_max)) {
      refuse(reader, network_.callbacks.fault(503,
                                              fmt::format("the requests in flight hold more than {} bytes; try "
                                                          "again later",
                                                          limits.all_body_bytes_max),
                                              reader.request().path));
      co_return std::nullopt;
    }
    if (reader.done()) break;
    if (timed_out_ && begun) {
      refuse(reader, network_.callbacks.fault(408, "the request did not arrive in time", reader.request().path));
      co_return std::nullopt;
    }
    if (timed_out_ || ended_ || lost()) co_return std::nullopt;
    read_more();
    co_await change();
  }
  deadline_ = Clock::time_point::max();
  if (in_.empty()) clear(in_);
  co_return std::move(reader.request());
}

/// Says no where headers alone are a reason to.
bool Connection::check_head(RequestReader& reader) {
  HttpRequest& request = reader.request();
  request.client = client_;
  request.arrived = Clock::now();
  if (auto reply = network_.callbacks.check(request, facts_)) {
    refuse(reader, std::move(*reply));
    return false;
  }
  if (reader.done()) return true;
  if (reader.expects_continue() && in_.empty()) send("HTTP/1.1 100 Continue\r\n\r\n");
  if (chunk_.size() < kBodyReadBytes && !reading_) chunk_.resize(kBodyReadBytes);
  return true;
}

/// Answers a request that was not read to its end, if the client is there to hear it; the connection ends then.
void Connection::refuse(RequestReader& reader, HttpReply reply) {
  const bool keeps = reader.done() && reader.request().keep_alive;
  then_ = keeps ? Then::next_request : reader.done() ? Then::close : Then::close_unread;
  enter(Phase::answering);
  HttpRequest request = std::move(reader.request());
  request.client = client_;
  if (request.arrived == Clock::time_point()) request.arrived = Clock::now();
  open_exchange(std::move(request))->reply(std::move(reply));
}

std::shared_ptr<Exchange> Connection::open_exchange(HttpRequest request) {
  exchange_ = std::make_shared<Exchange>(std::move(request), this);
  exchange_->facts = std::move(facts_);
  ++network_.exchanges;
  return exchange_;
}

void Connection::close_exchange(bool left) {
  if (!exchange_) return;
  const std::shared_ptr<Exchange> exchange = std::exchange(exchange_, nullptr);
  --network_.exchanges;
  count_body(0);
  exchange->connection_ = nullptr;
  exchange->facts.client_left = left;
  if (exchange->facts.status == 0) exchange->facts.status = kClientLeft;
  exchange->on_drained_ = nullptr;
  const auto on_gone = std::exchange(exchange->on_gone_, nullptr);
  if (left && on_gone) on_gone();
  network_.callbacks.finished(*exchange);
}

asio::awaitable<void> Connection::answer(HttpRequest request) {
  then_ = request.keep_alive ? Then::next_request : Then::close;
  enter(Phase::answering);
  if (!reading_ && chunk_.size() > kReadBytes) {
    chunk_.resize(kReadBytes);
    chunk_.shrink_to_fit();
  }
  const std::shared_ptr<Exchange> exchange = open_exchange(std::move(request));
  network_.callbacks.handle(exchange);
  while (exchange_ && !lost()) {
    if (ended_) lose();
    read_more();
    if (exchange_) co_await change();
  }
}

/// Sends what is left and closes in an orderly way.
asio::awaitable<void> Connection::finish() {
  while (writing_ && !lost()) co_await change();
  if (lost()) co_return;
  enter(Phase::finishing);
  expect_within(network_.limits.linger_seconds_max);
  if (!tls_) {
    error_code ignored;
    socket_.shutdown(Socket::shutdown_send, ignored);
  }
  clear(in_);
  while (!ended_ && !lost() && !timed_out_ && (then_ == Then::close_unread || !tls_)) {
    read_more();
    co_await change();
  }
  if (tls_ && !lost() && !ended_) {
    expect_within(network_.limits.linger_seconds_max);
    bool done = false;
    tls_->async_shutdown([&, self = shared_from_this()](error_code /*ec*/) {
      done = true;
      notify();
    });
    while (!done) {
      if (timed_out_) lose();
      co_await change();
    }
  }
}

asio::awaitable<void> Connection::change() { co_await changed_.async_wait(kResult); }

void Connection::notify() { changed_.cancel(); }

/// What is lost stays so.
void Connection::enter(Phase phase) {
  if (!lost()) phase_ = phase;
}

void Connection::expect_within(int64_t seconds) {
  timed_out_ = false;
  deadline_ = in_seconds(seconds);
}

void Connection::close_behind_answer() {
  if (then_ == Then::next_request) then_ = Then::close;
}

void Connection::tick(Clock::time_point now) {
  if (writing_ && now > write_deadline_) {
    error_code ignored;
    socket_.set_option(asio::socket_base::linger(true, 0), ignored);  // the kernel need not hold its bytes either
    lose();
  }
  if (now > deadline_) {
    deadline_ = Clock::time_point::max();
    timed_out_ = true;
    notify();
  }
}

void Connection::lose() {
  if (lost()) return;
  phase_ = Phase::lost;
  error_code ignored;
  socket_.close(ignored);
  close_exchange(/*left=*/true);
  notify();
}

void Connection::read_more() {
  if (reading_ || lost() || ended_) return;
  reading_ = true;
  if (chunk_.empty()) chunk_.resize(kReadBytes);
  const auto taken = [self = shared_from_this()](error_code ec, size_t bytes) {
    self->take_read(bytes, static_cast<bool>(ec));
  };
  if (tls_) {
    tls_->async_read_some(asio::buffer(chunk_), taken);
  } else {
    socket_.async_read_some(asio::buffer(chunk_), taken);
  }
}

void Connection::take_read(size_t bytes, bool failed) {
  reading_ = false;
  if (failed) {
    ended_ = true;
  } else if (phase_ == Phase::finishing || exchange_) {
    if (phase_ != Phase::finishing) in_.append(chunk_, 0, bytes);
    if (in_.size() > kPipelinedBytesMax) lose();
    read_more();
    return;  // nobody waits for these bytes
  } else {
    in_.append(chunk_, 0, bytes);
  }
  notify();
}

void Connection::send(std::string_view bytes) {
  if (lost()) return;
  out_ += bytes;
  flush();
}

void Connection::flush() {
  if (writing_ || out_.empty() || lost()) return;
  writing_ = true;
  sending_.swap(out_);
  write_some();
}

void Connection::write_some() {
  write_deadline_ = in_seconds(network_.limits.write_stall_seconds_max);
  const auto rest = asio::buffer(sending_) + sent_;
  const auto taken = [self = shared_from_this()](error_code ec, size_t bytes) {
    self->take_written(bytes, static_cast<bool>(ec));
  };
  if (tls_) {
    tls_->async_write_some(rest, taken);
  } else {
    socket_.async_write_some(rest, taken);
  }
}

void Connection::take_written(size_t bytes, bool failed) {
  sent_ += bytes;
  if (failed) lose();
  if (lost()) return;
  if (sent_ < sending_.size()) return write_some();
  clear(sending_);
  sent_ = 0;
  writing_ = false;
  if (!out_.empty()) return flush();
  clear(out_);
  if (exchange_) {
    const std::shared_ptr<Exchange> exchange = exchange_;
    if (const auto on_drained = exchange->on_drained_) on_drained();
  } else {
    notify();
  }
}

void Connection::answer_ended() {
  close_exchange(/*left=*/false);
  notify();
}

bool Connection::keeps_alive() const { return then_ == Then::next_request && !network_.draining; }

void Connection::count_body(size_t bytes) {
  network_.body_bytes += bytes - counted_body_;
  counted_body_ = bytes;
}

}  // namespace tessera::server
