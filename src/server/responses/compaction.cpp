#include "server/responses/compaction.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <iterator>
#include <system_error>
#include <utility>

namespace tessera::server::responses {
namespace {

constexpr std::string_view kSummaryMark = "tessera-summary:";  // then the summary
constexpr std::string_view kWholeMark = "tessera-context:";    // then the sizes of its texts, and these
constexpr std::string_view kIntroduction = "The conversation before, in short:\n\n";

bool is_summary(const Message& message) {
  return message.role == Role::system && message.text.starts_with(kIntroduction);
}

}  // namespace

std::string sealed(const Compaction& compaction) {
  if (!compaction.whole) return std::string(kSummaryMark) + compaction.summary;
  std::vector<std::string_view> texts = {compaction.summary, compaction.asked};
  texts.insert(texts.end(), compaction.said.begin(), compaction.said.end());
  std::string sizes;
  std::string all;
  for (const std::string_view text : texts) {
    sizes += fmt::format("{}{}", sizes.empty() ? "" : ",", text.size());
    all += text;
  }
  return fmt::format("{}{}:{}", kWholeMark, sizes, all);
}

bool unseal(std::string_view text, Compaction& out) {
  out = {};
  if (text.starts_with(kSummaryMark)) {
    out.summary = text.substr(kSummaryMark.size());
    return true;
  }
  if (!text.starts_with(kWholeMark)) return false;
  // It came from outside again: any bytes, though of valid UTF-8 as a whole.
  text.remove_prefix(kWholeMark.size());
  std::vector<size_t> sizes;
  for (char between = ','; between == ',';) {
    const auto [end, fault] = std::from_chars(text.data(), text.data() + text.size(), sizes.emplace_back());
    const auto digits = static_cast<size_t>(end - text.data());
    if (fault != std::errc() || digits == text.size() || sizes.size() > 2 + kSaidMax) return false;
    between = text[digits];
    text.remove_prefix(digits + 1);
    if (between != ',' && between != ':') return false;
  }
  std::vector<std::string> texts;
  for (const size_t size : sizes) {
    const bool inside = size < text.size() && (static_cast<unsigned char>(text[size]) & 0xC0) == 0x80;  // a character
    if (size > text.size() || inside) return false;
    texts.emplace_back(text.substr(0, size));
    text.remove_prefix(size);
  }
  if (texts.size() < 2 || !text.empty()) return false;
  out.whole = true;
  out.summary = std::move(texts[0]);
  out.asked = std::move(texts[1]);
  out.said.assign(std::move_iterator(texts.begin() + 2), std::move_iterator(texts.end()));
  return true;
}

void put_in_place(const Compaction& compaction, std::vector<Message>& messages) {
  std::erase_if(messages, [&](const Message& message) {
    const bool keeps = message.role == Role::system || (message.role == Role::user && !compaction.whole);
    return !keeps || is_summary(message);
  });
  for (const std::string& text : compaction.said) messages.push_back({.role = Role::user, .text = text});
  if (!compaction.summary.empty()) {
    // As a system message: nothing that shortens leaves it out.
    messages.push_back({.role = Role::system, .text = std::string(kIntroduction) + compaction.summary});
  }
  if (!compaction.asked.empty()) messages.push_back({.role = Role::user, .text = compaction.asked});
}

bool can_be_summed_up(const std::vector<Message>& messages) {
  return std::ranges::any_of(
      messages, [](const Message& message) { return message.role == Role::assistant || message.role == Role::tool; });
}

}  // namespace tessera::server::responses
