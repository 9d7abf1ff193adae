#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

namespace tessera::fuzz {

/// A text and the places where the fuzzer cuts it. The input is: a byte of options, a byte n, n bytes of cuts, the
/// text. Each cut byte is a distance from the cut before.
struct CutText {
  uint8_t options = 0;
  std::string_view text;
  std::vector<std::string_view> pieces;
};

inline CutText read_cut_text(const uint8_t* data, size_t size) {
  CutText result;
  if (size < 2) return result;
  result.options = data[0];
  const size_t cuts = data[1] < size - 2 ? data[1] : size - 2;
  result.text = {reinterpret_cast<const char*>(data) + 2 + cuts, size - 2 - cuts};
  std::string_view rest = result.text;
  for (size_t i = 0; i < cuts; ++i) {
    const size_t length = data[2 + i] < rest.size() ? data[2 + i] : rest.size();
    result.pieces.push_back(rest.substr(0, length));
    rest.remove_prefix(length);
  }
  result.pieces.push_back(rest);
  return result;
}

inline std::vector<std::string_view> single_bytes(std::string_view text) {
  std::vector<std::string_view> pieces;
  for (size_t i = 0; i < text.size(); ++i) pieces.push_back(text.substr(i, 1));
  return pieces;
}

}  // namespace tessera::fuzz
