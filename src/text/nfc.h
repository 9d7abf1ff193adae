#pragma once

#include <string>
#include <string_view>

namespace tessera::text {

/// `text`, which must be well-formed UTF-8, in Unicode normalization form C as of Unicode 10, the version that the
/// reference tokenizer knows: newer marks neither move nor compose, whatever the installed utf8proc thinks of them.
/// Returns `text` itself when it is already in that form (the usual case, found at the speed of reading), else a view
/// of `buffer`. Time is n log n at worst, also for one starter with a million marks.
std::string_view to_nfc(std::string_view text, std::string& buffer);

}  // namespace tessera::text
