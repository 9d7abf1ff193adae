#include "text/regex_subset.h"

#include <algorithm>
#include <array>
#include <cctype>

#include "base/status.h"
#include "text/quote.h"

namespace tessera::text {

namespace {

constexpr auto kCategories = std::to_array<std::string_view>(
    {"L",  "Lu", "Ll", "Lt", "Lm", "Lo", "M",  "Mn", "Mc", "Me", "N",  "Nd", "Nl", "No", "P",  "Pc", "Pd", "Ps",
     "Pe", "Pi", "Pf", "Po", "S",  "Sm", "Sc", "Sk", "So", "Z",  "Zs", "Zl", "Zp", "C",  "Cc", "Cf", "Co"});

constexpr auto kGroups = std::to_array<std::string_view>({"(?:", "(?i:", "(?=", "(?!", "(?<=", "(?<!", "(?>"});

bool is_digit(char c) { return c >= '0' && c <= '9'; }

/// Length of the escape at the start of `rest`, 0 if it is not one of the subset.
size_t escape_length(std::string_view rest) {
  if (rest.size() < 2) return 0;
  const char c = rest[1];
  if (std::string_view("sSdDrntf").find(c) != std::string_view::npos) return 2;
  if (static_cast<unsigned char>(c) < 0x80 && std::ispunct(static_cast<unsigned char>(c)) != 0) return 2;
  if (rest.size() < 4 || rest[2] != '{') return 0;
  const size_t close = rest.find('}');
  if (close == std::string_view::npos) return 0;
  const std::string_view name = rest.substr(3, close - 3);
  const auto is_hex = [](char h) { return std::isxdigit(static_cast<unsigned char>(h)) != 0; };
  const bool category = (c == 'p' || c == 'P') && std::ranges::find(kCategories, name) != kCategories.end();
  const bool code_point = c == 'x' && !name.empty() && name.size() <= 6 && std::ranges::all_of(name, is_hex);
  return category || code_point ? close + 1 : 0;
}

/// Length of {n}, {n,} or {n,m} at the start of `rest`; 0 for anything else, and where a following + or ? is read
/// differently by the two libraries.
size_t repeat_length(std::string_view rest) {
  size_t at = 1;
  const size_t digits_from = at;
  while (at < rest.size() && is_digit(rest[at])) ++at;
  if (at == digits_from) return 0;
  if (at < rest.size() && rest[at] == ',') ++at;
  while (at < rest.size() && is_digit(rest[at])) ++at;
  if (at >= rest.size() || rest[at] != '}') return 0;
  ++at;
  return at < rest.size() && (rest[at] == '+' || rest[at] == '?') ? 0 : at;
}

Status refuse(std::string_view pattern, size_t at, std::string_view what) {
  return error(StatusCode::unsupported,
               "the expression {} uses {} at offset {}, which is outside of the syntax that can be matched exactly; "
               "a conversion of the file to the Qwen or GPT form of the expression would work",
               quote(pattern), what, at);
}

}  // namespace

Status check_regex_subset(std::string_view pattern) {
  bool in_class = false;
  size_t class_start = 0;  // first character of the class after [ or [^
  for (size_t at = 0; at < pattern.size();) {
    const std::string_view rest = pattern.substr(at);
    const char c = rest[0];
    size_t length = 1;
    if (c == '\\') {
      length = escape_length(rest);
      if (length == 0) return refuse(pattern, at, "the escape " + std::string(rest.substr(0, 2)));
    } else if (in_class) {
      if (c == '[' || rest.starts_with("&&")) return refuse(pattern, at, "a class inside a class");
      if (c == ']' && at == class_start) return refuse(pattern, at, "an empty class");
      if (c == ']') in_class = false;
    } else if (c == '[') {
      in_class = true;
      length = rest.starts_with("[^") ? 2 : 1;
      class_start = at + length;
    } else if (rest.starts_with("(*")) {
      return refuse(pattern, at, "a verb");
    } else if (rest.starts_with("(?")) {
      const auto* group = std::ranges::find_if(kGroups, [&](std::string_view g) { return rest.starts_with(g); });
      if (group == kGroups.end()) return refuse(pattern, at, "the group " + std::string(rest.substr(0, 3)));
      length = group->size();
    } else if (c == '^' || c == '$') {
      return refuse(pattern, at, "an anchor");
    } else if (c == '{') {
      length = repeat_length(rest);
      if (length == 0) return refuse(pattern, at, "an unusual {...}");
    }
    at += length;
  }
  return {};
}

}  // namespace tessera::text
