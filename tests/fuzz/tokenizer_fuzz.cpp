// tokenizer.json, and texts. The first byte chooses: a file of arbitrary bytes; a valid file with one section replaced
// by arbitrary JSON, which gets further; a text for the bundled tokenizer, which must come back from decoding; ids for
// the streaming detokenizer, which must agree with decoding at once.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include "text/bundled.h"
#include "text/nfc.h"
#include "text/stream_detokenizer.h"
#include "text/tokenizer.h"
#include "text/utf8.h"

namespace {

using tessera::text::Tokenizer;

void require(bool condition) {
  if (!condition) std::abort();
}

const Tokenizer& bundled() {
  static const Tokenizer tokenizer = std::move(*Tokenizer::parse(tessera::text::bundled_tokenizer_json(), "bundled"));
  return tokenizer;
}

void parse(std::string_view json) {
  const auto tokenizer = Tokenizer::parse(json, "tokenizer.json");
  if (!tokenizer.ok()) return require(!tokenizer.status().message().empty());
  require(tokenizer->vocab_size() > 0);
  const auto ids = tokenizer->encode("Hello w\u00f6rld <s> 12\n\n \u4f60\u597d e\u0301");
  if (ids.ok()) (void)tokenizer->decode(*ids, true);
}

/// Sections that small inputs can be: everything around them is valid.
void parse_section(unsigned section, const std::string& json) {
  const auto choose = [&](unsigned wanted, const char* fallback) { return section == wanted ? json : fallback; };
  parse("{\"version\":\"1.0\",\"added_tokens\":" + choose(0, "[]") + ",\"normalizer\":" + choose(1, "null") +
        ",\"pre_tokenizer\":" + choose(2, R"({"type":"ByteLevel","add_prefix_space":false,"use_regex":true})") +
        ",\"post_processor\":" + choose(3, "null") + ",\"decoder\":" + choose(4, "null") +
        ",\"model\":{\"type\":\"BPE\",\"vocab\":" + choose(5, R"({"H":0,"e":1,"l":2,"He":3,"ll":4})") +
        ",\"merges\":" + choose(6, R"([["H","e"],"l l"])") + (section == 7 ? "," + json : "") + "}}");
}

void parse_pattern(std::string_view pattern) {
  std::string quoted;
  for (const char c : pattern) {
    if (c == '"' || c == '\\') quoted += '\\';
    if (static_cast<unsigned char>(c) >= 0x20) quoted += c;
  }
  parse_section(2, R"({"type":"Sequence","pretokenizers":[{"type":"Split","behavior":"Isolated","pattern":{"Regex":")" +
                       quoted + R"("}},{"type":"ByteLevel","add_prefix_space":false,"use_regex":false}]})");
}

void encode(std::string_view text) {
  const auto ids = bundled().encode(text);
  require(ids.ok() == (tessera::text::find_invalid_utf8(text) == std::string_view::npos));
  if (!ids.ok()) return;
  std::string buffer;
  require(bundled().decode(*ids, false) == tessera::text::to_nfc(text, buffer));
}

void stream(std::string_view bytes) {
  std::vector<int32_t> ids;
  for (size_t i = 0; i + 1 < bytes.size(); i += 2) {
    ids.push_back((static_cast<unsigned char>(bytes[i]) << 8 | static_cast<unsigned char>(bytes[i + 1])) % 3100);
  }
  tessera::text::StreamDetokenizer detokenizer(bundled(), true);
  std::string text;
  for (const int32_t id : ids) text += detokenizer.feed(id);
  text += detokenizer.flush();
  require(text == bundled().decode(ids, true));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  const std::string_view rest(reinterpret_cast<const char*>(data) + 1, size - 1);
  const unsigned choice = data[0] % 12;
  if (choice < 8) {
    parse_section(choice, std::string(rest));
  } else if (choice == 8) {
    parse_pattern(rest);
  } else if (choice == 9) {
    encode(rest);
  } else if (choice == 10) {
    stream(rest);
  } else {
    parse(rest);
  }
  return 0;
}
