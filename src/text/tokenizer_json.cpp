#include "text/tokenizer_json.h"

#include <simdjson.h>

#include <algorithm>
#include <array>
#include <optional>
#include <unordered_set>

#include "base/status.h"
#include "text/byte_alphabet.h"
#include "text/quote.h"
#include "text/vocabulary.h"

namespace tessera::text {

namespace {

using simdjson::dom::array;
using simdjson::dom::element;
using simdjson::dom::object;

constexpr size_t kStepsMax = 64;  // of a sequence of normalizers, pre-tokenizers or post-processors

// GPT-2's expression, which a ByteLevel pre-tokenizer with use_regex stands for.
constexpr std::string_view kGpt2Pattern =
    R"('s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+)";

template <typename... Args>
Status corrupt(fmt::format_string<Args...> message, Args&&... args) {
  return error(StatusCode::corrupt_data, message, std::forward<Args>(args)...);
}

template <typename... Args>
Status unsupported(fmt::format_string<Args...> message, Args&&... args) {
  return error(StatusCode::unsupported, message, std::forward<Args>(args)...);
}

/// The value of a key; null also where the key is missing.
std::optional<element> get(const object& from, std::string_view key) {
  element value;
  if (from.at_key(key).get(value) != simdjson::SUCCESS || value.is_null()) return std::nullopt;
  return value;
}

Expected<bool> get_flag(const object& from, std::string_view where, std::string_view key, bool missing) {
  const auto value = get(from, key);
  bool flag = missing;
  if (value && value->get(flag) != simdjson::SUCCESS) return corrupt("{}.{} is neither true nor false", where, key);
  return flag;
}

/// An error unless the flag is missing, null or `wanted`.
Status require_flag(const object& from, std::string_view where, std::string_view key, bool wanted) {
  TESSERA_ASSIGN_OR_RETURN(const bool flag, get_flag(from, where, key, wanted));
  if (flag != wanted) return unsupported("{}.{} = {} would change token ids and is not supported", where, key, flag);
  return {};
}

/// The steps of `root[section]`, with sequences (under the key `list`) taken apart: objects and their "type".
struct Step {
  std::string_view type;
  object fields;
};
Status collect_steps(element value, std::string_view section, std::string_view list, int depth,
                     std::vector<Step>& steps) {
  Step step;
  if (value.get(step.fields) != simdjson::SUCCESS || step.fields.at_key("type").get(step.type) != simdjson::SUCCESS)
    return corrupt("{} is not an object with a \"type\"", section);
  if (step.type != "Sequence") {
    steps.push_back(step);
    return steps.size() <= kStepsMax ? Status() : unsupported("{} has more than {} steps", section, kStepsMax);
  }
  array children;
  if (depth == 0 || step.fields.at_key(list).get(children) != simdjson::SUCCESS)
    return corrupt("{} is a Sequence without a list of {}, or nested too deeply", section, list);
  for (const element child : children) TESSERA_RETURN_IF_ERROR(collect_steps(child, section, list, depth - 1, steps));
  return {};
}

Expected<std::vector<Step>> get_steps(const object& root, std::string_view section, std::string_view list) {
  std::vector<Step> steps;
  if (const auto value = get(root, section)) TESSERA_RETURN_IF_ERROR(collect_steps(*value, section, list, 4, steps));
  return steps;
}

Status parse_normalizer(const object& root, TokenizerSpec& spec) {
  TESSERA_ASSIGN_OR_RETURN(const auto steps, get_steps(root, "normalizer", "normalizers"));
  for (const Step& step : steps) {
    if (step.type != "NFC") return unsupported("the normalizer {} is not supported, only NFC is", quote(step.type));
    spec.nfc = true;
  }
  return {};
}

Status parse_split(const object& split, TokenizerSpec& spec) {
  object pattern;
  std::string_view regex, behavior;
  if (split.at_key("pattern").get(pattern) != simdjson::SUCCESS ||
      split.at_key("behavior").get(behavior) != simdjson::SUCCESS)
    return corrupt("pre_tokenizer: a Split has no pattern or no behavior");
  if (pattern.at_key("Regex").get(regex) != simdjson::SUCCESS)
    return unsupported("pre_tokenizer: a Split has a pattern that is not a \"Regex\", which is not supported");
  if (behavior != "Isolated")
    return unsupported("pre_tokenizer: a Split has the behavior {}, only \"Isolated\" is supported", quote(behavior));
  TESSERA_RETURN_IF_ERROR(require_flag(split, "pre_tokenizer.Split", "invert", false));
  spec.patterns.emplace_back(regex);
  return {};
}

Status parse_pre_tokenizer(const object& root, TokenizerSpec& spec) {
  TESSERA_ASSIGN_OR_RETURN(const auto steps, get_steps(root, "pre_tokenizer", "pretokenizers"));
  bool byte_level = false;
  for (const Step& step : steps) {
    if (byte_level)
      return unsupported("pre_tokenizer: {} comes after ByteLevel, which must be the last", quote(step.type));
    if (step.type == "Split") {
      TESSERA_RETURN_IF_ERROR(parse_split(step.fields, spec));
    } else if (step.type == "ByteLevel") {
      byte_level = true;
      TESSERA_RETURN_IF_ERROR(require_flag(step.fields, "pre_tokenizer.ByteLevel", "add_prefix_space", false));
      TESSERA_ASSIGN_OR_RETURN(const bool regex, get_flag(step.fields, "pre_tokenizer.ByteLevel", "use_regex", true));
      if (regex) spec.patterns.emplace_back(kGpt2Pattern);
    } else {
      return unsupported("the pre_tokenizer {} is not supported, only Split and ByteLevel are", quote(step.type));
    }
  }
  if (!byte_level) return unsupported("pre_tokenizer has no ByteLevel step; only byte-level tokenizers are supported");
  return {};
}

/// Post-processors and decoders must be those that add and change nothing.
Status check_trivial(const object& root, std::string_view section, std::string_view list) {
  TESSERA_ASSIGN_OR_RETURN(const auto steps, get_steps(root, section, list));
  for (const Step& step : steps) {
    if (step.type != "ByteLevel")
      return unsupported("the {} {} is not supported, only ByteLevel is (it adds no tokens)", section,
                         quote(step.type));
  }
  return {};
}

Status check_model_options(const object& model) {
  std::string_view type = "BPE";
  if (const auto value = get(model, "type"); value && value->get(type) != simdjson::SUCCESS)
    return corrupt("model.type is not a string");
  if (type != "BPE") return unsupported("the model {} is not supported, only byte-level BPE is", quote(type));
  TESSERA_RETURN_IF_ERROR(require_flag(model, "model", "byte_fallback", false));
  if (const auto value = get(model, "dropout")) {
    double dropout = 0;
    if (value->get(dropout) != simdjson::SUCCESS) return corrupt("model.dropout is not a number");
    if (dropout != 0) return unsupported("model.dropout = {} makes token ids random and is not supported", dropout);
  }
  for (const std::string_view key : {"continuing_subword_prefix", "end_of_word_suffix"}) {
    const auto value = get(model, key);
    std::string_view affix;
    if (value && value->get(affix) != simdjson::SUCCESS) return corrupt("model.{} is not a string", key);
    if (!affix.empty()) return unsupported("model.{} = {} is not supported, it must be empty", key, quote(affix));
  }
  return {};
}

/// Enters a token as the file spells it, or says why it cannot be.
Status add_key(Vocabulary& keys, std::string_view key, int64_t id) {
  if (id < 0 || id >= kVocabSizeMax)
    return corrupt("the token {} has the id {}, expected 0 to {}", quote(key), id, kVocabSizeMax - 1);
  if (const int32_t known = keys.find(key); known >= 0)
    return corrupt("the token {} has the ids {} and {}", quote(key), known, id);
  const auto narrow = static_cast<int32_t>(id);
  if (keys.contains(narrow))
    return corrupt("the tokens {} and {} have the same id {}", quote(keys.bytes(narrow)), quote(key), id);
  keys.add(narrow, key, true);
  return {};
}

Status parse_vocab(const object& model, Vocabulary& keys, TokenizerSpec& spec) {
  object vocab;
  if (model.at_key("vocab").get(vocab) != simdjson::SUCCESS)
    return corrupt("model.vocab is missing or not an object of token: id");
  spec.vocab.reserve(vocab.size());
  for (const auto [key, value] : vocab) {
    int64_t id = 0;
    if (value.get(id) != simdjson::SUCCESS) return corrupt("the id of the token {} is not an integer", quote(key));
    if (key.empty()) return corrupt("model.vocab has an empty token");
    TESSERA_RETURN_IF_ERROR(add_key(keys, key, id));
    auto bytes = spelled_bytes(key);
    const bool reachable = bytes.has_value();
    spec.vocab.push_back({reachable ? std::move(*bytes) : std::string(key), static_cast<int32_t>(id), reachable});
  }
  if (spec.vocab.empty()) return corrupt("model.vocab is empty");
  return {};
}

/// The two sides of ["a", "b"] or "a b".
Status split_merge(element merge, size_t rank, std::string_view& left, std::string_view& right) {
  array pair;
  std::string_view line;
  if (merge.get(pair) == simdjson::SUCCESS) {
    if (pair.size() == 2 && pair.at(0).get(left) == simdjson::SUCCESS && pair.at(1).get(right) == simdjson::SUCCESS)
      return {};
  } else if (merge.get(line) == simdjson::SUCCESS) {
    const size_t space = line.find(' ');
    if (space != std::string_view::npos && line.find(' ', space + 1) == std::string_view::npos) {
      left = line.substr(0, space);
      right = line.substr(space + 1);
      return {};
    }
  }
  return corrupt("model.merges[{}] is neither \"a b\" nor [\"a\", \"b\"]", rank);
}

Status parse_merges(const object& model, const Vocabulary& keys, TokenizerSpec& spec) {
  array merges;
  if (model.at_key("merges").get(merges) != simdjson::SUCCESS) return corrupt("model.merges is missing or not a list");
  spec.merges.reserve(merges.size());
  std::string joined;
  size_t rank = 0;
  for (const element merge : merges) {
    std::string_view line;
    const size_t index = rank++;
    if (merge.get(line) == simdjson::SUCCESS && line.starts_with("#version")) continue;  // of merges.txt
    std::string_view left, right;
    TESSERA_RETURN_IF_ERROR(split_merge(merge, index, left, right));
    joined.assign(left).append(right);
    std::array<int32_t, 3> found{};
    const std::array<std::string_view, 3> parts{left, right, joined};
    for (size_t i = 0; i < parts.size(); ++i) {
      found[i] = keys.find(parts[i]);
      if (found[i] < 0) return corrupt("model.merges[{}] names {}, which model.vocab lacks", index, quote(parts[i]));
    }
    spec.merges.push_back({found[0], found[1], found[2]});
  }
  return {};
}

Status parse_added_token(const object& fields, std::string_view content, AddedToken& token) {
  token.content = content;
  const std::string where = "the added token " + quote(content);
  TESSERA_ASSIGN_OR_RETURN(token.special, get_flag(fields, where, "special", false));
  TESSERA_ASSIGN_OR_RETURN(token.lstrip, get_flag(fields, where, "lstrip", false));
  TESSERA_ASSIGN_OR_RETURN(token.rstrip, get_flag(fields, where, "rstrip", false));
  TESSERA_ASSIGN_OR_RETURN(token.normalized, get_flag(fields, where, "normalized", !token.special));
  return require_flag(fields, where, "single_word", false);
}

Status parse_added_tokens(const object& root, Vocabulary& keys, TokenizerSpec& spec) {
  const auto list = get(root, "added_tokens");
  if (!list) return {};
  array entries;
  if (list->get(entries) != simdjson::SUCCESS) return corrupt("added_tokens is not a list");
  std::unordered_set<std::string_view> seen;
  for (const element entry : entries) {
    object fields;
    std::string_view content;
    int64_t id = 0;
    if (entry.get(fields) != simdjson::SUCCESS || fields.at_key("content").get(content) != simdjson::SUCCESS ||
        fields.at_key("id").get(id) != simdjson::SUCCESS)
      return corrupt("an entry of added_tokens has no \"content\" string or no integer \"id\"");
    if (content.empty() || content.size() > AddedTokenMatcher::kContentBytesMax)
      return corrupt("the added token with id {} has {} bytes, expected 1 to {}", id, content.size(),
                     AddedTokenMatcher::kContentBytesMax);
    if (!seen.insert(content).second) return corrupt("added_tokens has {} twice", quote(content));
    // A token of the vocabulary may be declared an added one.
    if (keys.find(content) != id) TESSERA_RETURN_IF_ERROR(add_key(keys, content, id));
    AddedToken token;
    token.id = static_cast<int32_t>(id);
    TESSERA_RETURN_IF_ERROR(parse_added_token(fields, content, token));
    spec.added.push_back(std::move(token));
  }
  return {};
}

/// A byte without a token disappears from the text, unless there is an unknown token, which would take its place.
Status check_unknown_token(const object& model, const TokenizerSpec& spec) {
  const auto unknown = get(model, "unk_token");
  if (!unknown) return {};
  const auto single =
      std::ranges::count_if(spec.vocab, [](const auto& token) { return token.reachable && token.bytes.size() == 1; });
  if (single == 256) return {};
  return unsupported("model.unk_token is set and only {} of 256 bytes have a token; this is not supported", single);
}

Expected<TokenizerSpec> parse_root(const object& root) {
  TokenizerSpec spec;
  object model;
  if (root.at_key("model").get(model) != simdjson::SUCCESS) return corrupt("there is no \"model\" object");
  if (const auto value = get(root, "version")) {
    std::string_view version;
    if (value->get(version) != simdjson::SUCCESS || version != "1.0")
      return unsupported("the version of the format is not \"1.0\"");
  }
  TESSERA_RETURN_IF_ERROR(check_model_options(model));
  TESSERA_ASSIGN_OR_RETURN(spec.ignore_merges, get_flag(model, "model", "ignore_merges", false));
  TESSERA_RETURN_IF_ERROR(parse_normalizer(root, spec));
  TESSERA_RETURN_IF_ERROR(parse_pre_tokenizer(root, spec));
  TESSERA_RETURN_IF_ERROR(check_trivial(root, "post_processor", "processors"));
  TESSERA_RETURN_IF_ERROR(check_trivial(root, "decoder", "decoders"));
  Vocabulary keys;
  TESSERA_RETURN_IF_ERROR(parse_vocab(model, keys, spec));
  TESSERA_RETURN_IF_ERROR(parse_merges(model, keys, spec));
  TESSERA_RETURN_IF_ERROR(parse_added_tokens(root, keys, spec));
  TESSERA_RETURN_IF_ERROR(check_unknown_token(model, spec));
  return spec;
}

}  // namespace

Expected<TokenizerSpec> parse_tokenizer_json(std::string_view json, const std::string& name) {
  if (json.size() > kTokenizerFileBytesMax)
    return error(StatusCode::unsupported, "{}: {} bytes, a tokenizer has at most {}", name, json.size(),
                 kTokenizerFileBytesMax);
  if (json.starts_with("version https://git-lfs"))
    return error(StatusCode::corrupt_data, "{} is a pointer of Git LFS, not the file: fetch it with \"git lfs pull\"",
                 name);
  simdjson::dom::parser parser;
  simdjson::padded_string padded(json);
  element document;
  if (const auto code = parser.parse(padded).get(document); code != simdjson::SUCCESS)
    return error(StatusCode::corrupt_data, "{}: not valid JSON: {}", name, simdjson::error_message(code));
  object root;
  if (document.get(root) != simdjson::SUCCESS)
    return error(StatusCode::corrupt_data, "{}: not a tokenizer: the file holds no JSON object", name);
  auto spec = parse_root(root);
  if (!spec.ok()) return spec.status().with_context(name);
  return spec;
}

}  // namespace tessera::text
