#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <optional>

namespace tessera::engine {

/// How many rows of prompts may be read between two tokens of the sequences that decode, so that these wait on average
/// at most twice as long as they do in the median when no prompts are read, or in each step at most a fixed time.
///
/// Where it is relative, a step with prompts takes twice the median, or as long as 512 rows take, up to 50 ms: where
/// few sequences decode, already 64 rows read most of the weights, and reading so few at a time is slow for all. What a
/// step takes beyond twice the median is made up for by steps without prompts. Where more sequences wait for their
/// first token than decode, prompts have a larger part of the time, the one that each of them would have: waiting /
/// decoding.
///
/// Follows what rows take, which grows with the positions before a prompt's rows and falls with every row that shares
/// the reading of weights. What is read is about bounded: how long rows take is known when they have been read.
class ChunkPolicy {
 public:
  using Seconds = std::chrono::duration<double>;

  /// What EngineOptions::prefill_step_ms asks for; nullopt: -1.
  static std::optional<Seconds> fixed_bound(int milliseconds);

  /// `fixed`: the bound; 0: there is none. nullopt: it is relative. `rows_max`: of a step.
  ChunkPolicy(std::optional<Seconds> fixed, int64_t rows_max);

  /// At least 64, so that prompts are read however slowly; or 0: a step without prompts makes up for others, or shows
  /// what the bound is relative to.
  [[nodiscard]] int64_t rows() const;
  /// So many sequences decode, and so many have a prompt to be read and a place to be read in. Says nothing where
  /// nobody decodes.
  void share(int decoding, int waiting);
  /// Between two tokens of the decoding sequences there was so long, and so many rows of prompts were read.
  void took(Seconds time, int64_t rows);
  /// Of a step with prompts, where it does not take 512 rows longer. nullopt: nothing is known that it could be
  /// relative to.
  [[nodiscard]] std::optional<Seconds> bound() const;

 private:
  void without_prompts(double seconds);
  void owe(double seconds);
  void follow(double seconds, int64_t rows, double wanted);

  std::optional<Seconds> fixed_;
  int64_t rows_max_;
  double rows_;                      // multiples of 64 of them are read
  int64_t too_many_;                 // so many rows took too long,
  int too_many_steps_ = 0;           // and are not tried again for so many steps
  double worth_;                     // rows that are read though they take longer than the bound
  double owed_ = 0;                  // seconds that prompts had beyond their part
  std::deque<double> decode_times_;  // seconds, of the newest steps without prompts
  double median_ = 0;                // of them
  double part_ = 1;                  // of prompts, for one of the decoding sequences
  int steps_with_prompts_ = 0;       // since the newest of them
};

/// How many rows a step of an idle prefill reads, which whoever comes meanwhile waits for: as many as take about 10 ms,
/// and at least 64.
class IdleChunk {
 public:
  /// `rows_max`: of a step.
  explicit IdleChunk(int64_t rows_max);

  [[nodiscard]] int64_t rows() const;
  /// A step with so many rows took so long.
  void took(ChunkPolicy::Seconds time, int64_t rows);

 private:
  double rows_max_;
  double rows_;  // multiples of 64 of them are read
};

}  // namespace tessera::engine
