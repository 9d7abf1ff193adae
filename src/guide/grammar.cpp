#include "guide/grammar.h"

#include <xgrammar/xgrammar.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "base/check.h"
#include "guide/budget.h"
#include "guide/schema.h"
#include "guide/xgrammar_log.h"

namespace tessera::guide {
namespace {

constexpr int kThreads = 1;  // Budget counts the time of one

/// "PATH:LINE: " of the library's own files says nothing to a client.
std::string cleaned(std::string text) {
  constexpr size_t kBytesMax = 600;
  if (text.size() > kBytesMax) text = text.substr(0, kBytesMax) + "...";
  while (!text.empty() && (text.back() == '\n' || text.back() == ' ')) text.pop_back();
  return text;
}

bool is_lark(const std::string& grammar) { return grammar.find("::=") == std::string::npos; }

/// Structural tags take EBNF alone: Lark grammars in this one become that. Schemas are left alone.
void translate_lark(nlohmann::ordered_json& format) {
  for (auto& [key, value] : format.items()) {
    if (key == "json_schema") continue;
    if (key == "grammar" && value.is_string() && is_lark(value.get_ref<const std::string&>())) {
      value = xgrammar::Grammar::FromLark(value.get<std::string>()).ToString();
    } else if (value.is_structured()) {
      translate_lark(value);
    }
  }
}

std::string with_ebnf(const std::string& tag) {
  if (tag.find("\"grammar\"") == std::string::npos) return tag;
  auto json = nlohmann::ordered_json::parse(tag);
  translate_lark(json);
  return json.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
}

std::string key_of(const GrammarSource& source) {
  std::string key;
  key += static_cast<char>('0' + static_cast<int>(source.kind));
  key += source.any_whitespace ? 'w' : '-';
  key += source.text;
  for (const std::string& choice : source.choices) key += std::to_string(choice.size()) + ":" + choice;
  return key;
}

}  // namespace

struct Grammar::State {
  xgrammar::CompiledGrammar compiled;
  size_t bytes = 0;
};

Grammar::Grammar(std::unique_ptr<const State> state) : state_(std::move(state)) {}
Grammar::~Grammar() = default;
size_t Grammar::bytes() const { return state_->bytes; }

/// What compiling needs, and costs to make.
struct Compiler::Tools {
  explicit Tools(const Vocabulary& vocabulary, const Limits& limits)
      : tokens(vocabulary.tokens, xgrammar::VocabType::RAW, static_cast<int>(vocabulary.tokens.size()),
               vocabulary.stop_ids),
        rules(tokens, kThreads, /*cache_enabled=*/true, static_cast<int64_t>(limits.cache_bytes_max / 2)) {}

  xgrammar::CompiledGrammar compile(const GrammarSource& source, const std::string& prepared) {
    using Kind = GrammarSource::Kind;
    switch (source.kind) {
      case Kind::json_object:
      case Kind::json_schema:
        return rules.CompileJSONSchema(prepared, source.any_whitespace, std::nullopt, std::nullopt,
                                       /*strict_mode=*/true,
                                       source.any_whitespace ? std::optional(kWhiteSpaceMax) : std::nullopt);
      case Kind::regex: return rules.CompileRegex(prepared);
      case Kind::grammar:
        return is_lark(prepared) ? rules.CompileLark(prepared) : rules.CompileGrammar(prepared, "root");
      case Kind::choice: return rules.CompileStructuralTag(prepared);
      case Kind::structural_tag: return rules.CompileStructuralTag(with_ebnf(prepared));
    }
    TESSERA_CHECK(false);
  }

