#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "model/model.h"
#include "model/runner.h"

namespace tessera::model {

/// What a runner works with, which outlives it, and its bounds.
struct CudaRunnerParts {
  const Model* model = nullptr;     // on a CUDA backend
  kernels::Cache* cache = nullptr;  // of the model's
  /// Beside the cache, for what steps move; null: they move nothing.
  kernels::HostPages* pages = nullptr;
  int gpu = 0;                      // that the backend is on
  int64_t known_ids = 0;            // ids [known_ids, vocab) are never drawn: no tokenizer entry stands for them
  int32_t rows_max = 0;             // of a step
  int32_t sequences_max = 0;        // of a step
  int32_t sequence_blocks_max = 0;  // KV blocks of one sequence
  int32_t samples_max = 0;          // of a step
  /// Above 0 the model and the cache have the MTP head, the cache records of one row more; at most 8.
  int drafts_max = 0;
  std::vector<double> assumed_acceptance =
      {};  // for measuring alone (KeptStep::assume); empty: drafts hold that are right
  /// Words of one draw's lists: two for each bias, one for each ban; a mask's words count by themselves.
  int64_t list_words_max = 4096;
  bool graphs = true;  // steps as CUDA graphs; changes no bit
  bool pdl = true;     // programmatic dependent launch; changes no bit
};

/// Steps on one GPU, one ahead. Steps that only decode are CUDA graphs, captured here for batches of several sizes,
/// those with drafts and the head's passes by prepare_ahead(), or when they are first wanted, those that read short
/// prompts by prepare_ahead() only (pass_size.h); all other memory is taken here. A step's sequences of class decode
/// come first.
///
/// A step whose draws come later runs as any other, with nothing to draw; the sampler follows, in launches of its own,
/// with tables of its own, and an event says when it has ended.
///
/// Behind a step whose sequences draw behind several rows, or draft, the host has something to do: it finds out which
/// rows hold, and enqueues the MTP head's passes, each a step of the device's own. The drafts of one pass become the
/// tokens of the next without the host. This happens in collect(), all but the last pass; a submit() before it does it
/// first, and waits.
Expected<std::unique_ptr<StepRunner>> make_cuda_runner(const CudaRunnerParts& parts);

}  // namespace tessera::model
