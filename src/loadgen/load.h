#pragma once

#include <atomic>
#include <deque>
#include <functional>
#include <string>

#include "loadgen/client.h"
#include "loadgen/prompts.h"
#include "loadgen/record.h"

// One case of a grid, run against a server: so many users who each ask again once they are answered (a closed loop),
// or requests that come at a rate whatever becomes of those before (an open one).
namespace tessera::loadgen {

enum class Thinking { server, off, on };  // server: nothing is said
std::string_view name_of(Thinking thinking);

struct Case {
  int64_t users = 0;  // of a closed loop
  double rate = 0;    // of an open one, requests a second
  int64_t output = 0;
  int64_t context = 0;  // tokens of a prompt; 0: as the prompts are
  Thinking thinking = Thinking::off;

  [[nodiscard]] bool open() const { return rate > 0; }
  /// "8 users, 128 out, 2048 in, thinking off"
  [[nodiscard]] std::string name() const;
};

struct LoadOptions {
  std::string model;
  PromptPlan prompts;    // its seed is that of all cases
  int64_t requests = 0;  // of a case; 0: what the duration says, else four a user, half a minute of a rate, at least 16
  double duration_seconds = 0;   // none begins later; 0: no such end
  int64_t in_flight_max = 1024;  // of an open loop
  double spread_seconds = 0;     // of a closed loop: its users come evenly over this time
  bool ignore_eos = false;
  bool continuous_usage = true;
  Json more = Json::object();  // fields of every request
};

struct Progress {
  int64_t done = 0, total = 0, failed = 0, running = 0, output_tokens = 0;
  double seconds = 0;
};

struct Watch {
  const std::atomic<bool>* stop;  // true: end with what there is
  std::function<void(const Progress&)> on_progress;
};

struct CaseRun {
  std::deque<Record> records;
  double seconds = 0;  // from the first start to the last end
  double spread = 0;   // seconds over which the users of a closed loop came
  double steady_begin = 0,
         steady_end = 0;  // all users are busy; an open loop: requests come. Empty: there was no such time
  ClientCost client;
  double late_p99 = 0;    // of starts behind their due time, those not held back
  int64_t held_back = 0;  // waited for a place among in_flight_max
  bool interrupted = false;
  bool gave_up = false;  // nothing but failures
};

int64_t requests_of(const Case& of, const LoadOptions& options);
/// The body of a request for `prompt`.
Json request_body(const Case& of, const LoadOptions& options, const Prompt& prompt, uint64_t seed);
/// What draws of a case begin from: of its own numbers, not of its place in a grid.
uint64_t seed_of(const Case& of, uint64_t seed, int64_t round);

Expected<CaseRun> run_case(Client& client, const PromptSet& prompts, const Case& of, const LoadOptions& options,
                           int64_t round, const Watch& watch);

}  // namespace tessera::loadgen
