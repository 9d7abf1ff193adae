#pragma once

#include <CLI/CLI.hpp>
#include <memory>
#include <nlohmann/json.hpp>
#include <string_view>

#include "base/status.h"
#include "tessera/engine.h"

// One table of sampling parameters serves flags (--top-p) and JSON keys ("top_p").
namespace tessera::cli {

/// Adds a flag for each sampling parameter; what is given gathers in `overrides` under its JSON key.
void add_sampling_flags(CLI::App& command, nlohmann::ordered_json& overrides);

/// Whether `key` is a sampling parameter of apply_sampling.
bool is_sampling_key(std::string_view key);
const std::vector<std::string>& sampling_keys();

/// Sets in `params` what `object` has under the keys of the table; other keys are left alone. invalid_argument says
/// what was found and what was expected.
Status apply_sampling(const nlohmann::ordered_json& object, SamplingParams& params);

}  // namespace tessera::cli
