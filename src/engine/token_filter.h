#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/status.h"
#include "tessera/engine.h"
#include "text/tokenizer.h"

namespace tessera::engine {

/// The token sequences of a bad word: as it stands at the beginning of a text, and behind a space. They end a draw
/// short of themselves: what would complete one is banned.
Expected<std::vector<std::vector<int32_t>>> bad_word_tokens(const std::vector<std::string>& words,
                                                            const text::Tokenizer& tokenizer);

/// What a request takes from the draws of its answers: SamplingParams::allowed_token_ids and bad_words. It depends on
/// the answer's newest tokens alone, so that drafts ask for the row behind them as for any other.
class TokenFilter {
 public:
  TokenFilter() = default;
  /// Ids below `vocab_size`. No `allowed_ids`: all are. No sequence in `banned` is empty.
  TokenFilter(std::span<const int32_t> allowed_ids, std::vector<std::vector<int32_t>> banned, int64_t vocab_size);

  [[nodiscard]] bool empty() const { return allowed_.empty() && single_.empty() && longer_.empty(); }
  /// A bit for each id, in words of 32; empty: all.
  [[nodiscard]] std::span<const uint32_t> allowed() const { return allowed_; }
  /// So many of an answer's newest tokens say what is banned next.
  [[nodiscard]] size_t reach() const { return reach_; }
  /// Whether what is banned behind the next token depends on that token.
  [[nodiscard]] bool needs_token(std::span<const int32_t> answer) const;
  /// Appends what would complete a banned sequence behind `answer`: its reach() newest tokens, or all that there are.
  void append_banned(std::span<const int32_t> answer, std::vector<int32_t>& ids) const;
  /// The same behind a token that is not known, where needs_token() was false before it.
  void append_banned_alone(std::vector<int32_t>& ids) const { ids.insert(ids.end(), single_.begin(), single_.end()); }

 private:
  std::vector<uint32_t> allowed_;
  std::vector<int32_t> single_;               // banned wherever they stand
  std::vector<std::vector<int32_t>> longer_;  // whose last token is, behind the others
  size_t reach_ = 0;
};

}  // namespace tessera::engine
