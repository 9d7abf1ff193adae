#include "cli/command_line.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <array>
#include <charconv>
#include <new>
#include <string>
#include <system_error>
#include <vector>

#include "base/log.h"
#include "cli/commands.h"
#include "cli/config_file.h"
#include "cli/console.h"
#include "cli/engine_flags.h"
#include "cli/help.h"
#include "cli/interrupt.h"
#include "cli/suggest.h"
#include "cli/version.h"
#include "cli/vllm_flags.h"
#include "kernels/cpu/simd_target.h"

namespace tessera::cli {
namespace {

constexpr std::array kCommands = {add_run,     add_serve, add_score,    add_tokenize,   add_doctor,
                                  add_inspect, add_synth, add_quantize, add_plan,       add_tiles,
                                  add_tune,    add_bench, add_selftest, add_completion, add_manual};

constexpr const char* kFooter =
    "\"tessera COMMAND --help\" explains a command. A MODEL is a directory with config.json and safetensors files, or\n"
    "a name in the Hugging Face cache (owner/name), or demo: the small one that comes with the program.\n"
    "TESSERA_LOG=debug shows what goes on inside.";

bool all(const CLI::App* /*command*/) { return true; }

std::string did_you_mean(const std::string& found, const std::vector<std::string>& known) {
  const std::string nearest = nearest_name(found, known);
  return nearest.empty() ? std::string() : fmt::format("; did you mean {}?", nearest);
}

std::vector<std::string> command_names(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::App* command : app.get_subcommands(all)) names.push_back(command->get_name());
  return names;
}

std::vector<std::string> flag_names(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::Option* option : app.get_options()) {
    for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
  }
  return names;
}

bool is_number(const std::string& text) {
  double value = 0;
  return std::from_chars(text.data(), text.data() + text.size(), value).ptr == text.data() + text.size();
}

/// What is wrong with the words of `args` that look like flags of `command` and are none; empty if all are known. CLI11
/// reports whatever error it comes to first, often a mere consequence of a misspelt flag.
std::string unknown_flags(const CLI::App& command, const std::vector<std::string>& args) {
  std::vector<std::string> unknown;
  for (size_t i = 0; i < args.size() && args[i] != "--"; ++i) {
    if (!args[i].starts_with("-") || args[i].size() < 2 || is_number(args[i])) continue;
    const std::string flag = args[i].substr(0, args[i].find('='));
    // "-O3" is -O with its value.
    const bool is_short = !flag.starts_with("--");
    const CLI::Option* option = command.get_option_no_throw(is_short ? flag.substr(0, 2) : flag);
    if (option == nullptr) {
      unknown.push_back(flag + did_you_mean(flag, flag_names(command)));
    } else if (option->get_items_expected_min() > 0 && (is_short ? args[i].size() == 2 : flag == args[i])) {
      ++i;  // its value may start with a dash
    }
  }
  if (unknown.empty()) return {};
  if (unknown.size() == 1) return "unknown flag " + unknown.front();
  return fmt::format("unknown flags:\n  {}", fmt::join(unknown, "\n  "));
}

const CLI::App* find_command(const CLI::App& app, const std::string& name) {
  for (const CLI::App* command : app.get_subcommands(all)) {
    if (command->get_name() == name) return command;
  }
  return nullptr;
}

/// The command that the first words of `args` name: "run", or "bench moe"; `words` 0: the program itself.
struct NamedCommand {
  const CLI::App* command;
  size_t words = 0;
  std::string name = "tessera";
};
NamedCommand named_command(const CLI::App& app, const std::vector<std::string>& args) {
  NamedCommand named{&app};
  while (named.words < args.size()) {
    const CLI::App* next = find_command(*named.command, args[named.words]);
    if (next == nullptr) break;
    named = {next, named.words + 1, named.name + " " + args[named.words]};
  }
  return named;
}

int usage_error(const std::string& program, const std::string& message) {
  note("tessera: {}\n(try: {} --help)", message, program);
  return kUsage;
}

/// `args` does not parse: says why, in the order in which a reader would want to know.
int explain(const CLI::App& app, const std::vector<std::string>& args, const CLI::ParseError& parse_error) {
  const NamedCommand named = named_command(app, args);
  const CLI::App& command = *named.command;
  const std::vector<std::string> rest(args.begin() + static_cast<std::ptrdiff_t>(named.words), args.end());
  if (!command_names(command).empty() && !rest.empty() && !rest.front().starts_with("-")) {
    return usage_error(named.name, fmt::format("unknown command \"{}\"{}", rest.front(),
                                               did_you_mean(rest.front(), command_names(command))));
  }
  std::string message = unknown_flags(command, rest);
  const bool surplus = parse_error.get_exit_code() == static_cast<int>(CLI::ExitCodes::ExtrasError);
  if (message.empty() && surplus && command.remaining_size() > 0) {
    message = fmt::format("one argument too many: \"{}\"; words that belong together need quotes",
                          command.remaining().front());
  }
  return usage_error(named.name, message.empty() ? parse_error.what() : message);
}

