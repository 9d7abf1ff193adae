#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace tessera::text {

/// Vocabularies of byte-level tokenizers spell bytes as printable characters (GPT-2): bytes 33..126, 161..172 and
/// 174..255 are the code points of the same number, the other 68 in ascending order are U+0100 upward.
uint32_t byte_character(uint8_t byte);

/// The bytes that a vocabulary entry spells; none if it has a character outside of the alphabet or is not UTF-8.
std::optional<std::string> spelled_bytes(std::string_view token);

}  // namespace tessera::text
