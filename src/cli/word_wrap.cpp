#include "cli/word_wrap.h"

#include <utility>

#include "cli/edit_buffer.h"
#include "text/utf8.h"

namespace tessera::cli {
namespace {

constexpr std::string_view kFence = "```";
constexpr int kTabWidth = 8;

}  // namespace

std::string WordWrap::feed(std::string_view text, int columns) {
  std::string out;
  for (size_t at = 0; at < text.size();) {
    const size_t begin = at;
    text::next_code_point(text, at);
    const std::string_view point = text.substr(begin, at - begin);
    if (point == "\n") {
      end_word(columns, out);
      end_line(out);
      continue;
    }
    if (line_start_.size() < kFence.size()) line_start_ += point;
    if (code_) {
      out += point;
      continue;
    }
    if (point == " " || point == "\t") {
      end_word(columns, out);
      long_word_ = false;
      spaces_ += point;
      spaces_width_ += point == " " ? 1 : kTabWidth - (column_ + spaces_width_) % kTabWidth;
      continue;
    }
    const int width = width_of(point);
    if (long_word_) {
      out += point;
      column_ = (column_ + width) % columns;
      continue;
    }
    if (width > 1) end_word(columns, out);  // Chinese and Japanese break anywhere
    word_ += point;
    word_width_ += width;
    long_word_ = word_width_ >= columns;
    if (width > 1 || long_word_) end_word(columns, out);
  }
  return out;
}

void WordWrap::end_word(int columns, std::string& out) {
  if (word_.empty()) return;
  const bool fits = column_ + spaces_width_ + word_width_ <= columns;
  if (fits || column_ == 0) {
    out += spaces_;
    column_ += spaces_width_;
  } else {
    out += '\n';
    column_ = 0;
  }
  out += std::exchange(word_, {});
  column_ += std::exchange(word_width_, 0);
  spaces_.clear();
  spaces_width_ = 0;
}

void WordWrap::end_line(std::string& out) {
  out += std::exchange(spaces_, {});
  out += '\n';
  spaces_width_ = column_ = 0;
  long_word_ = false;
  if (line_start_ == kFence) code_ = !code_;
  line_start_.clear();
}

std::string WordWrap::finish(int columns) {
  std::string rest;
  end_word(columns, rest);
  rest += spaces_;
  *this = WordWrap();
  return rest;
}

}  // namespace tessera::cli
