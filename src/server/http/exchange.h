#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "server/http/http_request.h"
#include "tessera/engine.h"

namespace tessera::server {

class Connection;

/// What the access log says of a request, as far as it is known.
struct RequestFacts {
  std::string id;         // x-request-id: the client's own if it is fit to be logged
  std::string unique_id;  // ours
  std::string route;      // "/v1/models/{id}"
  int status = 0;         // 0: nothing was answered
  int64_t prompt_tokens = -1, completion_tokens = -1;
  int64_t cached_tokens = -1;   // of the prompts, the first choices
  int64_t tier_tokens = 0;      // of these, what only the tier in the host's memory had
  int64_t matched_tokens = -1;  // more than cached: their blocks were there, and no state to go on from
  DraftStats drafts;            // of the choices that have ended
  double first_token_seconds = -1;
  std::string finish_reason;
  bool client_left = false;
};

/// One request and its answer, which is given at once by reply(), or by begin(), write()... and end(). Used on the
/// network thread alone. Nothing here waits or fails: once the client is gone, what is written is dropped.
class Exchange {
 public:
  Exchange(HttpRequest taken, Connection* connection);
  Exchange(const Exchange&) = delete;
  Exchange& operator=(const Exchange&) = delete;

  HttpRequest request;
  RequestFacts facts;
  HttpHeaders reply_headers;  // added to whatever is answered

  void reply(HttpReply reply);
  /// The head of an answer whose length is not known; `reply.body` is its beginning.
  void begin(HttpReply reply);
  void write(std::string_view bytes);
  void end();
  /// Ends the connection without the rest of the answer.
  void abort();

  /// The request's body is no longer held; until then it counts against Limits::all_body_bytes_max.
  void body_prepared();

  [[nodiscard]] bool gone() const { return connection_ == nullptr; }
  [[nodiscard]] bool begun() const { return begun_; }
  /// Bytes written here that the client's socket has not taken.
  [[nodiscard]] size_t unsent() const;
  /// Called once, when the client leaves before the answer has ended.
  void on_gone(std::function<void()> callback) { on_gone_ = std::move(callback); }
  /// Called whenever everything that was written is sent.
  void on_drained(std::function<void()> callback) { on_drained_ = std::move(callback); }

 private:
  friend class Connection;
  Connection* connection_;  // null once the answer has ended or the client is gone
  bool begun_ = false, chunked_ = false;
  std::function<void()> on_gone_, on_drained_;
};

}  // namespace tessera::server
