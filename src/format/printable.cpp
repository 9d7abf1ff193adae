#include "format/printable.h"

#include <fmt/format.h>
#include <simdjson.h>

namespace tessera::format {

std::string printable(std::string_view text) {
  constexpr size_t kMaxBytes = 200;
  const bool utf8 = simdjson::validate_utf8(text.data(), text.size());
  size_t end = text.size() < kMaxBytes ? text.size() : kMaxBytes;
  // A cut must not split a code point: step back over continuation bytes.
  while (utf8 && end < text.size() && end > 0 && (static_cast<unsigned char>(text[end]) & 0xc0U) == 0x80U) --end;
  std::string out;
  for (size_t i = 0; i < end; ++i) {
    const auto byte = static_cast<unsigned char>(text[i]);
    // U+0080..U+009F, spelled c2 80..9f, are control characters too.
    const bool c1 = byte == 0xc2 && i + 1 < end && static_cast<unsigned char>(text[i + 1]) < 0xa0;
    if (byte < 0x20 || byte == 0x7f || byte == '\\' || byte == '\'' || c1 || (byte >= 0x80 && !utf8)) {
      out += fmt::format("\\x{:02x}", byte);
      if (c1) out += fmt::format("\\x{:02x}", static_cast<unsigned char>(text[++i]));
    } else {
      out += text[i];
    }
  }
  if (end < text.size()) out += fmt::format("... ({} bytes)", text.size());
  return out;
}

std::string json_string(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (static_cast<unsigned char>(c) < 0x20) {
      out += fmt::format("\\u{:04x}", static_cast<unsigned>(c));
    } else {
      out += c;
    }
  }
  return out + '"';
}

}  // namespace tessera::format
