#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "loadgen/load.h"
#include "loadgen/probe.h"
#include "loadgen/statistics.h"

// What the requests of a case say together. docs/benchmarks/method.md says what each figure means.
namespace tessera::loadgen {

/// What a request has to keep to be a good one; seconds, nothing where it is free.
struct Goals {
  std::optional<double> ttft, itl, tpot, e2e;

  /// "ttft:500,itl:50", in milliseconds.
  static Expected<Goals> parse(const std::string& text);
  [[nodiscard]] bool any() const { return ttft || itl || tpot || e2e; }
  [[nodiscard]] bool met(const Record& record) const;
};

struct Warning {
  std::string code;  // for programs
  std::string text;  // for people: what it is, and what it does to the figures
};

struct Failures {
  int64_t count = 0;
  std::string first;  // message
};

struct Rate {
  double requests = 0, input = 0, output = 0;  // a second
};

struct Summary {
  Case of;
  int64_t rounds = 0;
  int64_t asked = 0, good = 0;  // requests; good: ok ones
  std::map<ErrorKind, Failures> failures;
  bool interrupted = false, gave_up = false;
  double seconds = 0;  // of all rounds
  double spread = 0;   // seconds over which the users of a closed loop came, the mean of the rounds

  Percentiles ttft, first_answer, itl, tpot, e2e;  // seconds, of good requests
  Percentiles input, output;                       // tokens of a request
  int64_t without_usage = 0;                       // of the good ones
  Rate rate;                                       // over all of the time
  std::optional<double> steady_output;             // tokens a second while everybody was busy
  std::optional<double> stream_output;             // tokens a second of one stream, the median
  double tokens_per_delivery = 0;
  std::optional<double> cached_share, thinking_share;  // of the tokens of prompts, of answers
  std::optional<double> drafts_accepted;               // of the tokens that were drafted
  std::optional<double> tokens_per_draft;              // taken from each, the token of the model itself included
  std::optional<double> good_share;                    // of requests that kept the goals
  Rate goodput;
  double repetition = 0;  // the mean of the answers
  int64_t equal_answers = 0;
  double client_cores = 0, turn_p99 = 0, turn_max = 0, late_p99 = 0;
  int64_t held_back = 0;
  double in_flight_begin = 0, in_flight_end = 0;  // of an open loop: means of its second and of its last quarter
  double offered = 0, finished = 0;               // of an open loop: requests a second while they came
  double slower = 1;                              // of an open loop: time a token of E2E, last quarter to second one
  ServerCounters server;                          // by its own count
  std::vector<Warning> warnings;
};

struct CaseResult {
  Summary summary;
  std::vector<CaseRun> runs;
};

/// `counted`: what the server's counters have gained while the runs ran.
Summary summarize(const Case& of, const LoadOptions& options, const Goals& goals, const std::vector<CaseRun>& runs,
                  const ServerCounters& counted);

/// What makes these figures better or worse than they are.
std::vector<Warning> warnings_of(const Summary& summary, const LoadOptions& options, const std::vector<CaseRun>& runs);

/// Time between the pieces of an answer.
std::vector<double> gaps_of(const Record& record);

}  // namespace tessera::loadgen
