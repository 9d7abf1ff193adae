#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "tessera/status.h"
#include "text/added_tokens.h"
#include "text/bpe.h"

namespace tessera::text {

/// What a tokenizer.json says, checked: ids are unique and below kVocabSizeMax, merges name tokens that exist, added
/// tokens and vocabulary agree.
struct TokenizerSpec {
  struct Token {
    std::string bytes;
    int32_t id;
    bool reachable;  // spelled in the byte alphabet; any other spelling is only ever decoded, as it stands
  };
  std::vector<Token> vocab;  // without added tokens that are not in the model's own vocabulary
  std::vector<Merge> merges;
  std::vector<AddedToken> added;
  std::vector<std::string> patterns;  // split the text, in this order
  bool nfc = false;
  bool ignore_merges = false;  // a word that is a token needs no merging
};

inline constexpr int32_t kVocabSizeMax = 1 << 22;
inline constexpr uint64_t kTokenizerFileBytesMax = uint64_t{256} << 20;

/// Reads byte-level BPE in the form of Hugging Face `tokenizers` 1.0. `name` stands in messages. Whatever else in the
/// file would change token ids is refused by name (`unsupported`): other models, normalizers, pre-tokenizers and
/// post-processors, dropout, byte fallback, prefixes and suffixes. `truncation` and `padding` are ignored: they
/// describe a training batch. Added tokens have the ids that the file gives them. A file that contradicts itself is
/// `corrupt_data`.
Expected<TokenizerSpec> parse_tokenizer_json(std::string_view json, const std::string& name);

}  // namespace tessera::text
