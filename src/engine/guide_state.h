#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "tessera/engine.h"

namespace tessera::engine {

/// Where one choice stands in its request's Guide: inside thinking, in the beginning of what follows, or past both.
class GuideState {
 public:
  /// `guide` is checked against `vocab_size` ids, and must outlive this.
  GuideState(const Guide& guide, int64_t vocab_size);

  /// The tokens that may come next: a bit for each id, in words of 32; empty: any. Valid until the state changes.
  [[nodiscard]] std::span<const uint32_t> allowed() const {
    return allowed_.empty() ? std::span<const uint32_t>() : mask_;
  }
  /// Whether what is allowed behind the next token depends on that token. Where it does not, all is allowed for both.
  [[nodiscard]] bool needs_token() const;

  /// After each token of the answer.
  void advance(int32_t token);
  /// Takes the newest `tokens` tokens back.
  void rollback(int64_t tokens);

 private:
  [[nodiscard]] bool thinking() const { return thinking_tokens_ < 0; }
  void update();
  void allow_beginnings();

  const Guide& guide_;
  int64_t vocab_size_;
  int64_t tokens_ = 0;            // of the answer
  int64_t thinking_tokens_;       // with the one that ended it; -1: still thinking
  std::vector<int32_t> begun_;    // what followed, until it was past the beginnings
  bool done_ = false;             // it is past them
  std::vector<int32_t> allowed_;  // ascending; empty: any
  std::vector<uint32_t> mask_;    // the same as bits; taken when first needed
};

}  // namespace tessera::engine
