#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "kernels/sample.h"

// The rows that a step samples, as cuda/sample.h reads them: one piece of memory without pointers, which the host fills
// (pinned) and a kernel of the step copies to the device.
namespace tessera::kernels::cuda {

inline constexpr int kLogprobsMax = 20;  // alternatives

/// A SampleRow. Offsets count words of the pool.
struct SampleEntry {
  int32_t slot = 0;
  int32_t target = -1;
  float inverse_temperature = 0;  // 0: greedy
  int32_t top_k = 0;              // 0: off
  uint32_t top_p = 0;             // spelt::top_p_fraction; 0: off
  float deepest = 0;              // spelt::min_p_depth
  float repetition_penalty = 1, presence_penalty = 0, frequency_penalty = 0;
  int32_t has_penalty = 0;
  int32_t logprobs = -1;  // -1: none
  uint32_t choice = 0;
  uint64_t key = 0, position = 0;
  uint32_t biases = 0, bias_count = 0;    // (token id, bits of the addend), by ascending id, equal ids in their order
  uint32_t banned = 0, banned_count = 0;  // token ids, ascending
  uint32_t allowed = 0;                   // a bit for each id of the vocabulary
  int32_t has_allowed = 0;
  uint32_t drafts = 0;       // token ids that penalties see besides the counts
  uint16_t draft_count = 0;  // 0 without penalties
  uint8_t is_counted = 0;    // the draw is added to the counts
  uint8_t draft = 0;         // SampleRow::draft

  [[nodiscard]] constexpr bool draws() const { return target < 0; }
  [[nodiscard]] constexpr bool rules_out() const { return banned_count > 0 || has_allowed != 0; }
};
static_assert(sizeof(SampleEntry) == 96);

struct SampleHeader {
  int32_t rows = 0;  // entries in use
  uint32_t pool_words = 0;
  uint32_t unused[2] = {};
};
static_assert(sizeof(SampleHeader) == 16);

/// Where everything lies in one piece of memory. row i of the logits belongs to entry i.
struct SampleTables {
  const SampleHeader* header = nullptr;
  const SampleEntry* entries = nullptr;  // [rows_max]
  const uint32_t* pool = nullptr;
  int32_t rows_max = 0;
};

struct SampleCapacity {
  int32_t rows_max = 0;
  uint32_t pool_words = 0;  // for lists: 2 words a bias, 1 a banned id or a draft, vocab / 32 a mask of allowed ids

  /// Of memory that is aligned to 16 bytes.
  [[nodiscard]] constexpr size_t bytes() const { return pool_offset() + size_t{4} * pool_words; }
  [[nodiscard]] constexpr size_t pool_offset() const {
    return sizeof(SampleHeader) + sizeof(SampleEntry) * static_cast<size_t>(rows_max);
  }
  [[nodiscard]] SampleTables tables(const std::byte* memory) const;
};

/// What rows may refer to.
struct SampleLimits {
  int64_t vocab = 0;
  int32_t slots = 0;
  bool has_counts = false;  // SampleArgs::counts is there, so penalties are possible
};

/// What is particular about a row whose draw may not hold, since it is a draft or its row stands behind drafts.
struct UnsureDraw {
  bool is_unsure = false;                // nobody counts it: who learns that it holds adds it to the counts
  std::span<const int32_t> drafts = {};  // tokens that penalties see besides the counts
};

/// Writes the rows; unsure: [rows], or none of them is. resource_exhausted, naming what was found and what there is
/// room for, when they do not fit; invalid_argument for a row that the device could not run. After an error the memory
/// holds no rows.
Status write_sample_tables(std::span<const SampleRow> rows, const SampleLimits& limits, const SampleCapacity& capacity,
                           std::span<std::byte> memory, std::span<const UnsureDraw> unsure = {});

enum class SampleStatus : int32_t { ok, non_finite, none_left };

/// What comes back of a row.
struct SampleOutput {
  int32_t token = 0;
  SampleStatus status = SampleStatus::ok;
  int32_t logprob_count = 0;  // 0: none were asked for
  int32_t unused = 0;
  TokenLogprob logprobs[1 + kLogprobsMax];
};
static_assert(sizeof(SampleOutput) == 352);

SampleResult sample_result(const SampleOutput& output, int64_t known_ids);

}  // namespace tessera::kernels::cuda
