#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "base/status.h"
#include "tessera/grammar.h"

namespace tessera::guide {

/// Where JSON may have white space, so many bytes of it: an indented answer needs what it is deep, and a model that has
/// begun to write nothing but spaces must come to an end.
inline constexpr int kWhiteSpaceMax = 32;

/// What is compiled, and at which cost. Exceeding one is an error that names it.
struct Limits {
  size_t source_bytes_max = size_t{1} << 20;
  size_t regex_bytes_max = size_t{1} << 16;
  size_t choices_max = 4096;
  int depth_max = 64;                          // levels of lists and objects in JSON, of brackets in a regex or grammar
  double compile_seconds_max = 10;             // of one core
  size_t compile_bytes_max = size_t{1} << 30;  // that the process may grow by meanwhile
  size_t grammar_bytes_max = size_t{256} << 20;  // of one compiled grammar
  size_t cache_bytes_max = size_t{512} << 20;    // of all that are kept
  // A choice whose matching takes more is ended: a start, and so much for each token.
  double match_seconds_start = 2;
  double match_seconds_per_token = 0.002;
};

/// Sizes and depths, before anything is read.
Status check_source(const GrammarSource& source, const Limits& limits);

/// `schema` as xgrammar must see it to follow all of it: what it would pass over in silence is written so that it does
/// not, or refused. An error names the keyword and its place.
///
///  - keywords of one type without "type": the type is added (other types would be valid too; an answer is one of them)
///  - "required" names beyond "properties" become properties; objects and arrays that say nothing of their contents are
///    open, other objects are closed unless additionalProperties opens them
///  - refused: not, if, then, else, dependentRequired, dependentSchemas, uniqueItems, contains, allOf of several,
///    and, beside $ref, const, enum, anyOf, oneOf or allOf, other keywords that restrict
Expected<std::string> prepare_schema(const std::string& schema, const Limits& limits);

/// A structural tag, in xgrammar's form or with "structures" and "triggers" as vLLM takes it, its schemas prepared.
Expected<std::string> prepare_structural_tag(const std::string& tag, const Limits& limits);

/// The structural tag of a choice among texts.
std::string choice_tag(const std::vector<std::string>& choices);

}  // namespace tessera::guide