  xgrammar::TokenizerInfo tokens;
  xgrammar::GrammarCompiler rules;  // keeps those that grammars share
};

Compiler::Compiler(std::function<Vocabulary()> vocabulary, Limits limits)
    : vocabulary_(std::move(vocabulary)), limits_(limits) {}
Compiler::~Compiler() = default;

CompiledGrammar Compiler::find(const GrammarSource& source) { return find_key(key_of(source)); }

CompiledGrammar Compiler::find_key(const std::string& key) {
  const std::lock_guard lock(mutex_);
  const auto found = by_key_.find(key);
  if (found == by_key_.end()) return nullptr;
  kept_.splice(kept_.begin(), kept_, found->second);
  return found->second->grammar;
}

void Compiler::keep(std::string key, const CompiledGrammar& grammar) {
  const std::lock_guard lock(mutex_);
  const size_t bytes = grammar->bytes() + 2 * key.size();
  kept_.push_front({.key = key, .grammar = grammar, .bytes = bytes});
  by_key_[std::move(key)] = kept_.begin();
  kept_bytes_ += bytes;
  while (kept_bytes_ > limits_.cache_bytes_max && kept_.size() > 1) {
    kept_bytes_ -= kept_.back().bytes;
    by_key_.erase(kept_.back().key);
    kept_.pop_back();
  }
}

size_t Compiler::cache_bytes() const {
  const std::lock_guard lock(mutex_);
  return kept_bytes_;
}

Expected<CompiledGrammar> Compiler::compile(const GrammarSource& source) {
  TESSERA_RETURN_IF_ERROR(check_source(source, limits_));
  std::string key = key_of(source);
  if (CompiledGrammar found = find_key(key)) return found;
  const std::lock_guard lock(compiling_);
  if (CompiledGrammar found = find_key(key)) return found;  // by who had the lock before
  TESSERA_ASSIGN_OR_RETURN(CompiledGrammar grammar, compile_new(source));
  keep(std::move(key), grammar);
  return grammar;
}

Expected<CompiledGrammar> Compiler::compile_new(const GrammarSource& source) {
  using Kind = GrammarSource::Kind;
  std::string prepared = source.text;
  if (source.kind == Kind::json_object) prepared = R"({"type":"object","additionalProperties":true})";
  if (source.kind == Kind::json_schema) {
    TESSERA_ASSIGN_OR_RETURN(prepared, prepare_schema(source.text, limits_));
  }
  if (source.kind == Kind::structural_tag) {
    TESSERA_ASSIGN_OR_RETURN(prepared, prepare_structural_tag(source.text, limits_));
  }
  if (source.kind == Kind::choice) prepared = choice_tag(source.choices);
  if (!tools_) tools_ = std::make_unique<Tools>(vocabulary_(), limits_);

  const Warnings warnings;
  try {
    std::optional<xgrammar::CompiledGrammar> compiled;
    {
      Budget budget(limits_.compile_seconds_max, limits_.compile_bytes_max);
      compiled.emplace(tools_->compile(source, prepared));
    }
    if (!warnings.messages().empty()) return Status(StatusCode::unsupported, cleaned(warnings.messages().front()));
    const size_t bytes = compiled->MemorySizeBytes();
    if (bytes > limits_.grammar_bytes_max) {
      return error(StatusCode::resource_exhausted, "compiled, it takes {} MiB, expected at most {}", bytes >> 20,
                   limits_.grammar_bytes_max >> 20);
    }
    auto grammar = std::make_shared<const Grammar>(
        std::make_unique<const Grammar::State>(Grammar::State{.compiled = *compiled, .bytes = bytes}));
    std::vector<uint32_t> mask((tools_->tokens.GetVocabSize() + 31) / 32);
    if (const Status status = Matcher(grammar, limits_).fill(mask); !status.ok()) {
      if (status.code() != StatusCode::invalid_argument) return status;
      return Status(status.code(), "nothing satisfies it");
    }
    return CompiledGrammar(std::move(grammar));
  } catch (const BudgetExceeded& fault) {
    tools_->rules.ClearCache();  // it would keep the failure
    return error(StatusCode::resource_exhausted, "it is too complex: {}", fault.what());
  } catch (const std::exception& fault) {
    tools_->rules.ClearCache();
    return Status(StatusCode::invalid_argument, cleaned(fault.what()));
  }
}

struct Matcher::State {
  CompiledGrammar grammar;
  xgrammar::GrammarMatcher matcher;
  Limits limits;
  double seconds = 0;
  int64_t tokens = 0;
  int64_t after_end = 0;  // of them, behind the stop token that ended the answer
  bool broken = false;    // an exception has left the matcher halfway
};

Matcher::Matcher(CompiledGrammar grammar, const Limits& limits) {
  xgrammar::GrammarMatcher matcher(grammar->state().compiled);
  state_ =
      std::make_unique<State>(State{.grammar = std::move(grammar), .matcher = std::move(matcher), .limits = limits});
}
Matcher::~Matcher() = default;
Matcher::Matcher(Matcher&&) noexcept = default;
Matcher& Matcher::operator=(Matcher&&) noexcept = default;

template <typename Work>
Status Matcher::timed(StatusCode code, const char* what, Work work) {
  State& state = *state_;
  if (state.broken) return {StatusCode::internal, "the answer's grammar was given up before"};
  const Limits& limits = state.limits;
  const double room =
      limits.match_seconds_start + limits.match_seconds_per_token * static_cast<double>(state.tokens) - state.seconds;
  try {
    Budget budget(room, 0);
    const bool fits = work(state.matcher);
    state.seconds += budget.seconds();
    if (fits) return {};
    return error(code, "the answer's grammar {}", what);
  } catch (const BudgetExceeded&) {
    state.broken = true;
    return error(StatusCode::resource_exhausted,
                 "the answer's grammar is too ambiguous: following {} tokens took more than {:.1f} s", state.tokens,
                 limits.match_seconds_start + limits.match_seconds_per_token * static_cast<double>(state.tokens));
  } catch (const std::exception& fault) {
    state.broken = true;
    return error(StatusCode::internal, "the answer's grammar cannot be followed: {}", cleaned(fault.what()));
  }
}

Status Matcher::fill(std::span<uint32_t> mask) {
  return timed(StatusCode::invalid_argument, "has come to a dead end: a part of it that nothing satisfies was begun",
               [&](xgrammar::GrammarMatcher& matcher) {
                 if (matcher.IsTerminated()) {  // a request may go on behind a stop token: by more of them
                   std::fill(mask.begin(), mask.end(), 0);
                   for (const int id : matcher.GetStopTokenIds())
                     mask[static_cast<size_t>(id) / 32] |= uint32_t{1} << (id % 32);
                   return true;
                 }
                 auto words = static_cast<int64_t>(mask.size());
                 DLTensor tensor{.data = mask.data(),
                                 .device = {kDLCPU, 0},
                                 .ndim = 1,
                                 .dtype = {kDLInt, 32, 1},
                                 .shape = &words,
                                 .strides = nullptr,
                                 .byte_offset = 0};
                 matcher.FillNextTokenBitmask(&tensor);
                 // Bits without an id come back as they please.
                 const size_t ids = state_->grammar->state().compiled.GetTokenizerInfo().GetVocabSize();
                 if (ids % 32 != 0) mask[ids / 32] &= (uint32_t{1} << (ids % 32)) - 1;
                 return std::any_of(mask.begin(), mask.end(), [](uint32_t word) { return word != 0; });
               });
}

Status Matcher::accept(int32_t token) {
  ++state_->tokens;
  return timed(StatusCode::internal, "does not allow a token that was drawn", [&](xgrammar::GrammarMatcher& matcher) {
    if (!matcher.IsTerminated()) return matcher.AcceptToken(token);
    ++state_->after_end;
    return true;
  });
}

Status Matcher::rollback(int64_t tokens) {
  TESSERA_CHECK(tokens >= 0 && tokens <= state_->tokens);
  state_->tokens -= tokens;
  const int64_t after_end = std::min(tokens, state_->after_end);
  state_->after_end -= after_end;
  return timed(StatusCode::internal, "cannot be taken back", [&](xgrammar::GrammarMatcher& matcher) {
    matcher.Rollback(static_cast<int>(tokens - after_end));
    return true;
  });
}

bool Matcher::finished() const { return state_->matcher.IsTerminated(); }

}  // namespace tessera::guide
