#include "engine/fit.h"

#include <algorithm>
#include <limits>
#include <string_view>

#include "base/byte_text.h"
#include "engine/precision.h"
#include "kernels/batch.h"
#include "kernels/page_move.h"

namespace tessera::engine {
namespace {

using kernels::blocks_for;
using kernels::kBlockTokens;

constexpr size_t kReserveBytes = size_t{256} << 20;  // for tokenizer, requests, and the rest of the system
constexpr int kReserveShare = 20;                    // at least a 20th of what is free
// Of a GPU: code of the kernels, graphs, states of attention's splits, padding of weights. gpu_memory_utilization
// leaves room for others.
constexpr size_t kGpuReserveBytes = size_t{3} << 29;
constexpr int64_t kLeastModelLen = 2048;  // a shorter context is only given to those who ask for it

Status check_option(std::string_view name, int64_t value, int64_t low, int64_t high, std::string_view why = "") {
  if (value == 0 || (value >= low && value <= high)) return {};
  return error(StatusCode::invalid_argument, "{} is {}; it must be between {} and {}{}", name, value, low, high, why);
}

Status check_options(const model::ModelConfig& config, const FitInput& input) {
  TESSERA_RETURN_IF_ERROR(check_option("max_model_len", input.max_model_len, 1, config.max_position_embeddings,
                                       " (max_position_embeddings of the model's config)"));
  TESSERA_RETURN_IF_ERROR(check_option("max_num_seqs", input.max_num_seqs, 1, kMaxSeqsLimit));
  TESSERA_RETURN_IF_ERROR(check_option("max_num_batched_tokens", input.max_num_batched_tokens,
                                       std::max(input.max_num_seqs, 1) + kBlockTokens, kBatchedTokensLimit,
                                       " (a row for each of max_num_seqs, and a chunk of 64 for a prompt)"));
  return {};
}

/// An upper estimate: activations that are alive together in the widest kind of layer, and the logits, in fp32.
size_t workspace_bytes(const model::ModelConfig& config, int rows, int seqs, int drafts_max) {
  const auto& attention = config.attention;
  const auto& delta = config.delta_net;
  const int64_t queries = int64_t{attention.heads} * attention.head_dim;
  const int64_t keys = int64_t{attention.kv_heads} * attention.head_dim;
  const int64_t values = int64_t{delta.value_heads} * delta.value_dim;
  const int64_t in_attention = 3 * queries + 2 * keys;
  const int64_t in_delta_net = 2 * delta.channels() + 3 * values;
  const int64_t in_ffn = config.is_moe
                             ? config.num_experts +
                                   config.experts_per_token * (3 * config.moe_intermediate_size + config.hidden_size) +
                                   3 * config.shared_expert_intermediate_size
                             : 3 * config.intermediate_size;
  const int64_t kept = drafts_max > 0 ? config.hidden_size : 0;  // of each row, for the MTP head
  const int64_t row = kept + 3 * config.hidden_size + std::max({in_attention, in_delta_net, in_ffn});
  return sizeof(float) *
         static_cast<size_t>(rows * row + logit_rows_max(decode_rows_max(seqs, drafts_max)) * config.vocab_size);
}

std::string what_to_change(const FitInput& input, bool weights_are_too_large) {
  if (weights_are_too_large) {
    if (input.gpu) {
      return "use a smaller model, free the GPU's memory, raise gpu_memory_utilization, or choose device cpu";
    }
    return std::string(input.kv_offload_bytes > 0 ? "lower kv_offload, " : "") + "use a smaller model or free memory";
  }
  std::string advice = "lower max_num_seqs or max_model_len";
  if (input.kv_offload_bytes > 0 && !input.gpu && input.memory_bytes == 0) {
    advice = "lower kv_offload, max_num_seqs or max_model_len";
  }
  if (input.kv_dtype == DType::bf16) advice += ", use kv_cache_dtype fp8";
  return advice + (input.memory_bytes > 0 ? ", raise memory_bytes, or free memory" : ", or free memory");
}

/// The tier in the host's memory, and whether a GPU's host has so much.
Status plan_tier(const FitInput& input, FitReport& fit) {
  if (input.kv_offload_bytes == 0) return {};
  if (!input.prefix_caching) {
    return error(StatusCode::invalid_argument,
                 "kv_offload is {}, and prefix caching is off: there is nothing to keep in the host's memory",
                 format_bytes(input.kv_offload_bytes));
  }
  fit.state_pages = kernels::pages_of_state(input.cache_bytes);
  const size_t pages = input.kv_offload_bytes / std::max<size_t>(input.cache_bytes.kv_block, 1);
  const auto least = static_cast<size_t>(1 + fit.state_pages);
  if (pages < least) {
    return error(StatusCode::invalid_argument,
                 "the tier in the host's memory has {}, and the state and the KV of 64 tokens take {}; give it more "
                 "(kv_offload), or none",
                 format_bytes(input.kv_offload_bytes), format_bytes(least * input.cache_bytes.kv_block));
  }
  fit.host_pages = static_cast<int>(std::min<size_t>(pages, std::numeric_limits<int32_t>::max()));
  if (!input.gpu) return {};
  const size_t reserve = std::max(kReserveBytes, input.host_available_bytes / kReserveShare);
  if (input.kv_offload_bytes + reserve <= input.host_available_bytes) return {};
  return error(StatusCode::resource_exhausted,
               "the tier in the host's memory does not fit: {} are wanted, and {} of the host's memory are free ({} of "
               "them kept in reserve); lower kv_offload or free memory",
               format_bytes(input.kv_offload_bytes), format_bytes(input.host_available_bytes), format_bytes(reserve));
}

}  // namespace

Expected<FitReport> plan_fit(const model::ModelConfig& config, const FitInput& input) {
  TESSERA_RETURN_IF_ERROR(check_options(config, input));
  FitReport fit;
  if (input.gpu) fit.device = fmt::format("cuda:{}", *input.gpu);
  fit.available_bytes = input.available_bytes;
  fit.reserve_bytes = input.gpu ? kGpuReserveBytes : std::max(kReserveBytes, input.available_bytes / kReserveShare);
  fit.weight_bytes = input.weight_bytes;
  fit.kv_block_bytes = input.cache_bytes.kv_block;
  fit.state_slot_bytes = input.cache_bytes.state_slot;
  // A GPU counts each slot's tokens, for penalties, in a table of the vocabulary.
  if (input.gpu) fit.state_slot_bytes += static_cast<size_t>(config.vocab_size) * sizeof(uint16_t);
  fit.kv_cache_dtype = kv_dtype_name(input.kv_dtype);
  fit.max_num_batched_tokens =
      input.max_num_batched_tokens > 0
          ? input.max_num_batched_tokens
          : std::max(input.gpu ? kDefaultGpuBatchedTokens : kDefaultBatchedTokens, input.max_num_seqs + kBlockTokens);
  const int seqs_max = input.max_num_seqs > 0 ? input.max_num_seqs
                                              : std::min(kDefaultMaxSeqs, fit.max_num_batched_tokens - kBlockTokens);
  fit.workspace_bytes = workspace_bytes(config, fit.max_num_batched_tokens, seqs_max, input.drafts_max);

  TESSERA_RETURN_IF_ERROR(plan_tier(input, fit));
  const size_t in_host = input.gpu ? 0 : fit.host_bytes();
  const size_t fixed = fit.weight_bytes + fit.workspace_bytes + in_host;
  const size_t usable = input.available_bytes - std::min(input.available_bytes, fit.reserve_bytes);
  if (fit.weight_bytes + input.staging_bytes > usable) {
    return error(StatusCode::resource_exhausted,
                 "the model does not fit: {} are free ({} of them kept in reserve); needed are {} for weights and, "
                 "while they are loaded, {} for the largest matrix as it is stored; {}",
                 format_bytes(fit.available_bytes), format_bytes(fit.reserve_bytes), format_bytes(fit.weight_bytes),
                 format_bytes(input.staging_bytes), what_to_change(input, /*weights_are_too_large=*/true));
  }
  const int64_t least_tokens =
      input.max_model_len > 0 ? input.max_model_len : std::min(kLeastModelLen, config.max_position_embeddings);
  const auto least_blocks = static_cast<size_t>(blocks_for(least_tokens));
  const auto least_seqs = static_cast<size_t>(std::max(input.max_num_seqs, 1));
  const size_t least = least_seqs * fit.state_slot_bytes + least_blocks * fit.kv_block_bytes;
  const size_t budget = input.memory_bytes > 0 ? input.memory_bytes : usable - std::min(usable, fixed);
  if (fixed > usable || input.memory_bytes > usable - fixed || least > budget) {
    return error(
        StatusCode::resource_exhausted,
        "the model does not fit: {} are free ({} of them kept in reserve{}); needed are {} for weights, {} for "
        "the workspace of {} rows, {}and at least {} for states of {} sequences and KV of {} tokens; {}",
        format_bytes(fit.available_bytes), format_bytes(fit.reserve_bytes),
        input.memory_bytes > 0 ? ", " + format_bytes(input.memory_bytes) + " given to states and KV" : "",
        format_bytes(fit.weight_bytes), format_bytes(fit.workspace_bytes), fit.max_num_batched_tokens,
        in_host > 0 ? format_bytes(in_host) + " for what the prefix cache gives up (kv_offload), " : "",
        format_bytes(least), least_seqs, least_tokens, what_to_change(input, fixed > usable));
  }

  size_t seqs = least_seqs;
  if (input.max_num_seqs == 0 && fit.state_slot_bytes > 0) {
    const size_t for_states = std::min(budget / 4, budget - least_blocks * fit.kv_block_bytes);
    seqs = std::clamp<size_t>(for_states / fit.state_slot_bytes, 1, static_cast<size_t>(seqs_max));
  } else if (input.max_num_seqs == 0) {
    seqs = static_cast<size_t>(seqs_max);
  }
  fit.max_num_seqs = static_cast<int>(seqs);
  fit.drafts_max = input.drafts_max;
  if (input.prefix_caching && fit.state_slot_bytes > 0) {
    const size_t left = budget - seqs * fit.state_slot_bytes - least_blocks * fit.kv_block_bytes;
    fit.kept_states =
        static_cast<int>(std::min({budget / 8 / fit.state_slot_bytes, left / fit.state_slot_bytes, seqs}));
  }
  const size_t for_kv = budget - fit.state_bytes();
  const auto blocks_max = static_cast<int64_t>(std::min<size_t>(for_kv / std::max<size_t>(fit.kv_block_bytes, 1),
                                                                std::numeric_limits<int32_t>::max() / kBlockTokens));
  fit.max_model_len = input.max_model_len > 0 ? input.max_model_len
                                              : std::min(config.max_position_embeddings, blocks_max * kBlockTokens);
  fit.kv_blocks = static_cast<int>(std::min(blocks_max, fit.max_num_seqs * blocks_for(fit.max_model_len)));
  return fit;
}

}  // namespace tessera::engine
