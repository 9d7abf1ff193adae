#include "cli/line_editor.h"

#include <poll.h>
#include <termios.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "cli/console.h"
#include "cli/interrupt.h"

namespace tessera::cli {
namespace {

// How long the rest of an escape sequence may take; a lone Escape is told from one by silence.
constexpr int kEscapeMs = 50;
constexpr size_t kHistoryMax = 1000;
constexpr const char* kPasteOn = "\x1b[?2004h";  // pastes arrive between ESC [200~ and ESC [201~
constexpr const char* kPasteOff = "\x1b[?2004l";

/// The terminal in raw mode, while it lives or until the program is ended by a signal.
class RawMode {
 public:
  RawMode() {
    if (::tcgetattr(STDIN_FILENO, &before_) != 0) return;
    termios raw = before_;
    raw.c_iflag &= ~static_cast<tcflag_t>(BRKINT | ICRNL | INPCK | ISTRIP | IXON);
    raw.c_lflag &= ~static_cast<tcflag_t>(ECHO | ICANON | IEXTEN | ISIG);
    raw.c_cc[VMIN] = 1;
    raw.c_cc[VTIME] = 0;
    set_last_rites([this] { restore(); });  // before there is anything to restore: a signal may come at any time
    active_ = ::tcsetattr(STDIN_FILENO, TCSADRAIN, &raw) == 0;
    if (active_) {
      write_out(kPasteOn);
    } else {
      set_last_rites({});
    }
  }
  ~RawMode() {
    if (!active_) return;
    restore();
    set_last_rites({});
  }
  RawMode(const RawMode&) = delete;
  RawMode& operator=(const RawMode&) = delete;
  [[nodiscard]] bool active() const { return active_; }

