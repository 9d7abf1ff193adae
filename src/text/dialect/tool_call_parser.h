#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tessera::text {

/// How a parameter's text becomes a JSON value.
enum class ParameterType { string, integer, number, boolean, json };

struct ToolParameter {
  std::string name;
  ParameterType type = ParameterType::string;
  bool nullable = false;
};

/// What the parser must know of one tool. Parameters that are not listed are strings.
struct ToolSchema {
  std::string name;
  std::vector<ToolParameter> parameters;
};

/// Reads the qwen3_coder form of tool calls out of a model's content, piece by piece:
///
///   <tool_call>\n<function=NAME>\n<parameter=KEY>\nVALUE\n</parameter>\n ... </function>\n</tool_call>
///
/// The result does not depend on how the text was cut into pieces. String values stream as they come; others appear
/// when they are complete. One line break is taken off each end of a value.
///
/// A value may hold tags literally. It ends at `</parameter>` only if the next thing is another tag of the form (or
/// the end), and, where closers are missing, at a `<parameter=` of a known, unused parameter, at `</function>` or at
/// `</tool_call>` at the start of a line with what must follow them. A `<tool_call>` without the `<function=NAME>` of a
/// known tool is content.
/// A `<function=NAME>` of a known tool at the start of a line counts without its `<tool_call>`.
///
/// Conversion, by type: integer, number (an integral one becomes an integer), boolean, json (JSON, or a Python
/// literal), and null for a nullable or non-string parameter whose text is null or None. Text that does not convert
/// stays a string. Nothing is ever evaluated.
class ToolCallParser {
 public:
  struct CallDelta {
    int index = 0;               // of the call within the message
    std::string name = {};       // in the first delta of a call
    std::string arguments = {};  // next fragment of the arguments' JSON text
  };
  struct Piece {
    std::string content;  // text around the calls; white space before and between calls is dropped
    std::vector<CallDelta> calls;
  };

  explicit ToolCallParser(std::vector<ToolSchema> tools) : tools_(std::move(tools)) {}

  Piece feed(std::string_view text);
  /// What was held back, now that nothing follows. Where the model ended its turn, an unfinished call is closed. Where
  /// the text was `cut` (a limit, a stop string), it stays open, so that nobody takes its arguments for whole ones, and
  /// the beginning of a call is no content.
  Piece finish(bool cut = false);

  /// Calls begun so far.
  [[nodiscard]] int calls() const { return calls_; }
  /// The last of them is not whole.
  [[nodiscard]] bool inside_call() const {
    return (state_ == State::value || state_ == State::body) && tool_ != nullptr;
  }

 private:
  enum class State { content, body, value, after_call };

  void run(Piece& piece);
  bool step_content(Piece& piece);
  bool step_body(Piece& piece);
  bool step_value(Piece& piece);
  bool step_after_call(Piece& piece);
  std::optional<bool> try_function(size_t at, bool wrapped, Piece& piece);
  bool open_parameter(Piece& piece);
  void close_call(Piece& piece);
  void add_value(std::string_view text, Piece& piece);
  void close_value(Piece& piece);
  void take(size_t length, Piece& piece);
  void emit_content(std::string_view text, Piece& piece);
  void emit_arguments(std::string_view fragment, Piece& piece);
  [[nodiscard]] int value_end(size_t at) const;
  [[nodiscard]] bool at_line_start(size_t at) const;
  [[nodiscard]] const ToolSchema* find_tool(std::string_view name) const;

  std::vector<ToolSchema> tools_;
  State state_ = State::content;
  bool at_end_ = false;      // finish() was called: nothing more will come
  std::string held_;         // text not yet decided
  std::string white_space_;  // of the content, emitted when more content follows
  bool content_line_start_ = true;
  int calls_ = 0;

  // the call being read
  const ToolSchema* tool_ = nullptr;  // null: of no known tool, and so text as a whole, with what stands inside
  std::vector<std::string> given_;    // parameters so far
  ToolParameter parameter_;
  bool discard_ = false;      // a parameter given twice: the first counts
  bool value_is_new_ = true;  // its first line break has not been looked for
  bool value_is_empty_ = true;
  std::string value_;       // text of a value that does not stream
  std::string line_break_;  // last line break of the value, dropped if nothing follows
};

}  // namespace tessera::text
