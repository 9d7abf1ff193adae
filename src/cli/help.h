#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

namespace tessera::cli {

/// The group of flags that name none; shown last. Commands and flags of the group "" are shown nowhere.
inline constexpr const char* kLastGroup = "Other";

/// "tessera bench serve".
std::string full_name(const CLI::App& app);
/// "tessera score [flags] MODEL [TEXT]".
std::string usage(const CLI::App& app);
std::vector<const CLI::App*> listed_commands(const CLI::App& app);
std::vector<const CLI::Option*> listed_flags(const CLI::App& app);

/// A flag shows its type name as it was given: "--port N".
struct HelpEntry {
  std::string name, description;
};
struct HelpSection {
  std::string title;
  std::vector<HelpEntry> entries;
};
/// What help and manual have of the program, or of one command: arguments, commands, flags by group.
std::vector<HelpSection> help_sections(const CLI::App& app);

/// Usage, what it does, the sections, footer (examples). Wrapped to `columns`. Defaults are said in the descriptions.
std::string help_text(const CLI::App& app, int columns);

}  // namespace tessera::cli
