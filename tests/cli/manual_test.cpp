// Man pages and completions of shells have every command and flag that --help has.

#include <gmock/gmock.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <regex>
#include <set>
#include <sstream>

#include "cli/process.h"

namespace tessera::cli {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

struct Command {
  Arguments words;  // "bench", "serve"
  std::set<std::string> commands, flags;

  /// "tessera-bench-serve" of "tessera" and "-".
  [[nodiscard]] std::string full_name(std::string program, const std::string& between) const {
    for (const std::string& word : words) program.append(between).append(word);
    return program;
  }
  /// "bench serve".
  [[nodiscard]] std::string path() const {
    std::string out;
    for (const std::string& word : words) out.append(out.empty() ? "" : " ").append(word);
    return out;
  }
};

/// The commands and flags that a help lists.
Command read_help(const Arguments& words) {
  Arguments arguments = words;
  arguments.emplace_back("--help");
  Command read{words, {}, {}};
  std::istringstream help(run_tessera(arguments).out);
  static const std::regex title("(\\S.*):"), command("  ([a-z]+) .*"), flag("--?[A-Za-z][A-Za-z0-9-]*");
  std::string section;
  std::smatch found;
  for (std::string line; std::getline(help, line);) {
    if (std::regex_match(line, found, title)) section = found[1];
    if (section == "Commands" && std::regex_match(line, found, command)) read.commands.insert(found[1]);
    if (!line.starts_with("  -")) continue;
    // "  -q, --quiet            No --progress"
    const std::string names = line.substr(2, line.find("  ", 2) - 2);
    for (std::sregex_iterator at(names.begin(), names.end(), flag), end; at != end; ++at) read.flags.insert(at->str());
  }
  return read;
}

void append_commands(const Arguments& words, std::vector<Command>& out) {
  const Command read = read_help(words);
  out.push_back(read);
  for (const std::string& name : read.commands) {
    Arguments below = words;
    below.push_back(name);
    append_commands(below, out);
  }
}

/// The program and all commands, as --help tells of them.
const std::vector<Command>& commands() {
  static const std::vector<Command> all = [] {
    std::vector<Command> list;
    append_commands({}, list);
    return list;
  }();
  return all;
}

class Manual : public ::testing::Test {
 protected:
  Manual() : directory_((fs::temp_directory_path() / "tessera_manual.XXXXXX").string()) {
    if (::mkdtemp(directory_.data()) == nullptr) throw std::runtime_error("mkdtemp failed");
  }
  ~Manual() override { fs::remove_all(directory_); }

  [[nodiscard]] std::string read(const std::string& name) const {
    std::ifstream file(fs::path(directory_) / name);
    return {std::istreambuf_iterator<char>(file), {}};
  }
  /// A script in a file, which shells read.
  std::string completion(const std::string& shell) {
    const fs::path file = fs::path(directory_) / shell;
    std::ofstream(file) << run_tessera({"completion", shell}).out;
    return file.string();
  }

