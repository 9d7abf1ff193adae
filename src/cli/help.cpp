#include "cli/help.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <vector>

namespace tessera::cli {
namespace {

constexpr size_t kNameColumns = 32;

struct Entry {
  std::string name, description;
};

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

void append_entry(const Entry& entry, size_t columns, std::string& out) {
  const std::string name = "  " + entry.name;
  const bool fits = name.size() + 2 <= kNameColumns;
  out += fits ? fmt::format("{:<{}}", name, kNameColumns) : fmt::format("{}\n{:{}}", name, "", kNameColumns);
  const auto lines = wrap(entry.description, columns - kNameColumns);
  for (size_t i = 0; i < lines.size(); ++i) {
    if (i > 0) out += fmt::format("{:{}}", "", kNameColumns);
    out += lines[i] + "\n";
  }
}

void append_section(const std::string& title, const std::vector<Entry>& entries, size_t columns, std::string& out) {
  if (entries.empty()) return;
  out += "\n" + title + ":\n";
  for (const Entry& entry : entries) append_entry(entry, columns, out);
}

/// "-h, --help", "--temperature X", "--thinking / --no-thinking".
std::string flag_name(const CLI::Option& option) {
  std::string name;
  for (const std::string& letter : option.get_snames()) name += fmt::format("-{}, ", letter);
  for (const std::string& word : option.get_lnames()) name += fmt::format("--{}, ", word);
  name.resize(name.size() - 2);
  return option.get_items_expected_max() > 0 ? name + " " + option.get_type_name() : name;
}

std::string usage(const CLI::App& app) {
  const CLI::App* parent = app.get_parent();
  if (parent == nullptr) return fmt::format("usage: {} COMMAND [flags]\n", app.get_name());
  std::string line = app.get_name();
  for (; parent != nullptr; parent = parent->get_parent()) line = parent->get_name() + " " + line;
  line = fmt::format("usage: {} [flags]", line);
  for (const CLI::Option* option : app.get_options([](const CLI::Option* o) { return o->get_positional(); })) {
    const std::string name = option->get_name(true, false);
    line += option->get_required() ? " " + name : " [" + name + "]";
  }
  return line + "\n";
}

}  // namespace

std::string help_text(const CLI::App& app, int terminal_columns) {
  const size_t columns = static_cast<size_t>(std::clamp(terminal_columns, 60, 110));
  std::string out = usage(app) + "\n";
  for (const std::string& line : wrap(app.get_description(), columns)) out += line + "\n";

  std::vector<Entry> entries;
  for (const CLI::Option* option : app.get_options([](const CLI::Option* o) { return o->get_positional(); })) {
    entries.push_back({option->get_name(true, false), option->get_description()});
  }
  append_section("Arguments", entries, columns, out);

  entries.clear();
  for (const CLI::App* command : app.get_subcommands([](const CLI::App*) { return true; })) {
    entries.push_back({command->get_name(), command->get_description()});
  }
  append_section("Commands", entries, columns, out);

  std::vector<std::string> groups = app.get_groups();
  std::stable_partition(groups.begin(), groups.end(), [](const std::string& group) { return group != kLastGroup; });
  for (const std::string& group : groups) {
    entries.clear();
    const auto in_group = [&](const CLI::Option* o) { return o->get_group() == group && !o->get_positional(); };
    for (const CLI::Option* option : app.get_options(in_group)) {
      entries.push_back({flag_name(*option), option->get_description()});
    }
    if (!group.empty()) append_section(group, entries, columns, out);
  }
  if (!app.get_footer().empty()) out += "\n" + app.get_footer() + "\n";
  return out;
}

}  // namespace tessera::cli
