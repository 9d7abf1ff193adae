#include "format/printable.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

namespace tessera::format {
namespace {

TEST(Printable, TextStaysAsItIs) {
  EXPECT_EQ(printable(""), "");
  EXPECT_EQ(printable("model.layers.0 ~ \xc3\xa9 \xe6\xb0\xb4"), "model.layers.0 ~ \xc3\xa9 \xe6\xb0\xb4");
  EXPECT_EQ(printable("\xc2\xa0"), "\xc2\xa0");  // the first beyond the control characters
}

TEST(Printable, ControlCharactersAreEscaped) {
  EXPECT_EQ(printable(std::string("\0\x1f\x7f", 3)), "\\x00\\x1f\\x7f");
  EXPECT_EQ(printable("'\\"), "\\x27\\x5c");
  EXPECT_EQ(printable("\xc2\x80\xc2\x9f"), "\\xc2\\x80\\xc2\\x9f");
  EXPECT_EQ(printable("\xc3\xa9\x80\xff"), "\\xc3\\xa9\\x80\\xff");  // not UTF-8, all of it
  EXPECT_EQ(printable("\xc2"), "\\xc2");
}

/// No more than 200 bytes, and no part of a code point.
TEST(Printable, LongTextIsCut) {
  const auto xs = [](size_t count, const char* end) { return fmt::format("{:x>{}}{}", "", count, end); };
  EXPECT_EQ(printable(xs(200, "")), xs(200, ""));
  EXPECT_EQ(printable(xs(201, "")), xs(200, "... (201 bytes)"));
  EXPECT_EQ(printable(xs(199, "\xc3\xa9")), xs(199, "... (201 bytes)"));
  EXPECT_EQ(printable(xs(198, "\xc3\xa9")), xs(198, "\xc3\xa9"));
  EXPECT_EQ(printable(xs(199, "\xff\x80")), xs(199, "\\xff... (201 bytes)"));  // not UTF-8: bytes
}

TEST(JsonString, EscapesWhatJsonAsksFor) {
  EXPECT_EQ(json_string("a b/\xc3\xa9"), "\"a b/\xc3\xa9\"");
  EXPECT_EQ(json_string(std::string("\"\\\n\0\x1f", 5)), R"("\"\\\u000a\u0000\u001f")");
}

}  // namespace
}  // namespace tessera::format
