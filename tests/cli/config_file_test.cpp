#include "cli/config_file.h"

#include <gmock/gmock.h>

#include <CLI/CLI.hpp>

#include "base/temp_directory.h"

namespace tessera::cli {
namespace {

using test::TempDirectory;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using Words = std::vector<std::string>;

/// What `words`, behind the command's name, become with a file of `yaml`.
Expected<Words> with_file(const std::string& yaml, const Words& words = {}, const std::string& flag = "--config=") {
  CLI::App command;
  command.add_option("MODEL,--model");
  command.add_option("--port");
  command.add_flag("--pdl,!--no-pdl");
  command.add_flag("--enforce-eager");
  const TempDirectory directory;
  const std::string file = directory.write("config.yaml", yaml);
  Words args = {"serve"};
  if (flag.ends_with('=')) {
    args.push_back(flag + file);
  } else {
    args.insert(args.end(), {flag, file});
  }
  args.insert(args.end(), words.begin(), words.end());
  auto all = with_config_file(command, args);
  if (all) all->erase(all->begin());
  return all;
}

/// As YAML 1.1 has it: a switch that is off is left out, or said in its own words.
TEST(ConfigFile, WordsAreWhatYamlTakesThemFor) {
  const std::pair<const char*, Words> kFiles[] = {
      {"", {}},
      {"# nothing\n", {}},
      {"port: 8000", {"--port", "8000"}},
      {"port: '8000'", {"--port", "8000"}},
      {"port: 0.50", {"--port", "0.5"}},
      {"port: 1.2.3", {"--port", "1.2.3"}},
      {"port: [1, b, '2']", {"--port", "1", "b", "2"}},
      {"port: {a: [1, yes, ~, 'no']}", {"--port", R"({"a":[1,true,null,"no"]})"}},
      {"pdl: 'true'", {"--pdl", "true"}},
      {"max_model_len: \"on\"", {"--max-model-len", "on"}}};
  for (const auto& [yaml, words] : kFiles) {
    for (const char* flag : {"--config=", "--config"}) {
      const auto read = with_file(yaml, {}, flag);
      ASSERT_TRUE(read.ok()) << yaml << ": " << read.status().message();
      EXPECT_EQ(*read, words) << yaml;
    }
  }
  for (const char* on : {"true", "True", "TRUE", "yes", "Yes", "YES", "on", "On", "ON"}) {
    EXPECT_THAT(*with_file(std::string("enforce-eager: ") + on), ElementsAre("--enforce-eager")) << on;
  }
  for (const char* off : {"false", "False", "FALSE", "no", "No", "NO", "off", "Off", "OFF"}) {
    EXPECT_EQ(*with_file(std::string("enforce-eager: ") + off), Words{}) << off;
    EXPECT_THAT(*with_file(std::string("pdl: ") + off), ElementsAre("--no-pdl")) << off;
  }
  for (const char* none : {"", "~", "null", "Null", "NULL"}) {
    EXPECT_EQ(*with_file(std::string("port: ") + none), Words{}) << none;
  }
}

TEST(ConfigFile, FlagsOfTheFileStandBehindThoseOfTheLine) {
  EXPECT_THAT(*with_file("port: 1\nmodel: a", {"--pdl", "--", "b"}), ElementsAre("--pdl", "--port", "1", "--", "b"));
  EXPECT_THAT(*with_file("pdl: true\nmodel: a", {"--no-pdl"}), ElementsAre("--no-pdl", "--model", "a"));
}

TEST(ConfigFile, SaysWhatIsWrongAndWhere) {
  EXPECT_THAT(with_file("port: 1\n? [a]\n: 2\n").status().message(), HasSubstr("line 2: a key is not a word"));
  const auto nested = [](size_t depth) {
    return with_file("port: " + std::string(depth, '[') + std::string(depth, ']')).status();
  };
  EXPECT_TRUE(nested(32).ok()) << nested(32).message();
  EXPECT_THAT(nested(33).message(), HasSubstr("more than 32 deep"));
}

}  // namespace
}  // namespace tessera::cli
