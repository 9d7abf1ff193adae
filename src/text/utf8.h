#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

// UTF-8, where bytes may be wrong (model output) and where they have been checked (input text).
namespace tessera::text {

enum class Utf8Kind : uint8_t {
  complete,    // a well-formed code point
  ill_formed,  // bytes that no continuation can repair: one U+FFFD
  unfinished,  // a good start that ends with the text: more bytes may complete it
};

struct Utf8Step {
  size_t length;  // bytes of the code point, or of the longest start of one ("maximal subpart", Unicode 3.9, D93b)
  Utf8Kind kind;
};

/// What starts at bytes[at]; `at` must be inside.
Utf8Step utf8_step(std::string_view bytes, size_t at);

/// Offset of the first byte that is not well-formed UTF-8; npos if there is none.
size_t find_invalid_utf8(std::string_view bytes);

/// Appends `bytes`, each ill-formed or unfinished sequence replaced by one U+FFFD.
void append_lossy_utf8(std::string_view bytes, std::string& out);

void append_code_point(uint32_t code_point, std::string& out);

/// The code point at text[at], in text known to be well-formed; moves `at` behind it.
inline uint32_t next_code_point(std::string_view text, size_t& at) {
  const auto byte = [&](size_t i) { return static_cast<uint32_t>(static_cast<unsigned char>(text[at + i])); };
  const uint32_t lead = byte(0);
  uint32_t value = lead;
  size_t length = 1;
  if (lead >= 0xF0) {
    value = (lead & 7) << 18 | (byte(1) & 63) << 12 | (byte(2) & 63) << 6 | (byte(3) & 63);
    length = 4;
  } else if (lead >= 0xE0) {
    value = (lead & 15) << 12 | (byte(1) & 63) << 6 | (byte(2) & 63);
    length = 3;
  } else if (lead >= 0x80) {
    value = (lead & 31) << 6 | (byte(1) & 63);
    length = 2;
  }
  at += length;
  return value;
}

}  // namespace tessera::text
