#include "server/request/tag_free_pattern.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <optional>
#include <vector>

#include "text/utf8.h"

namespace tessera::server {
namespace {

struct Range {
  uint32_t first, last;
};
using Set = std::vector<Range>;  // ascending, apart

constexpr uint32_t kHighest = 0x10FFFF;
constexpr uint32_t kExcluded[] = {'\r', '<'};

Set ordered(Set ranges) {
  std::ranges::sort(ranges, {}, &Range::first);
  Set apart;
  for (const Range& range : ranges) {
    if (!apart.empty() && range.first <= apart.back().last + 1) {
      apart.back().last = std::max(apart.back().last, range.last);
    } else {
      apart.push_back(range);
    }
  }
  return apart;
}

Set complement(const Set& set) {
  Set rest;
  uint32_t next = 0;
  for (const Range& range : set) {
    if (range.first > next) rest.push_back({next, range.first - 1});
    next = range.last + 1;
  }
  if (next <= kHighest) rest.push_back({next, kHighest});
  return rest;
}

Set without(const Set& set, uint32_t character) {
  Set rest;
  for (const Range& range : set) {
    if (character < range.first || character > range.last) {
      rest.push_back(range);
      continue;
    }
    if (range.first < character) rest.push_back({range.first, character - 1});
    if (character < range.last) rest.push_back({character + 1, range.last});
  }
  return rest;
}

/// What \d, \w and \s stand for; nullopt for other letters.
std::optional<Set> class_of(char letter) {
  switch (letter) {
    case 'd': return Set{{'0', '9'}};
    case 'w': return Set{{'0', '9'}, {'A', 'Z'}, {'_', '_'}, {'a', 'z'}};
    case 's': return Set{{'\t', '\r'}, {' ', ' '}, {0xA0, 0xA0}};
    case 'D':
    case 'W':
    case 'S': return complement(*class_of(static_cast<char>(letter + 32)));
    default: return std::nullopt;
  }
}

class Narrowing {
 public:
  explicit Narrowing(std::string_view pattern) : rest_(pattern) {}

  Expected<std::string> run() {
    while (!rest_.empty()) {
      const std::string_view before = rest_;
      if (rest_[0] == '[') {
        TESSERA_ASSIGN_OR_RETURN(const Set set, read_class());
        TESSERA_RETURN_IF_ERROR(add(set, before.substr(0, before.size() - rest_.size())));
      } else if (rest_[0] == '.') {
        rest_.remove_prefix(1);
        TESSERA_RETURN_IF_ERROR(add({{0, kHighest}}, "."));
      } else if (rest_.starts_with("(?<")) {  // the name of a group
        const size_t end = rest_.find('>');
        if (end == std::string_view::npos) return broken("a group's name");
        rest_.remove_prefix(end + 1);
        out_ += before.substr(0, end + 1);
      } else {
        TESSERA_ASSIGN_OR_RETURN(const Set set, read_one());
        TESSERA_RETURN_IF_ERROR(add(set, before.substr(0, before.size() - rest_.size())));
      }
    }
    return std::move(out_);
  }

 private:
  static Status broken(const char* what) {
    return error(StatusCode::invalid_argument, "the pattern ends inside {}", what);
  }

  /// Appends what stood for `set`: as it is, where nothing of it is excluded.
  Status add(const Set& set, std::string_view source) {
    Set left = set;
    for (const uint32_t character : kExcluded) left = without(left, character);
    const bool same = std::ranges::equal(
        left, set, [](const Range& a, const Range& b) { return a.first == b.first && a.last == b.last; });
    if (same) {
      out_ += source;
      return {};
    }
    // A class must not begin with "^".
    if (left.empty() || left[0].first == '^') {
      return Status(StatusCode::unsupported,
                    "the pattern asks for \"<\" or a carriage return, which the arguments of a call cannot be held to");
    }
    out_ += '[';
    for (const Range& range : left) {
      out_ += fmt::format("\\u{{{:x}}}", range.first);
      if (range.last > range.first) out_ += fmt::format("-\\u{{{:x}}}", range.last);
    }
    out_ += ']';
    return {};
  }

  Expected<Set> read_class() {
    rest_.remove_prefix(1);
    const bool negated = rest_.starts_with('^');
    if (negated) rest_.remove_prefix(1);
    Set set;
    while (!rest_.starts_with(']')) {
      if (rest_.empty()) return broken("a class of characters");
      TESSERA_ASSIGN_OR_RETURN(Set one, read_one());
      const bool single = one.size() == 1 && one[0].first == one[0].last;
      if (single && rest_.size() >= 2 && rest_[0] == '-' && rest_[1] != ']') {
        rest_.remove_prefix(1);
        TESSERA_ASSIGN_OR_RETURN(const Set end, read_one());
        if (end.size() != 1 || end[0].first != end[0].last || end[0].first < one[0].first) {
          return Status(StatusCode::invalid_argument, "a range of characters in the pattern does not ascend");
        }
        one[0].last = end[0].first;
      }
      set.insert(set.end(), one.begin(), one.end());
    }
    rest_.remove_prefix(1);
    set = ordered(std::move(set));
    return negated ? complement(set) : set;
  }

  /// A character, or an escape and what it stands for. The signs of the syntax stand for themselves here: none of them
  /// is excluded.
  Expected<Set> read_one() {
    if (rest_[0] != '\\') {
      size_t end = 0;
      const uint32_t character = text::next_code_point(rest_, end);
      rest_.remove_prefix(end);
      return Set{{character, character}};
    }
    if (rest_.size() < 2) return broken("an escape");
    const char letter = rest_[1];
    rest_.remove_prefix(2);
    if (auto set = class_of(letter)) return std::move(*set);
    uint32_t character = static_cast<unsigned char>(letter);
    switch (letter) {
      case 'n': character = '\n'; break;
      case 't': character = '\t'; break;
      case 'r': character = '\r'; break;
      case 'f': character = '\f'; break;
      case 'v': character = '\v'; break;
      case 'x': return hexadecimal(2);
      case 'u':
        if (!rest_.starts_with('{')) return hexadecimal(4);
        {
          const size_t digits = std::min(rest_.find('}'), rest_.size());
          rest_.remove_prefix(1);
          TESSERA_ASSIGN_OR_RETURN(Set set, hexadecimal(digits - 1));
          if (rest_.empty()) return broken("an escape");
          rest_.remove_prefix(1);
          return set;
        }
      case '0':
      case 'c':
      case 'U':
      case 'a':
      case 'e':
        return error(StatusCode::unsupported, "\\{} in a pattern cannot be followed in the arguments of a call",
                     letter);
      default: break;
    }
    return Set{{character, character}};
  }

  Expected<Set> hexadecimal(size_t digits) {
    uint32_t value = 0;
    const char* end = rest_.data() + std::min(digits, rest_.size());
    const auto [stop, fault] = std::from_chars(rest_.data(), end, value, 16);
    if (digits == 0 || digits > 6 || rest_.size() < digits || stop != end || fault != std::errc() || value > kHighest) {
      return Status(StatusCode::invalid_argument, "an escape in the pattern has no hexadecimal digits");
    }
    rest_.remove_prefix(digits);
    return Set{{value, value}};
  }

  std::string_view rest_;
  std::string out_;
};

}  // namespace

Expected<std::string> tag_free_pattern(std::string_view pattern) { return Narrowing(pattern).run(); }

}  // namespace tessera::server
