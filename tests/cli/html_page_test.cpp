#include "cli/html_page.h"

#include <gmock/gmock.h>

namespace tessera::cli {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

TEST(HtmlPage, WhatComesFromFilesStaysText) {
  const std::string hostile = "<script>alert(\"1\")</script>&\x1b[31m";
  const std::string text = "&lt;script&gt;alert(&quot;1&quot;)&lt;/script&gt;&amp;";
  for (const std::string& html :
       {html_text(hostile), html_table("<", {{hostile}, {hostile}}), html_facts({{hostile, hostile}}),
        html_bars({{.label = hostile, .parts = {{1, hostile, hostile}}, .note = hostile}}), html_page(hostile, "")}) {
    EXPECT_THAT(html, HasSubstr(text));
    EXPECT_THAT(html, Not(HasSubstr("<script")));
    EXPECT_THAT(html, Not(HasSubstr("\x1b")));
  }
}

TEST(HtmlPage, BarsHaveOneScale) {
  const std::string html = html_bars({{.label = "long", .parts = {{30, "a", "x"}, {10, "b", "y"}}},
                                      {.label = "short", .parts = {{10, "c", "x"}}},
                                      {.label = "nothing"}});
  EXPECT_THAT(html, HasSubstr("width:75.000%"));
  EXPECT_THAT(html, HasSubstr("width:25.000%;background:#f5c46b"));
  EXPECT_THAT(html, HasSubstr("width:25.000%;background:#9ecbf0"));
  // A limit beyond the longest is the scale.
  const std::string limited = html_bars({{.label = "bar", .parts = {{40, "a", "x"}}}}, 80, "80 B");
  EXPECT_THAT(limited, HasSubstr("width:50.000%"));
  EXPECT_THAT(limited, HasSubstr("class=\"limit\" style=\"left:100.000%\""));
  EXPECT_THAT(html_bars({}), HasSubstr("<p>"));
  // Behind the longest there is room for notes; of a part without room for its text that is its title alone.
  const std::string noted = html_bars({{.label = "bar", .parts = {{95, "most", "x"}, {5, "few", "y"}}, .note = "n"}});
  EXPECT_THAT(noted, HasSubstr("width:66.500%;background:#9ecbf0\" title=\"most\">most<"));
  EXPECT_THAT(noted, HasSubstr("width:3.500%;background:#f5c46b\" title=\"few\"><"));
}

}  // namespace
}  // namespace tessera::cli
