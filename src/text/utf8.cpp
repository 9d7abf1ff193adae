#include "text/utf8.h"

#include <simdjson.h>

namespace tessera::text {

namespace {

constexpr std::string_view kReplacement = "\xEF\xBF\xBD";

}  // namespace

Utf8Step utf8_step(std::string_view bytes, size_t at) {
  const auto lead = static_cast<unsigned char>(bytes[at]);
  if (lead < 0x80) return {1, Utf8Kind::complete};
  if (lead < 0xC2 || lead > 0xF4) return {1, Utf8Kind::ill_formed};
  const size_t length = lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : 4;
  // The second byte's range excludes overlong forms, surrogates and values above U+10FFFF (Unicode, table 3-7).
  unsigned low = lead == 0xE0 ? 0xA0 : lead == 0xF0 ? 0x90 : 0x80;
  unsigned high = lead == 0xED ? 0x9F : lead == 0xF4 ? 0x8F : 0xBF;
  for (size_t i = 1; i < length; ++i) {
    if (at + i == bytes.size()) return {i, Utf8Kind::unfinished};
    const auto byte = static_cast<unsigned char>(bytes[at + i]);
    if (byte < low || byte > high) return {i, Utf8Kind::ill_formed};
    low = 0x80;
    high = 0xBF;
  }
  return {length, Utf8Kind::complete};
}

size_t find_invalid_utf8(std::string_view bytes) {
  if (simdjson::validate_utf8(bytes.data(), bytes.size())) return std::string_view::npos;
  for (size_t at = 0; at < bytes.size();) {
    const Utf8Step step = utf8_step(bytes, at);
    if (step.kind != Utf8Kind::complete) return at;
    at += step.length;
  }
  return std::string_view::npos;
}

void append_lossy_utf8(std::string_view bytes, std::string& out) {
  size_t good_from = 0;
  for (size_t at = 0; at < bytes.size();) {
    const Utf8Step step = utf8_step(bytes, at);
    if (step.kind != Utf8Kind::complete) {
      out.append(bytes, good_from, at - good_from).append(kReplacement);
      good_from = at + step.length;
    }
    at += step.length;
  }
  out.append(bytes, good_from);
}

void append_code_point(uint32_t c, std::string& out) {
  const auto put = [&](uint32_t byte) { out.push_back(static_cast<char>(byte)); };
  if (c < 0x80) {
    put(c);
  } else if (c < 0x800) {
    put(0xC0 | c >> 6);
    put(0x80 | (c & 63));
  } else if (c < 0x10000) {
    put(0xE0 | c >> 12);
    put(0x80 | (c >> 6 & 63));
    put(0x80 | (c & 63));
  } else {
    put(0xF0 | c >> 18);
    put(0x80 | (c >> 12 & 63));
    put(0x80 | (c >> 6 & 63));
    put(0x80 | (c & 63));
  }
}

}  // namespace tessera::text
