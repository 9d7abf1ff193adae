#pragma once

#include <atomic>
#include <functional>
#include <list>
#include <mutex>
#include <string>
#include <thread>

namespace tessera::cli {

/// A server on loopback that does to its clients whatever a test wants, good or bad: one thread a connection.
class ScriptedServer {
 public:
  /// What became of a connection, for the one who answers on it.
  class Connection {
   public:
    explicit Connection(int socket) : socket_(socket) {}
    /// False once the client has gone.
    bool send(const std::string& bytes) const;
    /// The head of an event stream; its end is the end of the connection.
    bool begin_stream() const;
    bool event(const std::string& json) const { return send("data: " + json + "\n\n"); }
    bool answer(int status, const std::string& json) const;

   private:
    int socket_;
  };

  struct Request {
    std::string line, head, body;
  };

  /// Answers POSTs, after which the connection is closed. GET /v1/models is answered with one model, "scripted",
  /// everything else with 404.
  using Answer = std::function<void(const Request&, const Connection&)>;
  explicit ScriptedServer(Answer answer);
  ~ScriptedServer();
  ScriptedServer(const ScriptedServer&) = delete;
  ScriptedServer& operator=(const ScriptedServer&) = delete;

  [[nodiscard]] std::string url() const { return "http://127.0.0.1:" + std::to_string(port_); }

 private:
  void accept_all();
  void serve(int socket);

  Answer answer_;
  int listener_ = -1, port_ = 0;
  std::thread acceptor_;
  std::mutex mutex_;  // guards the two below
  std::list<std::thread> threads_;
  std::list<int> sockets_;
};

}  // namespace tessera::cli
