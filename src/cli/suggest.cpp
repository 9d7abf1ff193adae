#include "cli/suggest.h"

#include <algorithm>
#include <numeric>

namespace tessera::cli {

size_t edit_distance(std::string_view a, std::string_view b) {
  // Three rows of the dynamic programme: a swap looks two rows back.
  std::vector<size_t> before(b.size() + 1), last(b.size() + 1), row(b.size() + 1);
  std::iota(last.begin(), last.end(), size_t{0});
  for (size_t i = 1; i <= a.size(); ++i) {
    row[0] = i;
    for (size_t j = 1; j <= b.size(); ++j) {
      row[j] = std::min({last[j] + 1, row[j - 1] + 1, last[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1)});
      const bool swapped = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
      if (swapped) row[j] = std::min(row[j], before[j - 2] + 1);
    }
    std::swap(before, last);
    std::swap(last, row);
  }
  return last[b.size()];
}

std::string nearest_name(std::string_view found, const std::vector<std::string>& known) {
  // Nobody mistypes a name of hundreds of letters, and the time is their product.
  if (found.size() > 100) return {};
  const std::string* nearest = nullptr;
  size_t fewest = 0;
  for (const std::string& name : known) {
    const size_t edits = edit_distance(found, name);
    if (nearest == nullptr || edits < fewest) {
      nearest = &name;
      fewest = edits;
    }
  }
  if (nearest != nullptr && 3 * fewest <= nearest->size()) return *nearest;
  const auto abbreviated =
      std::find_if(known.begin(), known.end(), [&](const std::string& name) { return name.starts_with(found); });
  return abbreviated == known.end() || found.size() < 3 ? std::string() : *abbreviated;
}

}  // namespace tessera::cli
