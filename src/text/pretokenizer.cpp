#include "text/pretokenizer.h"

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>

#include <algorithm>
#include <array>
#include <new>
#include <optional>
#include <utility>

#include "base/status.h"
#include "text/quote.h"
#include "text/regex_subset.h"
#include "text/unicode_tables.h"
#include "text/utf8.h"

namespace tessera::text {

namespace {

// Stack for compiled code that backtracks into groups; the expressions of known models need none of it.
constexpr size_t kJitStackBytesMax = size_t{16} << 20;
constexpr size_t kHeapKibibytesMax = size_t{64} << 10;
// Backtracking steps: a run of n blanks takes n of them, which is no reason to give up.
constexpr uint64_t kMatchStepsMin = 10'000'000;
constexpr uint64_t kMatchStepsPerByte = 16;

// The smallest stand-in is three bytes long (U+0897); shorter code points are left alone.
constexpr unsigned char kFirstStandInLead = 0xE0;

constexpr auto kStandInPages = [] {
  std::array<bool, 0x1100> pages{};
  for (const StandIn& range : kStandIns) {
    for (uint32_t page = range.first >> 8; page <= range.last >> 8; ++page) pages[page] = true;
  }
  return pages;
}();

/// `text`, or a copy of equal length in which code points that PCRE2 may not know are replaced.
std::string_view with_stand_ins(std::string_view text, std::string& copy) {
  bool copied = false;
  for (size_t at = 0; at < text.size();) {
    if (static_cast<unsigned char>(text[at]) < kFirstStandInLead) {
      ++at;
      continue;
    }
    const size_t here = at;
    const uint32_t c = next_code_point(text, at);
    if (!kStandInPages[c >> 8]) continue;
    const auto* range = std::ranges::lower_bound(kStandIns, c, {}, &StandIn::last);
    if (range == kStandIns.end() || c < range->first) continue;
    if (!copied) copy.assign(text);
    copied = true;
    std::string stand_in;
    append_code_point(range->stand_in, stand_in);
    copy.replace(here, stand_in.size(), stand_in);
  }
  return copied ? std::string_view(copy) : text;
}

std::string pcre_message(int code) {
  std::array<PCRE2_UCHAR, 256> text{};
  pcre2_get_error_message(code, text.data(), text.size());
  return reinterpret_cast<const char*>(text.data());
}

}  // namespace

struct Pretokenizer::Scratch::Pcre {
  Pcre()
      : context(pcre2_match_context_create(nullptr)),
        data(pcre2_match_data_create(1, nullptr)),
        stack(pcre2_jit_stack_create(size_t{32} << 10, kJitStackBytesMax, nullptr)) {
    if (context == nullptr || data == nullptr) throw std::bad_alloc();
    pcre2_set_heap_limit(context, kHeapKibibytesMax);
    if (stack != nullptr) pcre2_jit_stack_assign(context, nullptr, stack);
  }
  ~Pcre() {
    pcre2_jit_stack_free(stack);
    pcre2_match_data_free(data);
    pcre2_match_context_free(context);
  }
  Pcre(const Pcre&) = delete;
  Pcre& operator=(const Pcre&) = delete;

