#pragma once

#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/thread_pool.h"
#include "engine/device_choice.h"
#include "engine/disk_tier.h"
#include "engine/fit.h"
#include "engine/step_loop.h"
#include "guide/grammar.h"
#include "model/model.h"
#include "text/tokenizer.h"
#include "tiny_model.h"

// The engine against itself: requests that share steps, pools and prefixes must get exactly what each of them gets
// alone, with every feature off. On the CPU, or where TESSERA_TEST_DEVICE says (test_device.h), a GPU among them.
namespace tessera::engine {

/// A tiny model, loaded, with what requests need besides.
struct Fixture {
  /// `ties`: logits of tokens 2 i and 2 i + 1 are always the same bits.
  Fixture(TinyKind kind, int threads, bool ties = false);

  Device device;
  TinyModel files;
  ThreadPool pool;
  kernels::Workspace workspace;
  std::unique_ptr<kernels::Backend> backend;
  text::Tokenizer tokenizer;
  std::unique_ptr<model::Model> model;
  std::vector<CompiledGrammar> grammars;  // short ones
};

Fixture& fixture(TinyKind kind, int threads = 1);

inline constexpr int32_t kEndOfAnswer = 7;

/// What a loop has.
struct Sizes {
  int blocks = 16, slots = 1, rows = 512, steps_ahead = 0;
  int context_blocks = 0;           // that requests are made for
  int kept_states = -1;             // -1: no prefix cache
  int host_pages = 0;               // of its tier
  std::filesystem::path disk = {};  // behind it; empty: none
  int disk_pages = 1 << 20;         // that it has room for, heads included
  uint64_t identity = 1;            // of what is there
  bool waits_for_disk = false;      // what its thread is to do is done before the next step
  int drafts_max = 0;
  bool drafts_always = true;
  std::optional<ChunkPolicy::Seconds> chunk_time = ChunkPolicy::Seconds(0);
  bool graphs = true;  // on a GPU, which is always a step ahead
  std::function<std::chrono::steady_clock::time_point()> clock = std::chrono::steady_clock::now;

  [[nodiscard]] int decode_rows() const { return decode_rows_max(slots, drafts_max); }
};

std::unique_ptr<model::StepRunner> make_runner(Fixture& f, kernels::Cache& cache, kernels::HostPages* pages,
                                               const Sizes& s);

/// A loop with caches of its own.
struct World {
  World(Fixture& f, const Sizes& s)
      : cache(*f.model->make_cache(DType::bf16, s.blocks, s.slots + std::max(s.kept_states, 0),
                                   /*with_mtp=*/s.drafts_max > 0, s.drafts_max)),
        pages(s.host_pages > 0 ? *f.backend->make_host_pages(cache->shape(), s.host_pages) : nullptr),
        disk(s.disk.empty() ? nullptr
                            : std::make_unique<DiskTier>(
                                  *KvDirectory::open(
                                      s.disk,
                                      {.identity = {s.identity, 0},
                                       .page_bytes = pages->page_bytes(),
                                       .state_pages = kernels::pages_of_state(f.backend->cache_bytes(cache->shape()))},
                                      static_cast<uint64_t>(s.disk_pages) * pages->page_bytes()),
                                  *pages)),
        runner(make_runner(f, *cache, pages.get(), s)),
        loop({.runner = runner.get(),
              .tokenizer = &f.tokenizer,
              .vocab_size = f.model->config().vocab_size,
              .kv_blocks = s.blocks,
              .max_num_seqs = s.slots,
              .kept_states = std::max(s.kept_states, 0),
              .prefix_caching = s.kept_states >= 0,
              .host_pages = s.host_pages,
              .state_pages = kernels::pages_of_state(f.backend->cache_bytes(cache->shape())),
              .page_bytes = 1,
              .disk = disk.get(),
              .max_model_len = int64_t{s.blocks} * 64,
              .max_num_batched_tokens = s.rows,
              .max_decode_rows = s.decode_rows(),
              .drafts_max = s.drafts_max,
              .drafts_always = s.drafts_always,
              .chunk_time = s.chunk_time,
              .eos_token_ids = {kEndOfAnswer},
              .clock = s.clock}),
        waits_for_disk(s.waits_for_disk) {}

  bool step() {
    if (disk && waits_for_disk) disk->wait_for_all();
    return loop.step();
  }
  /// Until there is nothing to do, for the disk neither.
  void settle() {
    do {
      while (step()) {
      }
      if (disk) disk->wait_for_all();
    } while (disk && disk->has_done());
  }

  std::unique_ptr<kernels::Cache> cache;
  std::unique_ptr<kernels::HostPages> pages;
  std::unique_ptr<DiskTier> disk;
  std::unique_ptr<model::StepRunner> runner;
  StepLoop loop;
  bool waits_for_disk;
};

/// What a client saw of one choice.
struct Seen {
  std::vector<int32_t> tokens;
  std::string text;
  std::vector<std::vector<TokenLogprob>> logprobs, prompt_logprobs;
  FinishReason finish_reason = FinishReason::none;
  std::string stop_reason;
};

/// All that `channel` has for its choices, to the last event of each.
std::vector<Seen> drain(EventChannel& channel, int choices);

void expect_same_bits(const std::vector<std::vector<TokenLogprob>>& a, const std::vector<std::vector<TokenLogprob>>& b);
void expect_empty(const StepLoop& loop);

/// What a request gets in a world of its own, where nothing is kept, drafted or bounded.
std::vector<Seen> run_alone(Fixture& f, const Request& request);
/// What it got elsewhere is that; or, where `may_be_cut`, the beginning of it, if it was cancelled.
void expect_as_alone(Fixture& f, const Request& request, const std::vector<Seen>& seen, bool may_be_cut = false);
/// Submits all requests at once, and expects what each gets alone. Returns what they got.
std::vector<std::vector<Seen>> run_as_alone(Fixture& f, World& world, const std::vector<Request>& requests);

/// Of one run: what was there to be tested.
struct SimulationCounts {
  EngineStats stats;
  int guided = 0, cancelled = 0, stopped = 0;
  int damaged = 0;  // files on disk

  void add(const EngineStats& run);
};

/// A run in which everything follows from `seed`: the model, the sizes of all pools and tiers, drafts, steps ahead,
/// chunks, threads, requests with all their parameters, when they come and when they are cancelled, what is prefilled
/// while none wants a step. With a tier on disk
/// there is a second run, of a new engine that finds what the first one has left there, some of it damaged. Of half of
/// these the disk's thread takes its own time: they may not fail again when they are replayed.
SimulationCounts simulate(uint64_t seed);

/// Of seeds first to last, or of TESSERA_SIMULATION_SEED alone, until one fails.
SimulationCounts simulate(uint64_t first, uint64_t last);

/// So many requests, each cancelled after some steps, with drafts and every tier. Nothing is left of them: neither
/// blocks nor slots, nor pages, nor files that no entry is in, nor descriptors; and who comes then gets what there is.
void cancel_many(int requests, uint64_t seed);

}  // namespace tessera::engine
