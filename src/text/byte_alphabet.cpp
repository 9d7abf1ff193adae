#include "text/byte_alphabet.h"

#include <array>

#include "text/utf8.h"

namespace tessera::text {

namespace {

constexpr bool is_itself(unsigned byte) {
  return (byte >= 33 && byte <= 126) || (byte >= 161 && byte <= 172) || byte >= 174;
}

constexpr uint32_t kEnd = 256 + 68;

constexpr auto kCharacters = [] {
  std::array<uint32_t, 256> characters{};
  uint32_t next = 256;
  for (unsigned byte = 0; byte < 256; ++byte) characters[byte] = is_itself(byte) ? byte : next++;
  return characters;
}();

constexpr auto kBytes = [] {
  std::array<int16_t, kEnd> bytes{};
  bytes.fill(-1);
  for (unsigned byte = 0; byte < 256; ++byte) bytes[kCharacters[byte]] = static_cast<int16_t>(byte);
  return bytes;
}();

}  // namespace

uint32_t byte_character(uint8_t byte) { return kCharacters[byte]; }

std::optional<std::string> spelled_bytes(std::string_view token) {
  std::string bytes;
  for (size_t at = 0; at < token.size();) {
    if (utf8_step(token, at).kind != Utf8Kind::complete) return std::nullopt;
    const uint32_t c = next_code_point(token, at);
    if (c >= kEnd || kBytes[c] < 0) return std::nullopt;
    bytes.push_back(static_cast<char>(kBytes[c]));
  }
  return bytes;
}

}  // namespace tessera::text
