#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace tessera::text {

/// Tells the answer that a user reads from thinking, from calls of tools, and from the white space around those, while
/// a model's text arrives. The text itself passes unchanged, and how it was cut into pieces does not matter.
///
/// It follows ReasoningParser and ToolCallParser, which take the marks out.
class AnswerScope {
 public:
  /// `thinking`: the prompt has opened a thinking block. `tools`: names of those whose calls count; none: no calls.
  AnswerScope(bool thinking, std::vector<std::string> tools)
      : tools_(std::move(tools)), state_(thinking ? State::thinking : State::before_answer) {}

  struct Piece {
    std::string text;
    bool answer = false;
  };

  std::vector<Piece> feed(std::string_view text);
  /// What was held back, now that nothing follows.
  std::vector<Piece> finish();

 private:
  enum class State { thinking, before_answer, answer, call, value, after_call };

  std::vector<Piece> run();
  bool step(std::vector<Piece>& pieces);
  bool step_thinking(std::vector<Piece>& pieces);
  bool step_before_answer(std::vector<Piece>& pieces);
  bool step_answer(std::vector<Piece>& pieces);
  bool step_call(std::vector<Piece>& pieces);
  bool step_value(std::vector<Piece>& pieces);
  bool step_after_call(std::vector<Piece>& pieces);
  bool take(size_t length, bool answer, State next, std::vector<Piece>& pieces);
  [[nodiscard]] int call_length(bool& known) const;

  std::vector<std::string> tools_;
  State state_;
  std::string held_;  // text not yet decided
  bool at_end_ = false;
  bool line_start_ = true;
  bool thought_ = false;       // thinking opens once
  size_t gap_ = 0;             // white space before the answer, of its newest line
  bool call_is_text_ = false;  // it is of a tool whose calls do not count: all of it is the answer
};

}  // namespace tessera::text
