#pragma once

#include <cstddef>
#include <cstdint>

#include "kernels/cuda/sample_tables.h"
#include "kernels/cuda/step.h"

namespace tessera::kernels::cuda {

/// Of a pass of the MTP head whose drafts have been drawn. All pointers are device memory; what belongs to a sample
/// moves along with it.
struct NextDraftArgs {
  StepMemory memory;               // the step's tables
  std::byte* samples = nullptr;    // write_sample_tables(): of the pass's logit rows, each of another sequence
  int32_t* wanted = nullptr;       // [samples]: drafts of the sample's sequence in all
  int32_t* hidden_rows = nullptr;  // [samples] out: the row of the pass before that each row goes on from
  int32_t made = 1;                // so far, for each of these sequences
};

/// The tables become those of the next pass: a row, at the next position, of each sequence that wants further drafts;
/// its token is the draft just drawn, and what is drawn behind it the next.
Status next_draft(const NextDraftArgs& args, const device::Queue& queue);

}  // namespace tessera::kernels::cuda
