#pragma once

#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include "base/status.h"
#include "loadgen/http.h"
#include "loadgen/record.h"

// The streams of the load: one thread, any number of them, libcurl and epoll behind it.
namespace tessera::loadgen {

/// What the client itself cost while it waited and read: whether it was the bottleneck.
struct ClientCost {
  double cpu_seconds = 0;  // of its thread
  double turn_max = 0;     // longest time between two looks at the network
  double turn_p99 = 0;
};

class Client {
 public:
  static Expected<std::unique_ptr<Client>> make(HttpOptions options);
  ~Client();
  Client(const Client&) = delete;
  Client& operator=(const Client&) = delete;

  /// Seconds since the client was made.
  [[nodiscard]] double now() const;
  /// Posts a chat completion and reads its stream into `record`, which lives until a wait has returned it.
  Status start(Record& record, std::string body);
  /// Waits until requests have ended, but no longer than to `until`; returns those that have.
  std::vector<Record*> wait(double until);
  /// Ends what runs: each record gets `interrupted`.
  std::vector<Record*> abandon();
  [[nodiscard]] int running() const;

  void begin_cost();
  [[nodiscard]] ClientCost cost() const;

 private:
  struct Transfer;

  explicit Client(HttpOptions options);
  Status open();
  static int on_socket(CURL* easy, curl_socket_t socket, int what, void* self, void* known);
  static int on_timer(CURLM* multi, long milliseconds, void* self);
  static size_t on_body(char* bytes, size_t size, size_t count, void* transfer);
  void drive(double until);
  void take_ended(std::vector<Record*>& ended);
  void end(Transfer& transfer, CURLcode code);
  std::unique_ptr<Transfer> idle_transfer();

  HttpOptions options_;
  std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
  CURLM* multi_ = nullptr;
  int epoll_ = -1;
  double timer_ = -1;  // when libcurl wants to be called; -1: it does not
  List headers_;
  std::vector<std::unique_ptr<Transfer>> running_, idle_;
  double cpu_begin_ = 0;
  std::vector<double> turns_;
};

}  // namespace tessera::loadgen
