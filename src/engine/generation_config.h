#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "tessera/engine.h"

namespace tessera::engine {

/// What generation_config.json says of sampling.
struct GenerationConfig {
  SamplingParams sampling;             // neutral where the file is silent
  std::vector<int32_t> eos_token_ids;  // empty where the file is silent
};

/// Reads temperature, top_k, top_p, min_p, repetition_penalty, do_sample (false: temperature 0), max_new_tokens and
/// eos_token_id (a number or a list), whose ids are below vocab_size. `path` names the file in errors: corrupt_data for
/// what is not JSON, invalid_argument for a value of the wrong type or out of range. Other keys are left alone.
Expected<GenerationConfig> parse_generation_config(std::string_view json, const std::string& path, int64_t vocab_size);

}  // namespace tessera::engine
