#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/status.h"
#include "tessera/engine.h"
#include "text/dialect/answer_scope.h"
#include "text/stop_matcher.h"
#include "text/stream_detokenizer.h"
#include "text/tokenizer.h"

namespace tessera::engine {

/// Text of one choice: tokens become text, text that might become a stop string is held back. Without a tokenizer there
/// is no text.
class ChoiceText {
 public:
  /// `tokenizer` may be null and must outlive this. `params` are checked.
  static Expected<ChoiceText> create(const text::Tokenizer* tokenizer, const SamplingParams& params,
                                     const std::optional<StopScope>& scope = {});

  /// Takes the next token, appends what may be shown to `text`. The stop string that is complete, if any; nothing
  /// more comes after it. `may_stop` is false for the first min_tokens tokens.
  std::optional<std::string> feed(int32_t token, bool may_stop, std::string& text);

  /// Appends what was held back, when the choice ends by other means than a stop string. That may complete one: the
  /// beginning of a call that never came is text of the answer after all.
  std::optional<std::string> flush(bool may_stop, std::string& text);

 private:
  std::optional<std::string> match(const std::string& piece, bool may_stop, std::string& text);
  std::optional<std::string> match_in_answer(const std::vector<text::AnswerScope::Piece>& pieces, bool may_stop,
                                             std::string& text);

  std::optional<text::StreamDetokenizer> detokenizer_;
  std::optional<text::StopMatcher> matcher_;
  std::optional<text::AnswerScope> scope_;  // where the matcher looks; none: everywhere
  std::vector<std::string> stops_;
};

}  // namespace tessera::engine
