#include "text/dialect/tool_call_parser.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <initializer_list>
#include <nlohmann/json.hpp>
#include <utility>

#include "text/dialect/dialect.h"
#include "text/dialect/python_literal.h"
#include "text/dialect/tag_scan.h"

namespace tessera::text {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::string_view kToolCall = dialect::kCallOpen;
constexpr std::string_view kToolCallEnd = dialect::kCallClose;
constexpr std::string_view kFunction = dialect::kFunctionOpen;
constexpr std::string_view kFunctionEnd = dialect::kFunctionClose;
constexpr std::string_view kParameter = dialect::kParameterOpen;
constexpr std::string_view kParameterEnd = dialect::kParameterClose;

// As much of a tag as no plain text begins with.
constexpr std::string_view kToolCallStart = kToolCall.substr(0, 6);
constexpr std::string_view kFunctionStart = kFunction.substr(0, 6);

constexpr int kJsonDepthMax = 64;

/// `text` as the inside of a JSON string. Bytes above 0x7f pass: the text is valid UTF-8.
std::string escape(std::string_view text) {
  std::string result;
  for (const char c : text) {
    switch (c) {
      case '"': result += "\\\""; break;
      case '\\': result += "\\\\"; break;
      case '\n': result += "\\n"; break;
      case '\r': result += "\\r"; break;
      case '\t': result += "\\t"; break;
      default:
        if (static_cast<unsigned char>(c) < 0x20) {
          static constexpr std::string_view kHex = "0123456789abcdef";
          result += "\\u00";
          result += kHex[static_cast<unsigned char>(c) >> 4];
          result += kHex[static_cast<unsigned char>(c) & 15];
        } else {
          result += c;
        }
    }
  }
  return result;
}

std::string json_string(std::string_view text) { return '"' + escape(text) + '"'; }

bool equals_ignoring_case(std::string_view a, std::string_view b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](char x, char y) {
    return (x >= 'A' && x <= 'Z' ? x + 32 : x) == (y >= 'A' && y <= 'Z' ? y + 32 : y);
  });
}

/// "+007" -> "7"; empty if it is not an integer. Any length: JSON integers have no limit.
std::string integer_text(std::string_view text) {
  const bool negative = text.starts_with('-');
  if (negative || text.starts_with('+')) text.remove_prefix(1);
  if (text.empty() || text.find_first_not_of("0123456789") != std::string_view::npos) return {};
  text.remove_prefix(std::min(text.find_first_not_of('0'), text.size() - 1));
  return (negative && text != "0" ? "-" : "") + std::string(text);
}

/// An integral number as an integer, another as itself; empty if it is not a finite number.
std::string number_text(std::string_view text) {
  if (std::string integer = integer_text(text); !integer.empty()) return integer;
  if (text.starts_with('+')) text.remove_prefix(1);
  double value = 0;
  const auto [stop, fault] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (fault != std::errc() || stop != text.data() + text.size() || !std::isfinite(value)) return {};
  if (value == std::floor(value) && std::abs(value) < 0x1p53) return std::to_string(static_cast<int64_t>(value));
  return Json(value).dump();
}

/// Deep input is refused before the parser sees it: destroying a deep value recurses.
bool nests_deeper(std::string_view text, int limit) {
  int depth = 0;
  for (const char c : text) {
    depth += c == '[' || c == '{' || c == '(' ? 1 : c == ']' || c == '}' || c == ')' ? -1 : 0;
    if (depth > limit) return true;
  }
  return false;
}

/// Numbers so long that reading and writing them would change them: 33757768962231200000000
/// became 3.37577689622312e+22, which is no integer.
bool has_long_number(std::string_view text) {
  constexpr int kDigitsMax = 15;  // that a double keeps
  int digits = 0;
  for (const char c : text) {
    digits = c >= '0' && c <= '9' ? digits + 1 : 0;
    if (digits > kDigitsMax) return true;
  }
  return false;
}

std::string json_text(std::string_view text) {
  if (nests_deeper(text, kJsonDepthMax)) return {};
  const Json value = Json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (!value.is_discarded()) return has_long_number(text) ? std::string(trimmed(text)) : value.dump();
  const auto literal = parse_python_literal(text);
  return literal ? literal->dump(-1, ' ', false, Json::error_handler_t::replace) : std::string();
}

