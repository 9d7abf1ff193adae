#pragma once

#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "base/aligned_buffer.h"
#include "base/status.h"
#include "base/thread_pool.h"
#include "engine/choice_text.h"
#include "engine/event_channel.h"
#include "engine/scheduler.h"
#include "engine/sequence.h"
#include "kernels/batch.h"
#include "kernels/cpu/sampler.h"
#include "kernels/cpu/token_counts.h"
#include "model/model.h"
#include "tessera/engine.h"

// The engine thread's work.
//
// Contract
//  - One thread, the engine thread, calls run() or step(). It alone touches the model, the cache, the scheduler, the
//    samplers and the choices. Other threads reach it through submit(), whose inbox is bounded, and through the
//    cancel flag of an EventChannel; it reaches them through the channel's events. Nothing else is shared.
//  - A choice lives from the step that takes its request out of the inbox to the event with its finish_reason. When
//    that event is pushed, its blocks and its slot are already free.
//  - What goes wrong for one row (logits that are not numbers) ends that choice with an error event. Nothing that a
//    request holds can end the thread.
//  - A token is a function of logits, parameters, seed, choice and position; the logits of a row are the same bits in
//    any batch. So every request gets the tokens it gets alone.
namespace tessera::engine {

inline constexpr int kMaxOpenRequests = 1024;  // running, waiting and in the inbox

/// What the loop works with; everything outlives it.
struct StepLoopParts {
  model::Model* model = nullptr;
  kernels::Cache* cache = nullptr;
  ThreadPool* pool = nullptr;
  const text::Tokenizer* tokenizer = nullptr;  // null: token ids only
  int64_t max_model_len = 0;                   // at most 64 tokens for each of the cache's blocks
  int max_num_batched_tokens = 0;              // at least the cache's state slots + 64
  std::vector<int32_t> eos_token_ids;
};

class StepLoop {
 public:
  explicit StepLoop(StepLoopParts parts);
  ~StepLoop();
  StepLoop(const StepLoop&) = delete;
  StepLoop& operator=(const StepLoop&) = delete;

  // Any thread.

  /// Takes a request that passed check_request. resource_exhausted when too many are open, cancelled after close().
  Expected<std::shared_ptr<EventChannel>> submit(Request request);
  [[nodiscard]] EngineStats stats() const;
  /// Makes run() return after the step it is in. Everything still open ends with FinishReason::cancelled.
  void close();

  // The engine thread.

  void run();
  /// One step; false if there is nothing to do. Instead of run(), for tests that decide what happens between steps.
  bool step();

 private:
  struct OpenRequest;
  struct Choice;
  /// A row whose logits are used: for the next token, or for the log-probability of a prompt token.
  struct LogitRow {
    Choice* choice = nullptr;
    int64_t position = 0;  // of the token that the logits predict
    bool in_prompt = false;
    Status status = {};
    kernels::Draw draw = {};
  };

  bool wait_for_work();
  void take_submissions();
  void open_choices(const std::shared_ptr<OpenRequest>& request);
  void drop_cancelled();
  void build_batch(std::span<const ScheduledRows> plan);
  void add_logit_rows(const ScheduledRows& rows, int32_t first_row);
  void sample();
  void sample_row(LogitRow& row, std::span<float> logits, kernels::Sampler& sampler) const;
  void deliver();
  void deliver_token(LogitRow& row);
  void finish(Choice& choice, Event event);
  void end_everything();
  void send_events();

  StepLoopParts parts_;
  int64_t vocab_size_, known_ids_;
  Scheduler scheduler_;
  std::vector<std::unique_ptr<Choice>> choices_;  // in order of arrival

  // One step's batch.
  std::vector<int32_t> tokens_;
  std::vector<kernels::SequenceRows> sequences_;
  std::vector<int32_t> logit_row_index_;  // rows of the batch
  std::vector<LogitRow> logit_rows_;      // the same rows
  std::unique_ptr<kernels::Pass> pass_;
  std::vector<kernels::Sampler> samplers_;  // one for each thread of the pool
  std::vector<std::pair<std::shared_ptr<EventChannel>, Event>> outgoing_;
  EngineStats counts_;  // the totals; published with the rest in stats_

  mutable std::mutex mutex_;  // guards what follows
  std::condition_variable wake_;
  std::vector<std::shared_ptr<OpenRequest>> inbox_;
  int open_requests_ = 0;
  bool closing_ = false;
  EngineStats stats_;
};

}  // namespace tessera::engine
