#include "server/responses/call_input.h"

#include <nlohmann/json.hpp>

#include "server/responses/tool_fields.h"

namespace tessera::server::responses {
namespace {

/// How the arguments begin, as text::ToolCallParser writes them.
const std::string kBeginning = std::string("{\"") + kCustomInput + "\": \"";

/// The bytes of the escape at the beginning of `text`; 0: it is not whole yet. Two halves of a code point are one.
size_t escape_bytes(std::string_view text) {
  if (text.size() < 2) return 0;
  if (text[1] != 'u') return 2;
  const bool pair = text.size() > 3 && (text[2] == 'd' || text[2] == 'D') &&
                    std::string_view("89abAB").find(text[3]) != std::string_view::npos;
  const size_t bytes = pair ? 12 : 6;
  return text.size() < bytes ? 0 : bytes;
}

}  // namespace

std::string CallInput::feed(std::string_view arguments) {
  arguments_ += arguments;
  if (state_ == State::before) {
    const size_t common = std::min(arguments_.size(), kBeginning.size());
    if (arguments_.compare(0, common, kBeginning, 0, common) != 0) state_ = State::other;
    if (state_ == State::before && common == kBeginning.size()) {
      state_ = State::inside;
      read_ = common;
    }
  }
  std::string text;
  while (state_ == State::inside && read_ < arguments_.size()) {
    const std::string_view rest = std::string_view(arguments_).substr(read_);
    if (rest[0] == '"') {
      state_ = State::after;
    } else if (rest[0] != '\\') {
      const size_t plain = std::min(rest.find_first_of("\"\\"), rest.size());
      text += rest.substr(0, plain);
      read_ += plain;
    } else if (const size_t bytes = escape_bytes(rest); bytes > 0) {
      const auto read = nlohmann::json::parse('"' + std::string(rest.substr(0, bytes)) + '"', nullptr, false);
      if (read.is_string()) text += read.get_ref<const std::string&>();
      read_ += bytes;
    } else {
      break;
    }
  }
  text_ += text;
  return text;
}

std::string CallInput::whole() const {
  if (state_ == State::inside || state_ == State::after) return text_;
  const auto all = nlohmann::json::parse(arguments_, nullptr, false);
  if (!all.is_object()) return arguments_;
  const auto given = all.contains(kCustomInput) ? all.find(kCustomInput) : all.begin();
  const bool is_it = !all.empty() && (all.size() == 1 || all.contains(kCustomInput)) && given->is_string();
  return is_it ? given->get<std::string>() : arguments_;
}

}  // namespace tessera::server::responses
