#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "server/request/answer_format.h"
#include "server/request/json_body.h"

// Tools of type custom, whose input is text. The model sees a function with one parameter.
namespace tessera::server {

/// The name of that parameter.
inline constexpr const char* kCustomInput = "input";

/// What a custom tool's input follows, tool["format"]: {"type": "text"}, or {"type": "grammar", "syntax": "lark" or
/// "regex", "definition": "..."}, or these inside of "grammar". `path`: of the tool.
std::optional<ApiError> read_custom_format(const Json& tool, const std::string& path,
                                           std::optional<AnswerFormat>& format);

/// The schema of the function's parameters.
Json custom_parameters(const std::optional<AnswerFormat>& format);

/// The input of a custom tool: takes the arguments' JSON text piece by piece, and gives the text that it holds.
class CallInput {
 public:
  /// The next of the input. Nothing where the first argument is another one: then only whole() has it.
  std::string feed(std::string_view arguments);
  /// All of it: the text of "input", else of the only argument, else the arguments as they are.
  [[nodiscard]] std::string whole() const;
  /// Of all of it, what feed() has not given.
  [[nodiscard]] std::string rest() const { return text_.empty() ? whole() : std::string(); }

 private:
  enum class State { before, inside, after, other };

  std::string arguments_;
  std::string text_;
  size_t read_ = 0;  // bytes of arguments_
  State state_ = State::before;
};

}  // namespace tessera::server
