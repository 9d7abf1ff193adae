#pragma once

#include <string>
#include <string_view>

namespace tessera::text {

/// Whether the assistant's turn that `rendered_prompt` opens begins inside a thinking block: its last `<think>` is not
/// followed by `</think>`. The prompt decides, not the request's arguments: templates differ in what they open.
bool prompt_opens_thinking(std::string_view rendered_prompt);

/// Splits a model's text into reasoning and content, piece by piece; the result does not depend on how the text was
/// cut into pieces.
///
/// Rules: inside thinking, text up to the first `</think>` is reasoning, without surrounding white space. Outside, a
/// `<think>` before any content opens thinking. Tags that repeat (`<think><think>`, `</think>\n</think>`, a `</think>`
/// before any content although the prompt had closed the block) are dropped. A `<tool_call>` inside thinking that is
/// followed, after white space, by `<function` ends thinking: models forget `</think>` there. Line breaks before the
/// content are dropped. Text that ends inside thinking is all reasoning.
class ReasoningParser {
 public:
  struct Piece {
    std::string reasoning;
    std::string content;
  };

  /// `inside`: the prompt has opened a thinking block.
  explicit ReasoningParser(bool inside) : state_(inside ? State::thinking : State::before_content) {}

  Piece feed(std::string_view text);
  /// What was held back, now that nothing follows.
  Piece finish();

  [[nodiscard]] bool inside() const { return state_ == State::thinking; }

 private:
  enum class State { thinking, before_content, content };

  void run(bool at_end, Piece& piece);
  bool step_thinking(bool at_end, Piece& piece);
  bool step_before_content(bool at_end);
  void emit_reasoning(std::string_view text, Piece& piece);

  State state_;
  std::string held_;         // text not yet decided
  std::string white_space_;  // after reasoning; emitted when more reasoning follows
  bool any_reasoning_ = false;
};

}  // namespace tessera::text
