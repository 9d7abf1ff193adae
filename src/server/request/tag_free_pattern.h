#pragma once

#include <string>
#include <string_view>

#include "base/status.h"

namespace tessera::server {

/// A regex, in the syntax that xgrammar reads, of those texts of `pattern` that hold neither "<" nor a carriage return:
/// a parameter's text in a call ends at a tag. "." and classes of characters lose them. invalid_argument where the
/// pattern breaks off; unsupported where it asks for one of them, or is beyond that syntax.
Expected<std::string> tag_free_pattern(std::string_view pattern);

}  // namespace tessera::server
