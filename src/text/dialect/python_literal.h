#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string_view>

namespace tessera::text {

/// The value of a Python literal as models write it where JSON was asked for: {'a': True, "b": [1, None, (2.5,)]}.
/// Strings with the usual escapes, numbers, True, False, None, lists, tuples (as arrays), dicts with string keys.
/// Nothing is evaluated. nullopt if it is anything else, or nested deeper than 64 levels.
std::optional<nlohmann::ordered_json> parse_python_literal(std::string_view text);

}  // namespace tessera::text
