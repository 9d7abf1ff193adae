#pragma once

#include <algorithm>
#include <nlohmann/json.hpp>

namespace tessera::text {

/// True if `value` has more than `depth` levels of lists and objects. Writing, copying and comparing JSON are
/// recursive; reading it is not, so that a deep text must be caught before.
inline bool json_depth_exceeds(const nlohmann::ordered_json& value, int depth) {
  if (!value.is_structured()) return false;
  if (depth == 0) return true;
  return std::ranges::any_of(value, [&](const auto& child) { return json_depth_exceeds(child, depth - 1); });
}

}  // namespace tessera::text
