#include "server/request/json_text.h"

#include <fmt/format.h>

#include <array>

#include "text/utf8.h"

namespace tessera::server {
namespace {

/// What a byte needs: nothing, an escape, or a look at the UTF-8 around it.
enum Class : uint8_t { plain, escaped, high };

constexpr std::array<uint8_t, 256> kClasses = [] {
  std::array<uint8_t, 256> classes{};
  for (int byte = 0; byte < 256; ++byte) classes[byte] = byte >= 0x80 ? high : byte < 0x20 ? escaped : plain;
  classes['"'] = classes['\\'] = escaped;
  return classes;
}();

void append_escape(unsigned char c, std::string& out) {
  switch (c) {
    case '"': out += "\\\""; break;
    case '\\': out += "\\\\"; break;
    case '\n': out += "\\n"; break;
    case '\r': out += "\\r"; break;
    case '\t': out += "\\t"; break;
    default: fmt::format_to(std::back_inserter(out), "\\u{:04x}", c);
  }
}

}  // namespace

void append_escaped(std::string_view text, std::string& out) {
  size_t start = 0;
  bool checked = false;
  for (size_t i = 0; i < text.size(); ++i) {
    const auto byte = static_cast<unsigned char>(text[i]);
    if (kClasses[byte] == plain || (kClasses[byte] == high && checked)) continue;
    if (kClasses[byte] == high) {
      if (text::find_invalid_utf8(text.substr(i)) != std::string_view::npos) {
        std::string repaired;
        text::append_lossy_utf8(text.substr(start), repaired);
        return append_escaped(repaired, out);
      }
      checked = true;
      continue;
    }
    out += text.substr(start, i - start);
    append_escape(byte, out);
    start = i + 1;
  }
  out += text.substr(start);
}

void append_string(std::string_view text, std::string& out) {
  out += '"';
  append_escaped(text, out);
  out += '"';
}

void append_ids(const std::vector<int32_t>& ids, std::string& out) {
  out += '[';
  for (size_t i = 0; i < ids.size(); ++i) {
    if (i > 0) out += ',';
    const fmt::format_int number(ids[i]);
    out.append(number.data(), number.size());
  }
  out += ']';
}

std::string shortened(std::string_view text, size_t bytes) {
  if (text.size() <= bytes) return std::string(text);
  while (bytes > 0 && (static_cast<unsigned char>(text[bytes]) & 0xC0) == 0x80) --bytes;
  return std::string(text.substr(0, bytes)) + "...";
}

std::string shown(const Json& value) {
  if (value.is_structured() && value.size() > 16) {
    return fmt::format("{} of {} values", value.is_array() ? "an array" : "an object", value.size());
  }
  return shortened(value.dump(-1, ' ', false, Json::error_handler_t::replace), 60);
}

}  // namespace tessera::server
