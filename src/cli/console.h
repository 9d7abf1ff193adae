#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include "base/byte_text.h"

// Standard output carries results, standard error everything else.
namespace tessera::cli {

/// Writes `text` to standard output, at once. A reader that has gone away (`| head -1`) ends the program quietly with
/// exit code 0: it has what it wanted. Any other failure (a full disk) ends it with a message and exit code 1.
void write_out(std::string_view text);

template <typename... Args>
void print(fmt::format_string<Args...> text, Args&&... args) {
  write_out(fmt::format(text, std::forward<Args>(args)...));
}

/// Writes to standard error; failures are ignored, as there is no place left to report them.
void write_err(std::string_view text);

template <typename... Args>
void note(fmt::format_string<Args...> text, Args&&... args) {
  write_err(fmt::format(text, std::forward<Args>(args)...) + "\n");
}

enum class Stream : int { in = 0, out = 1, err = 2 };

bool is_terminal(Stream stream);
/// A terminal that shows colours, and a user who wants them (NO_COLOR is not set, TERM is not "dumb").
bool has_style(Stream stream);
/// Columns of the terminal, 80 if it does not say.
int terminal_columns(Stream stream);

/// `text` with control characters other than newline and tab as visible "^[" forms, for words from a model or a file
/// that go to a terminal: an escape sequence could retitle the window, or answer in the user's name.
std::string without_controls(std::string_view text);

/// "0.42 s", "12 s", "3 min 20 s".
std::string format_seconds(double seconds);

}  // namespace tessera::cli