/// The JSON text of a complete value.
std::string convert(const ToolParameter& parameter, std::string_view text) {
  const std::string_view word = trimmed(text);
  if ((parameter.nullable || parameter.type != ParameterType::string) && (word == "null" || word == "None")) {
    return "null";
  }
  std::string converted;
  switch (parameter.type) {
    case ParameterType::string: break;
    case ParameterType::integer: {
      const std::string number = number_text(word);
      if (!integer_text(number).empty()) converted = number;
      break;
    }
    case ParameterType::number: converted = number_text(word); break;
    case ParameterType::boolean:
      if (equals_ignoring_case(word, "true")) converted = "true";
      if (equals_ignoring_case(word, "false")) converted = "false";
      break;
    case ParameterType::json: converted = json_text(text); break;
  }
  return converted.empty() ? json_string(text) : converted;
}

/// A name that ends with '>' from `at` on: its end, npos if there is none, or nullopt while it may still come.
std::optional<size_t> name_end(std::string_view text, size_t at, bool at_end) {
  const size_t end = text.find_first_of(">\n<", at);
  if (end != std::string_view::npos) {
    return text[end] == '>' && end > at && end - at <= dialect::kNameLengthMax ? end : std::string_view::npos;
  }
  if (at_end || text.size() - at > dialect::kNameLengthMax) return std::string_view::npos;
  return std::nullopt;
}

}  // namespace

ToolCallParser::Piece ToolCallParser::feed(std::string_view text) {
  Piece piece;
  held_ += text;
  run(piece);
  return piece;
}

ToolCallParser::Piece ToolCallParser::finish(bool cut) {
  Piece piece;
  if (cut && inside_call()) {
    // "" would be read as no arguments.
    if (given_.empty()) emit_arguments("{", piece);
    return piece;
  }
  const bool opens_call = held_.starts_with(kToolCallStart) || held_.starts_with(kFunctionStart);
  if (cut && (opens_call || (state_ == State::after_call && tool_ != nullptr))) held_.clear();
  at_end_ = true;
  run(piece);
  if (state_ == State::value) close_value(piece);
  if (state_ == State::value || state_ == State::body) close_call(piece);
  if (calls_ == 0) piece.content += std::exchange(white_space_, {});
  return piece;
}

/// Each step takes from held_ what is certain and says whether to go on.
void ToolCallParser::run(Piece& piece) {
  for (bool more = true; more;) {
    switch (state_) {
      case State::content: more = step_content(piece); break;
      case State::body: more = step_body(piece); break;
      case State::value: more = step_value(piece); break;
      case State::after_call: more = step_after_call(piece); break;
    }
  }
}

const ToolSchema* ToolCallParser::find_tool(std::string_view name) const {
  const auto it = std::find_if(tools_.begin(), tools_.end(), [&](const ToolSchema& t) { return t.name == name; });
  return it == tools_.end() ? nullptr : &*it;
}

/// Drops what was read of a call, or lets it through where the call is text.
void ToolCallParser::take(size_t length, Piece& piece) {
  length = std::min(length, held_.size());
  if (tool_ == nullptr) emit_content(std::string_view(held_).substr(0, length), piece);
  held_.erase(0, length);
}

void ToolCallParser::emit_content(std::string_view text, Piece& piece) {
  if (text.empty()) return;
  const size_t last = text.find_last_not_of(kWhiteSpace);
  if (last == std::string_view::npos) {
    white_space_ += text;
  } else {
    piece.content += white_space_;
    piece.content += text.substr(0, last + 1);
    white_space_ = text.substr(last + 1);
  }
  content_line_start_ = text.back() == '\n';
}

void ToolCallParser::emit_arguments(std::string_view fragment, Piece& piece) {
  if (tool_ == nullptr) return;
  if (piece.calls.empty() || piece.calls.back().index != calls_ - 1) piece.calls.push_back({.index = calls_ - 1});
  piece.calls.back().arguments += fragment;
}

bool ToolCallParser::step_content(Piece& piece) {
  const size_t tag = held_.find('<');
  emit_content(std::string_view(held_).substr(0, tag), piece);
  held_.erase(0, tag);
  if (held_.empty()) return false;
  if (const auto begun = try_function(0, /*wrapped=*/false, piece); !begun || *begun) return begun.has_value();
  Match wrapped = match_at(held_, 0, kToolCall);
  if (wrapped == Match::yes) {
    const size_t function = skip_white_space(held_, kToolCall.size());
    wrapped = match_after_gap(held_, kToolCall.size(), kFunction);
    if (wrapped == Match::yes) {
      if (const auto begun = try_function(function, /*wrapped=*/true, piece); !begun || *begun)
        return begun.has_value();
      wrapped = Match::no;
    }
  }
  if (wrapped == Match::undecided && !at_end_) return false;
  emit_content(held_.substr(0, 1), piece);
  held_.erase(0, 1);
  return true;
}

