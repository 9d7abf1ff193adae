#include "text/nfc.h"

#include <utf8proc.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <span>
#include <vector>

#include "base/check.h"
#include "text/unicode_tables.h"
#include "text/utf8.h"

namespace tessera::text {

namespace {

// Below U+0300 nothing moves or composes with what precedes it. The lead byte of U+0300 is 0xCC.
constexpr unsigned char kFirstMovingLead = 0xCC;

// One entry per 256 code points: does any of kNfcRanges touch them? Keeps the search off CJK, kana and Hangul.
constexpr auto kTouchedPages = [] {
  std::array<bool, 0x1100> pages{};
  for (const NfcRange& range : kNfcRanges) {
    for (uint32_t page = range.first >> 8; page <= range.last >> 8; ++page) pages[page] = true;
  }
  return pages;
}();

const NfcRange* find_range(uint32_t c) {
  if (!kTouchedPages[c >> 8]) return nullptr;
  const auto* range = std::ranges::lower_bound(kNfcRanges, c, {}, &NfcRange::last);
  return range != kNfcRanges.end() && range->first <= c ? range : nullptr;
}

struct Point {
  utf8proc_int32_t code_point;
  int combining_class;
};

// Class 0 for marks newer than Unicode 10, whatever utf8proc says.
Point classify(utf8proc_int32_t c) {
  const bool known = find_range(static_cast<uint32_t>(c)) != nullptr;
  return {c, known ? utf8proc_get_property(c)->combining_class : 0};
}

// Canonical ordering: within each run of marks, stable by combining class. utf8proc's own ordering is an insertion
// sort, quadratic in the number of marks.
void order_marks(std::span<Point> points) {
  const auto is_mark = [](const Point& point) { return point.combining_class != 0; };
  for (auto at = points.begin(); at != points.end();) {
    at = std::find_if(at, points.end(), is_mark);
    const auto end = std::find_if_not(at, points.end(), is_mark);
    std::ranges::stable_sort(at, end, {}, &Point::combining_class);
    at = end;
  }
}

void append_normalized(std::string_view run, std::string& out) {
  constexpr auto kDecompose = static_cast<utf8proc_option_t>(UTF8PROC_DECOMPOSE | UTF8PROC_STABLE);
  constexpr auto kCompose = static_cast<utf8proc_option_t>(UTF8PROC_COMPOSE | UTF8PROC_STABLE);
  std::vector<Point> points;
  for (size_t at = 0; at < run.size();) {
    std::array<utf8proc_int32_t, 16> parts;  // the longest canonical decomposition is 4
    int boundary_class = 0;
    const auto count = utf8proc_decompose_char(static_cast<utf8proc_int32_t>(next_code_point(run, at)), parts.data(),
                                               parts.size(), kDecompose, &boundary_class);
    TESSERA_CHECK(count >= 0 && static_cast<size_t>(count) <= parts.size());
    std::transform(parts.begin(), parts.begin() + count, std::back_inserter(points), classify);
  }
  order_marks(points);
  std::vector<utf8proc_int32_t> ordered(points.size());
  std::ranges::transform(points, ordered.begin(), &Point::code_point);
  const auto length = utf8proc_normalize_utf32(ordered.data(), static_cast<utf8proc_ssize_t>(ordered.size()), kCompose);
  TESSERA_CHECK(length >= 0);
  for (utf8proc_ssize_t i = 0; i < length; ++i) append_code_point(static_cast<uint32_t>(ordered[i]), out);
}

}  // namespace

// Text is cut into runs: a starter that is in no range (nothing before it can change it) and the ranged code points
// that follow. Runs do not affect each other, so only those that fail the quick check are rewritten.
std::string_view to_nfc(std::string_view text, std::string& buffer) {
  buffer.clear();
  size_t copied = 0;     // text[0, copied) is in buffer
  size_t run_start = 0;  // the run that `at` is in
  int last_class = 0;
  for (size_t at = 0; at < text.size();) {
    if (static_cast<unsigned char>(text[at]) < kFirstMovingLead) {
      // Continuation bytes are below kFirstMovingLead as well, so the starter is looked for from its last byte.
      do {
        ++at;
      } while (at < text.size() && static_cast<unsigned char>(text[at]) < kFirstMovingLead);
      run_start = at - 1;
      while ((static_cast<unsigned char>(text[run_start]) & 0xC0) == 0x80) --run_start;
      last_class = 0;
      continue;
    }
    const size_t here = at;
    const auto c = next_code_point(text, at);
    const NfcRange* range = find_range(c);
    if (range == nullptr) {
      run_start = here;
      last_class = 0;
      continue;
    }
    const int this_class = utf8proc_get_property(static_cast<utf8proc_int32_t>(c))->combining_class;
    if (!range->may_change && this_class >= last_class) {
      last_class = this_class;
      continue;
    }
    while (at < text.size()) {  // the run fails the check: find its end
      size_t next = at;
      if (find_range(next_code_point(text, next)) == nullptr) break;
      at = next;
    }
    buffer.append(text, copied, run_start - copied);
    append_normalized(text.substr(run_start, at - run_start), buffer);
    copied = run_start = at;
    last_class = 0;
  }
  if (copied == 0) return text;
  return buffer.append(text, copied);
}

}  // namespace tessera::text
