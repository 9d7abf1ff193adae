#pragma once

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "base/status.h"
#include "base/thread_pool.h"
#include "engine/choice.h"
#include "engine/chunk_policy.h"
#include "engine/draft_policy.h"
#include "engine/event_channel.h"
#include "engine/meter.h"
#include "engine/scheduler.h"
#include "kernels/sample.h"
#include "model/runner.h"
#include "tessera/engine.h"
#include "text/tokenizer.h"

// The engine thread's work: step_loop.cpp plans and builds steps, step_delivery.cpp delivers what comes of them.
//
// Contract
//  - One thread, the engine thread, calls run() or step(). It alone touches the runner, the scheduler and the choices.
//    Other threads reach it through submit(), whose inbox is bounded, and through the cancel flag of an EventChannel;
//    it reaches them through the channel's events. Nothing else is shared.
//  - A choice lives from the step that takes its request out of the inbox to the event with its finish_reason. When
//    that event is pushed, its blocks and its slot are already free.
//  - Up to steps_ahead() steps of the runner are under way while the next one is planned: rows then stand for tokens
//    that the host does not know yet. What counts decide (max_tokens, min_tokens, the context) is known when a row is
//    planned. What a token decides (a stop token, a stop string) and what a client decides is learnt late: a choice
//    that ends so may have a row too many in each step under way, whose result is dropped. Where a guide must see a
//    token before the next is drawn (Sequence::needs_token), that draw's step is submitted all the same, and what is
//    drawn of it is said once the step before was delivered (StepRunner::draw): masks of grammars are made behind the
//    delivery of a step, while the next one runs, on all threads of the pool. With drafts, or a runner that cannot do
//    so, the choice waits for its token.
//  - The runner takes what it needs of a step when it is submitted, and runs steps in order: blocks and slots are given
//    on at once, whatever is under way.
//  - What goes wrong for one row (logits that are not numbers) ends that choice with an error event. Nothing that a
//    request holds can end the thread. An error of the runner ends everything: every open request gets it as its last
//    event, and later ones are refused.
//  - While there is no choice, and nothing is to be done for the disk, idle prefills go on, the newest first, each step
//    collected before anything else is looked at. Who comes meanwhile waits for one such step, of about 10 ms or of 64
//    rows (IdleChunk); then they have given their slot and blocks to the prefix cache, and go on when nobody is there
//    again. There is no request, no event and no draw in them. Behind them, the runner prepares what later steps would
//    wait for, in parts as long.
//  - A token is a function of logits, parameters, seed, choice and position; the logits of a row are the same bits in
//    any batch. So every request gets the tokens it gets alone, however many steps are under way.
namespace tessera::engine {

inline constexpr int kMaxOpenRequests = 1024;  // running, waiting and in the inbox
inline constexpr size_t kIdlePrefillsMax = 8;  // the oldest is forgotten for a ninth

/// What the loop works with; everything outlives it.
struct StepLoopParts {
  model::StepRunner* runner = nullptr;
  const text::Tokenizer* tokenizer = nullptr;  // null: token ids only
  ThreadPool* pool = nullptr;                  // for masks of grammars; null: the engine thread makes them
  int64_t vocab_size = 0;
  int32_t kv_blocks = 0;  // that the runner has
  int32_t max_num_seqs = 0;
  int32_t kept_states = 0;  // the runner has so many state slots more than max_num_seqs
  bool prefix_caching = false;
  bool keeps_answers = false;      // SchedulerLimits::keeps_answers
  bool has_states = true;          // of the model's layers, in state slots
  int32_t host_pages = 0;          // that the runner has in the host's memory, for what the prefix cache gives up
  int32_t state_pages = 0;         // that a state takes of them
  size_t page_bytes = 0;           // of one
  DiskTier* disk = nullptr;        // behind them; null: there is none
  int64_t max_model_len = 0;       // at most 64 tokens for each KV block
  int max_num_batched_tokens = 0;  // at least max_num_seqs + 64
  int max_decode_rows = 0;         // of a step, with drafts; 0: max_num_seqs
  int drafts_max = 0;              // of a sequence; at most the runner's
  bool drafts_always = false;      // so many in every step, whatever they cost
  /// As ChunkPolicy's bound.
  std::optional<ChunkPolicy::Seconds> chunk_time = ChunkPolicy::Seconds(0);
  std::vector<int32_t> eos_token_ids;
  std::optional<StepBytes> step_bytes = {};  // none: steps are not metered
  std::function<std::chrono::steady_clock::time_point()> clock = std::chrono::steady_clock::now;
};

class StepLoop {
 public:
  explicit StepLoop(StepLoopParts parts);
  ~StepLoop();
  StepLoop(const StepLoop&) = delete;
  StepLoop& operator=(const StepLoop&) = delete;

  // Any thread.

  /// Takes a request that passed check_request. resource_exhausted when too many are open, cancelled after close(),
  /// unavailable after an error of the runner.
  Expected<std::shared_ptr<EventChannel>> submit(Request request);
  /// As Engine::prefill_when_idle, of at most max_model_len tokens that the model has.
  void prefill_when_idle(IdlePrefill prefill);
  [[nodiscard]] EngineStats stats() const;
  /// Not ok once no request is taken any more: what submit() would answer.
  [[nodiscard]] Status status() const;
  /// Not ok once the runner has failed.
  [[nodiscard]] Status failure() const;
  /// As Engine::on_failure.
  void on_failure(std::function<void()> callback);
  /// Makes run() return after the step it is in. Everything still open ends with FinishReason::cancelled.
  void close();

