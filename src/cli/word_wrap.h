#pragma once

#include <string>
#include <string_view>

namespace tessera::cli {

/// Breaks lines between words while text arrives: a word waits until it has ended. Lines of code (between lines that
/// begin with ```) are left as they are, since they are copied from the screen.
class WordWrap {
 public:
  /// What may be shown now of all text so far. `columns`: of the terminal.
  std::string feed(std::string_view text, int columns);
  /// The word that waits; what follows begins a line.
  std::string finish(int columns);

 private:
  void end_word(int columns, std::string& out);
  void end_line(std::string& out);

  std::string spaces_, word_;  // wait
  int spaces_width_ = 0, word_width_ = 0;
  int column_ = 0;          // behind what is shown
  std::string line_start_;  // the first bytes of the line, as many as a fence has
  bool code_ = false;
  bool long_word_ = false;  // the word is longer than a line: the terminal breaks it
};

}  // namespace tessera::cli
