#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace tessera::cli {

/// Edits that turn `a` into `b`: insertions, deletions, substitutions and swaps of neighbours (optimal string
/// alignment distance).
size_t edit_distance(std::string_view a, std::string_view b);

/// The known name that somebody who typed `found` most likely meant: the one with the fewest edits, if that is at most
/// a third of its length, or else one that `found` abbreviates; empty if there is none.
std::string nearest_name(std::string_view found, const std::vector<std::string>& known);

}  // namespace tessera::cli
