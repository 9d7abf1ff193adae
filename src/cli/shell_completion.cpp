#include "cli/shell_completion.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <string_view>
#include <vector>

#include "cli/flags.h"
#include "cli/help.h"

namespace tessera::cli {
namespace {

/// A command of the tree: the program itself first, each before those below it.
struct Node {
  std::string path;  // "bench serve"; empty for the program
  const CLI::App* app;
};

void append_nodes(const CLI::App& app, const std::string& path, std::vector<Node>& out) {
  out.push_back({path, &app});
  for (const CLI::App* command : listed_commands(app)) {
    append_nodes(*command, path.empty() ? command->get_name() : path + " " + command->get_name(), out);
  }
}

std::vector<Node> nodes_of(const CLI::App& app) {
  std::vector<Node> nodes;
  append_nodes(app, "", nodes);
  return nodes;
}

bool takes_value(const CLI::Option& option) { return option.get_items_expected_max() > 0; }

/// "--port", "-q" "--quiet".
std::vector<std::string> spellings(const CLI::Option& option) {
  std::vector<std::string> names;
  for (const std::string& letter : option.get_snames()) names.push_back("-" + letter);
  for (const std::string& word : option.get_lnames()) names.push_back("--" + word);
  return names;
}

std::vector<std::string> names_of(const std::vector<const CLI::App*>& commands) {
  std::vector<std::string> names;
  for (const CLI::App* command : commands) names.push_back(command->get_name());
  return names;
}

/// `text` with a backslash before each of `special`.
std::string escaped(std::string_view text, std::string_view special) {
  std::string out;
  for (const char c : text) {
    if (special.find(c) != special.npos) out += '\\';
    out += c;
  }
  return out;
}

/// The alternatives of a shell's "case" that name every command, as a walk along the words sees them: "" and its first
/// word, "bench" and "serve".
std::string command_patterns(const std::vector<Node>& nodes, std::string_view between) {
  std::vector<std::string> patterns;
  for (const Node& node : nodes) {
    if (node.path.empty()) continue;
    const bool below = node.path.find(' ') != node.path.npos;
    patterns.push_back(fmt::format("'{}{}'", below ? "" : " ", node.path));
  }
  return fmt::format("{}", fmt::join(patterns, between));
}

/// Within single quotes, where zsh and bash know no escape.
std::string single_quoted(std::string_view text) {
  std::string out = "'";
  for (const char c : text) c == '\'' ? out += "'\\''" : out += c;
  return out + "'";
}

std::string zsh_function(const std::string& path) {
  std::string name = "_tessera";
  if (!path.empty()) name += "_" + path;
  for (char& c : name) c = c == ' ' ? '_' : c;
  return name;
}

/// "'(-q --quiet)'{-q,--quiet}'[No progress]'", "'--port[Port]:N:'".
std::string zsh_flag(const CLI::Option& option) {
  const std::vector<std::string> names = spellings(option);
  std::string what = fmt::format("[{}]", escaped(option.get_description(), "\\[]:"));
  if (takes_value(option)) {
    const std::string type = option.get_type_name();
    const auto choices = choices_of(option);
    std::string values;  // nothing to offer
    if (type.find("FILE") != type.npos || type == "PATH") values = "_files";
    if (type == "DIR") values = "_files -/";
    if (!choices.empty()) values = fmt::format("({})", fmt::join(choices, " "));
    what += fmt::format(":{}:{}", escaped(type, "\\:"), values);
  }
  const std::string again = option.get_expected_max() > 1 ? "*" : "";
  if (names.size() == 1) return single_quoted(again + names.front() + what);
  const std::string before = again.empty() ? fmt::format("({})", fmt::join(names, " ")) : again;
  return fmt::format("'{}'{{{}}}{}", before, fmt::join(names, ","), single_quoted(what));
}

void append_zsh_function(const Node& node, std::string& out) {
  const auto commands = listed_commands(*node.app);
  out += fmt::format("\n{}() {{\n", zsh_function(node.path));
  if (!commands.empty()) {
    out += "  local curcontext=$curcontext state line\n  local -a commands=(\n";
    for (const CLI::App* command : commands) {
      out += "    " +
             single_quoted(fmt::format("{}:{}", command->get_name(), escaped(command->get_description(), "\\:"))) +
             "\n";
    }
    out += "  )\n";
  }
  out += commands.empty() ? "  _arguments" : "  _arguments -C";
  for (const CLI::Option* option : listed_flags(*node.app)) out += " \\\n    " + zsh_flag(*option);
  out += commands.empty() ? " \\\n    '*: :_files'\n" : " \\\n    '1: :->command' '*:: :->rest'\n";
  if (!commands.empty()) {
    out += "  case $state in\n    command) _describe command commands ;;\n    rest)\n      case $words[1] in\n";
    for (const CLI::App* command : commands) {
      const std::string below = (node.path.empty() ? "" : node.path + " ") + command->get_name();
      out += fmt::format("        {}) {} ;;\n", command->get_name(), zsh_function(below));
    }
    out += "      esac ;;\n  esac\n";
  }
  out += "}\n";
}

}  // namespace

std::string bash_completion(const CLI::App& app) {
  const std::vector<Node> nodes = nodes_of(app);
  std::string values, words;
  for (const Node& node : nodes) {
    std::vector<std::string> flags, free_values;
    for (const CLI::Option* option : listed_flags(*node.app)) {
      const auto names = spellings(*option);
      flags.insert(flags.end(), names.begin(), names.end());
      if (!takes_value(*option)) continue;
      std::vector<std::string> patterns;
      for (const std::string& name : names) patterns.push_back(fmt::format("'{} {}'", node.path, name));
      const auto choices = choices_of(*option);
      if (choices.empty()) {
        free_values.insert(free_values.end(), patterns.begin(), patterns.end());
      } else {
        values += fmt::format("    {}) words='{}' ;;\n", fmt::join(patterns, "|"), fmt::join(choices, " "));
      }
    }
    if (!free_values.empty()) values += fmt::format("    {}) ;;\n", fmt::join(free_values, "|"));
    words += fmt::format("      '{}') words='{}'; [[ $current == -* ]] && words='{}' ;;\n", node.path,
                         fmt::join(names_of(listed_commands(*node.app)), " "), fmt::join(flags, " "));
  }
  // bash takes "--flag=value" for three words. Where nothing fits it offers files.
  return fmt::format(R"(# bash completion for tessera: made by "tessera completion bash".
_tessera() {{
  local current=${{COMP_WORDS[COMP_CWORD]}} before=${{COMP_WORDS[COMP_CWORD-1]}} command= word words=
  COMPREPLY=()
  if [[ $current == = ]]; then current=
  elif [[ $before == = ]]; then before=${{COMP_WORDS[COMP_CWORD-2]}}
  fi
  for word in "${{COMP_WORDS[@]:1:COMP_CWORD-1}}"; do
    case "$command $word" in
      {}) command="${{command:+$command }}$word" ;;
      *) break ;;
    esac
  done
  case "$command $before" in
{}    *) case "$command" in
{}    esac ;;
  esac
  COMPREPLY=($(compgen -W "$words" -- "$current"))
}}
complete -o default -F _tessera tessera
)",
                     command_patterns(nodes, "|"), values, words);
}

