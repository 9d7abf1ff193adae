#include "text/dialect/reasoning_parser.h"

#include "text/dialect/dialect.h"
#include "text/dialect/tag_scan.h"

namespace tessera::text {
namespace {

constexpr std::string_view kOpen = dialect::kThinkingOpen;
constexpr std::string_view kClose = dialect::kThinkingClose;

}  // namespace

bool prompt_opens_thinking(std::string_view rendered_prompt) {
  const size_t open = rendered_prompt.rfind(kOpen);
  return open != std::string_view::npos && rendered_prompt.find(kClose, open) == std::string_view::npos;
}

ReasoningParser::Piece ReasoningParser::feed(std::string_view text) {
  Piece piece;
  held_ += text;
  run(/*at_end=*/false, piece);
  return piece;
}

ReasoningParser::Piece ReasoningParser::finish() {
  Piece piece;
  run(/*at_end=*/true, piece);
  return piece;
}

void ReasoningParser::run(bool at_end, Piece& piece) {
  for (bool more = true; more && !held_.empty();) {
    switch (state_) {
      case State::thinking: more = step_thinking(at_end, piece); break;
      case State::before_content: more = step_before_content(at_end); break;
      case State::content:
        piece.content += held_;
        held_.clear();
        break;
    }
  }
}

/// Takes what is certain from held_; false when the rest must wait.
bool ReasoningParser::step_thinking(bool at_end, Piece& piece) {
  const size_t tag = held_.find('<');
  emit_reasoning(std::string_view(held_).substr(0, tag), piece);
  held_.erase(0, tag);
  if (held_.empty()) return false;
  for (const std::string_view name : {kOpen, kClose}) {
    const Match match = match_at(held_, 0, name);
    if (match == Match::undecided && !at_end) return false;
    if (match != Match::yes) continue;
    held_.erase(0, name.size());
    if (name == kClose) state_ = State::before_content;
    return true;
  }
  Match call = match_at(held_, 0, dialect::kCallOpen);
  if (call == Match::yes) call = match_after_gap(held_, dialect::kCallOpen.size(), dialect::kFunctionOpen);
  if (call == Match::undecided && !at_end) return false;
  if (call == Match::yes) {
    state_ = State::content;
    return true;
  }
  emit_reasoning(held_.substr(0, 1), piece);
  held_.erase(0, 1);
  return true;
}

/// Drops line breaks and repeated tags before the content; false when the rest must wait.
bool ReasoningParser::step_before_content(bool at_end) {
  // Lines of nothing but white space go as soon as they end; what is left of it is the indentation of the first line.
  // One that is too wide is content, or it would matter whether its end had come in one piece with it.
  size_t line = 0;
  for (;;) {
    const size_t end = held_.find_first_not_of(" \t\r", line);
    if (end == std::string::npos || held_[end] != '\n' || end - line > kMaxGap) break;
    line = end + 1;
  }
  held_.erase(0, line);
  const size_t start = skip_white_space(held_, 0);
  for (const std::string_view name : {kOpen, kClose}) {
    const Match match = start <= kMaxGap ? match_at(held_, start, name) : Match::no;
    if (match == Match::undecided && !at_end) return false;
    if (match != Match::yes) continue;
    held_.erase(0, start + name.size());
    // Thinking opens once: a <think> after reasoning is a template's or model's stutter.
    if (name == kOpen && !any_reasoning_) state_ = State::thinking;
    return true;
  }
  if (start == held_.size() && at_end) held_.clear();
  state_ = State::content;
  return true;
}

void ReasoningParser::emit_reasoning(std::string_view text, Piece& piece) {
  const size_t first = any_reasoning_ ? 0 : text.find_first_not_of(kWhiteSpace);
  if (first == std::string_view::npos) return;
  text.remove_prefix(first);
  const size_t last = text.find_last_not_of(kWhiteSpace);
  if (last == std::string_view::npos) {
    white_space_ += text;
    return;
  }
  piece.reasoning += white_space_;
  piece.reasoning += text.substr(0, last + 1);
  white_space_ = text.substr(last + 1);
  any_reasoning_ = true;
}

}  // namespace tessera::text
