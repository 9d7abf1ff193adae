#pragma once

#include <CLI/CLI.hpp>
#include <string>

namespace tessera::cli {

/// The group of flags that name none; shown last.
inline constexpr const char* kLastGroup = "Other";

/// The help of the whole program, or of one command: usage, what it does, arguments, commands, flags by group, footer
/// (examples). Wrapped to `columns`. A flag shows its type name as it was given ("N", "FILE"); defaults are said in
/// the descriptions.
std::string help_text(const CLI::App& app, int columns);

}  // namespace tessera::cli