std::string zsh_completion(const CLI::App& app) {
  std::string out = "#compdef tessera\n# zsh completion for tessera: made by \"tessera completion zsh\".\n";
  for (const Node& node : nodes_of(app)) append_zsh_function(node, out);
  // Read as the first completion asks for it, the file is the function's body; sourced, it announces the function.
  return out + "\nif [[ $funcstack[1] == _tessera ]]; then _tessera \"$@\"; else compdef _tessera tessera; fi\n";
}

std::string fish_completion(const CLI::App& app) {
  const std::vector<Node> nodes = nodes_of(app);
  std::string out = fmt::format(R"(# fish completion for tessera: made by "tessera completion fish".
function __tessera_command
    set -l command ''
    for word in (commandline -opc)[2..-1]
        switch "$command $word"
            case {}
                set command (string trim "$command $word")
            case '*'
                break
        end
    end
    echo $command
end
)",
                                command_patterns(nodes, " "));
  const auto in_quotes = [](std::string_view text) { return "'" + escaped(text, "\\'") + "'"; };
  for (const Node& node : nodes) {
    const std::string at = fmt::format("complete -c tessera -n 'test \"$(__tessera_command)\" = \"{}\"'", node.path);
    out += "\n";
    for (const CLI::App* command : listed_commands(*node.app)) {
      out += fmt::format("{} -f -a {} -d {}\n", at, command->get_name(), in_quotes(command->get_description()));
    }
    for (const CLI::Option* option : listed_flags(*node.app)) {
      out += at;
      for (const std::string& letter : option->get_snames()) out += " -s " + letter;
      for (const std::string& word : option->get_lnames()) out += " -l " + word;
      const auto choices = choices_of(*option);
      if (!choices.empty()) {
        out += fmt::format(" -x -a {}", in_quotes(fmt::format("{}", fmt::join(choices, " "))));
      } else if (takes_value(*option)) {
        out += " -r";
      }
      out += fmt::format(" -d {}\n", in_quotes(option->get_description()));
    }
  }
  return out;
}

}  // namespace tessera::cli
