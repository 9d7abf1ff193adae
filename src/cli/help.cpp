#include "cli/help.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <vector>

namespace tessera::cli {
namespace {

constexpr size_t kNameColumns = 32;

/// Breaks `text` at spaces into lines of at most `width` characters; a longer word gets a line of its own.
std::vector<std::string> wrap(std::string_view text, size_t width) {
  std::vector<std::string> lines(1);
  while (!text.empty()) {
    const std::string_view word = text.substr(0, text.find(' '));
    text.remove_prefix(std::min(text.size(), word.size() + 1));
    if (!lines.back().empty() && lines.back().size() + 1 + word.size() > width) lines.emplace_back();
    if (!lines.back().empty()) lines.back() += ' ';
    lines.back() += word;
  }
  return lines;
}

void append_entry(const HelpEntry& entry, size_t columns, std::string& out) {
  const std::string name = "  " + entry.name;
  const bool fits = name.size() + 2 <= kNameColumns;
  out += fits ? fmt::format("{:<{}}", name, kNameColumns) : fmt::format("{}\n{:{}}", name, "", kNameColumns);
  const auto lines = wrap(entry.description, columns - kNameColumns);
  for (size_t i = 0; i < lines.size(); ++i) {
    if (i > 0) out += fmt::format("{:{}}", "", kNameColumns);
    out += lines[i] + "\n";
  }
}

/// "-h, --help", "--temperature X", "--thinking / --no-thinking".
std::string flag_name(const CLI::Option& option) {
  std::string name;
  for (const std::string& letter : option.get_snames()) name += fmt::format("-{}, ", letter);
  for (const std::string& word : option.get_lnames()) name += fmt::format("--{}, ", word);
  name.resize(name.size() - 2);
  return option.get_items_expected_max() > 0 ? name + " " + option.get_type_name() : name;
}

bool is_positional(const CLI::Option* option) { return option->get_positional(); }

}  // namespace

std::string full_name(const CLI::App& app) {
  return app.get_parent() == nullptr ? app.get_name() : full_name(*app.get_parent()) + " " + app.get_name();
}

std::string usage(const CLI::App& app) {
  if (app.get_parent() == nullptr) return app.get_name() + " COMMAND [flags]";
  std::string line = full_name(app) + " [flags]";
  for (const CLI::Option* option : app.get_options(is_positional)) {
    const std::string name = option->get_name(true, false);
    line += option->get_required() ? " " + name : " [" + name + "]";
  }
  return line;
}

std::vector<const CLI::App*> listed_commands(const CLI::App& app) {
  return app.get_subcommands([](const CLI::App* command) { return !command->get_group().empty(); });
}

std::vector<const CLI::Option*> listed_flags(const CLI::App& app) {
  return app.get_options([](const CLI::Option* o) { return !is_positional(o) && !o->get_group().empty(); });
}

std::vector<HelpSection> help_sections(const CLI::App& app) {
  std::vector<HelpSection> sections{{"Arguments", {}}, {"Commands", {}}};
  for (const CLI::Option* option : app.get_options(is_positional)) {
    sections[0].entries.push_back({option->get_name(true, false), option->get_description()});
  }
  for (const CLI::App* command : listed_commands(app)) {
    sections[1].entries.push_back({command->get_name(), command->get_description()});
  }
  std::vector<std::string> groups = app.get_groups();
  std::stable_partition(groups.begin(), groups.end(), [](const std::string& group) { return group != kLastGroup; });
  for (const std::string& group : groups) {
    sections.push_back({group, {}});
    for (const CLI::Option* option : listed_flags(app)) {
      if (option->get_group() == group) {
        sections.back().entries.push_back({flag_name(*option), option->get_description()});
      }
    }
  }
  std::erase_if(sections, [](const HelpSection& section) { return section.entries.empty(); });
  return sections;
}

std::string help_text(const CLI::App& app, int terminal_columns) {
  const size_t columns = static_cast<size_t>(std::clamp(terminal_columns, 60, 110));
  std::string out = "usage: " + usage(app) + "\n\n";
  for (const std::string& line : wrap(app.get_description(), columns)) out += line + "\n";
  for (const HelpSection& section : help_sections(app)) {
    out += "\n" + section.title + ":\n";
    for (const HelpEntry& entry : section.entries) append_entry(entry, columns, out);
  }
  if (!app.get_footer().empty()) out += "\n" + app.get_footer() + "\n";
  return out;
}

}  // namespace tessera::cli
