#include "text/tokenizer.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <mutex>
#include <unordered_map>
#include <utility>

#include "base/read_file.h"
#include "base/status.h"
#include "text/added_tokens.h"
#include "text/bpe.h"
#include "text/nfc.h"
#include "text/pretokenizer.h"
#include "text/tokenizer_json.h"
#include "text/utf8.h"
#include "text/vocabulary.h"
#include "text/word_cache.h"

namespace tessera::text {

namespace {

// Normalization makes a text at most 3.5 times shorter: U+1FBE U+0308 U+0301, 7 bytes, becomes U+0390, 2 bytes.
constexpr size_t kNfcShortensMax = 4;
constexpr size_t kIdleScratchMax = 16;
// What is kept must stay small: a text that is one word takes 36 bytes of Scratch for each of its own.
constexpr size_t kKeptTextBytesMax = size_t{256} << 10;

/// How much text one token can stand for, or 0 if there is no bound.
size_t token_text_bytes_max(const TokenizerSpec& spec, const std::array<int32_t, 256>& byte_ids,
                            const std::vector<AddedToken>& normalized) {
  if (std::ranges::find(byte_ids, -1) != byte_ids.end()) return 0;
  size_t most = 0;
  for (const auto& token : spec.vocab) most = std::max(most, token.bytes.size());
  for (const AddedToken& token : spec.added) {
    if (token.lstrip || token.rstrip) return 0;
    most = std::max(most, token.content.size());
  }
  for (const AddedToken& token : normalized) most = std::max(most, token.content.size());
  return spec.nfc ? most * kNfcShortensMax : most;
}

}  // namespace

struct Tokenizer::State {
  /// What one call of encode works with; reused by later calls, so that the cache stays warm.
  struct Scratch {
    Pretokenizer::Scratch pretokenizer;
    Bpe::Scratch bpe;
    WordCache cache;
    std::string normalized;
    std::vector<Piece> pieces, normalized_pieces;
    std::vector<uint32_t> word_ends;
  };

  State(const TokenizerSpec& spec, Pretokenizer splitter, Vocabulary tokens, const std::array<int32_t, 256>& byte_ids,
        std::vector<AddedToken> raw, std::vector<AddedToken> normalized)
      : nfc(spec.nfc),
        ignore_merges(spec.ignore_merges),
        vocabulary(std::move(tokens)),
        raw_matcher(std::move(raw)),
        normalized_matcher(std::move(normalized)),
        pretokenizer(std::move(splitter)),
        bpe(byte_ids, spec.merges) {}

  std::unique_ptr<Scratch> take_scratch() {
    const std::lock_guard lock(mutex);
    if (idle.empty()) return std::make_unique<Scratch>();
    auto scratch = std::move(idle.back());
    idle.pop_back();
    return scratch;
  }
  void give_back(std::unique_ptr<Scratch> scratch, size_t text_bytes) {
    if (text_bytes > kKeptTextBytesMax) return;
    const std::lock_guard lock(mutex);
    if (idle.size() < kIdleScratchMax) idle.push_back(std::move(scratch));
  }

  /// Appends to `ids`, and may stop once there are more than `tokens_max`.
  Status encode_ordinary(std::string_view text, Scratch& scratch, size_t tokens_max, std::vector<int32_t>& ids) const;
  Status encode_unsewn(std::string_view text, std::string_view seam, Scratch& scratch, size_t tokens_max,
                       std::vector<int32_t>& ids) const;
  void encode_word(std::string_view word, Scratch& scratch, std::vector<int32_t>& ids) const;

  bool nfc;
  bool ignore_merges;
  Vocabulary vocabulary;
  std::vector<bool> special;        // by id
  size_t token_text_bytes_max = 0;  // of the text that one token can stand for; 0: no bound
  std::unordered_map<std::string, int32_t> added_ids;
  AddedTokenMatcher raw_matcher, normalized_matcher;
  Pretokenizer pretokenizer;
  Bpe bpe;

