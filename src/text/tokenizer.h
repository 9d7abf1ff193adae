#pragma once

#include <cstdint>
#include <filesystem>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tessera/status.h"

namespace tessera::text {

/// Byte-level byte-pair encoding as tokenizer.json describes it, with the ids that Hugging Face `tokenizers` gives
/// for `encode(text, add_special_tokens=False)`. What is read and what is refused: tokenizer_json.h.
///
/// Everything const is thread-safe. Threads share no lock but one, taken twice per text.
class Tokenizer {
 public:
  static constexpr size_t kTextBytesMax = size_t{1} << 30;
  static constexpr size_t kAllTokens = std::numeric_limits<size_t>::max();

  /// `file` is a tokenizer.json. not_found, corrupt_data or unsupported.
  static Expected<Tokenizer> load(const std::filesystem::path& file);
  /// `name` stands in messages.
  static Expected<Tokenizer> parse(std::string_view json, const std::string& name);

  ~Tokenizer();
  Tokenizer(Tokenizer&&) noexcept;
  Tokenizer& operator=(Tokenizer&&) noexcept;

  /// The ids of `utf8`. With parse_special false, special tokens in the text are text; added tokens that are not
  /// special, such as <tool_call>, are found in any case, as in the reference. A text that is not well-formed UTF-8
  /// is invalid_argument, one above kTextBytesMax resource_exhausted. Of a text with more than `tokens_max` tokens,
  /// only some of the work is done: what is returned has more than tokens_max ids, and is not of use otherwise.
  [[nodiscard]] Expected<std::vector<int32_t>> encode(std::string_view utf8, bool parse_special = true,
                                                      size_t tokens_max = kAllTokens) const;

  /// A text of so many bytes has at least so many tokens. 0 where the vocabulary promises nothing: it has tokens that
  /// take all white space around them, or bytes without a token.
  [[nodiscard]] size_t tokens_min(size_t text_bytes) const;

  /// Puts `seam` inside every special token that `utf8` spells, and inside every one of `others` that is an added
  /// token; encode_sewn then takes these for text. False: there is none, and nothing was changed.
  bool put_seams(std::string& utf8, std::string_view seam, std::span<const std::string_view> others) const;
  /// The ids of `utf8` without its seams, in which no token is found that a seam was in. No seam may have been in the
  /// text before, and it must not change by normalization. Errors as for encode.
  [[nodiscard]] Expected<std::vector<int32_t>> encode_sewn(std::string_view utf8, std::string_view seam,
                                                           size_t tokens_max = kAllTokens) const;

  /// The text of `ids`; bytes that are not UTF-8 become U+FFFD. Ids without a token (the padding of an embedding
  /// table, for instance) have no text. skip_special leaves out special tokens.
  [[nodiscard]] std::string decode(std::span<const int32_t> ids, bool skip_special) const;

  /// What the token stands for: any bytes, perhaps a part of a code point. Empty if there is no such token.
  [[nodiscard]] std::string_view token_bytes(int32_t id) const;
  [[nodiscard]] bool is_special(int32_t id) const;
  /// The token with exactly these bytes; an added token before one of the vocabulary.
  [[nodiscard]] std::optional<int32_t> id_of(std::string_view bytes) const;
  /// The highest id + 1; a model's embedding table may be larger.
  [[nodiscard]] int32_t vocab_size() const;

 private:
  struct State;
  [[nodiscard]] Expected<std::vector<int32_t>> encode(std::string_view utf8, bool parse_special, std::string_view seam,
                                                      size_t tokens_max) const;
  explicit Tokenizer(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace tessera::text
