#pragma once

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "base/status.h"
#include "tessera/engine.h"

// The flags of the table of sampling parameters (server/request/sampling_fields.h), which also knows their JSON keys.
namespace tessera::cli {

/// Adds a flag for each sampling parameter that has one; what is given gathers in `overrides` under its JSON key.
void add_sampling_flags(CLI::App& command, nlohmann::ordered_json& overrides);

/// The JSON keys of the parameters that have flags.
const std::vector<std::string>& sampling_keys();

/// The values of these parameters.
nlohmann::ordered_json sampling_values(const SamplingParams& params);

/// Sets in `params` what `object` has under the keys of the table; other keys are left alone. invalid_argument says
/// what was found and what was expected.
Status apply_sampling(const nlohmann::ordered_json& object, SamplingParams& params);

/// The JSON of --override-generation-config, checked; max_new_tokens, its name in generation_config.json, becomes
/// max_tokens. Throws CLI::ValidationError.
nlohmann::ordered_json parse_sampling(const std::string& text);

}  // namespace tessera::cli
