#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace tessera::text {

/// A token that is found in the text before anything else looks at it.
struct AddedToken {
  std::string content;
  int32_t id = 0;
  bool special = false;     // dropped by decode(skip_special), not found by encode(parse_special = false)
  bool lstrip = false;      // takes the white space before it as well
  bool rstrip = false;      // and behind it
  bool normalized = false;  // is looked for in the normalized text
};

struct Piece {
  std::string_view text;
  int32_t id;  // of the added token, or kOrdinaryText
};
inline constexpr int32_t kOrdinaryText = -1;

/// Finds added tokens: leftmost first, of those the longest, without overlap. A trie walked from each possible start:
/// time is at most the length of the text times that of the longest token.
class AddedTokenMatcher {
 public:
  static constexpr size_t kContentBytesMax = 1024;

  /// Contents must be neither empty nor longer than kContentBytesMax.
  explicit AddedTokenMatcher(std::vector<AddedToken> tokens);

  [[nodiscard]] bool empty() const { return tokens_.empty(); }

  /// Appends the pieces of `text`, in order and not empty, to `pieces`. A special token that is not to be parsed
  /// is ordinary text; what it covers is not searched for others.
  void split(std::string_view text, bool parse_special, std::vector<Piece>& pieces) const;

  /// Appends to `places` where a text must be broken, so that split finds none of the tokens that `is_wanted` names:
  /// behind the first code point of each, in order. A token of one code point cannot be broken.
  void find_breaks(std::string_view text, const std::function<bool(const AddedToken&)>& is_wanted,
                   std::vector<size_t>& places) const;

 private:
  struct Match {
    const AddedToken* token;  // null: none
    size_t begin, end;
  };
  [[nodiscard]] Match find(std::string_view text, size_t from) const;
  [[nodiscard]] Match match_at(std::string_view text, size_t begin) const;

  std::vector<AddedToken> tokens_;
  std::array<bool, 256> starts_{};                   // bytes that some token starts with
  std::unordered_map<uint64_t, uint32_t> children_;  // node << 8 | byte -> node; the root is 0
  std::vector<int32_t> token_at_;                    // by node: index into tokens_, or -1
};

}  // namespace tessera::text
