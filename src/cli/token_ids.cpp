#include "cli/token_ids.h"

#include <charconv>

namespace tessera::cli {
namespace {

constexpr std::string_view kSeparators = " \t\r\n,";

std::string_view trim(std::string_view text) {
  const size_t first = text.find_first_not_of(kSeparators);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(kSeparators) - first + 1);
}

}  // namespace

Expected<std::vector<int32_t>> parse_token_ids(std::string_view text) {
  std::string_view rest = trim(text);
  if (rest.starts_with('[') && rest.ends_with(']')) rest = trim(rest.substr(1, rest.size() - 2));
  std::vector<int32_t> ids;
  while (!rest.empty()) {
    const std::string_view word = rest.substr(0, rest.find_first_of(kSeparators));
    int32_t id = 0;
    const auto [end, failure] = std::from_chars(word.data(), word.data() + word.size(), id);
    if (failure != std::errc() || end != word.data() + word.size() || id < 0) {
      return error(StatusCode::invalid_argument, "token id {} is \"{}\", expected a whole number from 0 to 2147483647",
                   ids.size(), word.substr(0, 40));
    }
    ids.push_back(id);
    rest = trim(rest.substr(word.size()));
  }
  return ids;
}

}  // namespace tessera::cli
