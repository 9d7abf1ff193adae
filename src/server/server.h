#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "base/status.h"
#include "server/options.h"
#include "tessera/engine.h"

namespace tessera::server {

/// An OpenAI-compatible server of one model.
///
/// Threads: the network thread owns connections, requests and their answers, and alone touches them; it never waits
/// and never works long. Text threads parse requests, render templates and tokenize. The engine thread only leaves
/// word that a request has news. All of them talk by posting tasks.
class Server {
 public:
  /// Binds and answers: /health with 503 until a model is there. Errors: the address, the certificate.
  static Expected<std::unique_ptr<Server>> open(ServerOptions options);
  /// Cancels what is running.
  ~Server();

  /// Begins to serve `engine`; shuts down by itself where its device fails. Errors: ServerOptions::sampling does not
  /// fit it.
  Status serve(Engine engine);

  [[nodiscard]] const std::string& url() const;
  [[nodiscard]] uint16_t port() const;

  /// Takes no new connections or requests; what runs may end within Limits::shutdown_seconds_max, then it is cancelled.
  /// Any thread, at once.
  void shut_down();
  /// Waits until that is done and the engine is closed. Not ok where its device has failed (Engine::close): then the
  /// server should not be destroyed.
  Status wait();

 private:
  struct State;
  explicit Server(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace tessera::server
