#include "model/pass_size.h"

#include <algorithm>
#include <array>

#include "base/ceil_div.h"

namespace tessera::model {
namespace {

/// Dead rows and sequences cost nothing but their share of a product's columns.
constexpr std::array<int32_t, 12> kSequences = {1, 2, 4, 8, 12, 16, 24, 32, 48, 64, 96, 128};

}  // namespace

GraphSizes::GraphSizes(int32_t sequences_max, int32_t rows_max, int32_t samples_max)
    : rows_max_(std::min(rows_max, samples_max)) {
  const int32_t most = std::min({sequences_max, rows_max_, kSequences.back()});
  for (const int32_t sequences : kSequences) {
    if (sequences < most) sequences_.push_back(sequences);
  }
  sequences_.push_back(most);
}

std::optional<PassSize> GraphSizes::of(const PassSize& pass) const {
  if (pass.drafts == 0 && pass.samples < pass.rows) return std::nullopt;
  const auto sequences = std::ranges::lower_bound(sequences_, pass.sequences);
  if (sequences == sequences_.end()) return std::nullopt;
  // A graph of a row a sequence is none for several rows of one: attention cuts its work by this.
  int32_t each = std::max<int32_t>(ceil_div(pass.rows, *sequences), pass.rows > pass.sequences ? 2 : 1);
  PassSize size = pass;
  if (pass.drafts > 0) {
    size.drafts = std::max(pass.drafts, each - 1);
    each = 1 + size.drafts;
  }
  size.sequences = *sequences;
  size.rows = *sequences * each;
  size.samples = pass.drafts == 0 ? size.rows : *sequences;
  if (size.rows > rows_max_) return std::nullopt;
  return size;
}

std::vector<PassSize> GraphSizes::with_drafts(int most) const {
  std::vector<PassSize> sizes;
  const auto add = [&](const PassSize& pass) {
    const std::optional<PassSize> size = of(pass);
    if (size && std::ranges::find(sizes, *size) == sizes.end()) sizes.push_back(*size);
  };
  for (const int32_t n : sequences_) {
    for (int drafts = 1; drafts <= most; ++drafts) {
      const int32_t rows = n * (1 + drafts);
      add({.drafts = drafts, .rows = rows, .sequences = n, .samples = n});
      add({.rows = rows, .sequences = n, .samples = rows});
    }
  }
  return sizes;
}

}  // namespace tessera::model
