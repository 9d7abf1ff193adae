#include "model/pass_size.h"

#include <algorithm>
#include <array>

#include "base/ceil_div.h"

namespace tessera::model {
namespace {

/// Dead rows and sequences cost nothing but their share of a product's columns.
constexpr std::array<int32_t, 12> kSequences = {1, 2, 4, 8, 12, 16, 24, 32, 48, 64, 96, 128};

// Beside prompts. So few that all can be captured: there are as many graphs as the product of their numbers.
constexpr std::array<int32_t, 8> kSequencesBesidePrompts = {0, 1, 4, 8, 16, 32, 48, 96};
constexpr std::array<int32_t, 4> kRowsEach = {1, 3, 6, 9};  // of a sequence
constexpr std::array<int32_t, 4> kPromptRows = {64, 128, 256, 512};
constexpr int32_t kRowsOfPrompt = 32;  // at least, in the mean

/// The least of `values`, ascending, that is not below `value`; nullopt: there is none.
template <size_t n>
std::optional<int32_t> at_least(const std::array<int32_t, n>& values, int32_t value) {
  const auto found = std::ranges::lower_bound(values, value);
  return found == values.end() ? std::nullopt : std::optional(*found);
}

}  // namespace

GraphSizes::GraphSizes(int32_t sequences_max, int32_t rows_max, int32_t samples_max)
    : sequences_max_(sequences_max), rows_max_(rows_max), samples_max_(samples_max) {
  const int32_t most = std::min({sequences_max, rows_max, samples_max, kSequences.back()});
  for (const int32_t sequences : kSequences) {
    if (sequences < most) sequences_.push_back(sequences);
  }
  sequences_.push_back(most);
}

std::optional<PassSize> GraphSizes::of(const PassSize& pass) const {
  if (pass.prompt_rows > 0) return with_prompts_of(pass);
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
  if (size.rows > std::min(rows_max_, samples_max_)) return std::nullopt;
  return size;
}

std::optional<PassSize> GraphSizes::with_prompts_of(const PassSize& pass) const {
  const auto sequences = at_least(kSequencesBesidePrompts, pass.sequences);
  const auto each = at_least(kRowsEach, pass.sequences == 0 ? 1 : ceil_div(pass.rows, pass.sequences));
  const auto prompt_rows = at_least(kPromptRows, std::max(pass.prompt_rows, kRowsOfPrompt * pass.prompt_sequences));
  if (!sequences || !each || !prompt_rows) return std::nullopt;
  PassSize size{.drafts = pass.drafts, .prompt_rows = *prompt_rows};
  size.prompt_sequences = std::min(*prompt_rows / kRowsOfPrompt, sequences_max_);
  size.sequences = std::min(*sequences, sequences_max_ - size.prompt_sequences);
  size.rows = size.sequences * *each;
  // A step draws behind the rows of decoding sequences and behind prompts; the head behind sequences, or nowhere.
  if (pass.drafts == 0) {
    size.samples = std::min(size.rows + size.prompt_sequences, samples_max_);
  } else if (pass.samples > 0) {
    size.samples = size.all_sequences();
  }
  const bool fits = pass.sequences <= size.sequences && pass.prompt_sequences <= size.prompt_sequences &&
                    pass.samples <= size.samples && size.all_rows() <= rows_max_ && size.samples <= samples_max_;
  return fits ? std::optional(size) : std::nullopt;
}

void GraphSizes::add(const PassSize& pass, std::vector<PassSize>& sizes) const {
  const std::optional<PassSize> size = of(pass);
  if (size && std::ranges::find(sizes, *size) == sizes.end()) sizes.push_back(*size);
}

std::vector<PassSize> GraphSizes::with_drafts(int most) const {
  std::vector<PassSize> sizes;
  for (const int32_t n : sequences_) {
    for (int drafts = 1; drafts <= most; ++drafts) {
      const int32_t rows = n * (1 + drafts);
      add({.drafts = drafts, .rows = rows, .sequences = n, .samples = n}, sizes);
      add({.rows = rows, .sequences = n, .samples = rows}, sizes);
    }
  }
  return sizes;
}

std::vector<PassSize> GraphSizes::with_prompts(int most) const {
  std::vector<PassSize> sizes;
  for (const int32_t sequences : kSequencesBesidePrompts) {
    for (int held = 0; held <= (sequences == 0 ? 0 : most); ++held) {
      for (const int32_t prompt_rows : kPromptRows) {
        const int32_t n = std::clamp(sequences_max_ - prompt_rows / kRowsOfPrompt, 0, sequences);
        PassSize pass{.rows = n * (1 + held), .sequences = n, .prompt_rows = prompt_rows, .prompt_sequences = 1};
        add(pass, sizes);
        if (most == 0) continue;
        pass.drafts = 1;
        add(pass, sizes);  // the head reads, and drafts nothing
        for (pass.samples = n + 1; pass.drafts <= most; ++pass.drafts) add(pass, sizes);
      }
    }
  }
  std::ranges::stable_sort(sizes, {}, &PassSize::sequences);
  return sizes;
}

}  // namespace tessera::model
