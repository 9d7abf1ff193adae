#include "cli/answer.h"

#include <gmock/gmock.h>

#include <vector>

namespace tessera::cli {
namespace {

using ::testing::EndsWith;
using ::testing::StartsWith;

struct Shown {
  std::string out, reasoning, content;
  bool operator==(const Shown&) const = default;
};

std::ostream& operator<<(std::ostream& out, const Shown& shown) {
  return out << "out \"" << shown.out << "\", reasoning \"" << shown.reasoning << "\", content \"" << shown.content
             << '"';
}

Shown show(const AnswerStyle& style, bool thinking, const std::vector<std::string>& pieces) {
  ::testing::internal::CaptureStdout();
  AnswerView view(style, thinking);
  for (const std::string& piece : pieces) view.feed(piece);
  view.finish();
  return {::testing::internal::GetCapturedStdout(), view.reasoning(), view.content()};
}

TEST(Answer, ThinkingStandsApartFromContent) {
  const std::vector<std::string> pieces = {"\nIt", " is\n</th", "ink>\n\nNo", "on."};
  EXPECT_EQ(show({}, true, pieces), (Shown{"<think>\nIt is\n</think>\n\nNoon.\n", "It is", "Noon."}));
  EXPECT_EQ(show({.hide_thinking = true}, true, pieces), (Shown{"Noon.\n", "It is", "Noon."}));
  EXPECT_EQ(show({.raw = true}, true, pieces),
            (Shown{"\nIt is\n</think>\n\nNoon.\n", "", "\nIt is\n</think>\n\nNoon."}));
}

/// Whatever ends it, what follows on the terminal is not dim; hidden thinking is its marker alone.
TEST(Answer, ColoursEndWithTheThinking) {
  for (const bool hide : {false, true}) {
    for (const char* content : {"", "Noon."}) {
      const Shown shown = show({.terminal = true, .colours = true, .hide_thinking = hide}, true,
                               {"It is", *content == '\0' ? "" : std::string("</think>\n\n") + content});
      EXPECT_THAT(shown.out,
                  StartsWith(hide ? "\x1b[2mthinking...\rthought for " : "\x1b[2mthinking\nIt is\nthought for "));
      EXPECT_THAT(shown.out, EndsWith(*content == '\0' ? "s\x1b[0m\n\n" : "s\x1b[0m\n\nNoon.\n"));
    }
  }
}

/// Until more comes it could be a tag, and is held back.
TEST(Answer, ItsEndIsShownEvenIfATagBeginsSo) {
  EXPECT_EQ(show({}, false, {"<"}), (Shown{"<\n", "", "<"}));
  EXPECT_EQ(show({}, false, {"\n", "</th"}), (Shown{"</th\n", "", "</th"}));
  EXPECT_EQ(show({}, false, {"a <th"}), (Shown{"a <th\n", "", "a <th"}));
  EXPECT_EQ(show({}, true, {"It is", " <"}), (Shown{"<think>\nIt is <\n</think>\n\n", "It is <", ""}));
  EXPECT_EQ(show({}, true, {"It is</think>", "</"}), (Shown{"<think>\nIt is\n</think>\n\n</\n", "It is", "</"}));
  EXPECT_EQ(show({.terminal = true}, false, {"<th"}), (Shown{"<th\n", "", "<th"}));
}

}  // namespace
}  // namespace tessera::cli
