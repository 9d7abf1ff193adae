#include "cli/console.h"

#include <gtest/gtest.h>

namespace tessera::cli {
namespace {

TEST(Console, BytesHaveThreeDigits) {
  EXPECT_EQ(format_bytes(0), "0 B");
  EXPECT_EQ(format_bytes(999), "999 B");
  EXPECT_EQ(format_bytes(1000), "1.00 kB");
  EXPECT_EQ(format_bytes(9'994), "9.99 kB");
  EXPECT_EQ(format_bytes(9'996), "10.0 kB");
  EXPECT_EQ(format_bytes(99'960), "100 kB");
  EXPECT_EQ(format_bytes(999'499), "999 kB");
  EXPECT_EQ(format_bytes(999'500), "1.00 MB");
  EXPECT_EQ(format_bytes(233'000'000'000), "233 GB");
  EXPECT_EQ(format_bytes(UINT64_MAX), "18.4 EB");
}

TEST(Console, SecondsGrowIntoMinutesAndHours) {
  EXPECT_EQ(format_seconds(0.0421), "0.04 s");
  EXPECT_EQ(format_seconds(12.34), "12.3 s");
  EXPECT_EQ(format_seconds(200), "3 min 20 s");
  EXPECT_EQ(format_seconds(3599), "59 min 59 s");
  EXPECT_EQ(format_seconds(3600), "1 h 0 min");
  EXPECT_EQ(format_seconds(7260), "2 h 1 min");
}

TEST(Console, ControlCharactersBecomeVisible) {
  EXPECT_EQ(without_controls("plain \xC3\xA9\n\ttext"), "plain \xC3\xA9\n\ttext");
  EXPECT_EQ(without_controls("\x1b]0;title\x07"), "^[]0;title^G");
  EXPECT_EQ(without_controls("a\rb\x7F"), "a^Mb^?");
  EXPECT_EQ(without_controls("\xC2\x9B"
                             "31m"),
            "\xEF\xBF\xBD"
            "31m");  // U+009B is an eight-bit ESC [
  for (const char* control : {"\xC2\x80", "\xC2\x9F"}) EXPECT_EQ(without_controls(control), "\xEF\xBF\xBD");
  for (const char* text : {"\xC2\xA0", "\xC3\x80", "\xC2", " ~"}) EXPECT_EQ(without_controls(text), text);
  EXPECT_EQ(without_controls("\x1F" + std::string(1, '\0')), "^_^@");
}

}  // namespace
}  // namespace tessera::cli
