#pragma once

#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "tessera/status.h"

struct pcre2_real_code_8;

namespace tessera::text {

/// Cuts text into words by regular expressions, one after the other: matches and what lies between them are the words
/// (the behaviour "isolated" of tokenizer files). Words are what byte-pair merging never crosses.
///
/// Matching is by PCRE2, compiled to machine code where it can. The categories of Unicode 16 apply whatever version
/// PCRE2 has: newer code points are matched through older ones of the same category (unicode_tables.h).
/// Const and thread-safe; each thread brings its own Scratch.
class Pretokenizer {
 public:
  enum class Jit { when_available, never };
  class Scratch;

  static constexpr size_t kPatternsMax = 16;
  static constexpr size_t kPatternBytesMax = 16384;

  /// No pattern: a text is one word. `unsupported` or `corrupt_data` for a pattern that cannot be matched exactly.
  static Expected<Pretokenizer> create(const std::vector<std::string>& patterns, Jit jit = Jit::when_available);

  /// Replaces `ends` by the offset behind each word of `text`, ascending; the last is text.size(). `text` must be
  /// well-formed UTF-8 of at most 1 GiB. Of a text with more than `words_max` words, the last of more than so many may
  /// be followed by others that are left out. Fails with `resource_exhausted` when an expression backtracks without
  /// end.
  Status split(std::string_view text, Scratch& scratch, std::vector<uint32_t>& ends,
               size_t words_max = std::numeric_limits<size_t>::max()) const;

 private:
  struct CodeDeleter {
    void operator()(pcre2_real_code_8* code) const;
  };
  std::vector<std::unique_ptr<pcre2_real_code_8, CodeDeleter>> codes_;
  bool jit_ = false;
};

/// What one thread needs while it matches.
class Pretokenizer::Scratch {
 public:
  Scratch();
  ~Scratch();
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;

 private:
  friend class Pretokenizer;
  struct Pcre;
  std::unique_ptr<Pcre> pcre_;
  std::string subject_;
  std::vector<uint32_t> pieces_;
};

}  // namespace tessera::text
