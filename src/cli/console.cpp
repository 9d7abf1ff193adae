#include "cli/console.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cmath>
#include <cstdlib>
#include <cstring>

#include "base/write_all.h"
#include "cli/command_line.h"

namespace tessera::cli {
namespace {

bool is_set(const char* variable) {
  const char* value = std::getenv(variable);
  return value != nullptr && *value != '\0';
}

}  // namespace

void write_out(std::string_view text) {
  const int failure = write_all(STDOUT_FILENO, text);
  if (failure == 0) return;
  if (failure == EPIPE) std::_Exit(kSuccess);
  note("tessera: cannot write standard output: {}", std::strerror(failure));
  std::_Exit(kFailure);
}

void write_err(std::string_view text) { (void)write_all(STDERR_FILENO, text); }

bool is_terminal(Stream stream) { return ::isatty(static_cast<int>(stream)) == 1; }

bool has_style(Stream stream) {
  const char* term = std::getenv("TERM");
  const bool dumb = term == nullptr || std::string_view(term) == "dumb";
  return is_terminal(stream) && !dumb && !is_set("NO_COLOR");
}

int terminal_columns(Stream stream) {
  winsize size{};
  const bool known = ::ioctl(static_cast<int>(stream), TIOCGWINSZ, &size) == 0 && size.ws_col > 0;
  return known ? size.ws_col : 80;
}

std::string without_controls(std::string_view text) {
  std::string shown;
  shown.reserve(text.size());
  for (size_t i = 0; i < text.size(); ++i) {
    const auto byte = static_cast<unsigned char>(text[i]);
    // U+0080..U+009F, the eight-bit controls, are C2 80..C2 9F in UTF-8.
    const bool eight_bit = byte == 0xC2 && i + 1 < text.size() && static_cast<unsigned char>(text[i + 1]) < 0xA0;
    if (eight_bit) {
      shown += "\xEF\xBF\xBD";
      ++i;
    } else if (byte == 0x7F) {
      shown += "^?";
    } else if (byte < 0x20 && byte != '\n' && byte != '\t') {
      shown += '^';
      shown += static_cast<char>(byte + '@');
    } else {
      shown += text[i];
    }
  }
  return shown;
}

std::string format_seconds(double seconds) {
  if (seconds < 10) return fmt::format("{:.2f} s", seconds);
  if (seconds < 60) return fmt::format("{:.1f} s", seconds);
  const auto whole = static_cast<int64_t>(std::llround(seconds));
  if (whole < 3600) return fmt::format("{} min {} s", whole / 60, whole % 60);
  return fmt::format("{} h {} min", whole / 3600, whole % 3600 / 60);
}

}  // namespace tessera::cli
