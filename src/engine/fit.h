#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "base/dtype.h"
#include "base/status.h"
#include "kernels/backend.h"
#include "kernels/batch.h"
#include "model/config.h"
#include "tessera/engine.h"

// Whether a model fits, and how much of everything there will be. Decided before anything is loaded, as a pure function
// of a few numbers.
namespace tessera::engine {

inline constexpr int kDefaultMaxSeqs = 64;
inline constexpr int kMaxSeqsLimit = 1024;
inline constexpr int kDefaultBatchedTokens = 512;
inline constexpr int kDefaultGpuBatchedTokens = 8192;
inline constexpr int kBatchedTokensLimit = 65536;
inline constexpr int kThreadsLimit = 1024;

struct FitInput {
  std::optional<int> gpu = {};  // nullopt: the CPU
  size_t available_bytes = 0;
  size_t weight_bytes = 0;
  size_t staging_bytes = 0;  // taken besides while weights are loaded, and given back before anything else is taken
  DType kv_dtype = DType::bf16;
  kernels::CacheBytes cache_bytes;  // of the backend that the model will run on
  // As in EngineOptions; 0: to be chosen.
  int64_t max_model_len = 0;
  int max_num_seqs = 0;
  int max_num_batched_tokens = 0;
  size_t memory_bytes = 0;
  bool prefix_caching = false;
  size_t kv_offload_bytes = 0;
  size_t host_available_bytes = 0;  // beside a GPU, with kv_offload_bytes
  int drafts_max = 0;               // of a sequence
};

/// Weights and the workspace of one step come first; before there is a workspace, weights and what they are staged in
/// must fit. From the rest (or memory_bytes) come state slots, one for each sequence and, from an eighth of it, some
/// for the prefix cache, and KV blocks: enough for one sequence of max_model_len, at most what max_num_seqs such
/// sequences can use. kv_offload_bytes come from the host's memory, which on the CPU is the same. What is to be chosen:
/// max_num_seqs as large as a quarter of the memory allows, at most 64; max_model_len the model's limit or what the
/// blocks hold. Errors: invalid_argument names the option; resource_exhausted says what is needed, what there is, and
/// what to change.
Expected<FitReport> plan_fit(const model::ModelConfig& config, const FitInput& input);

/// Decode rows of one step: one of each sequence, and drafts as long as they are few.
constexpr int decode_rows_max(int max_num_seqs, int drafts_max) {
  constexpr int kFew = 128;
  const int with_drafts = max_num_seqs * (1 + drafts_max);
  return std::max(max_num_seqs, std::min(with_drafts, kFew));
}

/// Logits of one step: decode rows, and one chunk of 64 rows for prompt log-probabilities.
constexpr int64_t logit_rows_max(int decode_rows) { return int64_t{decode_rows} + kernels::kBlockTokens; }

}  // namespace tessera::engine
