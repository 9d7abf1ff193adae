#pragma once

#include <cstddef>
#include <cstdint>

#include "kernels/cuda/sample_tables.h"
#include "tessera/status.h"

// The draw of kernels/sample.h on a GPU: for the same logits the token, the status and the log-probabilities of
// cpu/sampler.h, bit for bit (kernels/sample_math.h is the arithmetic of both).
//
// Three launches whatever the rows ask for, so that they can be captured; a row leaves when it has its token.
//   scan   every block of 256 ids: edits, the largest logit, what is no number. Greedy rows end here.
//   weigh  rows with a small top_k: one thread block draws among the few ids that can be in it. Rows with a large one,
//          or with top_p alone: masses by depth, then the cut. Rows with log-probabilities: the mass of all.
//   draw   the rows left: Gumbel-max over the blocks that can win; log-probabilities.
// Logits are read, never changed: edits are made again wherever a logit is looked at.
namespace tessera::device {
struct Queue;
}

namespace tessera::kernels::cuda {

inline constexpr int64_t kSampleVocabMax = 1 << 19;
inline constexpr int32_t kSampleRowsMax = 1024 + 64;  // sequences, and rows of prompt log-probabilities

struct SampleArgs {
  const float* logits = nullptr;  // [rows_max, vocab], row i belongs to entry i
  int64_t vocab = 0;              // at most kSampleVocabMax
  int64_t known_ids = 0;          // ids [known_ids, vocab) are padding that no tokenizer entry stands for
  SampleTables tables;            // in device memory: stage_sample_tables
  /// [slots, vocab]: bit 15, the token is in the prompt; the rest, how often it is in the output, at most
  /// kTokenCountMax times. Null where no row has penalties. A slot with penalties has one draw a call that is counted.
  uint16_t* counts = nullptr;
  /// [1 + kDraftsMax, slots] out: what was drawn, by SampleRow::draft; 0 where nothing could be, of several draws any.
  int32_t* last_token = nullptr;
  int32_t slots = 0;
  SampleOutput* out = nullptr;  // [rows_max] out, in mapped host memory; publishing it is the caller's
  std::byte* workspace = nullptr;
};

/// Of a workspace for up to rows_max rows. Its first bytes must be zero before the first call: set all of them; every
/// call leaves it ready for the next, with as many rows or fewer.
size_t sample_workspace_bytes(int32_t rows_max, int64_t vocab);

Status sample(const SampleArgs& args, const device::Queue& queue);

struct StageSampleTablesArgs {
  const std::byte* from = nullptr;  // write_sample_tables(), in mapped host memory; 16-byte aligned
  std::byte* to = nullptr;          // device memory of as many bytes
  SampleCapacity capacity;
};

/// Copies what is in use.
Status stage_sample_tables(const StageSampleTablesArgs& args, const device::Queue& queue);

struct SetHistoryArgs {
  uint16_t* counts = nullptr;  // SampleArgs::counts
  int64_t vocab = 0;
  int32_t slot = 0;
  const int32_t* prompt = nullptr;  // device or mapped memory
  int64_t prompt_tokens = 0;
  const int32_t* output = nullptr;  // the same
  int64_t output_tokens = 0;
  bool adds = false;  // to the counts that are there
};

/// The slot's counts become those of a TokenHistory, or are added to. Ids outside the vocabulary are left out.
Status set_history(const SetHistoryArgs& args, const device::Queue& queue);

}  // namespace tessera::kernels::cuda
