#include "text/dialect/python_literal.h"

#include <array>
#include <charconv>
#include <string>
#include <utility>

#include "text/dialect/tag_scan.h"
#include "text/utf8.h"

namespace tessera::text {
namespace {

using Json = nlohmann::ordered_json;

constexpr int kMaxDepth = 64;

/// Recursive descent; every function returns nullopt at the first fault.
class PythonLiteral {
 public:
  explicit PythonLiteral(std::string_view text) : text_(text) {}

  std::optional<Json> whole() {
    auto result = value(0);
    skip();
    return at_ == text_.size() ? result : std::nullopt;
  }

 private:
  void skip() { at_ = skip_white_space(text_, at_); }

  bool take(std::string_view token) {
    skip();
    if (!text_.substr(at_).starts_with(token)) return false;
    at_ += token.size();
    return true;
  }

  std::optional<Json> value(int depth) {
    if (depth > kMaxDepth) return std::nullopt;
    skip();
    if (at_ == text_.size()) return std::nullopt;
    switch (text_[at_]) {
      case '{': return dict(depth);
      case '[': return sequence('[', ']', depth);
      case '(': return sequence('(', ')', depth);
      case '\'':
      case '"': return string();
      default: break;
    }
    static const std::array<std::pair<std::string_view, Json>, 6> kWords = {
        {{"True", true}, {"False", false}, {"None", nullptr}, {"true", true}, {"false", false}, {"null", nullptr}}};
    for (const auto& [word, meaning] : kWords) {
      if (take(word)) return meaning;
    }
    return number();
  }

  std::optional<Json> number() {
    const size_t end = text_.find_first_not_of("0123456789+-.eE_", at_);
    std::string digits;
    for (const char c : text_.substr(at_, end == std::string_view::npos ? end : end - at_)) {
      if (c != '_') digits += c;
    }
    const char* first = digits.data() + (digits.starts_with('+') ? 1 : 0);
    const char* last = digits.data() + digits.size();
    at_ = end == std::string_view::npos ? text_.size() : end;
    int64_t integer = 0;
    if (const auto [stop, fault] = std::from_chars(first, last, integer); fault == std::errc() && stop == last) {
      return Json(integer);
    }
    double real = 0;
    const auto [stop, fault] = std::from_chars(first, last, real);
    if (fault != std::errc() || stop != last) return std::nullopt;
    return Json(real);
  }

  std::optional<Json> sequence(char open, char close, int depth) {
    Json items = Json::array();
    ++at_;
    bool comma = false;
    while (!take({&close, 1})) {
      if (!items.empty() && !comma) return std::nullopt;
      auto item = value(depth + 1);
      if (!item) return std::nullopt;
      items.push_back(std::move(*item));
      comma = take(",");
    }
    // "(x)" is x; "(x,)" is a tuple of one.
    if (open == '(' && items.size() == 1 && !comma) return items[0];
    return items;
  }

  std::optional<Json> dict(int depth) {
    Json object = Json::object();
    ++at_;
    bool comma = true;
    while (!take("}")) {
      if (!comma) return std::nullopt;
      skip();
      if (at_ == text_.size() || (text_[at_] != '\'' && text_[at_] != '"')) return std::nullopt;
      const auto key = string();
      if (!key || !take(":")) return std::nullopt;
      auto item = value(depth + 1);
      if (!item) return std::nullopt;
      object[key->get<std::string>()] = std::move(*item);
      comma = take(",");
    }
    return object;
  }

  std::optional<Json> string() {
    const char quote = text_[at_++];
    std::string result;
    for (; at_ < text_.size(); ++at_) {
      const char c = text_[at_];
      if (c == quote) {
        ++at_;
        return Json(result);
      }
      if (c == '\n') return std::nullopt;
      if (c != '\\') {
        result += c;
      } else if (!escape(result)) {
        return std::nullopt;
      }
    }
    return std::nullopt;
  }

  bool escape(std::string& result) {
    static constexpr std::string_view kNames = "nrtbf\\'\"/0";
    static constexpr std::string_view kValues("\n\r\t\b\f\\'\"/\0", 10);
    if (++at_ >= text_.size()) return false;
    const char c = text_[at_];
    if (const size_t known = kNames.find(c); known != std::string_view::npos) {
      result += kValues[known];
      return true;
    }
    const size_t digits = c == 'x' ? 2 : c == 'u' ? 4 : c == 'U' ? 8 : 0;
    if (digits == 0) {  // Python keeps an unknown escape as it stands
      result += '\\';
      result += c;
      return true;
    }
    if (at_ + digits >= text_.size()) return false;
    uint32_t code = 0;
    const char* first = text_.data() + at_ + 1;
    const auto [stop, fault] = std::from_chars(first, first + digits, code, 16);
    if (fault != std::errc() || stop != first + digits) return false;
    if (code > 0x10ffff || (code >= 0xd800 && code <= 0xdfff)) return false;
    at_ += digits;
    append_code_point(code, result);
    return true;
  }

  std::string_view text_;
  size_t at_ = 0;
};

}  // namespace

std::optional<nlohmann::ordered_json> parse_python_literal(std::string_view text) {
  return PythonLiteral(text).whole();
}

}  // namespace tessera::text
