"""Our changes to xgrammar's sources: xgrammar_changes.py FOLDER. What is changed must be there, exactly once."""

import pathlib
import sys

# The library compiles what clients send, and nothing can stop it once it has begun. ::tessera_guide_poll()
# (src/guide/poll.h) stands where its time goes; an exception from there ends a compilation or a match.
POLLED = [
    # Every byte that is matched, and every state that follows from it; also while masks are computed ahead.
    ("cpp/earley_parser.cc", "bool EarleyParser::Advance(const uint8_t ch, bool debug_print) {\n"),
    ("cpp/earley_parser.cc", "EarleyParser::Predict(\n    const ParserState& state, bool debug_print\n) {\n"),
    # Automata made deterministic.
    ("cpp/fsm.cc", "    for (const auto& interval : intervals) {\n      std::unordered_set<int> next_closure;\n"),
    # A schema read, and written as rules.
    ("cpp/json_schema_converter.cc", "    std::optional<std::string> default_type\n) {\n  std::string cache_key"),
    ("cpp/json_schema_converter.cc", "JSONSchemaConverter::CreateRule(\n    const SchemaSpecPtr& spec, const std::string& rule_name_hint\n) {\n"),
    # Walks over a grammar's expressions.
    ("cpp/grammar_functor.h", "  virtual T VisitExpr(const GrammarExpr& grammar_expr) {\n"),
]

REPLACED = [
    # Strings with minLength or maxLength could hold control characters, which JSON does not allow.
    (
        "cpp/json_schema_converter.cc",
        r"""builder_.AddCharacterClass({{'"', '"'}, {'\\', '\\'}, {'\r', '\r'}, {'\n', '\n'}}, true);""",
        r"""builder_.AddCharacterClass({{0, 0x1f}, {'"', '"'}, {'\\', '\\'}}, true);""",
    ),
    # Numbers beyond what a double holds are JSON, but many readers refuse them.
    (
        "cpp/json_schema_converter.cc",
        "Choice({Empty(), builder_.AddCharacterClass({{'+', '+'}, {'-', '-'}})}),\n            one_or_more_digits}",
        "Choice({Empty(), builder_.AddCharacterClass({{'+', '+'}, {'-', '-'}})}),\n"
        "            Repeat(rule_name + \"_exponent\", builder_.AddCharacterClass({{'0', '9'}}), 1, 2)}",
    ),
    # Halves of UTF-16 pairs counted as characters.
    (
        "cpp/fsm_builder.cc",
        "void AddPackedUTF8RangeEdges(FSM& fsm, int from, int to, uint32_t min, uint32_t max) {\n"
        "  XGRAMMAR_CHECK(min <= max)",
        "void AddPackedUTF8RangeEdges(FSM& fsm, int from, int to, uint32_t min, uint32_t max) {\n"
        "  if (min <= 0xEDBFBF && max >= 0xEDA080) {\n"
        "    if (min < 0xEDA080) AddPackedUTF8RangeEdges(fsm, from, to, min, 0xED9FBF);\n"
        "    if (max > 0xEDBFBF) AddPackedUTF8RangeEdges(fsm, from, to, 0xEE8080, max);\n"
        "    return;\n"
        "  }\n"
        "  XGRAMMAR_CHECK(min <= max)",
    ),
    # So did sequences of bytes that are longer than a character needs, and those beyond Unicode.
    ("cpp/fsm_builder.h", "kMin2BytesUnicode = 0xC080", "kMin2BytesUnicode = 0xC280"),
    ("cpp/fsm_builder.h", "kMin3BytesUnicode = 0xE08080", "kMin3BytesUnicode = 0xE0A080"),
    ("cpp/fsm_builder.h", "kMin4BytesUnicode = 0xF0808080", "kMin4BytesUnicode = 0xF0908080"),
    ("cpp/fsm_builder.h", "kMax4BytesUnicode = 0xF7BFBFBF", "kMax4BytesUnicode = 0xF48FBFBF"),
    # A token that goes on behind the root rule was refused, although another rule may use the root.
    (
        "cpp/grammar_compiler.cc",
        "  auto root_rule_id = compiled_grammar_impl->grammar->GetRootRuleId();\n",
        """  auto root_rule_id = compiled_grammar_impl->grammar->GetRootRuleId();
  {
    const CompactFSM& fsm = compiled_grammar_impl->grammar->complete_fsm;
    bool root_is_used = false;
    for (int state = 0; state < fsm.NumStates(); ++state) {
      for (const auto& edge : fsm.GetEdges(state)) {
        root_is_used = root_is_used || (edge.IsRuleRef() && edge.GetRefRuleId() == root_rule_id) ||
                       (edge.IsRepeatRef() && fsm.GetRepeatEdgeInfo(edge.GetAuxIndex()).RuleId() == root_rule_id);
      }
    }
    if (root_is_used) root_rule_id = -1;
  }
""",
    ),
    # A pattern beyond the automata became rules that let quotes and line breaks into the string.
    (
        "cpp/json_schema_converter.cc",
        "  return AddSubGrammar(Grammar::FromEBNF(RegexToEBNF(regex)));\n",
        '  XGRAMMAR_CHECK(!json_string) << "the pattern " << regex << " cannot be followed inside a JSON string";\n'
        "  return AddSubGrammar(Grammar::FromEBNF(RegexToEBNF(regex)));\n",
    ),
]


def with_poll(text: str) -> str:
    """Behind the first line that ends with a brace."""
    head, brace, rest = text.rpartition("{\n")
    place = text.index("{\n") + 2 if not rest else len(head) + len(brace)
    return text[:place] + "::tessera_guide_poll();\n" + text[place:]


def main() -> None:
    folder = pathlib.Path(sys.argv[1])
    for name, old, new in [(name, old, with_poll(old)) for name, old in POLLED] + REPLACED:
        path = folder / name
        text = path.read_text()
        if text.count(old) != 1:
            sys.exit(f"{path}: found {text.count(old)} times, expected once: {old!r}")
        path.write_text(text.replace(old, new))


main()
