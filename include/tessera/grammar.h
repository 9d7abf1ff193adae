#pragma once

#include <memory>
#include <string>
#include <vector>

namespace tessera {

namespace guide {
class Grammar;
}  // namespace guide

/// What an answer must be.
struct GrammarSource {
  enum class Kind {
    json_object,     // any JSON object
    json_schema,     // JSON that `text`, a JSON schema, allows
    regex,           // all of the answer matches `text`
    choice,          // one of `choices`
    grammar,         // `text` is EBNF with a rule "root", or Lark with a rule "start" where no line has "::="
    structural_tag,  // free text with parts that are not; `text` is JSON, as xgrammar and vLLM take it
  };
  Kind kind = Kind::json_object;
  std::string text = {};
  std::vector<std::string> choices = {};
  bool any_whitespace = true;  // between the tokens of JSON; false: it is on one line, with ", " and ": "
};

/// Compiled for one model; see Engine::compile. Copies share it, and any thread may use them.
using CompiledGrammar = std::shared_ptr<const guide::Grammar>;

}  // namespace tessera
