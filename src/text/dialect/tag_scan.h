#pragma once

#include <algorithm>
#include <cstddef>
#include <string_view>

// Looking for tags in text that is still arriving.
namespace tessera::text {

inline constexpr std::string_view kWhiteSpace = " \t\r\n";

/// Length of the longest proper prefix of `tag` that `text` ends with: bytes that could become the tag.
inline size_t partial_tag_length(std::string_view text, std::string_view tag) {
  for (size_t length = std::min(text.size(), tag.size() - 1); length > 0; --length) {
    if (text.ends_with(tag.substr(0, length))) return length;
  }
  return 0;
}

/// What stands at text[at...]: the tag, something else, or too little to tell.
enum class Match { no, yes, undecided };

inline Match match_at(std::string_view text, size_t at, std::string_view tag) {
  const std::string_view rest = text.substr(at);
  if (rest.size() >= tag.size()) return rest.starts_with(tag) ? Match::yes : Match::no;
  return tag.starts_with(rest) ? Match::undecided : Match::no;
}

inline std::string_view trimmed(std::string_view text) {
  const size_t first = text.find_first_not_of(kWhiteSpace);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(kWhiteSpace) - first + 1);
}

/// The name inside of a tag, which may come in quotes.
inline std::string_view bare_name(std::string_view name) {
  name = trimmed(name);
  if (name.size() >= 2 && (name.front() == '"' || name.front() == '\'') && name.back() == name.front()) {
    name = name.substr(1, name.size() - 2);
  }
  return name;
}

inline size_t skip_white_space(std::string_view text, size_t at) {
  const size_t found = text.find_first_not_of(kWhiteSpace, at);
  return found == std::string_view::npos ? text.size() : found;
}

/// White space that may lie between two tags that belong together. Bounded, so that deciding needs bounded memory and
/// time however a model stutters.
inline constexpr size_t kMaxGap = 256;

/// The tag after white space from `at` on.
inline Match match_after_gap(std::string_view text, size_t at, std::string_view tag) {
  const size_t start = skip_white_space(text, at);
  return start - at > kMaxGap ? Match::no : match_at(text, start, tag);
}

}  // namespace tessera::text
