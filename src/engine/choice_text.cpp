#include "engine/choice_text.h"

namespace tessera::engine {

Expected<ChoiceText> ChoiceText::create(const text::Tokenizer* tokenizer, const SamplingParams& params,
                                        const std::optional<StopScope>& scope) {
  ChoiceText result;
  if (tokenizer == nullptr) return result;
  result.detokenizer_.emplace(*tokenizer, params.skip_special_tokens);
  if (params.stop.empty()) return result;
  TESSERA_ASSIGN_OR_RETURN(result.matcher_, text::StopMatcher::create(params.stop, params.include_stop_str_in_output));
  result.stops_ = params.stop;
  if (scope) result.scope_.emplace(scope->opens_thinking, scope->tools);
  return result;
}

std::optional<std::string> ChoiceText::feed(int32_t token, bool may_stop, std::string& text) {
  if (!detokenizer_) return std::nullopt;
  const std::string piece = detokenizer_->feed(token);
  if (scope_) return match_in_answer(scope_->feed(piece), may_stop, text);
  return match(piece, may_stop, text);
}

std::optional<std::string> ChoiceText::match(const std::string& piece, bool may_stop, std::string& text) {
  if (!may_stop || !matcher_) {
    text += piece;
    return std::nullopt;
  }
  const text::StopMatcher::Result result = matcher_->feed(piece);
  text += result.text;
  if (!result.stop) return std::nullopt;
  return stops_[*result.stop];
}

/// A stop string does not reach from one stretch of the answer into another.
std::optional<std::string> ChoiceText::match_in_answer(const std::vector<text::AnswerScope::Piece>& pieces,
                                                       bool may_stop, std::string& text) {
  for (const text::AnswerScope::Piece& piece : pieces) {
    if (!piece.answer) {
      text += matcher_->flush();
      text += piece.text;
    } else if (auto stop = match(piece.text, may_stop, text)) {
      return stop;
    }
  }
  return std::nullopt;
}

std::optional<std::string> ChoiceText::flush(bool may_stop, std::string& text) {
  if (!detokenizer_) return std::nullopt;
  const std::string piece = detokenizer_->flush();
  std::optional<std::string> stop;
  if (scope_) {
    stop = match_in_answer(scope_->feed(piece), may_stop, text);
    if (!stop) stop = match_in_answer(scope_->finish(), may_stop, text);
  } else {
    stop = match(piece, may_stop, text);
  }
  if (!stop && matcher_) text += matcher_->flush();
  return stop;
}

}  // namespace tessera::engine
