#pragma once

#include <string>
#include <vector>

#include "cli/edit_buffer.h"

namespace tessera::cli {

/// Reads lines from the terminal, with editing: arrows, Home, End, Ctrl-A E U K W, Delete, history by Up and Down.
/// Pasted text keeps its line breaks; Alt-Enter adds one. Where the cursor cannot be moved (TERM=dumb, no terminal)
/// lines are read plainly.
class LineEditor {
 public:
  enum class End { line, interrupted, closed };  // Enter; Ctrl-C; Ctrl-D on an empty line, or no more input

  /// Shows `prompt`, `prompt_columns` wide, and fills `line`, without its newline.
  End read(const std::string& prompt, int prompt_columns, std::string& line);

 private:
  enum class Key {
    text,
    enter,
    newline,
    left,
    right,
    home,
    end,
    up,
    down,
    backspace,
    erase,
    erase_word,
    erase_to_home,
    erase_to_end,
    clear_screen,
    interrupt,
    close,
    none,
    lost
  };

  End read_plain(std::string& line);
  Key next_key(std::string& typed);
  Key escape_key(std::string& typed);
  std::string read_paste();
  bool next_byte(char& byte, int timeout_ms);
  void edit(Key key, const std::string& typed);
  void recall(size_t index);
  void draw(const std::string& prompt, int prompt_columns);

  EditBuffer buffer_;
  int drawn_row_ = 0;  // row of the cursor, below the prompt's
  std::vector<std::string> history_;
  size_t recalled_ = 0;  // index in history_; its size for the line being written
  std::string draft_;    // that line, while history is shown
  std::string unread_;   // bytes that a read brought and no key has taken
};

}  // namespace tessera::cli