  std::string directory_;
};

std::set<std::string> words_of(const std::string& text) {
  std::istringstream stream(text);
  return {std::istream_iterator<std::string>(stream), {}};
}

bool has_shell(const std::string& shell) {
  return Process("/bin/sh", {"-c", "command -v " + shell + " >/dev/null"}, "").wait().exit_code == 0;
}

TEST_F(Manual, HelpIsReadAsItIsMeant) {
  const auto find = [](const std::string& name) {
    return *std::find_if(commands().begin(), commands().end(), [&](const Command& c) { return c.path() == name; });
  };
  EXPECT_TRUE(find("").commands.contains("serve"));
  EXPECT_TRUE(find("serve").flags.contains("--port"));
  EXPECT_TRUE(find("run").flags.contains("--no-thinking"));
  EXPECT_THAT(find("bench").commands, ElementsAre("engine", "moe", "serve"));
  EXPECT_TRUE(find("bench serve").flags.contains("-q"));
}

TEST_F(Manual, EveryCommandHasAPageWithItsFlags) {
  ASSERT_EQ(run_tessera({"manual", directory_}).exit_code, 0);
  for (const Command& command : commands()) {
    const std::string name = command.full_name("tessera", "-");
    const std::string page = std::regex_replace(read(name + ".1"), std::regex("\\\\-"), "-");
    EXPECT_THAT(page, HasSubstr(".SH NAME\n" + name + " - "));
    std::set<std::string> flags, below;
    std::istringstream lines(page);
    for (std::string line, last; std::getline(lines, line); last = line) {
      if (last != ".TP" || !line.starts_with(".B ")) continue;
      const bool is_flag = line.starts_with(".B -");
      for (std::string word : words_of(line.substr(3))) {
        if (word.back() == ',') word.pop_back();
        if (is_flag && word.starts_with('-')) flags.insert(word);
        if (!is_flag) below.insert(word);
      }
    }
    EXPECT_EQ(flags, command.flags) << name;
    for (const std::string& word : command.commands) {
      EXPECT_TRUE(below.contains(word)) << name << " does not tell of " << word;
      EXPECT_THAT(page, HasSubstr(".BR " + name + "-" + word + " (1)"));
    }
  }
}

/// They are to be copied, as --help shows them. A command without examples does not have the program's.
TEST_F(Manual, APageEndsWithItsOwnExamples) {
  ASSERT_EQ(run_tessera({"manual", directory_}).exit_code, 0);
  EXPECT_THAT(read("tessera-serve.1"), HasSubstr("application/json' \\e\n    \\-d '{\"messages\""));
  EXPECT_THAT(read("tessera.1"), HasSubstr(".SH NOTES"));
  EXPECT_THAT(read("tessera-selftest.1"), Not(HasSubstr(".SH NOTES")));
}

TEST_F(Manual, ADirectoryThatIsNotThereIsNamed) {
  const Finished result = run_tessera({"manual", directory_ + "/none"});
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_THAT(result.err, AllOf(HasSubstr("none"), HasSubstr("No such file or directory")));
}

/// What bash offers for the last of `words`, each a word of a shell's source.
std::string bash_line(const std::string& words) {
  return "COMP_WORDS=(tessera " + words +
         "); COMP_CWORD=$((${#COMP_WORDS[@]} - 1)); _tessera; echo \"${COMPREPLY[*]}\"\n";
}

TEST_F(Manual, BashCompletesEveryCommandFlagAndChoice) {
  std::string script = "source " + completion("bash") + " || exit 1\n";
  for (const Command& command : commands())
    script += bash_line(command.path() + " --") + bash_line(command.path() + " -");
  for (const Command& command : commands()) script += bash_line(command.path() + " ''");
  // Choices, also as the three words that bash makes of "--load-format=d"; a number has none, nor commands.
  script += bash_line("serve --load-format ''") + bash_line("serve --load-format = d") + bash_line("serve --port ''");
  const Finished bash = Process("/bin/bash", {"--norc", "-c", script}, "").wait();
  EXPECT_EQ(bash.err, "");
  ASSERT_EQ(bash.exit_code, 0);
  std::istringstream lines(bash.out);
  std::string line;
  for (const Command& command : commands()) {
    std::getline(lines, line);
    std::set<std::string> long_flags;
    for (const std::string& flag : command.flags) {
      if (flag.starts_with("--")) long_flags.insert(flag);
    }
    EXPECT_EQ(words_of(line), long_flags) << command.path();
    std::getline(lines, line);
    EXPECT_EQ(words_of(line), command.flags) << command.path();
  }
  for (const Command& command : commands()) {
    std::getline(lines, line);
    EXPECT_EQ(words_of(line), command.commands) << command.path();
  }
  for (const char* offered : {"auto dummy", "dummy", ""}) {
    std::getline(lines, line);
    EXPECT_EQ(line, offered);
  }
}

TEST_F(Manual, ZshKnowsEveryCommandAndFlag) {
  const std::string file = completion("zsh");
  const std::string script = read("zsh");
  for (const Command& command : commands()) {
    const std::string name = command.full_name("_tessera", "_");
    const size_t begin = script.find("\n" + name + "() {\n");
    ASSERT_NE(begin, script.npos) << name;
    const std::string function = script.substr(begin, script.find("\n}\n", begin) - begin);
    for (const std::string& flag : command.flags) {
      EXPECT_TRUE(std::regex_search(function, std::regex("['{,]\\*?" + flag + "[\\[,}]"))) << name << " " << flag;
    }
    for (const std::string& below : command.commands) {
      EXPECT_THAT(function, AllOf(HasSubstr("'" + below + ":"), HasSubstr(below + ") " + name + "_" + below + " ;;")));
    }
  }
  // Values: those that are choices, files, and nothing for a number.
  EXPECT_TRUE(std::regex_search(script, std::regex("'--load-format\\[.*\\]:F:\\(auto dummy\\)'")));
  EXPECT_TRUE(std::regex_search(script, std::regex("'--chat-template\\[.*\\]:FILE:_files'")));
  EXPECT_TRUE(std::regex_search(script, std::regex("'--port\\[.*\\]:N:'")));
  if (!has_shell("zsh")) GTEST_SKIP() << "no zsh to read it";
  EXPECT_EQ(Process("/bin/sh", {"-c", "exec zsh -n " + file}, "").wait().err, "");
}

/// However its description is written. bash reads the functions as zsh does.
TEST_F(Manual, ZshReadsEveryFlagAsOneWord) {
  std::string script = "compdef() { :; }; _describe() { :; }; _arguments() { printf '%s\\n' \"$@\"; }; source " +
                       completion("zsh") + "\n";
  for (const Command& command : commands()) {
    if (command.commands.empty()) script += command.full_name("_tessera", "_") + "\n";
  }
  const Finished bash = Process("/bin/bash", {"--norc", "-c", script}, "").wait();
  EXPECT_EQ(bash.err, "");
  const std::regex flag(
      R"((\([^)]*\)|\*)?--?[A-Za-z][A-Za-z0-9-]*\[([^\[\]:\\]|\\.)+\](:([^:\\]|\\.)+:(\([^)]*\)|_files|_files -/)?)?)");
  std::istringstream lines(bash.out);
  size_t flags = 0;
  for (std::string line; std::getline(lines, line);) {
    if (line == "*: :_files") continue;
    EXPECT_TRUE(std::regex_match(line, flag)) << line;
    ++flags;
  }
  EXPECT_GT(flags, 100U);
  for (const char* expected :
       {"\n(-q --quiet)-q[", "\n(-q --quiet)--quiet[", "\n*--stop[", "\n--kv-offload-dir[", ":DIR:_files -/\n"}) {
    EXPECT_THAT(bash.out, HasSubstr(expected));
  }
}

TEST_F(Manual, FishKnowsEveryCommandAndFlag) {
  const std::string file = completion("fish");
  std::istringstream lines(read("fish"));
  std::set<std::string> known;  // "bench serve --users"
  const std::regex at("complete .*= \"([a-z ]*)\"'(.*)"), name(" -(a|s|l) ([^ ]+)");
  for (std::string line; std::getline(lines, line);) {
    std::smatch found;
    if (!std::regex_match(line, found, at)) continue;
    const std::string flags = found[2].str().substr(0, found[2].str().find(" -d "));
    for (std::sregex_iterator word(flags.begin(), flags.end(), name), end; word != end; ++word) {
      const std::string dashes = (*word)[1] == "l" ? "--" : (*word)[1] == "s" ? "-" : "";
      known.insert(found[1].str() + " " + dashes + (*word)[2].str());
    }
  }
  for (const Command& command : commands()) {
    for (const auto* names : {&command.commands, &command.flags}) {
      for (const std::string& word : *names) EXPECT_TRUE(known.contains(command.path() + " " + word)) << word;
    }
  }
  EXPECT_THAT(read("fish"), AllOf(HasSubstr(" -l load-format -x -a 'auto dummy' -d "), HasSubstr(" -l port -r -d "),
                                  HasSubstr(" -l verbose -d ")));
  if (!has_shell("fish")) GTEST_SKIP() << "no fish to ask";
  const Finished fish =
      Process("/bin/sh",
              {"-c", "HOME=$0 exec fish --no-config -c \"source $1; complete -C 'tessera bench serve --us'\"",
               directory_, file},
              "")
          .wait();
  EXPECT_THAT(fish.out, HasSubstr("--users"));
  EXPECT_THAT(fish.out, Not(HasSubstr("--port")));
}

TEST_F(Manual, OnlyShellsThatAreKnownAreCompleted) {
  const Finished result = run_tessera({"completion", "tcsh"});
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_THAT(result.err, HasSubstr("found \"tcsh\", expected one of bash, zsh, fish"));
}

}  // namespace
}  // namespace tessera::cli
