#include "engine/token_filter.h"

#include <algorithm>
#include <string>
#include <utility>

#include "kernels/sample.h"

namespace tessera::engine {
namespace {

using Tokens = std::span<const int32_t>;

bool ends_with(Tokens tokens, Tokens end) {
  return tokens.size() >= end.size() && std::ranges::equal(tokens.last(end.size()), end);
}

}  // namespace

Expected<std::vector<std::vector<int32_t>>> bad_word_tokens(const std::vector<std::string>& words,
                                                            const text::Tokenizer& tokenizer) {
  std::vector<std::vector<int32_t>> sequences;
  for (const std::string& word : words) {
    const size_t first = word.find_first_not_of(' ');
    const std::string bare = first == std::string::npos ? "" : word.substr(first);
    for (const std::string& spelt : {bare, " " + bare}) {
      TESSERA_ASSIGN_OR_RETURN(std::vector<int32_t> tokens, tokenizer.encode(spelt));
      if (!tokens.empty()) sequences.push_back(std::move(tokens));
    }
  }
  return sequences;
}

TokenFilter::TokenFilter(std::span<const int32_t> allowed_ids, std::vector<std::vector<int32_t>> banned,
                         int64_t vocab_size) {
  if (!allowed_ids.empty()) allowed_.resize(static_cast<size_t>(kernels::mask_words(vocab_size)));
  for (const int32_t id : allowed_ids) allowed_[static_cast<size_t>(id) / 32] |= uint32_t{1} << (id % 32);
  std::ranges::sort(banned);
  banned.erase(std::unique(banned.begin(), banned.end()), banned.end());
  for (const std::vector<int32_t>& sequence : banned) {
    if (sequence.size() == 1) single_.push_back(sequence.front());  // ascending, as `banned` is
  }
  for (std::vector<int32_t>& sequence : banned) {
    if (std::ranges::binary_search(single_, sequence.back())) continue;  // it ends with one that is banned anywhere
    reach_ = std::max(reach_, sequence.size() - 1);
    longer_.push_back(std::move(sequence));
  }
}

bool TokenFilter::needs_token(std::span<const int32_t> answer) const {
  return std::ranges::any_of(
      longer_, [&](const auto& sequence) { return ends_with(answer, Tokens(sequence).first(sequence.size() - 2)); });
}

void TokenFilter::append_banned(std::span<const int32_t> answer, std::vector<int32_t>& ids) const {
  append_banned_alone(ids);
  for (const auto& sequence : longer_) {
    if (ends_with(answer, Tokens(sequence).first(sequence.size() - 1))) ids.push_back(sequence.back());
  }
}

}  // namespace tessera::engine
