#include "cli/edit_buffer.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "text/utf8.h"

namespace tessera::cli {
namespace {

EditBuffer buffer_of(const std::string& text, int left = 0) {
  EditBuffer buffer;
  buffer.set(text);
  for (int i = 0; i < left; ++i) buffer.move_left();
  return buffer;
}

TEST(EditBuffer, MovesByCodePoints) {
  EditBuffer buffer = buffer_of("a\xE4\xBD\xA0\xF0\x9F\x98\x80", 1);  // a, U+4F60, U+1F600
  EXPECT_EQ(buffer.cursor(), 4U);
  buffer.move_left();
  EXPECT_EQ(buffer.cursor(), 1U);
  buffer.insert("b");
  EXPECT_EQ(buffer.text(), "ab\xE4\xBD\xA0\xF0\x9F\x98\x80");
  buffer.erase_right();
  EXPECT_EQ(buffer.text(), "ab\xF0\x9F\x98\x80");
  buffer.move_end();
  buffer.erase_left();
  EXPECT_EQ(buffer.text(), "ab");
  buffer.move_right();
  EXPECT_EQ(buffer.cursor(), 2U);
}

TEST(EditBuffer, ErasesWordsAndLineParts) {
  EditBuffer buffer = buffer_of("one two  three  ");
  buffer.erase_word();
  EXPECT_EQ(buffer.text(), "one two  ");
  buffer.erase_word();
  EXPECT_EQ(buffer.text(), "one ");
  buffer = buffer_of("one\ntwo");
  buffer.erase_word();
  EXPECT_EQ(buffer.text(), "one\n") << "the line before stays";
  buffer = buffer_of("abcdef", 2);
  buffer.erase_to_end();
  EXPECT_EQ(buffer.text(), "abcd");
  buffer.move_left();
  buffer.erase_to_home();
  EXPECT_EQ(buffer.text(), "d");
  EXPECT_EQ(buffer.cursor(), 0U);
}

/// Whatever is done to a well-formed text leaves it well-formed, the cursor between code points.
RC_GTEST_PROP(EditBuffer, StaysWellFormed, (const std::vector<uint8_t>& actions)) {
  EditBuffer buffer;
  for (const uint8_t action : actions) {
    switch (action % 11) {
      case 0: buffer.insert("x"); break;
      case 1: buffer.insert("\xC3\xA9"); break;
      case 2: buffer.insert("\xF0\x9F\x98\x80"); break;
      case 3: buffer.insert(" \n"); break;
      case 4: buffer.move_left(); break;
      case 5: buffer.move_right(); break;
      case 6: buffer.erase_left(); break;
      case 7: buffer.erase_right(); break;
      case 8: buffer.erase_word(); break;
      case 9: buffer.move_home(); break;
      default: buffer.move_end(); break;
    }
    RC_ASSERT(buffer.cursor() <= buffer.text().size());
    RC_ASSERT(text::find_invalid_utf8(buffer.text()) == std::string::npos);
    RC_ASSERT(text::find_invalid_utf8(buffer.text().substr(buffer.cursor())) == std::string::npos);
    const EditView view = lay_out(buffer, 2, 10);
    RC_ASSERT(view.cursor_row <= view.end_row);
    RC_ASSERT(view.cursor_column < 10 && view.end_column < 10);
  }
}

TEST(EditView, BreaksRowsAtTheEdge) {
  const EditView exact = lay_out(buffer_of("abcdefgh"), 2, 10);
  EXPECT_EQ(exact.output, "abcdefgh\r\n");
  EXPECT_EQ(exact.end_row, 1);
  EXPECT_EQ(exact.cursor_column, 0);
  const EditView longer = lay_out(buffer_of("abcdefghij", 3), 2, 10);
  EXPECT_EQ(longer.output, "abcdefgh\r\nij");
  EXPECT_EQ(longer.end_row, 1);
  EXPECT_EQ(longer.end_column, 2);
  EXPECT_EQ(longer.cursor_row, 0);
  EXPECT_EQ(longer.cursor_column, 9);
}

TEST(EditView, CountsWideAndControlCharacters) {
  const EditView wide = lay_out(buffer_of("\xE4\xBD\xA0\xE5\xA5\xBD"), 2, 10);
  EXPECT_EQ(wide.end_column, 6);
  const EditView split = lay_out(buffer_of("abcdefg\xE4\xBD\xA0"), 2, 10);  // one column left for two
  EXPECT_EQ(split.output, "abcdefg\r\n\xE4\xBD\xA0");
  EXPECT_EQ(split.end_column, 2);
  const EditView controls = lay_out(buffer_of("a\tb"), 2, 10);
  EXPECT_EQ(controls.output, "a b");
  EXPECT_EQ(lay_out(buffer_of("a\x7F"), 2, 10).output, "a ");
  EXPECT_EQ(lay_out(buffer_of("e\xCC\x81"), 2, 10).end_column, 3) << "an accent stands on its letter";
}

TEST(EditView, IndentsLaterLines) {
  const EditView view = lay_out(buffer_of("one\ntwo"), 2, 10);
  EXPECT_EQ(view.output, "one\r\n  two");
  EXPECT_EQ(view.end_row, 1);
  EXPECT_EQ(view.end_column, 5);
}

}  // namespace
}  // namespace tessera::cli
