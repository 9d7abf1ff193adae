#include "cli/help.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <sstream>

namespace tessera::cli {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

TEST(Help, LinesAreAsLongAsTheTerminalWithinReason) {
  CLI::App app("What it does is told in more words than a line of a terminal that is quite wide has any room for.",
               "it");
  CLI::App* command = app.add_subcommand("go", app.get_description());
  int number = 0;
  command->add_option("FROM", number, "where from")->required();
  command->add_option("TO", number, "where to");
  command->add_option("-n,--number", number, app.get_description())->type_name("N")->group(kLastGroup);
  command->add_flag("--on,!--off", number, "short")->group("First");
  command->add_flag("--hidden", number, "unseen")->group("");
  command->add_flag("--a-flag-whose-name-is-rather-long", number, "below")->group("First");
  for (const auto& [terminal, columns] : {std::pair(20, 60), {60, 60}, {80, 80}, {110, 110}, {300, 110}}) {
    const std::string help = help_text(*command, terminal);
    EXPECT_EQ(help, help_text(*command, columns));
    std::istringstream lines(help);
    size_t longest = 0;
    for (std::string line; std::getline(lines, line);) longest = std::max(longest, line.size());
    EXPECT_LE(longest, static_cast<size_t>(columns));
    EXPECT_GT(longest, static_cast<size_t>(columns) - 20);
  }
  const std::string help = help_text(*command, 80);
  EXPECT_THAT(help, HasSubstr("usage: it go [flags] FROM [TO]\n"));
  EXPECT_THAT(help, HasSubstr("\n  -n, --number N                What it does"));
  EXPECT_THAT(help, HasSubstr("\n  --a-flag-whose-name-is-rather-long\n                                below\n"));
  EXPECT_THAT(help, Not(HasSubstr("unseen")));
  EXPECT_LT(help.find("First:"), help.find("Other:"));
}

}  // namespace
}  // namespace tessera::cli
