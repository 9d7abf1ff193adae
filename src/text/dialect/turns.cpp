#include "text/dialect/turns.h"

#include <algorithm>

namespace tessera::text {
namespace {

bool is_users_own(std::span<const int32_t> turn, const TurnMarks& marks) {
  if (marks.user.empty() || turn.size() <= marks.user.size()) return false;
  return std::ranges::equal(turn.first(marks.user.size()), marks.user) && turn[marks.user.size()] != marks.tool_answer;
}

}  // namespace

std::vector<int64_t> likely_ends(std::span<const int32_t> prompt, const TurnMarks& marks) {
  std::vector<int64_t> begins;  // of turns
  for (size_t i = 0; i < prompt.size(); ++i) {
    if (prompt[i] == marks.turn) begins.push_back(static_cast<int64_t>(i));
  }
  if (begins.size() < 2) return {};
  std::vector<int64_t> ends = {begins[1], begins.back()};
  for (size_t i = begins.size() - 1; i-- > 0;) {
    if (!is_users_own(prompt.subspan(static_cast<size_t>(begins[i])), marks)) continue;
    ends.push_back(begins[i + 1]);
    break;
  }
  std::ranges::sort(ends);
  ends.erase(std::ranges::unique(ends).begin(), ends.end());
  return ends;
}

}  // namespace tessera::text