/// A `<function=NAME>` at held_[at...] begins a call: true; something else: false; nullopt while it may still become
/// one. Unwrapped, only the start of a line counts. A call of an unknown tool is text to its end: what its arguments
/// quote is no call either.
std::optional<bool> ToolCallParser::try_function(size_t at, bool wrapped, Piece& piece) {
  if (!wrapped && !content_line_start_) return false;
  const Match match = match_at(held_, at, kFunction);
  if (match == Match::undecided && !at_end_) return std::nullopt;
  if (match != Match::yes) return false;
  const auto end = name_end(held_, at + kFunction.size(), at_end_);
  if (!end) return std::nullopt;
  if (*end == std::string_view::npos) return false;
  const std::string name(
      bare_name(std::string_view(held_).substr(at + kFunction.size(), *end - at - kFunction.size())));
  tool_ = find_tool(name);
  take(*end + 1, piece);
  given_.clear();
  state_ = State::body;
  if (tool_ == nullptr) return true;
  white_space_.clear();
  piece.calls.push_back({.index = calls_++, .name = name});
  return true;
}

/// Between parameters: the next parameter, the call's end, or stray text, which is dropped.
bool ToolCallParser::step_body(Piece& piece) {
  take(held_.find('<'), piece);
  if (held_.empty()) return false;
  for (const std::string_view tag : {kParameter, kFunctionEnd, kToolCallEnd, kToolCall, kFunction}) {
    const Match match = match_at(held_, 0, tag);
    if (match == Match::undecided && !at_end_) return false;
    if (match != Match::yes) continue;
    if (tag == kParameter) return open_parameter(piece);
    close_call(piece);
    // A call that ends for want of its closer leaves the tag to what follows.
    if (tag == kFunctionEnd) take(tag.size(), piece);
    return true;
  }
  take(1, piece);
  return true;
}

bool ToolCallParser::open_parameter(Piece& piece) {
  const auto end = name_end(held_, kParameter.size(), at_end_);
  if (!end) return false;
  if (*end == std::string_view::npos) {
    take(1, piece);
    return true;
  }
  const std::string name(bare_name(std::string_view(held_).substr(kParameter.size(), *end - kParameter.size())));
  take(*end + 1, piece);
  parameter_ = {.name = name};
  if (tool_ != nullptr) {
    for (const ToolParameter& known : tool_->parameters) {
      if (known.name == name) parameter_ = known;
    }
  }
  discard_ = std::find(given_.begin(), given_.end(), name) != given_.end();
  if (!discard_) {
    emit_arguments((given_.empty() ? "{" : ", ") + json_string(name) + ": ", piece);
    given_.push_back(name);
  }
  value_.clear();
  line_break_.clear();
  value_is_new_ = value_is_empty_ = true;
  state_ = State::value;
  if (!discard_ && parameter_.type == ParameterType::string && !parameter_.nullable) emit_arguments("\"", piece);
  return true;
}

bool ToolCallParser::at_line_start(size_t at) const {
  // Before held_ came the line break that add_value keeps back, or nothing of the value.
  return at == 0 ? (!line_break_.empty() || value_is_empty_) : held_[at - 1] == '\n';
}

