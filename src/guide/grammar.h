#pragma once

#include <cstdint>
#include <functional>
#include <list>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/status.h"
#include "guide/source.h"

// Answers that follow a schema or grammar: sources are compiled for a vocabulary, a Matcher follows one answer and says
// which tokens may come next. xgrammar does the work and stays behind this header.
namespace tessera::guide {

/// The tokens that a model draws from.
struct Vocabulary {
  /// The bytes of each id; empty: no grammar allows it (control tokens, ids without a token).
  std::vector<std::string> tokens;
  std::vector<int32_t> stop_ids;  // at least one; allowed where the answer may end
};

/// Compiled; immutable, used by any thread.
class Grammar {
 public:
  struct State;
  explicit Grammar(std::unique_ptr<const State> state);
  ~Grammar();
  [[nodiscard]] size_t bytes() const;
  [[nodiscard]] const State& state() const { return *state_; }

 private:
  std::unique_ptr<const State> state_;
};

/// Compiles, one source at a time, and keeps what was used last, by content. Any thread.
class Compiler {
 public:
  /// `vocabulary` is called when the first source is compiled: it takes a tenth of a second for 250,000 tokens.
  explicit Compiler(std::function<Vocabulary()> vocabulary, Limits limits = {});
  ~Compiler();

  /// What compile() would give, if it is kept.
  [[nodiscard]] CompiledGrammar find(const GrammarSource& source);
  /// invalid_argument: it says nothing, or what nothing can satisfy; unsupported: a part of it cannot be followed;
  /// resource_exhausted: a limit. The message names the part at fault.
  Expected<CompiledGrammar> compile(const GrammarSource& source);

  /// Of all grammars that are kept.
  [[nodiscard]] size_t cache_bytes() const;
  [[nodiscard]] const Limits& limits() const { return limits_; }

 private:
  struct Tools;
  struct Kept {
    std::string key;
    CompiledGrammar grammar;
    size_t bytes = 0;
  };
  Expected<CompiledGrammar> compile_new(const GrammarSource& source);
  CompiledGrammar find_key(const std::string& key);
  void keep(std::string key, const CompiledGrammar& grammar);

  const std::function<Vocabulary()> vocabulary_;
  const Limits limits_;

  std::mutex compiling_;  // guards what follows
  std::unique_ptr<Tools> tools_;

  mutable std::mutex mutex_;  // guards what follows
  std::list<Kept> kept_;      // last used first
  std::unordered_map<std::string, std::list<Kept>::iterator> by_key_;
  size_t kept_bytes_ = 0;
};

/// Where one answer stands in a grammar. One thread at a time.
class Matcher {
 public:
  explicit Matcher(CompiledGrammar grammar, const Limits& limits = {});
  ~Matcher();
  Matcher(Matcher&&) noexcept;
  Matcher& operator=(Matcher&&) noexcept;

  /// A bit for each id that may come next. invalid_argument: none may, the grammar has a dead end; resource_exhausted:
  /// matching took too long.
  Status fill(std::span<uint32_t> mask);
  /// The next token, one that fill() allowed.
  Status accept(int32_t token);
  /// Takes the newest tokens back.
  Status rollback(int64_t tokens);
  /// A stop token was accepted.
  [[nodiscard]] bool finished() const;

 private:
  struct State;
  template <typename Work>
  Status timed(StatusCode code, const char* what, Work work);

  std::unique_ptr<State> state_;
};

}  // namespace tessera::guide