  // The engine thread.

  void run();
  /// Submits a step and delivers the oldest one under way, as far as there are any; false if there is nothing to do.
  /// Instead of run(), for tests that decide what happens between steps.
  bool step();

 private:
  /// Rows of one choice in a step under way. Their results are about consecutive positions: tokens of the prompt whose
  /// log-probabilities are wanted, then the next token.
  struct AwaitedRows {
    std::shared_ptr<Choice> choice;
    int32_t rows = 0;
    std::vector<int32_t> drafts = {};  // the tokens of the last rows, or what stands for them
    int32_t drafts_wanted = 0;         // that the runner brings with the results
    int64_t first_position = 0;        // that the first result is about
    size_t results = 0;
    bool decodes = false;      // all are rows of a sequence that decodes
    bool ends = false;         // nothing more comes, not even a token
    bool draws_later = false;  // what its token is drawn from depends on the one before
  };

  struct StepUnderWay {
    std::vector<AwaitedRows> rows;
    std::chrono::steady_clock::time_point submitted = {};
    int decoding = 0;             // sequences, when it was planned,
    DraftPolicy::Choice drafts;   // and what was chosen for them
    int64_t chunk_rows = 0;       // of prompts and replays
    bool decodes = false;         // has rows of sequences that decode
    bool beside_decodes = false;  // there are such sequences, perhaps with rows in the step before
    bool moves = false;           // pages of the host: rows are not all of its time
  };

  /// Of the sequences that decode, for their next tokens.
  struct Wait {
    ChunkPolicy::Seconds time = {};
    int64_t chunk_rows = 0;
    bool moves = false;
  };

  bool wait_for_work();
  void follow_disk();
  bool step_for_disk();
  bool make_moves();
  void take_submissions();
  void open_choices(const std::shared_ptr<OpenRequest>& request);
  bool prefill_idle();
  bool prepare_ahead();
  void rest_idle();
  void drop_cancelled();
  void choose_drafts();
  void limit_chunks();
  void prepare_guides();
  void prepare(std::span<Choice* const> stale);
  void build_step(std::span<const ScheduledRows> plan);
  void add_rows(const ScheduledRows& item, bool drafting);
  AwaitedRows add_samples(const ScheduledRows& item, int32_t first_row);
  [[nodiscard]] bool wants_drafting(std::span<const ScheduledRows> plan) const;
  void deliver(const StepUnderWay& step, std::span<const kernels::SampleResult> results);
  bool expect_drafts(std::vector<AwaitedRows> step);
  bool take_drafts();
  bool draw();
  void follow_wait(const StepUnderWay& step, ChunkPolicy::Seconds time);
  int64_t deliver_rows(const AwaitedRows& rows, std::span<const kernels::SampleResult> results);
  int64_t deliver_held(const AwaitedRows& rows, std::span<const kernels::SampleResult> results);
  int32_t count_held(const AwaitedRows& rows, std::span<const kernels::SampleResult> results);
  void deliver_token(Choice& choice, const kernels::SampleResult& result);
  void finish(Choice& choice, Event event);
  void post(const Choice& choice, Event event);
  void settle();
  void forget_finished();
  void publish_stats();
  void send_events();
  void stop(Status why);
  bool fail(const Status& status);
  void set_failure(const Status& status);
  void end_everything(const Event& last);
  void collect_the_rest();
  void write_the_rest();

  StepLoopParts parts_;
  Scheduler scheduler_;
  std::vector<std::shared_ptr<Choice>> choices_;  // in order of arrival
  std::deque<std::unique_ptr<Sequence>> idle_;    // prefills; the newest is last, and no other has begun

  model::Step step_;                                 // being built
  std::deque<StepUnderWay> under_way_;               // oldest first
  std::vector<AwaitedRows> drafted_;                 // of the step collected last, whose drafts were not taken yet
  std::chrono::steady_clock::time_point collected_;  // the newest step that was
  std::optional<StepMeter> meter_;
  DraftPolicy draft_policy_;
  int decoding_ = 0;            // sequences, as the next step is planned
  DraftPolicy::Choice drafts_;  // of this step
  ChunkPolicy chunk_policy_;
  IdleChunk idle_chunk_;
  bool prepared_ = false;  // the runner has nothing left to prepare
  Wait wait_;
  std::vector<std::pair<std::shared_ptr<EventChannel>, Event>> outgoing_;
  EngineStats counts_;  // the totals; published with the rest in stats_

  mutable std::mutex mutex_;  // guards what follows
  std::condition_variable wake_;
  std::vector<std::shared_ptr<OpenRequest>> inbox_;
  std::deque<IdlePrefill> idle_inbox_;
  int open_requests_ = 0;
  Status stopped_;  // not ok: why no request is taken any more
  EngineStats stats_;

  mutable std::mutex failure_mutex_;  // guards what follows
  Status failure_;
  std::function<void()> on_failure_;
};

}  // namespace tessera::engine
