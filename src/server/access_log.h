#pragma once

#include <memory>
#include <optional>
#include <string>

#include "server/http/exchange.h"
#include "tessera/engine.h"

namespace tessera::server {

/// Lines on standard error, written by a thread of their own: a terminal or pipe that does not take them holds nothing
/// up; the oldest lines are lost then. Never prompts, answers or keys.
class AccessLog {
 public:
  explicit AccessLog(bool requests);
  ~AccessLog();

  /// key=value: request id, method, path, status, tokens, seconds to the first token and in all, reason of the end.
  void request(const Exchange& exchange);
  /// What the engine does, if it is not what it did at the last call; called once a second. `read_fraction`: of the
  /// GPU's read rate, by the decode steps since then.
  void engine_state(const EngineStats& stats, const std::optional<double>& read_fraction);
  void say(const std::string& line);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace tessera::server
