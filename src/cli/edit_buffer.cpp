#include "cli/edit_buffer.h"

#include <utf8proc.h>

#include <algorithm>

namespace tessera::cli {

int width_of(std::string_view code_point) {
  utf8proc_int32_t value = 0;
  const auto* bytes = reinterpret_cast<const utf8proc_uint8_t*>(code_point.data());
  const auto length = static_cast<utf8proc_ssize_t>(code_point.size());
  if (utf8proc_iterate(bytes, length, &value) < 0) return 1;
  return value < 0x20 || value == 0x7F ? 1 : utf8proc_charwidth(value);
}

namespace {

bool continues(char byte) { return (static_cast<unsigned char>(byte) & 0xC0) == 0x80; }

std::string shown(std::string_view code_point) {
  const auto first = static_cast<unsigned char>(code_point.front());
  return first < 0x20 || first == 0x7F ? " " : std::string(code_point);
}

}  // namespace

size_t EditBuffer::left_of(size_t at) const {
  if (at == 0) return 0;
  do {
    --at;
  } while (at > 0 && continues(text_[at]));
  return at;
}

size_t EditBuffer::right_of(size_t at) const {
  if (at >= text_.size()) return text_.size();
  do {
    ++at;
  } while (at < text_.size() && continues(text_[at]));
  return at;
}

void EditBuffer::set(std::string text) {
  text_ = std::move(text);
  cursor_ = text_.size();
}

void EditBuffer::insert(std::string_view text) {
  text_.insert(cursor_, text);
  cursor_ += text.size();
}

void EditBuffer::erase_left() {
  const size_t left = left_of(cursor_);
  text_.erase(left, cursor_ - left);
  cursor_ = left;
}

void EditBuffer::erase_right() { text_.erase(cursor_, right_of(cursor_) - cursor_); }

void EditBuffer::erase_word() {
  size_t start = cursor_;
  while (start > 0 && text_[start - 1] == ' ') --start;
  while (start > 0 && text_[start - 1] != ' ' && text_[start - 1] != '\n') --start;
  text_.erase(start, cursor_ - start);
  cursor_ = start;
}

void EditBuffer::erase_to_home() {
  text_.erase(0, cursor_);
  cursor_ = 0;
}

EditView lay_out(const EditBuffer& buffer, int indent, int columns) {
  EditView view;
  const std::string_view text = buffer.text();
  const std::string margin(static_cast<size_t>(std::min(indent, columns - 1)), ' ');
  int row = 0;
  int column = std::min(indent, columns - 1);
  for (size_t at = 0;;) {
    if (at == buffer.cursor()) {
      view.cursor_row = row;
      view.cursor_column = column;
    }
    if (at == text.size()) break;
    size_t end = at + 1;
    while (end < text.size() && continues(text[end])) ++end;
    const std::string_view code_point = text.substr(at, end - at);
    at = end;
    if (code_point == "\n") {
      view.output += "\r\n" + margin;
      ++row;
      column = static_cast<int>(margin.size());
      continue;
    }
    const int width = width_of(code_point);
    if (column + width > columns) {  // a wide character that has no room
      view.output += "\r\n";
      ++row;
      column = 0;
    }
    view.output += shown(code_point);
    column += width;
    // Breaking here, and not when the next character comes, is the same on terminals that wrap late and early.
    if (column == columns) {
      view.output += "\r\n";
      ++row;
      column = 0;
    }
  }
  view.end_row = row;
  view.end_column = column;
  return view;
}

}  // namespace tessera::cli