 private:
  void restore() {
    write_out(kPasteOff);
    ::tcsetattr(STDIN_FILENO, TCSADRAIN, &before_);
  }
  termios before_{};
  bool active_ = false;
};

}  // namespace

LineEditor::End LineEditor::read(const std::string& prompt, int prompt_columns, std::string& line) {
  write_out(prompt);
  if (!has_style(Stream::out) || !is_terminal(Stream::in)) return read_plain(line);
  const RawMode raw;
  if (!raw.active()) return read_plain(line);
  buffer_.set({});
  draft_.clear();
  recalled_ = history_.size();
  drawn_row_ = 0;
  for (;;) {
    std::string typed;
    const Key key = next_key(typed);
    if (key == Key::lost || (key == Key::close && buffer_.text().empty())) return End::closed;
    if (key == Key::enter || key == Key::interrupt) {
      buffer_.move_end();
      draw(prompt, prompt_columns);
      write_out(key == Key::enter ? "\r\n" : "^C\r\n");
      line = buffer_.text();
      if (key == Key::interrupt) return End::interrupted;
      if (!line.empty() && (history_.empty() || history_.back() != line)) history_.push_back(line);
      if (history_.size() > kHistoryMax) history_.erase(history_.begin());
      return End::line;
    }
    if (key == Key::clear_screen) {
      write_out("\x1b[H\x1b[2J");
      drawn_row_ = 0;
    }
    edit(key, typed);
    draw(prompt, prompt_columns);
  }
}

LineEditor::End LineEditor::read_plain(std::string& line) {
  for (;;) {
    const size_t newline = unread_.find('\n');
    if (newline != std::string::npos) {
      line = unread_.substr(0, newline);
      unread_.erase(0, newline + 1);
      return End::line;
    }
    char bytes[4096];
    const ssize_t got = ::read(STDIN_FILENO, bytes, sizeof bytes);
    if (got < 0 && errno == EINTR) continue;
    if (got > 0) {
      unread_.append(bytes, static_cast<size_t>(got));
      continue;
    }
    line = std::exchange(unread_, {});
    return line.empty() ? End::closed : End::line;
  }
}

/// False when nothing comes in time (timeout_ms < 0: waits for ever) or the terminal is gone.
bool LineEditor::next_byte(char& byte, int timeout_ms) {
  while (unread_.empty()) {
    pollfd input{.fd = STDIN_FILENO, .events = POLLIN, .revents = 0};
    const int ready = ::poll(&input, 1, timeout_ms);
    if (ready < 0 && errno == EINTR) continue;
    if (ready <= 0) return false;
    char bytes[4096];
    const ssize_t got = ::read(STDIN_FILENO, bytes, sizeof bytes);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return false;
    unread_.append(bytes, static_cast<size_t>(got));
  }
  byte = unread_.front();
  unread_.erase(0, 1);
  return true;
}

LineEditor::Key LineEditor::next_key(std::string& typed) {
  char byte = 0;
  if (!next_byte(byte, -1)) return Key::lost;
  switch (byte) {
    case '\r':
    case '\n': return Key::enter;  // "\n" comes from lines typed ahead, before raw mode
    case 1: return Key::home;
    case 2: return Key::left;
    case 3: return Key::interrupt;
    case 4: return buffer_.text().empty() ? Key::close : Key::erase;
    case 5: return Key::end;
    case 6: return Key::right;
    case 8:
    case 127: return Key::backspace;
    case 11: return Key::erase_to_end;
    case 12: return Key::clear_screen;
    case 14: return Key::down;
    case 16: return Key::up;
    case 21: return Key::erase_to_home;
    case 23: return Key::erase_word;
    case 27: return escape_key(typed);
    default: break;
  }
  if (static_cast<unsigned char>(byte) < 0x20 && byte != '\t') return Key::none;
  typed = byte;
  // All bytes of a code point at once, so that no half is ever drawn.
  const auto lead = static_cast<unsigned char>(byte);
  const size_t length = lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : lead >= 0xC0 ? 2 : 1;
  while (typed.size() < length && next_byte(byte, kEscapeMs)) typed += byte;
  return Key::text;
}

/// After ESC: "[A", "[3~", "OH", or Alt and a key.
LineEditor::Key LineEditor::escape_key(std::string& typed) {
  char byte = 0;
  if (!next_byte(byte, kEscapeMs)) return Key::none;
  if (byte == '\r' || byte == '\n') return Key::newline;
  if (byte == 127) return Key::erase_word;
  if (byte != '[' && byte != 'O') return Key::none;
  std::string parameters;
  while (next_byte(byte, kEscapeMs) && (byte < '@' || byte > '~')) parameters += byte;
  switch (byte) {
    case 'A': return Key::up;
    case 'B': return Key::down;
    case 'C': return Key::right;
    case 'D': return Key::left;
    case 'H': return Key::home;
    case 'F': return Key::end;
    case '~': break;
    default: return Key::none;
  }
  if (parameters == "200") {
    typed = read_paste();
    return Key::text;
  }
  if (parameters == "3") return Key::erase;
  if (parameters == "1" || parameters == "7") return Key::home;
  if (parameters == "4" || parameters == "8") return Key::end;
  return Key::none;
}

/// Up to ESC [201~. Line ends come as "\r"; a paste cannot smuggle in control characters.
std::string LineEditor::read_paste() {
  constexpr std::string_view kEnd = "\x1b[201~";
  std::string pasted;
  for (char byte = 0; !pasted.ends_with(kEnd) && next_byte(byte, -1);) pasted += byte;
  if (pasted.ends_with(kEnd)) pasted.resize(pasted.size() - kEnd.size());
  std::string text;
  for (size_t i = 0; i < pasted.size(); ++i) {
    const char c = pasted[i];
    if (c == '\r') {
      text += '\n';
      if (i + 1 < pasted.size() && pasted[i + 1] == '\n') ++i;
    } else if (static_cast<unsigned char>(c) >= 0x20 || c == '\n' || c == '\t') {
      text += c;
    }
  }
  return text;
}

void LineEditor::edit(Key key, const std::string& typed) {
  switch (key) {
    case Key::text: buffer_.insert(typed); break;
    case Key::newline: buffer_.insert("\n"); break;
    case Key::left: buffer_.move_left(); break;
    case Key::right: buffer_.move_right(); break;
    case Key::home: buffer_.move_home(); break;
    case Key::end: buffer_.move_end(); break;
    case Key::backspace: buffer_.erase_left(); break;
    case Key::erase: buffer_.erase_right(); break;
    case Key::erase_word: buffer_.erase_word(); break;
    case Key::erase_to_home: buffer_.erase_to_home(); break;
    case Key::erase_to_end: buffer_.erase_to_end(); break;
    case Key::up:
      if (recalled_ > 0) recall(recalled_ - 1);
      break;
    case Key::down:
      if (recalled_ < history_.size()) recall(recalled_ + 1);
      break;
    default: break;
  }
}

void LineEditor::recall(size_t index) {
  if (recalled_ == history_.size()) draft_ = buffer_.text();
  recalled_ = index;
  buffer_.set(index == history_.size() ? draft_ : history_[index]);
}

void LineEditor::draw(const std::string& prompt, int prompt_columns) {
  const EditView view = lay_out(buffer_, prompt_columns, std::max(terminal_columns(Stream::out), 2));
  std::string out = "\r";
  if (drawn_row_ > 0) out += fmt::format("\x1b[{}A", drawn_row_);
  out += "\x1b[J" + prompt + view.output;
  if (view.end_row > view.cursor_row) out += fmt::format("\x1b[{}A", view.end_row - view.cursor_row);
  out += "\r";
  if (view.cursor_column > 0) out += fmt::format("\x1b[{}C", view.cursor_column);
  drawn_row_ = view.cursor_row;
  write_out(out);
}

}  // namespace tessera::cli