  pcre2_match_context* context;
  pcre2_match_data* data;
  pcre2_jit_stack* stack;  // null where this build of PCRE2 has no compiler
};

Pretokenizer::Scratch::Scratch() : pcre_(std::make_unique<Pcre>()) {}
Pretokenizer::Scratch::~Scratch() = default;

void Pretokenizer::CodeDeleter::operator()(pcre2_real_code_8* code) const { pcre2_code_free(code); }

Expected<Pretokenizer> Pretokenizer::create(const std::vector<std::string>& patterns, Jit jit) {
  if (patterns.size() > kPatternsMax)
    return error(StatusCode::unsupported, "{} expressions split the text, at most {} are supported", patterns.size(),
                 kPatternsMax);
  Pretokenizer result;
  result.jit_ = jit == Jit::when_available;
  for (const std::string& pattern : patterns) {
    if (pattern.size() > kPatternBytesMax || find_invalid_utf8(pattern) != std::string::npos)
      return error(StatusCode::corrupt_data, "an expression is not UTF-8 text of at most {} bytes", kPatternBytesMax);
    TESSERA_RETURN_IF_ERROR(check_regex_subset(pattern));
    int code = 0;
    PCRE2_SIZE offset = 0;
    const std::unique_ptr<pcre2_compile_context, void (*)(pcre2_compile_context*)> context(
        pcre2_compile_context_create(nullptr), pcre2_compile_context_free);
    if (context == nullptr) throw std::bad_alloc();
    pcre2_set_newline(context.get(), PCRE2_NEWLINE_LF);  // what . excludes must not depend on how PCRE2 was built
    result.codes_.emplace_back(pcre2_compile(reinterpret_cast<PCRE2_SPTR>(pattern.data()), pattern.size(),
                                             PCRE2_UTF | PCRE2_UCP, &code, &offset, context.get()));
    pcre2_code* compiled = result.codes_.back().get();
    if (compiled == nullptr)
      return error(StatusCode::corrupt_data, "the expression {} does not compile: {} at offset {}", quote(pattern),
                   pcre_message(code), offset);
    uint32_t matches_empty = 0;
    pcre2_pattern_info(compiled, PCRE2_INFO_MATCHEMPTY, &matches_empty);
    if (matches_empty != 0)
      return error(StatusCode::unsupported, "the expression {} can match nothing at all, which is not supported",
                   quote(pattern));
    // Where there is no compiler, or no memory that may be executed, the interpreter does the same, slower.
    if (result.jit_) result.jit_ = pcre2_jit_compile(compiled, PCRE2_JIT_COMPLETE) == 0;
  }
  return result;
}

Status Pretokenizer::split(std::string_view text, Scratch& scratch, std::vector<uint32_t>& ends,
                           size_t words_max) const {
  ends.clear();
  if (text.empty()) return {};
  ends.push_back(static_cast<uint32_t>(text.size()));
  if (codes_.empty()) return {};

  const Scratch::Pcre& pcre = *scratch.pcre_;
  const std::string_view subject = with_stand_ins(text, scratch.subject_);
  const uint64_t steps = std::min<uint64_t>(kMatchStepsMin + kMatchStepsPerByte * text.size(), UINT32_MAX);
  pcre2_set_match_limit(pcre.context, static_cast<uint32_t>(steps));
  // Well-formedness was checked once for the whole text; checking again at every match would be quadratic.
  const uint32_t options = PCRE2_NO_UTF_CHECK | (jit_ ? 0 : PCRE2_NO_JIT);
  const PCRE2_SIZE* match = pcre2_get_ovector_pointer(pcre.data);

  for (const auto& code : codes_) {
    std::swap(ends, scratch.pieces_);
    ends.clear();
    uint32_t begin = 0;
    for (const uint32_t end : scratch.pieces_) {
      if (ends.size() > words_max) break;
      const auto* piece = reinterpret_cast<PCRE2_SPTR>(subject.data() + begin);
      const size_t length = end - begin;
      size_t done = 0;  // words of piece[0, done) are in `ends`
      while (done < length && ends.size() <= words_max) {
        const int found = pcre2_match(code.get(), piece, length, done, options, pcre.data, pcre.context);
        if (found == PCRE2_ERROR_NOMATCH) break;
        if (found < 0)
          return error(StatusCode::resource_exhausted, "the tokenizer's expression gave up at byte {} of the text: {}",
                       begin + done, pcre_message(found));
        if (match[0] > done) ends.push_back(begin + static_cast<uint32_t>(match[0]));
        done = match[1];
        ends.push_back(begin + static_cast<uint32_t>(done));
      }
      if (done < length && ends.size() <= words_max) ends.push_back(end);
      begin = end;
    }
  }
  return {};
}

}  // namespace tessera::text
