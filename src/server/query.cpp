#include "server/query.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <system_error>
#include <utility>
#include <vector>

#include "server/http/http_text.h"
#include "server/request/json_text.h"

namespace tessera::server {
namespace {

constexpr size_t kBytesShown = 40;

ApiError wrong_value(const char* key, std::string_view found, std::string_view expected) {
  return bad_request(key, fmt::format("{} is \"{}\", expected {}", key, shortened(found, kBytesShown), expected));
}

/// False: it is not percent-encoded as it should be.
bool decode(std::string_view text, std::string& out) {
  std::string spaced(text);
  std::ranges::replace(spaced, '+', ' ');
  return percent_decode(spaced, out);
}

/// The one value; none where the parameter is not given.
std::optional<ApiError> find_value(std::string_view query, const char* key, std::optional<std::string>& out) {
  while (!query.empty()) {
    const std::string_view pair = query.substr(0, query.find('&'));
    query.remove_prefix(std::min(query.size(), pair.size() + 1));
    const size_t equals = std::min(pair.find('='), pair.size());
    std::string name;
    if (!decode(pair.substr(0, equals), name) || name != key) continue;
    if (out) return bad_request(key, fmt::format("{} is given twice, expected once", key));
    const std::string_view value = pair.substr(std::min(equals + 1, pair.size()));
    if (!decode(value, out.emplace())) return wrong_value(key, value, "text whose escapes are whole, such as %20");
  }
  return std::nullopt;
}

}  // namespace

std::optional<ApiError> read_query_text(std::string_view query, const char* key, std::string& out) {
  std::optional<std::string> value;
  if (auto error = find_value(query, key, value)) return error;
  if (value) out = std::move(*value);
  return std::nullopt;
}

std::optional<ApiError> read_query_whole(std::string_view query, const char* key, int64_t least, int64_t most,
                                         int64_t& out) {
  std::optional<std::string> value;
  if (auto error = find_value(query, key, value)) return error;
  if (!value) return std::nullopt;
  int64_t number = 0;
  const char* const behind = value->data() + value->size();
  const auto [end, fault] = std::from_chars(value->data(), behind, number);
  if (fault != std::errc() || end != behind || number < least || number > most) {
    return wrong_value(key, *value, fmt::format("a whole number from {} to {}", least, most));
  }
  out = number;
  return std::nullopt;
}

std::optional<ApiError> read_query_flag(std::string_view query, const char* key, bool& out) {
  std::string word = out ? "true" : "false";
  if (auto error = read_query_word(query, key, {"true", "false", "1", "0"}, word)) return error;
  out = word == "true" || word == "1";
  return std::nullopt;
}

std::optional<ApiError> read_query_word(std::string_view query, const char* key,
                                        std::initializer_list<std::string_view> words, std::string& out) {
  std::optional<std::string> value;
  if (auto error = find_value(query, key, value)) return error;
  if (!value) return std::nullopt;
  if (std::ranges::find(words, *value) == words.end()) {
    return wrong_value(key, *value, fmt::format("{}", fmt::join(words, ", ")));
  }
  out = std::move(*value);
  return std::nullopt;
}

}  // namespace tessera::server
