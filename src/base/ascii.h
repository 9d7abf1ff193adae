#pragma once

#include <algorithm>
#include <string>

// Letters of ASCII, whatever the locale; all else stays as it is.
namespace tessera {

constexpr char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }
constexpr char upper(char c) { return c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c; }

inline std::string lower(std::string text) {
  std::ranges::transform(text, text.begin(), [](char c) { return lower(c); });
  return text;
}
inline std::string upper(std::string text) {
  std::ranges::transform(text, text.begin(), [](char c) { return upper(c); });
  return text;
}

}  // namespace tessera
