#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "cli/load_model.h"

namespace tessera::cli {

/// How far one model is from another on a text: both read the same tokens.
struct ModelDistance {
  int64_t tokens = 0;               // rows of logits that are compared
  double reference_perplexity = 0;  // over the tokens behind the first
  double perplexity = 0;
  double kl_divergence = 0;        // of the reference from the other, nats a token
  double worst_kl_divergence = 0;  // of a token
  double same_best_token = 0;      // share of the tokens after which both hold the same one likeliest
  std::string reference_device, device;
};

/// Runs `reference`, keeps its logits in host memory (4 bytes for each token and entry of the vocabulary), then runs
/// `other`. options.tokens_max and rows_max are filled in. invalid_argument: another vocabulary; corrupt_data: logits
/// that are not numbers.
Expected<ModelDistance> compare_models(const OpenedModel& reference, const OpenedModel& other,
                                       std::span<const int32_t> tokens, LoneModelOptions options);

}  // namespace tessera::cli
