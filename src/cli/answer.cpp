#include "cli/answer.h"

#include "cli/console.h"
#include "text/dialect/dialect.h"

namespace tessera::cli {
namespace {

constexpr const char* kDim = "\x1b[2m";
constexpr const char* kNormal = "\x1b[0m";

}  // namespace

AnswerStyle answer_style(bool hide_thinking, bool raw) {
  return {.terminal = is_terminal(Stream::out),
          .colours = has_style(Stream::out),
          .hide_thinking = hide_thinking,
          .raw = raw};
}

void AnswerView::write(std::string_view text) {
  if (!style_.terminal) {
    write_out(text);
  } else if (style_.raw) {
    write_out(without_controls(text));
  } else {
    write_out(wrap_.feed(without_controls(text), terminal_columns(Stream::out)));
  }
}

void AnswerView::feed(std::string_view text) {
  if (!style_.raw) {
    show(parser_.feed(text));
    return;
  }
  content_ += text;
  write(text);
}

void AnswerView::show(const text::ReasoningParser::Piece& piece) {
  if (!piece.reasoning.empty()) {
    if (!in_thinking_) open_thinking();
    if (!style_.hide_thinking) write(piece.reasoning);
    reasoning_ += piece.reasoning;
  }
  if (!piece.content.empty()) {
    if (in_thinking_) close_thinking();
    write(piece.content);
    content_ += piece.content;
  }
}

void AnswerView::open_thinking() {
  in_thinking_ = true;
  thinking_since_ = std::chrono::steady_clock::now();
  if (style_.colours) {
    print("{}thinking{}", kDim, style_.hide_thinking ? "..." : "\n");
  } else if (!style_.hide_thinking) {
    print("{}\n", text::dialect::kThinkingOpen);
  }
}

void AnswerView::close_thinking() {
  in_thinking_ = false;
  write_out(wrap_.finish(terminal_columns(Stream::out)));
  const std::chrono::duration<double> spent = std::chrono::steady_clock::now() - thinking_since_;
  if (style_.colours) {
    print("{}thought for {}{}\n\n", style_.hide_thinking ? "\r" : "\n", format_seconds(spent.count()), kNormal);
  } else if (!style_.hide_thinking) {
    print("{}{}", text::dialect::kThinkingCloser, text::dialect::kAnswerGap);
  }
}

void AnswerView::finish() {
  if (!style_.raw) show(parser_.finish());
  write_out(wrap_.finish(terminal_columns(Stream::out)));
  if (in_thinking_) {
    close_thinking();
  } else {
    write_out("\n");
  }
}

}  // namespace tessera::cli
