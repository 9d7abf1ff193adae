#pragma once

#include <string>
#include <string_view>

namespace tessera::cli {

/// Columns that one code point takes; what is not printable is shown as one space.
int width_of(std::string_view code_point);

/// A text being edited: UTF-8, the cursor between two code points.
class EditBuffer {
 public:
  [[nodiscard]] const std::string& text() const { return text_; }
  [[nodiscard]] size_t cursor() const { return cursor_; }  // bytes before it

  /// Replaces everything; the cursor goes to the end.
  void set(std::string text);
  void insert(std::string_view text);
  void move_left() { cursor_ = left_of(cursor_); }
  void move_right() { cursor_ = right_of(cursor_); }
  void move_home() { cursor_ = 0; }
  void move_end() { cursor_ = text_.size(); }
  void erase_left();
  void erase_right();
  void erase_word();
  void erase_to_home();
  void erase_to_end() { text_.resize(cursor_); }

 private:
  [[nodiscard]] size_t left_of(size_t at) const;
  [[nodiscard]] size_t right_of(size_t at) const;

  std::string text_;
  size_t cursor_ = 0;
};

/// What to write to show a text behind a prompt, and where that leaves things.
struct EditView {
  std::string output;  // rows broken explicitly, tabs as spaces
  int end_row = 0, end_column = 0;
  int cursor_row = 0, cursor_column = 0;
};

/// Lays out `buffer` behind a prompt that is `indent` columns wide; later lines of the text get the same indent.
EditView lay_out(const EditBuffer& buffer, int indent, int columns);

}  // namespace tessera::cli
