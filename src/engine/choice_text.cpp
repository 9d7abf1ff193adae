#include "engine/choice_text.h"

namespace tessera::engine {

Expected<ChoiceText> ChoiceText::create(const text::Tokenizer* tokenizer, const SamplingParams& params) {
  ChoiceText result;
  if (tokenizer == nullptr) return result;
  result.detokenizer_.emplace(*tokenizer, params.skip_special_tokens);
  if (params.stop.empty()) return result;
  TESSERA_ASSIGN_OR_RETURN(result.matcher_, text::StopMatcher::create(params.stop, params.include_stop_str_in_output));
  result.stops_ = params.stop;
  return result;
}

std::optional<std::string> ChoiceText::feed(int32_t token, bool may_stop, std::string& text) {
  if (!detokenizer_) return std::nullopt;
  const std::string piece = detokenizer_->feed(token);
  if (may_stop && matcher_) return match(piece, text);
  text += piece;
  return std::nullopt;
}

std::optional<std::string> ChoiceText::match(const std::string& piece, std::string& text) {
  const text::StopMatcher::Result result = matcher_->feed(piece);
  text += result.text;
  if (!result.stop) return std::nullopt;
  return stops_[*result.stop];
}

void ChoiceText::flush(std::string& text) {
  if (!detokenizer_) return;
  const std::string piece = detokenizer_->flush();
  if (matcher_) {
    text += matcher_->feed(piece).text;
    text += matcher_->flush();
  } else {
    text += piece;
  }
}

}  // namespace tessera::engine
