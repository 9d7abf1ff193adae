#include "text/quote.h"

#include <fmt/format.h>

namespace tessera::text {

std::string quote(std::string_view text) {
  constexpr size_t kBytesMax = 80;
  std::string out = "\"";
  for (const char c : text.substr(0, kBytesMax)) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x20 || byte >= 0x7F) {
      out += fmt::format("\\x{:02X}", byte);
    } else {
      out += c;
    }
  }
  return out + (text.size() > kBytesMax ? "\"..." : "\"");
}

}  // namespace tessera::text
