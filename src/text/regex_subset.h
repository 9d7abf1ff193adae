#pragma once

#include <string_view>

#include "tessera/status.h"

namespace tessera::text {

/// Tokenizer files are written for Oniguruma (Ruby syntax); we match with PCRE2. Ok if `pattern` keeps to the part of
/// the syntax in which both mean the same, otherwise `unsupported`, naming the construct: \w, ^, (?m), nested classes
/// and others differ silently, and would change token ids.
Status check_regex_subset(std::string_view pattern);

}  // namespace tessera::text
