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
  // The first piece may have brought several tokens; they did not take the time behind it. The last tokens may bring no
  // text: with a count in each piece they are left out, without one their time is that to the end.
  const Delivery& begin = deliveries.front();
  const bool counted = begin.tokens > 0 && deliveries.back().tokens > 0;
  const Delivery last = counted ? deliveries.back() : Delivery{end, *usage.completion};
  const int64_t tokens = last.tokens - (counted ? begin.tokens : 1);
  if (tokens <= 0) return std::nullopt;
  return (last.at - begin.at) / static_cast<double>(tokens);
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