/// "help COMMAND" becomes "COMMAND --help".
std::vector<std::string> read_args(int argc, char** argv) {
  std::vector<std::string> args(argv + 1, argv + argc);
  if (!args.empty() && args.front() == "help") {
    args.erase(args.begin());
    args.emplace_back("--help");
  }
  return args;
}

/// Flags in vllm's spellings become ours: CLI11 would read "-tp" as -t with the value "p".
void spell_flags(const CLI::App& command, std::vector<std::string>& args) {
  for (std::string& arg : args) {
    if (arg == "--") break;
    std::string spelled = vllm_spelling(arg);
    if (command.get_option_no_throw(spelled.substr(0, spelled.find('='))) != nullptr) arg = std::move(spelled);
  }
}

/// A file that the program opens must not become standard output: what is printed would end up in it. The stand-ins
/// refuse: reading and writing fail as on a closed descriptor.
void fill_standard_descriptors() {
  for (const int descriptor : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    if (::fcntl(descriptor, F_GETFD) < 0) (void)::open("/dev/null", descriptor == STDIN_FILENO ? O_WRONLY : O_RDONLY);
  }
}

int report(const Status& status) {
  if (status.ok()) return kSuccess;
  if (status.code() == StatusCode::cancelled) {
    if (!status.message().empty()) note("tessera: {}", status.message());
    return kInterrupted;
  }
  note("tessera: {}", status.message());
  return kFailure;
}

int parse_and_run(int argc, char** argv) {
  start_interrupt_thread();
  init_logging();
  if (const Status status = kernels::cpu::use_simd_target_of_environment(); !status.ok()) {
    note("tessera: {}", status.message());
    return kUsage;
  }
  watch_gpu_calls();
  Action action;
  CLI::App app("Runs large Mixture-of-Experts language models in 4-bit formats (NVFP4, MXFP4).", "tessera");
  app.option_defaults()->group(kLastGroup);
  app.set_help_flag("-h,--help", "Print this and exit");
  app.set_version_flag("--version", version_text, "Print version, commit, compilers and architectures, and exit");
  app.footer(kFooter);
  for (const auto add : kCommands) add(app, action);
  for (CLI::App* command : app.get_subcommands({})) {
    command->get_help_ptr()->group(kLastGroup);
    for (CLI::App* below : command->get_subcommands({})) below->get_help_ptr()->group(kLastGroup);
  }

  std::vector<std::string> args = read_args(argc, argv);
  if (args.empty()) {
    write_err(help_text(app, terminal_columns(Stream::err)));
    return kUsage;
  }
  if (args.front() == "serve" || args.front() == "run") spell_flags(*find_command(app, args.front()), args);
  if (args.front() == "serve") {
    auto all = with_config_file(*find_command(app, "serve"), std::move(args));
    if (!all) return usage_error("tessera serve", all.status().message());
    args = std::move(*all);
  }
  try {
    app.parse(std::vector<std::string>(args.rbegin(), args.rend()));
  } catch (const CLI::CallForHelp&) {
    write_out(help_text(*named_command(app, args).command, terminal_columns(Stream::out)));
    return kSuccess;
  } catch (const CLI::CallForVersion& version) {
    print("{}\n", version.what());
    return kSuccess;
  } catch (const CLI::ParseError& parse_error) {
    return explain(app, args, parse_error);
  }
  if (!action) return usage_error("tessera", "no command given");
  return report(action());
}

}  // namespace

int run_command_line(int argc, char** argv) {
  fill_standard_descriptors();
  try {
    return parse_and_run(argc, argv);
  } catch (const std::bad_alloc&) {
    return report({StatusCode::resource_exhausted, "out of memory"});
  } catch (const std::system_error& failure) {
    // The standard library throws where the system starts no thread.
    return report(error(StatusCode::resource_exhausted,
                        "cannot start a thread: {}; lower --threads or raise the limits (ulimit -u, ulimit -v)",
                        failure.code().message()));
  }
}

}  // namespace tessera::cli