  std::mutex mutex;  // guards idle
  std::vector<std::unique_ptr<Scratch>> idle;
};

void Tokenizer::State::encode_word(std::string_view word, Scratch& scratch, std::vector<int32_t>& ids) const {
  if (WordCache::Entry* entry = scratch.cache.find(word)) {
    if (entry->holds(word)) {
      ids.insert(ids.end(), entry->ids.begin(), entry->ids.begin() + entry->count);
      return;
    }
    const size_t before = ids.size();
    bpe.encode(word, scratch.bpe, ids);
    entry->store(word, std::span(ids).subspan(before));
    return;
  }
  bpe.encode(word, scratch.bpe, ids);
}

Status Tokenizer::State::encode_ordinary(std::string_view text, Scratch& scratch, size_t tokens_max,
                                         std::vector<int32_t>& ids) const {
  const size_t words_max = token_text_bytes_max == 0 ? kAllTokens : tokens_max - ids.size();  // a word has a token
  TESSERA_RETURN_IF_ERROR(pretokenizer.split(text, scratch.pretokenizer, scratch.word_ends, words_max));
  uint32_t begin = 0;
  for (const uint32_t end : scratch.word_ends) {
    if (ids.size() > tokens_max) break;
    const std::string_view word = text.substr(begin, end - begin);
    const int32_t whole = ignore_merges ? vocabulary.find(word) : -1;
    if (whole >= 0) {
      ids.push_back(whole);
    } else {
      encode_word(word, scratch, ids);
    }
    begin = end;
  }
  return {};
}

/// Ordinary text without its seams. What stood on both sides of one may compose.
Status Tokenizer::State::encode_unsewn(std::string_view text, std::string_view seam, Scratch& scratch,
                                       size_t tokens_max, std::vector<int32_t>& ids) const {
  if (seam.empty() || text.find(seam) == std::string_view::npos) {
    return encode_ordinary(text, scratch, tokens_max, ids);
  }
  std::string whole, buffer;
  for (size_t at = 0; at < text.size();) {
    const size_t end = std::min(text.find(seam, at), text.size());
    whole += text.substr(at, end - at);
    at = end + seam.size();
  }
  return encode_ordinary(nfc ? to_nfc(whole, buffer) : whole, scratch, tokens_max, ids);
}

Tokenizer::Tokenizer(std::unique_ptr<State> state) : state_(std::move(state)) {}
Tokenizer::~Tokenizer() = default;
Tokenizer::Tokenizer(Tokenizer&&) noexcept = default;
Tokenizer& Tokenizer::operator=(Tokenizer&&) noexcept = default;

Expected<Tokenizer> Tokenizer::load(const std::filesystem::path& file) {
  const auto json = read_regular_file(file, kTokenizerFileBytesMax);
  if (!json.ok()) return json.status().with_context("the tokenizer");
  return parse(*json, file.string());
}

Expected<Tokenizer> Tokenizer::parse(std::string_view json, const std::string& name) {
  TESSERA_ASSIGN_OR_RETURN(const TokenizerSpec spec, parse_tokenizer_json(json, name));
  auto splitter = Pretokenizer::create(spec.patterns);
  if (!splitter.ok()) return splitter.status().with_context(name);

  std::unordered_map<int32_t, std::string_view> added;
  for (const AddedToken& token : spec.added) added.emplace(token.id, token.content);
  Vocabulary vocabulary;
  std::array<int32_t, 256> byte_ids;
  byte_ids.fill(-1);
  for (const auto& token : spec.vocab) {
    // An added token stands for its content as it is, also where the vocabulary spells it.
    const auto content = added.find(token.id);
    vocabulary.add(token.id, content != added.end() ? content->second : token.bytes, token.reachable);
    if (token.reachable && token.bytes.size() == 1) byte_ids[static_cast<unsigned char>(token.bytes[0])] = token.id;
  }
  std::vector<AddedToken> raw, normalized;
  for (const AddedToken& token : spec.added) {
    if (!vocabulary.contains(token.id)) vocabulary.add(token.id, token.content, false);
    const bool in_normalized = token.normalized && spec.nfc;
    AddedToken wanted = token;
    std::string buffer;
    if (in_normalized) wanted.content = to_nfc(token.content, buffer);
    (in_normalized ? normalized : raw).push_back(std::move(wanted));
  }
  const size_t text_bytes_max = token_text_bytes_max(spec, byte_ids, normalized);
  auto state = std::make_unique<State>(spec, std::move(*splitter), std::move(vocabulary), byte_ids, std::move(raw),
                                       std::move(normalized));
  state->token_text_bytes_max = text_bytes_max;
  state->special.resize(static_cast<size_t>(state->vocabulary.size()));
  for (const AddedToken& token : spec.added) {
    state->special[token.id] = token.special;
    state->added_ids.emplace(token.content, token.id);
  }
  return Tokenizer(std::move(state));
}

Expected<std::vector<int32_t>> Tokenizer::encode(std::string_view utf8, bool parse_special, size_t tokens_max) const {
  return encode(utf8, parse_special, {}, tokens_max);
}

Expected<std::vector<int32_t>> Tokenizer::encode_sewn(std::string_view utf8, std::string_view seam,
                                                      size_t tokens_max) const {
  return encode(utf8, /*parse_special=*/true, seam, tokens_max);
}

bool Tokenizer::put_seams(std::string& utf8, std::string_view seam, std::span<const std::string_view> others) const {
  const auto is_wanted = [&](const AddedToken& token) {
    return token.special || std::ranges::find(others, token.content) != others.end();
  };
  std::vector<size_t> places;
  const auto sew = [&](const AddedTokenMatcher& matcher, std::string_view text) {
    places.clear();
    matcher.find_breaks(text, is_wanted, places);
    if (places.empty()) return false;
    std::string sewn;
    size_t done = 0;
    for (const size_t place : places) {
      sewn.append(text, done, place - done).append(seam);
      done = place;
    }
    sewn.append(text, done);
    utf8 = std::move(sewn);
    return true;
  };
  const bool any = sew(state_->raw_matcher, utf8);
  if (state_->normalized_matcher.empty()) return any;
  std::string buffer;
  return sew(state_->normalized_matcher, to_nfc(utf8, buffer)) || any;
}

Expected<std::vector<int32_t>> Tokenizer::encode(std::string_view utf8, bool parse_special, std::string_view seam,
                                                 size_t tokens_max) const {
  if (utf8.size() > kTextBytesMax)
    return error(StatusCode::resource_exhausted, "the text has {} bytes, at most {} can be encoded at once",
                 utf8.size(), kTextBytesMax);
  if (const size_t at = find_invalid_utf8(utf8); at != std::string_view::npos)
    return error(StatusCode::invalid_argument, "the text is not valid UTF-8: byte 0x{:02X} at offset {}",
                 static_cast<unsigned char>(utf8[at]), at);
  std::vector<int32_t> ids;
  ids.reserve(std::min(utf8.size() / 4, tokens_max));
  auto scratch = state_->take_scratch();
  scratch->pieces.clear();
  state_->raw_matcher.split(utf8, parse_special, scratch->pieces);
  Status status;
  for (const Piece& piece : scratch->pieces) {
    if (ids.size() > tokens_max) break;
    if (piece.id != kOrdinaryText) {
      ids.push_back(piece.id);
      continue;
    }
    const std::string_view text = state_->nfc ? to_nfc(piece.text, scratch->normalized) : piece.text;
    scratch->normalized_pieces.clear();
    state_->normalized_matcher.split(text, parse_special, scratch->normalized_pieces);
    for (const Piece& part : scratch->normalized_pieces) {
      if (ids.size() > tokens_max) break;
      if (part.id != kOrdinaryText) {
        ids.push_back(part.id);
      } else if (status = state_->encode_unsewn(part.text, seam, *scratch, tokens_max, ids); !status.ok()) {
        break;
      }
    }
    if (!status.ok()) break;
  }
  state_->give_back(std::move(scratch), utf8.size());
  if (!status.ok()) return status;
  return ids;
}

size_t Tokenizer::tokens_min(size_t text_bytes) const {
  const size_t each = state_->token_text_bytes_max;
  return each == 0 ? 0 : text_bytes / each + (text_bytes % each != 0 ? 1 : 0);
}

std::string Tokenizer::decode(std::span<const int32_t> ids, bool skip_special) const {
  std::string bytes;
  for (const int32_t id : ids) {
    if (!skip_special || !is_special(id)) bytes.append(token_bytes(id));
  }
  if (find_invalid_utf8(bytes) == std::string::npos) return bytes;
  std::string text;
  append_lossy_utf8(bytes, text);
  return text;
}

std::string_view Tokenizer::token_bytes(int32_t id) const { return state_->vocabulary.bytes(id); }

bool Tokenizer::is_special(int32_t id) const { return id >= 0 && id < vocab_size() && state_->special[id]; }

std::optional<int32_t> Tokenizer::id_of(std::string_view bytes) const {
  const auto added = state_->added_ids.find(std::string(bytes));
  if (added != state_->added_ids.end()) return added->second;
  const int32_t id = state_->vocabulary.find(bytes);
  return id >= 0 ? std::optional(id) : std::nullopt;
}

int32_t Tokenizer::vocab_size() const { return state_->vocabulary.size(); }

}  // namespace tessera::text
