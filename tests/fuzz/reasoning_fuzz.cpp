// The reasoning parser on any bytes: the result does not depend on the cuts, and nothing is invented.
#include <cstdlib>
#include <string>

#include "cuts.h"
#include "text/dialect/reasoning_parser.h"

namespace {

struct Parsed {
  std::string reasoning, content;
  bool operator==(const Parsed&) const = default;
};

Parsed parse(bool inside, const std::vector<std::string_view>& pieces) {
  tessera::text::ReasoningParser parser(inside);
  Parsed all;
  const auto take = [&all](const tessera::text::ReasoningParser::Piece& piece) {
    all.reasoning += piece.reasoning;
    all.content += piece.content;
  };
  for (const std::string_view piece : pieces) take(parser.feed(piece));
  take(parser.finish());
  return all;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const auto input = tessera::fuzz::read_cut_text(data, size);
  const bool inside = (input.options & 1) != 0;
  const Parsed whole = parse(inside, {input.text});
  if (parse(inside, input.pieces) != whole) std::abort();
  if (parse(inside, tessera::fuzz::single_bytes(input.text)) != whole) std::abort();
  if (whole.reasoning.size() + whole.content.size() > input.text.size()) std::abort();
  if (!input.text.ends_with(whole.content)) std::abort();
  return 0;
}
