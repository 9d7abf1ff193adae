#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "tessera/engine.h"

namespace tessera::server {

/// What /metrics says: vLLM's names, so that its dashboards work, and a few of our own ("tessera:", "process_").
class Metrics {
 public:
  explicit Metrics(const std::string& model_name);
  ~Metrics();

  void first_token(double seconds);  // since the request arrived
  void next_token(double seconds);   // since the one before, of the same choice
  /// What a request asked for, when the engine has taken it. `max_tokens` -1: as many as fit.
  void request_begun(int n, int64_t max_tokens);
  /// Times of a request that has ended; those of stages that it did not reach are negative.
  struct RequestTimes {
    double all = 0;       // since it arrived
    double queued = -1;   // from arrival to the first step with rows of it
    double prefill = -1;  // from there to the first token
    double decode = -1;   // from there to the last
    double token = -1;    // mean between two tokens, of a request with one choice
  };
  void request_ended(std::string_view finished_reason, const RequestTimes& times, int64_t prompt_tokens,
                     int64_t completion_tokens);
  void http_answered(const std::string& route, const std::string& method, int status);

  /// What only the moment of asking knows.
  struct Now {
    EngineStats engine;
    std::optional<double> read_fraction = {};  // engine::read_fraction of about the last second
    int preparing = 0;                         // requests that are not yet with the engine
    int requests_in_flight = 0;                // being prepared or answered by the engine
    int connections = 0;
    bool ready = false;
  };
  /// In Prometheus' text format.
  [[nodiscard]] std::string text(const Now& now) const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace tessera::server
