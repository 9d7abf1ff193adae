#pragma once

#include <rapidcheck.h>

#include <cstdint>
#include <string>
#include <vector>

#include "text/utf8.h"

namespace tessera::text::test {

/// Well-formed UTF-8 with much of what is hard: marks, Hangul pieces, white space, newer code points, tags.
inline rc::Gen<std::string> any_text() {
  const auto point = rc::gen::weightedOneOf<uint32_t>({
      {8, rc::gen::inRange<uint32_t>(0, 0x80)},
      {2, rc::gen::inRange<uint32_t>(0x80, 0x530)},
      {3, rc::gen::inRange<uint32_t>(0x300, 0x370)},
      {1, rc::gen::inRange<uint32_t>(0x591, 0xE50)},
      {1, rc::gen::inRange<uint32_t>(0x1100, 0x1200)},
      {1, rc::gen::inRange<uint32_t>(0x2000, 0x3100)},
      {1, rc::gen::inRange<uint32_t>(0x4E00, 0xD7A4)},
      {1, rc::gen::inRange<uint32_t>(0xE000, 0x110000)},
  });
  return rc::gen::map(rc::gen::container<std::vector<uint32_t>>(point), [](const std::vector<uint32_t>& points) {
    std::string text;
    for (const uint32_t c : points) append_code_point(c, text);
    return text;
  });
}

/// Cuts `text` at random places, also inside code points.
inline std::vector<std::string> cut(const std::string& text, const std::vector<size_t>& lengths) {
  std::vector<std::string> pieces;
  size_t at = 0;
  for (size_t i = 0; at < text.size(); ++i) {
    const size_t length = lengths.empty() ? text.size() : 1 + lengths[i % lengths.size()] % 7;
    pieces.push_back(text.substr(at, length));
    at += length;
  }
  return pieces;
}

}  // namespace tessera::text::test
