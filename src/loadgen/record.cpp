#include "loadgen/record.h"

#include <algorithm>
#include <unordered_set>

#include "base/hash.h"

namespace tessera::loadgen {

std::optional<double> Record::ttft() const {
  if (deliveries.empty()) return std::nullopt;
  return deliveries.front().at - due;
}

std::optional<double> Record::tpot() const {
  if (deliveries.empty() || !usage.completion) return std::nullopt;
  // The first piece may have brought several tokens, which did not take the time behind it. The last tokens may bring
  // no text, so their time is that to the end.
  const int64_t tokens = *usage.completion - std::max<int64_t>(1, deliveries.front().tokens);
  if (tokens <= 0) return std::nullopt;
  return (end - deliveries.front().at) / static_cast<double>(tokens);
}

double repetition_of(std::string_view text) {
  constexpr size_t kWords = 4, kSequencesMin = 16;
  std::vector<uint64_t> words;
  constexpr std::string_view kSpace = " \t\r\n";
  for (size_t at = text.find_first_not_of(kSpace); at != std::string_view::npos;) {
    const size_t end = std::min(text.find_first_of(kSpace, at), text.size());
    words.push_back(fnv1a(text.substr(at, end - at)));
    at = text.find_first_not_of(kSpace, end);
  }
  if (words.size() < kSequencesMin + kWords - 1) return 0;
  std::unordered_set<uint64_t> seen;
  size_t again = 0;
  const size_t sequences = words.size() - kWords + 1;
  for (size_t i = 0; i < sequences; ++i) {
    uint64_t sequence = 0;
    for (size_t k = 0; k < kWords; ++k) sequence = (sequence ^ words[i + k]) * 0x9e3779b97f4a7c15 + (sequence >> 29);
    again += seen.insert(sequence).second ? 0 : 1;
  }
  return static_cast<double>(again) / static_cast<double>(sequences);
}

}  // namespace tessera::loadgen
