#pragma once

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/generic/stream_protocol.hpp>
#include <boost/asio/ssl/stream.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <unordered_set>

#include "server/http/http_server.h"
#include "server/http/request_reader.h"

namespace tessera::server {

namespace asio = boost::asio;
using Socket = asio::generic::stream_protocol::socket;
using Clock = std::chrono::steady_clock;
/// Of asynchronous calls: an error code and a result, no exception.
inline constexpr auto kResult = asio::as_tuple(asio::use_awaitable);

class Connection;

/// What connections share.
struct Network {
  HttpLimits limits;
  HttpCallbacks callbacks;
  std::optional<asio::ssl::context> tls = {};
  std::unordered_set<std::shared_ptr<Connection>> connections = {};
  int exchanges = 0;      // being answered
  size_t body_bytes = 0;  // of requests being read or prepared
  bool draining = false;  // answers end their connection
};

/// One client. A coroutine reads requests and waits for their answers one after the other; beside it, bytes are always
/// being read, so that a client that leaves is noticed whatever its request is doing, and written as the socket takes
/// them. The end of the client's bytes counts as leaving, as everywhere in this field: a client that wants an answer
/// keeps its side open. Network thread only.
class Connection : public std::enable_shared_from_this<Connection> {
 public:
  Connection(Socket socket, std::string client, Network& network);

  void start();
  /// Ends what has waited too long. Called a few times a second.
  void tick(Clock::time_point now);
  /// Ends the connection now; what is unsent is lost.
  void lose();

  // For its Exchange.

  void send(std::string_view bytes);
  void answer_ended();
  [[nodiscard]] size_t unsent() const { return out_.size() + sending_.size() - sent_; }
  [[nodiscard]] bool receiving() const { return phase_ == Phase::receiving; }
  [[nodiscard]] bool keeps_alive() const;
  [[nodiscard]] Network& network() { return network_; }

 private:
  enum class Phase {
    idle,       // no byte of a next request has come
    receiving,  // a part of a request has come
    answering,  // until its answer is given
    finishing,  // what is left goes out; what comes is thrown away
    lost,       // the socket is closed
  };
  /// Behind the answer.
  enum class Then {
    next_request,
    close,
    close_unread,  // a request was refused before its end, and the rest of it is still to come
  };

  asio::awaitable<void> run();
  static void fail(const std::exception_ptr& failure);
  asio::awaitable<bool> handshake();
  asio::awaitable<std::optional<HttpRequest>> read_request();
  bool check_head(RequestReader& reader);
  void refuse(RequestReader& reader, HttpReply reply);
  asio::awaitable<void> answer(HttpRequest request);
  asio::awaitable<void> finish();
  asio::awaitable<void> change();
  void notify();
  void enter(Phase phase);
  void expect_within(int64_t seconds);  // else the deadline has passed
  [[nodiscard]] bool lost() const { return phase_ == Phase::lost; }
  void close_behind_answer();

  void read_more();
  void take_read(size_t bytes, bool failed);
  void flush();
  void write_some();
  void take_written(size_t bytes, bool failed);
  std::shared_ptr<Exchange> open_exchange(HttpRequest request);
  void close_exchange(bool left);
  void count_body(size_t bytes);
  friend class Exchange;

  Socket socket_;
  std::optional<asio::ssl::stream<Socket&>> tls_;
  std::string client_;
  Network& network_;
  asio::steady_timer changed_;  // never expires: cancelled to wake the coroutine
  Clock::time_point deadline_ = Clock::time_point::max();
  Clock::time_point write_deadline_ = Clock::time_point::max();
  std::string chunk_;  // bytes are read into this
  std::string in_;     // read, not yet parsed
  std::string out_, sending_;
  size_t sent_ = 0;          // of sending_
  size_t counted_body_ = 0;  // bytes of Network::body_bytes that are ours
  std::shared_ptr<Exchange> exchange_;
  RequestFacts facts_;  // of the request being read
  Phase phase_ = Phase::idle;
  Then then_ = Then::next_request;
  bool reading_ = false, writing_ = false;  // the socket is asked to
  bool ended_ = false;                      // the client has closed its side
  bool timed_out_ = false;                  // the deadline has passed
};

}  // namespace tessera::server
