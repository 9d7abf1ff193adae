#pragma once

#include <string>
#include <string_view>

namespace tessera::server::responses {

/// The input of a custom tool, which the model writes as the argument "input" of a function: takes the arguments' JSON
/// text piece by piece, and gives the text that it holds.
class CallInput {
 public:
  /// The next of the input. Nothing where the first argument is another one: then only whole() has it.
  std::string feed(std::string_view arguments);
  /// All of it: the text of "input", else of the only argument, else the arguments as they are.
  [[nodiscard]] std::string whole() const;

 private:
  enum class State { before, inside, after, other };

  std::string arguments_;
  std::string text_;
  size_t read_ = 0;  // bytes of arguments_
  State state_ = State::before;
};

}  // namespace tessera::server::responses
