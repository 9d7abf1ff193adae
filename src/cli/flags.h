#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

// Checks for flag values. Each error says what was found and what was expected.
namespace tessera::cli {

/// A finite number in [low, high].
CLI::Validator number(double low, double high);
/// A decimal whole number in [low, high].
CLI::Validator whole(int64_t low, int64_t high);
/// A positive multiple of `factor`, at most `high`.
CLI::Validator multiple_of(int64_t factor, int64_t high);
/// Decimal, 0 .. 2^64 - 1.
CLI::Validator whole_u64();
/// One of `names`; a near miss gets a suggestion.
CLI::Validator one_of(std::vector<std::string> names);
/// The names of a flag's one_of(); empty if it has none.
std::vector<std::string> choices_of(const CLI::Option& option);
/// A value of --device: auto, cpu, cuda or cuda:N.
CLI::Validator device_words();
/// Any text but the empty one.
CLI::Validator not_empty();
/// Turns "16k", "1.5M", "4G" into a plain whole number, as `vllm serve` does: k, m, g are powers of 1000, K, M, G of
/// 1024. Put before whole(), which reports what this leaves alone.
CLI::Validator with_suffix();
/// Turns other names of values into ours. Put before one_of().
CLI::Validator also(std::vector<std::pair<std::string, std::string>> names);
/// A regular file that can be read.
CLI::Validator readable_file();
/// A regular file or a pipe that can be read, or "-": text that is read once, from its beginning to its end.
CLI::Validator readable_text();

/// A JSON object given as the value of `flag`. Throws CLI::ValidationError.
nlohmann::ordered_json parse_object(const char* flag, const std::string& text);
/// A JSON list of strings, as vllm takes it, or words with commas between them. Throws CLI::ValidationError, with what
/// was `expected` of `flag`.
std::vector<std::string> parse_words(const char* flag, const std::string& text, const char* expected);

}  // namespace tessera::cli
