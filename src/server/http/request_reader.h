#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "server/http/http_request.h"

namespace tessera::server {

/// Reads one HTTP/1.x request from bytes as they come: no sockets, so that it can be fuzzed.
class RequestReader {
 public:
  struct Limits {
    size_t header_bytes = 0;  // first line and headers; also of what stands around chunks
    size_t headers = 0;
    uint64_t body_bytes = 0;
  };
  struct Fault {
    int status = 400;
    std::string message;
  };

  explicit RequestReader(const Limits& limits);
  ~RequestReader();
  RequestReader(RequestReader&&) noexcept;
  RequestReader& operator=(RequestReader&&) noexcept;

  /// Takes what it can of `bytes`, the unread bytes of the connection, and returns how many; the rest is to be given
  /// again, with more behind it. Stops once where the headers end: what is wrong with them can be said before the body
  /// is read. Not to be called after done() or fault().
  size_t feed(std::string_view bytes);

  [[nodiscard]] bool begun() const;      // a first byte was seen
  [[nodiscard]] bool head_done() const;  // request() has everything but the body
  [[nodiscard]] bool done() const;
  /// What is wrong; the connection cannot be used further.
  [[nodiscard]] const std::optional<Fault>& fault() const;
  /// The client waits for "100 Continue" before it sends the body.
  [[nodiscard]] bool expects_continue() const;
  [[nodiscard]] size_t body_bytes() const;  // so far

  [[nodiscard]] HttpRequest& request();

 private:
  struct Parser;
  std::unique_ptr<Parser> parser_;
};

}  // namespace tessera::server
