#pragma once

#include <cstdint>
#include <string>

#include "text/tokenizer.h"

namespace tessera::text {

/// Turns the tokens of one answer into text as they come. Only whole code points leave; bytes that cannot become one
/// leave as U+FFFD. All pieces together, flush included, are what Tokenizer::decode gives for all ids at once.
class StreamDetokenizer {
 public:
  /// `tokenizer` must outlive this. skip_special: special tokens have no text; added tokens that are not special,
  /// such as <tool_call>, always do.
  StreamDetokenizer(const Tokenizer& tokenizer, bool skip_special)
      : tokenizer_(tokenizer), skip_special_(skip_special) {}

  std::string feed(int32_t id);

  /// The end of the answer: U+FFFD if a code point is unfinished, else nothing. Ready for another answer afterwards.
  std::string flush();

 private:
  const Tokenizer& tokenizer_;
  bool skip_special_;
  std::string unfinished_;  // at most three bytes
};

}  // namespace tessera::text
