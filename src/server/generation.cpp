#include "server/generation.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <spdlog/spdlog.h>

#include <exception>
#include <utility>

#include "server/error_reply.h"
#include "server/event_stream.h"

namespace tessera::server {
namespace {

using std::chrono::steady_clock;

constexpr size_t kWarningBytesMax = 1000;  // of the header
constexpr size_t kNextTurnsMax = 8;        // the engine takes no more
constexpr size_t kOpenMax = 64;            // of more requests conversations would take memory, and no idle time is near

double seconds_between(steady_clock::time_point from, steady_clock::time_point to) {
  return std::chrono::duration<double>(to - from).count();
}

ApiError shutting_down() {
  return {.http_status = 503,
          .message = "the server is shutting down",
          .type = "server_error",
          .code = "service_unavailable"};
}

}  // namespace

void prefill_next_turns(Work& work) {
  if (!work.open.empty() || work.prefills_next_turn || work.next_turns.empty() || work.draining) return;
  work.prefills_next_turn = true;
  const auto turn = std::make_shared<NextTurn>(std::move(work.next_turns.back()));
  work.next_turns.pop_back();
  work.text.post(TextPool::JobSize::large, [&work, turn] {  // a small one that arrives meanwhile does not wait for it
    try {
      prefill_next_turn(work.model, std::move(*turn));
    } catch (const std::exception& failure) {
      spdlog::error("a next turn is not prefilled: {}", failure.what());
    }
    work.http.post([&work] {
      work.prefills_next_turn = false;
      prefill_next_turns(work);
    });
  });
}

void ReadyList::add(std::weak_ptr<Generation> generation) {
  bool first = false;
  {
    const std::lock_guard lock(mutex_);
    first = waiting_.empty();
    waiting_.push_back(std::move(generation));
  }
  if (first) http_.post([this] { advance_all(); });
}

void ReadyList::advance_all() {
  std::vector<std::weak_ptr<Generation>> ready;
  {
    const std::lock_guard lock(mutex_);
    ready.swap(waiting_);
  }
  for (const auto& weak : ready) {
    const auto generation = weak.lock();
    if (!generation) continue;
    generation->queued_ = false;  // before its events are taken: what comes later queues it again
    generation->advance();
  }
}

Generation::Generation(Work& work, std::shared_ptr<Exchange> exchange)
    : work_(work), exchange_(std::move(exchange)), last_write_(steady_clock::now()) {}

std::shared_ptr<Generation> Generation::admit(Work& work, const std::shared_ptr<Exchange>& exchange) {
  const int64_t most = work.model.engine->fit().max_num_seqs + work.limits.queue_max;
  if (static_cast<int64_t>(work.open.size()) >= most) {
    exchange->reply(error_reply({.http_status = 429,
                                 .message = fmt::format("the server has {} requests, as many as it takes; try again "
                                                        "later",
                                                        work.open.size()),
                                 .type = "rate_limit_error",
                                 .code = "rate_limit_exceeded"},
                                exchange->request.path));
    return nullptr;
  }
  auto generation = std::make_shared<Generation>(work, exchange);
  work.open.insert(generation);
  ++work.preparing;
  exchange->on_gone([generation] {
    const bool streams = generation->phase_ == Phase::running && generation->prepared_.stream;
    std::string unread;
    if (streams) generation->prepared_.answer->cancel(unread);
    generation->settle("abort");
    generation->end();
  });
  return generation;
}

void Generation::start(Work& work, const std::shared_ptr<Exchange>& exchange, Prepare prepare) {
  const auto self = admit(work, exchange);
  if (!self) return;
  const auto size = TextPool::job_size(exchange->request.body.size());
  // The answer's id must be unique; the client's x-request-id need not be.
  self->run_job(
      work.text, size,
      [self, prepare, id = exchange->facts.unique_id, body = std::move(exchange->request.body)]() mutable {
        return prepare(self->work_.model, id, std::move(body), self->prepared_);
      },
      [self] { self->begin(); });
}

void Generation::start(Work& work, const std::shared_ptr<Exchange>& exchange, Transform transform) {
  const auto self = admit(work, exchange);
  if (!self) return;
  const auto size = TextPool::job_size(exchange->request.body.size());
  self->run_job(
      work.text, size,
      [self, transform, body = std::move(exchange->request.body)]() mutable {
        return transform(self->work_.model, std::move(body), self->out_);
      },
      [self] {
        self->exchange_->reply({.body = std::move(self->out_)});
        self->end();
      });
}

/// Runs `job` on a thread of `pool` and `then` back here, unless the job fails or the client has left.
void Generation::run_job(TextPool& pool, TextPool::JobSize size, std::function<MaybeError()> job,
                         std::function<void()> then) {
  if (phase_ == Phase::running) phase_ = Phase::writing;
  pool.post(size, [self = shared_from_this(), job = std::move(job), then = std::move(then)]() mutable {
    MaybeError error;
    if (!self->is_over()) {
      try {
        error = job();
      } catch (const std::exception& failure) {
        spdlog::error("a request ended with {}", failure.what());
        error = ApiError{
            .http_status = 500, .message = "the server failed", .type = "server_error", .code = "internal_error"};
      }
    }
    job = nullptr;
    HttpServer& http = self->work_.http;
    http.post([self = std::move(self), error = std::move(error), then = std::move(then)] {
      // A request is prepared once its rest is done too.
      if (auto rest = std::exchange(self->prepared_.rest, nullptr); rest && !error && !self->is_over()) {
        return self->run_job(
            self->work_.grammars, TextPool::JobSize::large, [self, rest] { return rest(self->prepared_); }, then);
      }
      self->job_done();
      if (self->is_over()) {
        self->prepared_.streams.clear();
      } else if (self->stop_wanted_) {
        self->stop();
      } else if (error) {
        self->fail(*error);
      } else {
        then();
      }
    });
  });
}

void Generation::job_done() {
  const Phase before = phase_;
  if (before == Phase::preparing || before == Phase::abandoned) {
    --work_.preparing;
    exchange_->body_prepared();
  }
  if (is_over()) {
    phase_ = Phase::over;
  } else {
    phase_ = before == Phase::preparing ? Phase::prepared : Phase::running;
  }
}

/// The engine has the request.
void Generation::begin() {
  phase_ = Phase::running;
  if (work_.open.size() > kOpenMax) prepared_.next_turn.reset();
  exchange_->facts.prompt_tokens = prepared_.prompt_tokens;
  exchange_->facts.completion_tokens = 0;
  work_.metrics.request_begun(prepared_.n, prepared_.max_tokens);
  last_.resize(prepared_.streams.size());
  if (prepared_.background) {
    begin_background();
  } else if (prepared_.stream) {
    exchange_->on_drained([self = shared_from_this()] { self->advance(); });
    begin_stream();
    send();
  }
  listen();
}

void Generation::listen() {
  for (RequestStream& stream : prepared_.streams) {
    stream.on_ready([this, weak = weak_from_this()] {
      if (!queued_.exchange(true)) work_.ready.add(weak);
    });
  }
}

/// The engine has the second pass.
void Generation::begin_pass(Prepared& second) {
  prepared_.streams = std::move(second.streams);
  prepared_.notes = std::move(second.notes);
  exchange_->facts.prompt_tokens += second.prompt_tokens;
  last_.assign(prepared_.streams.size(), {});
  length_ = false;
  prepared_.answer->go_on(out_);
  send();
  listen();
}

void Generation::begin_stream() {
  exchange_->begin(event_stream_head(warnings()));
  prepared_.answer->begin(out_);
}

/// From here on nobody has to wait for the answer; its client may read along.
void Generation::begin_background() {
  prepared_.answer->begin(out_);
  send();
  if (prepared_.client_reads) {
    stream_events(exchange_, prepared_.background, 0, warnings(), static_cast<size_t>(work_.limits.unsent_bytes_max));
  } else {
    exchange_->reply({.headers = warnings(), .body = prepared_.answer->standing()});
  }
}

/// What was repaired or left out of the request, for whoever looks at the answer; the log has it too.
HttpHeaders Generation::warnings() const {
  if (prepared_.notes.empty()) return {};
  std::string all = fmt::format("{}", fmt::join(prepared_.notes, "; "));
  if (all.size() > kWarningBytesMax) all.resize(kWarningBytesMax);
  for (char& c : all) {
    if (c < ' ' || c > '~') c = '?';
  }
  spdlog::warn("request {}: {}", exchange_->facts.id, all);
  return {{"x-tessera-warning", std::move(all)}};
}

void Generation::advance() {
  if (phase_ != Phase::running) return;
  bool finished = true;
  for (size_t prompt = 0; prompt < prepared_.streams.size(); ++prompt) {
    RequestStream& stream = prepared_.streams[prompt];
    while ((prepared_.background ? 0 : exchange_->unsent()) + out_.size() <=
           static_cast<size_t>(work_.limits.unsent_bytes_max)) {
      std::optional<Event> event = stream.try_next();
      if (!event) break;
      take(prompt, *event);
      if (is_over()) return;
      feed(prompt, std::move(*event));
      if (phase_ != Phase::running) return;
    }
    finished = finished && stream.finished();
  }
  send();
  if (finished && !is_over()) complete();
}

/// Counts an event, and ends the request where the event is its failure.
void Generation::take(size_t prompt, const Event& event) {
  RequestFacts& facts = exchange_->facts;
  if (event.scheduled != Time() && (scheduled_ == Time() || event.scheduled < scheduled_)) {
    scheduled_ = event.scheduled;
  }
  if (!event.tokens.empty()) {
    const Time now = steady_clock::now();
    last_token_ = now;
    if (first_token_ == Time()) {
      first_token_ = now;
      facts.first_token_seconds = seconds_between(exchange_->request.arrived, now);
      work_.metrics.first_token(facts.first_token_seconds);
    }
    auto& last = last_[prompt];
    const auto choice = static_cast<size_t>(event.choice);
    if (last.size() <= choice) last.resize(choice + 1);
    if (last[choice] == Time() && choice == 0) {
      facts.cached_tokens = std::max<int64_t>(facts.cached_tokens, 0) + event.cached_tokens;
      facts.tier_tokens += event.tier_tokens;
      facts.matched_tokens = std::max<int64_t>(facts.matched_tokens, 0) + event.matched_tokens;
    }
    if (last[choice] != Time()) work_.metrics.next_token(seconds_between(last[choice], now));
    last[choice] = now;
    facts.completion_tokens += static_cast<int64_t>(event.tokens.size());
    many_logprobs_ = many_logprobs_ || !event.logprobs.empty();
  }
  facts.drafts += event.drafts;
  if (event.finish_reason == FinishReason::length) length_ = true;
  if (event.finish_reason == FinishReason::error) fail(api_error(event.error));
  if (event.finish_reason == FinishReason::cancelled) fail(shutting_down());
}

void Generation::feed(size_t prompt, Event event) {
  if (event.prompt_logprobs.empty()) {
    prepared_.answer->feed(prompt, event, out_);
    return;
  }
  many_logprobs_ = true;
  run_job(
      work_.text, TextPool::JobSize::large,
      [self = shared_from_this(), prompt, event = std::move(event)] {
        self->prepared_.answer->feed(prompt, event, self->out_);
        return MaybeError();
      },
      [self = shared_from_this()] { self->advance(); });
}

void Generation::complete() {
  if (auto next = std::exchange(prepared_.next, nullptr)) {
    const auto second = std::make_shared<Prepared>();
    return run_job(
        work_.grammars, TextPool::JobSize::large, [next = std::move(next), second] { return next(*second); },
        [self = shared_from_this(), second] { self->begin_pass(*second); });
  }
  keep_next_turn();
  const char* reason = length_ ? "length" : "stop";
  if (prepared_.stream) {
    prepared_.answer->finish(out_);
    send();
    settle(reason);
    end_stream();
    end();
    return;
  }
  const auto reply = [self = shared_from_this(), reason] {
    self->settle(reason);
    self->exchange_->reply({.headers = self->warnings(), .body = std::move(self->out_)});
    self->end();
  };
  const auto write = [self = shared_from_this()] {
    self->out_ = self->prepared_.answer->whole();
    return MaybeError();
  };
  if (many_logprobs_) {
    run_job(work_.text, TextPool::JobSize::large, write, reply);
  } else {
    write();
    reply();
  }
}

/// For when nobody is there any more.
void Generation::keep_next_turn() {
  const auto turn = std::exchange(prepared_.next_turn, nullptr);
  const ChatMessageText* const said = prepared_.answer->said();
  if (!turn || said == nullptr || work_.draining) return;
  if (!add_answer(*said, work_.model.options.limits, *turn)) return;
  work_.next_turns.push_back(std::move(*turn));
  if (work_.next_turns.size() > kNextTurnsMax) work_.next_turns.pop_front();
}

void Generation::send() {
  if (out_.empty()) return;
  write(out_);
  out_.clear();
  last_write_ = steady_clock::now();
}

void Generation::write(std::string_view events) {
  if (prepared_.background) {
    prepared_.background->add(events);
  } else {
    exchange_->write(events);
  }
}

void Generation::end_stream() {
  if (prepared_.background) {
    prepared_.background->end();
  } else {
    exchange_->end();
  }
}

void Generation::fail(const ApiError& error) {
  if (is_over()) return;
  settle("error");
  if (phase_ == Phase::prepared && prepared_.fails_in_stream) begin_stream();
  if (exchange_->begun()) {
    std::string text;
    if (phase_ != Phase::writing) text = std::move(out_);
    prepared_.answer->fail(error, text);
    write(text);
    end_stream();
  } else {
    exchange_->reply(error_reply(error, exchange_->request.path));
  }
  end();
}

/// Says how it ended, before the answer's last bytes do.
void Generation::settle(const char* reason) {
  if (phase_ != Phase::running && phase_ != Phase::writing) return;
  const RequestFacts& facts = exchange_->facts;
  exchange_->facts.finish_reason = reason;
  work_.metrics.request_ended(reason, times(), facts.prompt_tokens, facts.completion_tokens);
}

Metrics::RequestTimes Generation::times() const {
  const Time arrived = exchange_->request.arrived;
  Metrics::RequestTimes times{.all = seconds_between(arrived, steady_clock::now())};
  if (scheduled_ == Time()) return times;
  times.queued = seconds_between(arrived, scheduled_);
  if (first_token_ == Time()) return times;
  times.prefill = seconds_between(scheduled_, first_token_);
  times.decode = seconds_between(first_token_, last_token_);
  const bool one_choice = last_.size() == 1 && last_[0].size() == 1;
  const int64_t tokens = exchange_->facts.completion_tokens;
  if (one_choice && tokens > 1) times.token = times.decode / static_cast<double>(tokens - 1);
  return times;
}

void Generation::end() {
  if (is_over()) return;
  const Phase before = phase_;
  phase_ = before == Phase::preparing ? Phase::abandoned : before == Phase::writing ? Phase::left : Phase::over;
  work_.open.erase(shared_from_this());
  prefill_next_turns(work_);
  if (phase_ == Phase::over) {
    prepared_.streams.clear();
  } else if (phase_ == Phase::left) {
    for (RequestStream& stream : prepared_.streams) {  // destroyed when the text thread is done
      stream.on_ready({});
      stream.cancel();
    }
  }
}

void Generation::tick(steady_clock::time_point now) {
  if (phase_ != Phase::running || !prepared_.stream || !exchange_->begun()) return;
  if (seconds_between(last_write_, now) < static_cast<double>(work_.limits.comment_seconds)) return;
  std::string text;
  prepared_.answer->ping(text);
  write(text);
  last_write_ = now;
}

void Generation::stop() {
  stop_wanted_ = phase_ == Phase::writing;  // then once the text thread is done
  if (phase_ != Phase::running || !exchange_->begun()) return;
  prepared_.answer->cancel(out_);
  send();
  settle("abort");
  end_stream();
  end();
}

void Generation::cancel() { fail(shutting_down()); }

}  // namespace tessera::server
