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
    explicit Connection(int socket, int number = 0) : socket_(socket), number_(number) {}
    /// The server's first connection is 0.
    [[nodiscard]] int number() const { return number_; }
    /// False once the client has gone.
    bool send(const std::string& bytes) const;
    /// The head of an event stream; its end is the end of the connection.
    bool begin_stream() const;
    bool event(const std::string& json) const { return send("data: " + json + "\n\n"); }
    bool answer(int status, const std::string& json) const;
    /// A whole event stream of known length, behind which the connection stays open for another request.
    bool answer_and_stay(const std::string& events) const;

   private:
    friend class ScriptedServer;
    int socket_, number_;
    mutable bool stays_ = false;
  };

  struct Request {
    std::string line, head, body;
  };

  /// Answers POSTs, after which the connection is closed. GETs are answered by `get`; without it, GET /v1/models with
  /// one model, "scripted", everything else with 404.
  using Answer = std::function<void(const Request&, const Connection&)>;
  explicit ScriptedServer(Answer answer, Answer get = {});
  ~ScriptedServer();
  ScriptedServer(const ScriptedServer&) = delete;
  ScriptedServer& operator=(const ScriptedServer&) = delete;

  [[nodiscard]] std::string url() const { return "http://127.0.0.1:" + std::to_string(port_); }

 private:
  void accept_all();
  void serve(int socket, int number);
  /// False where the connection is to be closed.
  bool serve_request(int socket, const Connection& connection);

  Answer answer_, get_;
  int listener_ = -1, port_ = 0;
  std::thread acceptor_;
  std::mutex mutex_;  // guards the two below
  std::list<std::thread> threads_;
  std::list<int> sockets_;
};

}  // namespace tessera::cli
