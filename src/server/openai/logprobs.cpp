#include "server/openai/logprobs.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <string_view>

#include "server/request/json_text.h"

namespace tessera::server::openai {
namespace {

constexpr float kLeastLogprob = -9999;

void append_logprob(float logprob, std::string& out) {
  fmt::format_to(std::back_inserter(out), "{}", logprob >= kLeastLogprob && logprob <= 0 ? logprob : kLeastLogprob);
}

void append_token(std::string_view bytes, float logprob, std::string& out) {
  out += R"({"token":)";
  append_string(bytes, out);
  out += R"(,"logprob":)";
  append_logprob(logprob, out);
  out += R"(,"bytes":)";
  if (bytes.empty()) {
    out += "null";
  } else {
    for (size_t i = 0; i < bytes.size(); ++i) {
      out += i == 0 ? '[' : ',';
      const fmt::format_int number(static_cast<unsigned char>(bytes[i]));
      out.append(number.data(), number.size());
    }
    out += ']';
  }
}

int64_t code_points(std::string_view bytes) {
  return std::ranges::count_if(bytes, [](char c) { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; });
}

void comma(std::string& out) {
  if (!out.empty()) out += ',';
}

}  // namespace

void append_chat_logprob(const std::vector<TokenLogprob>& entry, const TokenBytes& token_bytes, std::string& out) {
  if (entry.empty()) return;
  append_token(token_bytes(entry[0].token), entry[0].logprob, out);
  out += R"(,"top_logprobs":[)";
  for (size_t i = 1; i < entry.size(); ++i) {
    if (i > 1) out += ',';
    append_token(token_bytes(entry[i].token), entry[i].logprob, out);
    out += '}';
  }
  out += "]}";
}

void LegacyLogprobs::add(int32_t token, const std::vector<TokenLogprob>& entry, const TokenBytes& token_bytes,
                         int64_t& offset) {
  const std::string bytes = token_bytes(token);
  comma(tokens);
  append_string(bytes, tokens);
  comma(text_offset);
  text_offset += std::to_string(offset);
  offset += code_points(bytes);
  comma(token_logprobs);
  comma(top_logprobs);
  if (entry.empty()) {
    token_logprobs += "null";
    top_logprobs += "null";
    return;
  }
  append_logprob(entry[0].logprob, token_logprobs);
  // Different tokens may have the same text here, and a key may be there only once: the likelier counts.
  std::set<std::string> seen;
  top_logprobs += '{';
  for (const TokenLogprob& alternative : entry) {
    std::string text;
    append_string(token_bytes(alternative.token), text);
    if (!seen.insert(text).second) continue;
    if (seen.size() > 1) top_logprobs += ',';
    top_logprobs += text + ":";
    append_logprob(alternative.logprob, top_logprobs);
  }
  top_logprobs += '}';
}

std::string prompt_logprobs_json(const std::vector<std::vector<TokenLogprob>>& prompt, const TokenBytes& token_bytes) {
  std::string out = "[";
  for (size_t i = 0; i < prompt.size(); ++i) {
    if (i > 0) out += ',';
    if (prompt[i].empty()) {
      out += "null";
      continue;
    }
    std::set<int32_t> seen;
    for (const TokenLogprob& alternative : prompt[i]) {
      if (!seen.insert(alternative.token).second) continue;
      out += seen.size() == 1 ? '{' : ',';
      fmt::format_to(std::back_inserter(out), R"("{}":{{"logprob":)", alternative.token);
      append_logprob(alternative.logprob, out);
      fmt::format_to(std::back_inserter(out), R"(,"rank":{},"decoded_token":)", alternative.rank);
      append_string(token_bytes(alternative.token), out);
      out += '}';
    }
    out += '}';
  }
  return out + "]";
}

}  // namespace tessera::server::openai
