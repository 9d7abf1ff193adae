#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "base/status.h"
#include "guide/grammar.h"
#include "tessera/engine.h"

namespace tessera::engine {

/// Where one choice stands in its request's Guide: inside thinking, in the beginning of what follows, in the grammar
/// that goes on from there, or past all of them.
class GuideState {
 public:
  /// `guide` is checked against `vocab_size` ids, and must outlive this.
  GuideState(const Guide& guide, int64_t vocab_size);

  /// A grammar's tokens are worked out by prepare(), which takes its time (0.01 to 1 ms, with large vocabularies): on
  /// any thread, while nothing else is done with this. Not ok: the choice cannot go on.
  [[nodiscard]] bool needs_preparation() const { return stale_; }
  Status prepare();

  /// The tokens that may come next: a bit for each id, in words of 32; empty: any. Valid until the state changes; not
  /// while it needs preparation.
  [[nodiscard]] std::span<const uint32_t> allowed() const {
    return allowed_.empty() && !masked_by_grammar_ ? std::span<const uint32_t>() : mask_;
  }
  /// Thinking goes on, and an answer that must be something is still to come: no stop token may end it here.
  [[nodiscard]] bool must_go_on() const { return thinking() && (matcher_ || !guide_.beginnings.empty()); }
  /// The allowed tokens are settled before the model draws: the closer of thinking, a beginning of the answer.
  [[nodiscard]] bool settles() const { return !allowed_.empty(); }
  /// Whether Guide::thinking_excludes may not come next.
  [[nodiscard]] bool excludes() const { return thinking() && guide_.thinking_excludes >= 0; }
  /// Whether what is allowed behind the next token depends on that token. Where it does not, all is allowed for both.
  [[nodiscard]] bool needs_token() const;

  /// Nothing here depends on a token any more: all are allowed from now on.
  [[nodiscard]] bool settled() const { return done_ && !matcher_.has_value(); }

  /// After each token of the answer.
  void advance(int32_t token);
  /// Takes the newest `tokens` tokens back.
  void rollback(int64_t tokens);

 private:
  [[nodiscard]] bool thinking() const { return thinking_tokens_ < 0; }
  void update();
  void allow_beginnings();
  [[nodiscard]] bool in_grammar() const { return done_ && matcher_.has_value(); }

  const Guide& guide_;
  int64_t vocab_size_;
  int64_t tokens_ = 0;            // of the answer
  int64_t thinking_tokens_;       // with the one that ended it; -1: still thinking
  std::vector<int32_t> begun_;    // what followed, until it was past the beginnings
  bool done_ = false;             // it is past them
  std::vector<int32_t> allowed_;  // perhaps twice; empty: any
  std::vector<uint32_t> mask_;    // the same as bits, or what the grammar allows; taken when first needed
  std::optional<guide::Matcher> matcher_;
  int64_t matched_ = 0;             // tokens that the matcher has
  bool masked_by_grammar_ = false;  // mask_ is the grammar's
  bool stale_ = false;              // it is of an earlier token, or was never made
  Status status_;                   // of the matcher
};

}  // namespace tessera::engine
