#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "cli/batch_input.h"

// What an answer in a file of answers was made of, so that a later run does not take it for the answer to something
// else. Digests are 64 bits: against mistakes, not against forgery.
namespace tessera::cli {

/// Of a model's directory: its configuration, tokenizer and templates whole; of each file of weights its name, its size
/// and its last bytes, which are weights. Where the directory lies, and when it was written, do not count.
Expected<uint64_t> model_digest(const std::filesystem::path& directory);

/// For each line of `input` the digest that its answer carries; empty for blank lines. `common`: of what all lines
/// share.
std::vector<std::string> batch_digests(const BatchInput& input, uint64_t common);

}  // namespace tessera::cli
