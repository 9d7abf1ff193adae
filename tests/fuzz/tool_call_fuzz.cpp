// The tool-call parser on any text: the result does not depend on the cuts, deltas come in order, and arguments are
// JSON objects.
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <string>

#include "cuts.h"
#include "text/dialect/answer_scope.h"
#include "text/dialect/tool_call_parser.h"
#include "text/utf8.h"

namespace {

using tessera::text::ParameterType;
using tessera::text::ToolCallParser;

struct Call {
  std::string name, arguments;
  bool operator==(const Call&) const = default;
};
struct Parsed {
  std::string content;
  std::vector<Call> calls;
  bool operator==(const Parsed&) const = default;
};

const std::vector<tessera::text::ToolSchema>& tools() {
  static const std::vector<tessera::text::ToolSchema> kTools = {{"f",
                                                                 {{"s"},
                                                                  {"t", ParameterType::string, true},
                                                                  {"i", ParameterType::integer},
                                                                  {"n", ParameterType::number, true},
                                                                  {"b", ParameterType::boolean},
                                                                  {"j", ParameterType::json}}},
                                                                {"g", {}}};
  return kTools;
}

Parsed parse(const std::vector<std::string_view>& pieces, bool cut = false) {
  ToolCallParser parser(tools());
  Parsed all;
  const auto take = [&all](const ToolCallParser::Piece& piece) {
    all.content += piece.content;
    for (const ToolCallParser::CallDelta& delta : piece.calls) {
      const auto index = static_cast<size_t>(delta.index);
      if (index == all.calls.size()) {
        if (delta.name.empty()) std::abort();
        all.calls.push_back({delta.name, ""});
      } else if (index + 1 != all.calls.size() || !delta.name.empty()) {
        std::abort();
      }
      all.calls[index].arguments += delta.arguments;
    }
  };
  for (const std::string_view piece : pieces) take(parser.feed(piece));
  take(parser.finish(cut));
  return all;
}

/// What of the text is the answer that a user reads.
std::string answer_of(const std::vector<std::string_view>& pieces, std::string_view text) {
  tessera::text::AnswerScope scope(/*thinking=*/false, {"f", "g"});
  std::string answer;
  std::string all;
  const auto take = [&](const std::vector<tessera::text::AnswerScope::Piece>& found) {
    for (const auto& piece : found) {
      all += piece.text;
      if (piece.answer) answer += piece.text;
    }
  };
  for (const std::string_view piece : pieces) take(scope.feed(piece));
  take(scope.finish());
  if (all != text) std::abort();
  return answer;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  auto input = tessera::fuzz::read_cut_text(data, size);
  // A model's text is UTF-8; the cuts need not respect it.
  std::string text;
  tessera::text::append_lossy_utf8(input.text, text);
  if (text != input.text) input.pieces = {text};
  const Parsed whole = parse({text});
  if (parse(input.pieces) != whole) std::abort();
  if (parse(tessera::fuzz::single_bytes(text)) != whole) std::abort();
  for (const Call& call : whole.calls) {
    const auto arguments = nlohmann::json::parse(call.arguments, nullptr, false);
    if (!arguments.is_object()) std::abort();
  }
  // A call that is cut must not look whole.
  const Parsed cut = parse({text}, /*cut=*/true);
  for (size_t i = 0; i < cut.calls.size(); ++i) {
    const auto arguments = nlohmann::json::parse(cut.calls[i].arguments, nullptr, false);
    if (!arguments.is_object() && (i + 1 < cut.calls.size() || !arguments.is_discarded())) std::abort();
  }
  if (answer_of(input.pieces, text) != answer_of({text}, text)) std::abort();
  return 0;
}
