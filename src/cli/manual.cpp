#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>

#include "base/ascii.h"
#include "cli/commands.h"
#include "cli/help.h"
#include "cli/write_file.h"

// Man pages, one for the program and one a command, made from the commands themselves.
namespace tessera::cli {
namespace {

/// Text in roff: a hyphen stays one that can be copied, no line begins with a request.
std::string roff(std::string_view text) {
  std::string out;
  bool at_line = true;
  for (const char c : text) {
    if (at_line && (c == '.' || c == '\'')) out += "\\&";
    if (c == '\\') {
      out += "\\e";
    } else if (c == '-') {
      out += "\\-";
    } else {
      out += c;
    }
    at_line = c == '\n';
  }
  return out;
}

/// "tessera-bench-serve".
std::string page_name(const CLI::App& app) {
  std::string name = full_name(app);
  std::replace(name.begin(), name.end(), ' ', '-');
  return name;
}

/// Pages of the command above and of those below.
std::string see_also(const CLI::App& app) {
  std::string out;
  const auto add = [&out](const CLI::App& other) {
    out += fmt::format("{}.BR {} (1)", out.empty() ? "" : " ,\n", roff(page_name(other)));
  };
  if (app.get_parent() != nullptr) add(*app.get_parent());
  for (const CLI::App* command : listed_commands(app)) add(*command);
  return out + "\n";
}

std::string page(const CLI::App& app) {
  const std::string name = page_name(app);
  std::string out = fmt::format(".TH {} 1 \"\" \"tessera {}\" \"Tessera\"\n", roff(upper(name)), TESSERA_VERSION);
  out += fmt::format(".SH NAME\n{} \\- {}\n", roff(name), roff(app.get_description()));
  out += fmt::format(".SH SYNOPSIS\n.B {}\n", roff(usage(app)));
  out += fmt::format(".SH DESCRIPTION\n{}\n", roff(app.get_description()));
  bool in_options = false;
  for (const HelpSection& section : help_sections(app)) {
    const bool is_flags = section.entries.front().name.starts_with("-");
    if (is_flags && !in_options) out += ".SH OPTIONS\n";
    in_options = in_options || is_flags;
    out +=
        is_flags ? fmt::format(".SS {}\n", roff(section.title)) : fmt::format(".SH {}\n", roff(upper(section.title)));
    for (const HelpEntry& entry : section.entries) {
      out += fmt::format(".TP\n.B {}\n{}\n", roff(entry.name), roff(entry.description));
    }
  }
  // A command without a footer of its own has its parent's, which is about the program.
  const bool has_own_footer = app.get_parent() == nullptr || app.get_footer() != app.get_parent()->get_footer();
  if (has_own_footer && !app.get_footer().empty()) out += ".SH NOTES\n.nf\n" + roff(app.get_footer()) + "\n.fi\n";
  return out + ".SH SEE ALSO\n" + see_also(app);
}

Status write_pages(const CLI::App& app, const std::filesystem::path& directory) {
  const std::filesystem::path file = directory / (page_name(app) + ".1");
  TESSERA_RETURN_IF_ERROR(write_file(file, page(app)));
  for (const CLI::App* command : listed_commands(app)) TESSERA_RETURN_IF_ERROR(write_pages(*command, directory));
  return {};
}

}  // namespace

void add_manual(CLI::App& app, Action& action) {
  auto directory = std::make_shared<std::string>();
  CLI::App* command = app.add_subcommand("manual", "Write the man pages into a directory, for a package");
  command->group("");
  command->add_option("DIRECTORY", *directory, "Where they are written")->required();
  command->callback(
      [&app, directory, &action] { action = [&app, directory] { return write_pages(app, *directory); }; });
}

}  // namespace tessera::cli
