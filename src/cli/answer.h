#pragma once

#include <chrono>
#include <string>
#include <string_view>

#include "cli/word_wrap.h"
#include "text/dialect/reasoning_parser.h"

namespace tessera::cli {

/// How answers look on standard output.
struct AnswerStyle {
  bool terminal = false;       // control characters are made visible, lines break between words
  bool colours = false;        // thinking is dim under a marker; otherwise it stands between <think> and </think>
  bool hide_thinking = false;  // of thinking, only its marker
  bool raw = false;            // no chat template, no thinking: the text as it comes
};

AnswerStyle answer_style(bool hide_thinking, bool raw);

/// Writes one answer as it arrives, thinking apart from content.
class AnswerView {
 public:
  /// `thinking`: the rendered prompt has opened a thinking block.
  AnswerView(const AnswerStyle& style, bool thinking) : style_(style), parser_(thinking) {}

  void feed(std::string_view text);
  /// The answer has ended, or was stopped.
  void finish();

  [[nodiscard]] const std::string& reasoning() const { return reasoning_; }
  [[nodiscard]] const std::string& content() const { return content_; }

 private:
  void show(const text::ReasoningParser::Piece& piece);
  void open_thinking();
  void close_thinking();
  void write(std::string_view text);

  AnswerStyle style_;
  text::ReasoningParser parser_;
  WordWrap wrap_;
  bool in_thinking_ = false;
  std::string reasoning_, content_;
  std::chrono::steady_clock::time_point thinking_since_;
};

}  // namespace tessera::cli
