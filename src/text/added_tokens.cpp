#include "text/added_tokens.h"

#include <algorithm>

#include "base/check.h"
#include "text/utf8.h"

namespace tessera::text {

namespace {

// The Unicode property White_Space.
bool is_space(uint32_t c) {
  return (c >= 9 && c <= 13) || c == 0x20 || c == 0x85 || c == 0xA0 || c == 0x1680 || (c >= 0x2000 && c <= 0x200A) ||
         c == 0x2028 || c == 0x2029 || c == 0x202F || c == 0x205F || c == 0x3000;
}

size_t skip_spaces_back(std::string_view text, size_t from, size_t floor) {
  while (from > floor) {
    size_t start = from - 1;
    while (start > floor && (static_cast<unsigned char>(text[start]) & 0xC0) == 0x80) --start;
    size_t end = start;
    if (!is_space(next_code_point(text, end))) break;
    from = start;
  }
  return from;
}

size_t skip_spaces(std::string_view text, size_t from) {
  while (from < text.size()) {
    size_t end = from;
    if (!is_space(next_code_point(text, end))) break;
    from = end;
  }
  return from;
}

}  // namespace

AddedTokenMatcher::AddedTokenMatcher(std::vector<AddedToken> tokens) : tokens_(std::move(tokens)), token_at_{-1} {
  for (size_t index = 0; index < tokens_.size(); ++index) {
    const std::string& content = tokens_[index].content;
    TESSERA_CHECK(!content.empty() && content.size() <= kContentBytesMax);
    starts_[static_cast<unsigned char>(content[0])] = true;
    uint32_t node = 0;
    for (const char byte : content) {
      const uint64_t key = uint64_t{node} << 8 | static_cast<unsigned char>(byte);
      const auto [child, is_new] = children_.try_emplace(key, static_cast<uint32_t>(token_at_.size()));
      if (is_new) token_at_.push_back(-1);
      node = child->second;
    }
    token_at_[node] = static_cast<int32_t>(index);
  }
}

/// The longest token that begins there.
AddedTokenMatcher::Match AddedTokenMatcher::match_at(std::string_view text, size_t begin) const {
  Match match{nullptr, begin, begin};
  if (!starts_[static_cast<unsigned char>(text[begin])]) return match;
  uint32_t node = 0;
  for (size_t at = begin; at < text.size(); ++at) {
    const auto child = children_.find(uint64_t{node} << 8 | static_cast<unsigned char>(text[at]));
    if (child == children_.end()) break;
    node = child->second;
    if (token_at_[node] >= 0) match = {&tokens_[token_at_[node]], begin, at + 1};
  }
  return match;
}

AddedTokenMatcher::Match AddedTokenMatcher::find(std::string_view text, size_t from) const {
  for (size_t begin = from; begin < text.size(); ++begin) {
    const Match match = match_at(text, begin);
    if (match.token != nullptr) return match;
  }
  return {nullptr, text.size(), text.size()};
}

void AddedTokenMatcher::find_breaks(std::string_view text, const std::function<bool(const AddedToken&)>& is_wanted,
                                    std::vector<size_t>& places) const {
  // Every beginning counts, also inside of another token: once that is broken, this one would be found.
  for (size_t begin = 0; begin < text.size(); ++begin) {
    const Match match = match_at(text, begin);
    if (match.token == nullptr || !is_wanted(*match.token)) continue;
    size_t place = begin;
    next_code_point(text, place);
    if (place < match.end) places.push_back(place);
  }
}

void AddedTokenMatcher::split(std::string_view text, bool parse_special, std::vector<Piece>& pieces) const {
  size_t done = 0;
  size_t spaces_end = 0;  // behind the last white space that was skipped: no run of it is read twice
  const auto flush = [&](size_t until) {
    if (done < until) pieces.push_back({text.substr(done, until - done), kOrdinaryText});
  };
  if (!tokens_.empty()) {
    for (Match match = find(text, 0); match.token != nullptr; match = find(text, match.end)) {
      const AddedToken& token = *match.token;
      if (token.special && !parse_special) continue;
      // A token that takes white space may reach into the match that follows: that one still counts, for what is left.
      const size_t begin =
          token.lstrip ? skip_spaces_back(text, match.begin, std::min(done, match.begin)) : match.begin;
      flush(begin);
      pieces.push_back({match.token->content, token.id});
      done = match.end;
      if (token.rstrip) done = spaces_end = skip_spaces(text, std::max(match.end, spaces_end));
    }
  }
  flush(text.size());
}

}  // namespace tessera::text
