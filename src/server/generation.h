#pragma once

#include <atomic>
#include <chrono>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_set>
#include <vector>

#include "server/http/exchange.h"
#include "server/http/http_server.h"
#include "server/limits.h"
#include "server/metrics.h"
#include "server/next_turn.h"
#include "server/prepare.h"
#include "server/text_pool.h"

namespace tessera::server {

class Generation;

/// Requests with news from the engine. The engine thread adds them; the network thread is woken once for all that have
/// gathered meanwhile.
class ReadyList {
 public:
  explicit ReadyList(HttpServer& http) : http_(http) {}
  void add(std::weak_ptr<Generation> generation);

 private:
  void advance_all();  // on the network thread

  HttpServer& http_;
  std::mutex mutex_;
  std::vector<std::weak_ptr<Generation>> waiting_;
};

/// What requests to the engine share. Network thread, but for what is said to be of any.
struct Work {
  HttpServer& http;           // post(): any thread
  TextPool& text;             // any thread
  TextPool& grammars;         // any thread
  ReadyList& ready;           // any thread
  const ModelService& model;  // unchanging; any thread
  Metrics& metrics;
  const Limits& limits;
  int preparing = 0;                                          // requests on their way to the engine
  std::unordered_set<std::shared_ptr<Generation>> open = {};  // requests that were let in and have not ended
  std::deque<NextTurn> next_turns = {};                       // of those answered last, the newest last
  bool prefills_next_turn = false;                            // a text thread has one of them
  bool draining = false;                                      // there are none any more
};

/// While no request is open, and so the engine is idle: has the newest next turn prefilled, then the one before it.
void prefill_next_turns(Work& work);

/// Lets a request in and answers it: prepares it on a text thread, then turns the engine's events into the answer. A
/// client that leaves cancels it at any point.
class Generation : public std::enable_shared_from_this<Generation> {
 public:
  using Prepare = MaybeError (*)(const ModelService&, const std::string& id, std::string body, Prepared& out);
  using Transform = MaybeError (*)(const ModelService&, std::string body, std::string& out);

  /// Answers with what `prepare` gives to the engine; 429 if too many requests are open.
  static void start(Work& work, const std::shared_ptr<Exchange>& exchange, Prepare prepare);
  /// Answers with what `transform` makes of the body.
  static void start(Work& work, const std::shared_ptr<Exchange>& exchange, Transform transform);

  Generation(Work& work, std::shared_ptr<Exchange> exchange);

  /// Takes what the engine has for it.
  void advance();
  /// Once a second.
  void tick(std::chrono::steady_clock::time_point now);
  /// The id that its answer's is made of.
  [[nodiscard]] const std::string& id() const { return exchange_->facts.unique_id; }
  /// Ends it where it is, by its client's wish.
  void stop();
  /// Ends it with an error, as the server is going down.
  void cancel();

 private:
  enum class Phase {
    preparing,  // a text thread makes it ready for the engine
    abandoned,  // the same, but nobody waits for it any more: over once the thread is done
    prepared,   // the thread is done
    running,    // the engine has it
    writing,    // the same, and a text thread works on its answer
    left,       // the same, but nobody waits for it any more
    over,
  };
  using Time = std::chrono::steady_clock::time_point;
  friend class ReadyList;

  static std::shared_ptr<Generation> admit(Work& work, const std::shared_ptr<Exchange>& exchange);
  void run_job(TextPool& pool, TextPool::JobSize size, std::function<MaybeError()> job, std::function<void()> then);
  void begin();
  void begin_stream();
  void begin_background();
  void take(size_t prompt, const Event& event);
  void feed(size_t prompt, Event event);
  void complete();
  void keep_next_turn();
  void begin_pass(Prepared& second);
  void listen();
  void send();
  void write(std::string_view events);
  void end_stream();
  void fail(const ApiError& error);
  void settle(const char* reason);
  [[nodiscard]] Metrics::RequestTimes times() const;
  void end();
  void job_done();
  [[nodiscard]] bool is_over() const {
    const Phase phase = phase_;
    return phase == Phase::abandoned || phase == Phase::left || phase == Phase::over;
  }
  [[nodiscard]] HttpHeaders warnings() const;

  Work& work_;
  std::shared_ptr<Exchange> exchange_;
  std::atomic<Phase> phase_ = Phase::preparing;  // read by text threads, to save work
  std::atomic<bool> queued_ = false;             // is in the ReadyList
  Prepared prepared_;
  std::string out_;                      // events not yet written
  std::vector<std::vector<Time>> last_;  // of each prompt and choice: the last token's time
  Time last_write_;
  Time scheduled_, first_token_, last_token_;  // no time at all: not yet
  bool stop_wanted_ = false;                   // by stop(), while a text thread worked on it
  bool length_ = false;                        // a choice ended for its length
  bool many_logprobs_ = false;                 // the whole answer is long
};

}  // namespace tessera::server
