#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace tessera::cli {

using Rows = std::vector<std::vector<std::string>>;

/// Rows of cells in columns as wide as their widest cell, two spaces apart; the first row is the heading.
/// `alignment` has a character a column: '<' or '>'. Cells are plain ASCII.
std::string format_table(std::string_view alignment, const Rows& rows);

/// "396 B", "16.3 B", "427 M", "512": counts of weights, three digits.
std::string format_count(double count);

}  // namespace tessera::cli
