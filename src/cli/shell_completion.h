#pragma once

#include <CLI/CLI.hpp>
#include <string>

// What a shell reads to complete the program's commands, flags and values, made from the commands themselves.
namespace tessera::cli {

std::string bash_completion(const CLI::App& app);
std::string zsh_completion(const CLI::App& app);
std::string fish_completion(const CLI::App& app);

}  // namespace tessera::cli
