#include "text/dialect/answer_scope.h"

#include <algorithm>
#include <initializer_list>

#include "text/dialect/dialect.h"
#include "text/dialect/tag_scan.h"

namespace tessera::text {
namespace {

/// One of the tags at held[at...], after white space.
Match any_after_gap(std::string_view held, size_t at, std::initializer_list<std::string_view> tags) {
  Match result = Match::no;
  for (const std::string_view tag : tags) {
    const Match match = match_after_gap(held, at, tag);
    if (match == Match::yes) return Match::yes;
    if (match == Match::undecided) result = Match::undecided;
  }
  return result;
}

}  // namespace

std::vector<AnswerScope::Piece> AnswerScope::feed(std::string_view text) {
  held_ += text;
  return run();
}

std::vector<AnswerScope::Piece> AnswerScope::finish() {
  at_end_ = true;
  return run();
}

std::vector<AnswerScope::Piece> AnswerScope::run() {
  std::vector<Piece> pieces;
  while (!held_.empty() && step(pieces)) {
  }
  return pieces;
}

bool AnswerScope::step(std::vector<Piece>& pieces) {
  switch (state_) {
    case State::thinking: return step_thinking(pieces);
    case State::before_answer: return step_before_answer(pieces);
    case State::answer: return step_answer(pieces);
    case State::call: return step_call(pieces);
    case State::value: return step_value(pieces);
    case State::after_call: break;
  }
  return step_after_call(pieces);
}

/// Lets `length` bytes through.
bool AnswerScope::take(size_t length, bool answer, State next, std::vector<Piece>& pieces) {
  state_ = next;
  if (length == 0) return true;
  if (pieces.empty() || pieces.back().answer != answer) pieces.push_back({.text = {}, .answer = answer});
  pieces.back().text.append(held_, 0, length);
  line_start_ = held_[length - 1] == '\n';
  held_.erase(0, length);
  return true;
}

bool AnswerScope::step_thinking(std::vector<Piece>& pieces) {
  thought_ = true;
  if (const size_t tag = std::min(held_.find('<'), held_.size()); tag > 0) {
    return take(tag, false, State::thinking, pieces);
  }
  const Match close = match_at(held_, 0, dialect::kThinkingClose);
  if (close == Match::yes) return take(dialect::kThinkingClose.size(), false, State::before_answer, pieces);
  // Models forget to close thinking before a call.
  Match call = match_at(held_, 0, dialect::kCallOpen);
  if (call == Match::yes) call = match_after_gap(held_, dialect::kCallOpen.size(), dialect::kFunctionOpen);
  if (call == Match::yes) return take(0, false, State::answer, pieces);
  if ((close == Match::undecided || call == Match::undecided) && !at_end_) return false;
  return take(1, false, State::thinking, pieces);
}

bool AnswerScope::step_before_answer(std::vector<Piece>& pieces) {
  if (const size_t start = skip_white_space(held_, 0); start > 0) {
    size_t at = 0;
    while (at < start && gap_ <= kMaxGap) gap_ = held_[at++] == '\n' ? 0 : gap_ + 1;
    // A wide line of it is content, as ReasoningParser has it.
    return take(at, false, gap_ > kMaxGap ? State::answer : State::before_answer, pieces);
  }
  gap_ = 0;
  for (const std::string_view tag : {dialect::kThinkingOpen, dialect::kThinkingClose}) {
    const Match match = match_at(held_, 0, tag);
    if (match == Match::undecided && !at_end_) return false;
    if (match != Match::yes) continue;
    const bool opens = tag == dialect::kThinkingOpen && !thought_;
    return take(tag.size(), false, opens ? State::thinking : State::before_answer, pieces);
  }
  return take(0, false, State::answer, pieces);
}

/// Bytes of the beginning of a call that held_ begins with; 0: it does not; -1: it may yet. `known`: of a tool whose
/// calls count.
int AnswerScope::call_length(bool& known) const {
  if (tools_.empty()) return 0;
  size_t at = 0;
  const Match open = match_at(held_, 0, dialect::kCallOpen);
  if (open == Match::yes) at = skip_white_space(held_, dialect::kCallOpen.size());
  if (at > dialect::kCallOpen.size() + kMaxGap || (open != Match::yes && !line_start_)) {
    return open == Match::undecided ? -1 : 0;
  }
  const Match function = match_at(held_, at, dialect::kFunctionOpen);
  if (function == Match::undecided || open == Match::undecided) return -1;
  if (function == Match::no) return 0;
  at += dialect::kFunctionOpen.size();
  const size_t end = held_.find_first_of(">\n<", at);
  if (end == std::string::npos) return held_.size() - at > dialect::kNameLengthMax ? 0 : -1;
  const std::string_view name = bare_name(std::string_view(held_).substr(at, end - at));
  known = std::ranges::find(tools_, name) != tools_.end();
  return held_[end] == '>' ? static_cast<int>(end) + 1 : 0;
}

bool AnswerScope::step_answer(std::vector<Piece>& pieces) {
  if (const size_t tag = std::min(held_.find('<'), held_.size()); tag > 0) {
    return take(tag, true, State::answer, pieces);
  }
  bool known = false;
  const int call = call_length(known);
  if (call < 0 && !at_end_) return false;
  call_is_text_ = !known;
  if (call > 0) return take(static_cast<size_t>(call), call_is_text_, State::call, pieces);
  return take(1, true, State::answer, pieces);
}

/// Between the parameters of a call.
bool AnswerScope::step_call(std::vector<Piece>& pieces) {
  if (const size_t tag = std::min(held_.find('<'), held_.size()); tag > 0) {
    return take(tag, call_is_text_, State::call, pieces);
  }
  for (const std::string_view tag : {dialect::kParameterOpen, dialect::kFunctionClose, dialect::kCallClose,
                                     dialect::kCallOpen, dialect::kFunctionOpen}) {
    const Match match = match_at(held_, 0, tag);
    if (match == Match::undecided && !at_end_) return false;
    if (match != Match::yes) continue;
    // A call that ends for want of its closer leaves the tag to what follows.
    const bool next = tag == dialect::kCallOpen || tag == dialect::kFunctionOpen;
    return take(next ? 0 : tag.size(), call_is_text_, tag == dialect::kParameterOpen ? State::value : State::after_call,
                pieces);
  }
  return take(1, call_is_text_, State::call, pieces);
}

/// A value may hold tags: it ends where the form goes on behind them.
bool AnswerScope::step_value(std::vector<Piece>& pieces) {
  if (const size_t tag = std::min(held_.find('<'), held_.size()); tag > 0) {
    return take(tag, call_is_text_, State::value, pieces);
  }
  Match end = match_at(held_, 0, dialect::kParameterClose);
  if (end == Match::yes) {
    end = any_after_gap(held_, dialect::kParameterClose.size(),
                        {dialect::kParameterOpen, dialect::kFunctionClose, dialect::kCallClose});
    if (end == Match::yes) return take(dialect::kParameterClose.size(), call_is_text_, State::call, pieces);
  }
  Match function = line_start_ ? match_at(held_, 0, dialect::kFunctionClose) : Match::no;
  if (function == Match::yes) {
    function = any_after_gap(held_, dialect::kFunctionClose.size(), {dialect::kCallClose});
    if (function == Match::yes) return take(dialect::kFunctionClose.size(), call_is_text_, State::after_call, pieces);
  }
  if ((end == Match::undecided || function == Match::undecided) && !at_end_) return false;
  return take(1, call_is_text_, State::value, pieces);
}

bool AnswerScope::step_after_call(std::vector<Piece>& pieces) {
  if (const size_t start = skip_white_space(held_, 0); start > 0)
    return take(start, call_is_text_, State::after_call, pieces);
  const Match close = match_at(held_, 0, dialect::kCallClose);
  if (close == Match::undecided && !at_end_) return false;
  if (close == Match::yes) return take(dialect::kCallClose.size(), call_is_text_, State::after_call, pieces);
  line_start_ = true;
  return take(0, call_is_text_, State::answer, pieces);
}

}  // namespace tessera::text
