#pragma once

#include <sys/socket.h>

#include <optional>
#include <string>
#include <string_view>

#include "server/http/http_request.h"

namespace tessera::server {

struct RawAnswer {
  int status = 0;  // 0: the connection ended without an answer
  HttpHeaders headers;
  std::string body;  // without chunk framing
  bool whole = false;

  [[nodiscard]] std::string_view header(std::string_view name) const;
};

/// A client that says exactly what it is told to, on a blocking socket; whatever takes minutes ends the wait.
class RawClient {
 public:
  explicit RawClient(uint16_t port, int receive_buffer_bytes = 0);
  explicit RawClient(const std::string& unix_socket);
  ~RawClient() { close(); }
  RawClient(const RawClient&) = delete;
  RawClient& operator=(const RawClient&) = delete;

  [[nodiscard]] bool connected() const { return descriptor_ >= 0; }
  /// False once the server has closed.
  bool send(std::string_view bytes) const;
  /// Reads one answer to its end; `head_only` as HEAD is answered.
  RawAnswer answer(bool head_only = false);
  /// Bytes until `text` was seen or the connection ends; keeps them for answer().
  bool wait_for(std::string_view text);
  /// Whether the server ends the connection, having said nothing more.
  bool ends();

  void close();             // FIN
  void reset();             // RST
  void half_close() const;  // FIN of our side

  [[nodiscard]] int descriptor() const { return descriptor_; }
  [[nodiscard]] const std::string& received() const { return held_; }  // and not yet answer()'s

 private:
  void connect(const sockaddr& address, socklen_t size);
  bool read_more();

  int descriptor_ = -1;
  std::string held_;
};

/// "POST path" with a body.
std::string post(std::string_view path, std::string_view body, std::string_view more_headers = "");
std::string get(std::string_view path, std::string_view more_headers = "");

/// One request on a connection of its own.
RawAnswer ask(uint16_t port, std::string_view request);

}  // namespace tessera::server
