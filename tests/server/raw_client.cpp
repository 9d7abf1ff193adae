#include "server/raw_client.h"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <charconv>

#include "server/http/http_text.h"

namespace tessera::server {
namespace {

constexpr int kPatienceSeconds = 60;  // with a sanitizer, on a busy machine

/// Moves chunks from `held` to `body`; true at the last one.
bool take_chunks(std::string& held, std::string& body) {
  for (;;) {
    const size_t line = held.find("\r\n");
    if (line == std::string::npos) return false;
    size_t size = 0;
    std::from_chars(held.data(), held.data() + line, size, 16);
    if (held.size() < line + 2 + size + 2) return false;
    body.append(held, line + 2, size);
    held.erase(0, line + 2 + size + 2);
    if (size == 0) return true;
  }
}

}  // namespace

std::string_view RawAnswer::header(std::string_view name) const {
  for (const auto& [key, value] : headers) {
    if (same_text(key, name)) return value;
  }
  return {};
}

RawClient::RawClient(uint16_t port, int receive_buffer_bytes) {
  descriptor_ = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (receive_buffer_bytes > 0) {
    ::setsockopt(descriptor_, SOL_SOCKET, SO_RCVBUF, &receive_buffer_bytes, sizeof receive_buffer_bytes);
  }
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  connect(reinterpret_cast<const sockaddr&>(address), sizeof address);
}

RawClient::RawClient(const std::string& unix_socket) {
  descriptor_ = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_un address{.sun_family = AF_UNIX, .sun_path = {}};
  unix_socket.copy(address.sun_path, sizeof address.sun_path - 1);
  connect(reinterpret_cast<const sockaddr&>(address), sizeof address);
}

void RawClient::connect(const sockaddr& address, socklen_t size) {
  const timeval patience{.tv_sec = kPatienceSeconds, .tv_usec = 0};
  ::setsockopt(descriptor_, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
  ::setsockopt(descriptor_, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof patience);
  if (::connect(descriptor_, &address, size) != 0) close();
}

bool RawClient::send(std::string_view bytes) const {
  while (!bytes.empty()) {
    const ssize_t sent = ::send(descriptor_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (sent <= 0) return false;
    bytes.remove_prefix(static_cast<size_t>(sent));
  }
  return true;
}

bool RawClient::read_more() {
  char piece[16384];
  const ssize_t got = ::recv(descriptor_, piece, sizeof piece, 0);
  if (got <= 0) return false;
  held_.append(piece, static_cast<size_t>(got));
  return true;
}

RawAnswer RawClient::answer(bool head_only) {
  RawAnswer answer;
  size_t end = std::string::npos;
  while ((end = held_.find("\r\n\r\n")) == std::string::npos) {
    if (!read_more()) return answer;
  }
  const std::string head = held_.substr(0, end + 2);
  held_.erase(0, end + 4);
  std::from_chars(head.data() + head.find(' ') + 1, head.data() + head.size(), answer.status);
  for (size_t at = head.find("\r\n") + 2; at < head.size();) {
    const size_t line_end = head.find("\r\n", at);
    const size_t colon = head.find(": ", at);
    answer.headers.emplace_back(head.substr(at, colon - at), head.substr(colon + 2, line_end - colon - 2));
    at = line_end + 2;
  }
  answer.whole = true;
  if (head_only || answer.status == 204 || answer.status == 304 || answer.status == 100) return answer;
  if (answer.header("transfer-encoding") == "chunked") {
    while (!take_chunks(held_, answer.body)) {
      if (!read_more()) {
        answer.whole = false;
        break;
      }
    }
  } else if (!answer.header("content-length").empty()) {
    size_t length = 0;
    const std::string_view text = answer.header("content-length");
    std::from_chars(text.data(), text.data() + text.size(), length);
    while (held_.size() < length && read_more()) continue;
    answer.whole = held_.size() >= length;
    answer.body = held_.substr(0, length);
    held_.erase(0, length);
  } else {
    while (read_more()) continue;
    answer.body = std::exchange(held_, {});
  }
  return answer;
}

bool RawClient::wait_for(std::string_view text) {
  while (held_.find(text) == std::string::npos) {
    if (!read_more()) return false;
  }
  return true;
}

bool RawClient::ends() {
  char byte = 0;
  const ssize_t got = ::recv(descriptor_, &byte, 1, 0);
  return held_.empty() && (got == 0 || (got < 0 && errno == ECONNRESET));
}

void RawClient::close() {
  if (descriptor_ >= 0) ::close(descriptor_);
  descriptor_ = -1;
}

void RawClient::reset() {
  const linger now{.l_onoff = 1, .l_linger = 0};
  ::setsockopt(descriptor_, SOL_SOCKET, SO_LINGER, &now, sizeof now);
  close();
}

void RawClient::half_close() const { ::shutdown(descriptor_, SHUT_WR); }

std::string post(std::string_view path, std::string_view body, std::string_view more_headers) {
  return fmt::format("POST {} HTTP/1.1\r\nHost: localhost\r\nContent-Length: {}\r\n{}\r\n{}", path, body.size(),
                     more_headers, body);
}

std::string get(std::string_view path, std::string_view more_headers) {
  return fmt::format("GET {} HTTP/1.1\r\nHost: localhost\r\n{}\r\n", path, more_headers);
}

RawAnswer ask(uint16_t port, std::string_view request) {
  RawClient client(port);
  client.send(request);
  return client.answer(request.starts_with("HEAD"));
}

}  // namespace tessera::server
