#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

// Flags of `vllm serve` that are no flags here, so that command lines and config files written for it can be pasted.
namespace tessera::cli {

/// Adds those that `command` does not have itself, so call it last. One that is given and changes nothing here is named
/// in `ignored`, with the reason; one whose value would change what is answered or how the server behaves is an error.
void add_vllm_flags(CLI::App& command, std::vector<std::string>& ignored);

/// The long form of a flag as vllm spells it: "-tp" is "--tensor-parallel-size", "--max_model_len" is
/// "--max-model-len", and "--limit-mm-per-prompt.image" the flag that it sets a part of. `word` is a whole argument;
/// what is no such flag comes back as it is.
std::string vllm_spelling(const std::string& word);

}  // namespace tessera::cli