/// Does the value end at held_[at...]? 1: at a `</parameter>`, which belongs to it; 2: before another tag that stands
/// in for a missing one; 0: no; -1: more text is needed.
int ToolCallParser::value_end(size_t at) const {
  const auto follows = [&](size_t from, std::initializer_list<std::string_view> tags) {
    if (skip_white_space(held_, from) == held_.size()) {
      if (at_end_) return Match::yes;
      return held_.size() - from > kMaxGap ? Match::no : Match::undecided;
    }
    bool undecided = false;
    for (const std::string_view tag : tags) {
      const Match match = match_after_gap(held_, from, tag);
      if (match == Match::yes) return Match::yes;
      undecided |= match == Match::undecided;
    }
    // Text that breaks off inside such a tag broke off inside the form, not inside the value.
    if (undecided) return at_end_ ? Match::yes : Match::undecided;
    return Match::no;
  };
  const auto answer = [](Match match, int yes) { return match == Match::yes ? yes : match == Match::no ? 0 : -1; };

  const Match parameter_end = match_at(held_, at, kParameterEnd);
  if (parameter_end == Match::yes) {
    return answer(follows(at + kParameterEnd.size(), {kParameter, kFunctionEnd, kToolCallEnd}), 1);
  }
  bool undecided = parameter_end == Match::undecided;
  if (at_line_start(at)) {
    const Match function_end = match_at(held_, at, kFunctionEnd);
    if (function_end == Match::yes) {
      return answer(follows(at + kFunctionEnd.size(), {kToolCallEnd, kToolCall, kFunction}), 2);
    }
    const Match call_end = match_at(held_, at, kToolCallEnd);
    if (call_end == Match::yes) return answer(follows(at + kToolCallEnd.size(), {kToolCall}), 2);
    const Match parameter = match_at(held_, at, kParameter);
    if (parameter == Match::yes) {
      const auto end = name_end(held_, at + kParameter.size(), at_end_);
      if (!end) return -1;
      if (*end == std::string_view::npos || tool_ == nullptr) return 0;
      const auto name =
          bare_name(std::string_view(held_).substr(at + kParameter.size(), *end - at - kParameter.size()));
      const bool known = std::any_of(tool_->parameters.begin(), tool_->parameters.end(),
                                     [&](const ToolParameter& p) { return p.name == name; });
      const bool given = std::find(given_.begin(), given_.end(), name) != given_.end();
      return known && !given ? 2 : 0;
    }
    for (const Match match : {function_end, call_end, parameter}) undecided |= match == Match::undecided;
  }
  return undecided && !at_end_ ? -1 : 0;
}

bool ToolCallParser::step_value(Piece& piece) {
  size_t at = 0;
  for (;;) {
    at = held_.find('<', at);
    if (at == std::string::npos) {
      // A lone carriage return could be half a line break: it waits.
      const size_t safe = held_.ends_with('\r') && !at_end_ ? held_.size() - 1 : held_.size();
      add_value(std::string_view(held_).substr(0, safe), piece);
      take(safe, piece);
      return false;
    }
    const int end = value_end(at);
    if (end == 0) {
      ++at;
      continue;
    }
    add_value(std::string_view(held_).substr(0, at), piece);
    take(at, piece);
    if (end < 0) return false;
    if (end == 1) take(kParameterEnd.size(), piece);
    close_value(piece);
    state_ = State::body;
    return true;
  }
}

/// Takes text that certainly belongs to the value, but for its last line break.
void ToolCallParser::add_value(std::string_view text, Piece& piece) {
  if (text.empty()) return;
  std::string whole = std::exchange(line_break_, {}) + std::string(text);
  if (value_is_new_) {
    // One line break after the opening tag is form, not value.
    whole.erase(0, whole.starts_with("\r\n") ? 2 : whole.starts_with('\n') ? 1 : 0);
    value_is_new_ = false;
  }
  value_is_empty_ &= whole.empty();
  const size_t tail = whole.ends_with("\r\n") ? 2 : whole.ends_with('\n') ? 1 : 0;
  line_break_ = whole.substr(whole.size() - tail);
  whole.erase(whole.size() - tail);
  if (discard_) return;
  if (parameter_.type == ParameterType::string && !parameter_.nullable) {
    if (!whole.empty()) emit_arguments(escape(whole), piece);
  } else {
    value_ += whole;
  }
}

void ToolCallParser::close_value(Piece& piece) {
  line_break_.clear();
  if (discard_) return;
  if (parameter_.type == ParameterType::string && !parameter_.nullable) {
    emit_arguments("\"", piece);
  } else {
    emit_arguments(convert(parameter_, value_), piece);
  }
}

void ToolCallParser::close_call(Piece& piece) {
  emit_arguments(given_.empty() ? "{}" : "}", piece);
  state_ = State::after_call;
}

/// After a call: the wrapper's end, another call in the same wrapper, or content.
bool ToolCallParser::step_after_call(Piece& piece) {
  take(skip_white_space(held_, 0), piece);
  if (held_.empty()) return false;
  if (const auto begun = try_function(0, /*wrapped=*/true, piece); !begun || *begun) return begun.has_value();
  const Match end = match_at(held_, 0, kToolCallEnd);
  if (end == Match::undecided && !at_end_) return false;
  if (end == Match::yes) take(kToolCallEnd.size(), piece);
  content_line_start_ = true;
  state_ = State::content;
  return true;
}

}  // namespace tessera::text
