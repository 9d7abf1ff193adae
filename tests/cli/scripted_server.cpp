#include "cli/scripted_server.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstdlib>
#include <stdexcept>

namespace tessera::cli {

bool ScriptedServer::Connection::send(const std::string& bytes) const {
  for (size_t at = 0; at < bytes.size();) {
    const ssize_t sent = ::send(socket_, bytes.data() + at, bytes.size() - at, MSG_NOSIGNAL);
    if (sent <= 0) return false;
    at += static_cast<size_t>(sent);
  }
  return true;
}

bool ScriptedServer::Connection::begin_stream() const {
  return send("HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n");
}

bool ScriptedServer::Connection::answer(int status, const std::string& json) const {
  return send("HTTP/1.1 " + std::to_string(status) + " X\r\nContent-Type: application/json\r\nConnection: close\r\n" +
              "Content-Length: " + std::to_string(json.size()) + "\r\n\r\n" + json);
}

bool ScriptedServer::Connection::answer_and_stay(const std::string& events) const {
  stays_ = true;
  return send("HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nContent-Length: " + std::to_string(events.size()) +
              "\r\n\r\n" + events);
}

ScriptedServer::ScriptedServer(Answer answer, Answer get)
    : answer_(std::move(answer)), get_(std::move(get)), listener_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  auto* any = reinterpret_cast<sockaddr*>(&address);
  if (::bind(listener_, any, size) != 0 || ::listen(listener_, 128) != 0 || ::getsockname(listener_, any, &size) != 0) {
    throw std::runtime_error("no socket to listen on");
  }
  port_ = ntohs(address.sin_port);
  acceptor_ = std::thread([this] { accept_all(); });
}

ScriptedServer::~ScriptedServer() {
  ::shutdown(listener_, SHUT_RDWR);
  acceptor_.join();
  {
    const std::lock_guard lock(mutex_);
    for (const int socket : sockets_) ::shutdown(socket, SHUT_RDWR);
  }
  for (std::thread& thread : threads_) thread.join();
  for (const int socket : sockets_) ::close(socket);
  ::close(listener_);
}

void ScriptedServer::accept_all() {
  for (;;) {
    const int socket = ::accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
    if (socket < 0) return;
    const std::lock_guard lock(mutex_);
    sockets_.push_back(socket);
    const int number = static_cast<int>(threads_.size());
    threads_.emplace_back([this, socket, number] { serve(socket, number); });
  }
}

void ScriptedServer::serve(int socket, int number) {
  const Connection connection(socket, number);
  while (serve_request(socket, connection)) continue;
  ::shutdown(socket, SHUT_RDWR);
}

bool ScriptedServer::serve_request(int socket, const Connection& connection) {
  std::string text;
  char bytes[65536];
  const auto read_until = [&](const auto& enough) {
    while (!enough()) {
      const ssize_t got = ::recv(socket, bytes, sizeof bytes, 0);
      if (got <= 0) return false;
      text.append(bytes, static_cast<size_t>(got));
    }
    return true;
  };
  if (!read_until([&] { return text.find("\r\n\r\n") != std::string::npos; })) return false;
  Request request;
  request.line = text.substr(0, text.find("\r\n"));
  request.head = text.substr(0, text.find("\r\n\r\n") + 4);
  const size_t length_at = request.head.find("Content-Length: ");
  const size_t length = length_at == std::string::npos ? 0 : std::strtoul(&request.head[length_at + 16], nullptr, 10);
  if (!read_until([&] { return text.size() >= request.head.size() + length; })) return false;
  request.body = text.substr(request.head.size());
  connection.stays_ = false;
  if (request.line.starts_with("POST")) {
    answer_(request, connection);
  } else if (get_) {
    get_(request, connection);
  } else if (request.line.starts_with("GET /v1/models")) {
    connection.answer(200, R"({"data":[{"id":"scripted","max_model_len":5000}]})");
  } else {
    connection.answer(404, R"({"error":{"message":"no such path"}})");
  }
  return connection.stays_;
}

}  // namespace tessera::cli
