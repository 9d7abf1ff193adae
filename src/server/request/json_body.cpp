#include "server/request/json_body.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <string>
#include <vector>

#include "server/request/json_text.h"

namespace tessera::server {
namespace {

/// Builds the value as it is read. False from a member function ends the reading; `error` says why.
class Builder final : public nlohmann::json_sax<Json> {
 public:
  Builder(const RequestLimits& limits, Json& root) : limits_(limits), root_(root) {}

  std::string error;

  bool null() override { return add(nullptr) != nullptr; }
  bool boolean(bool value) override { return add(value) != nullptr; }
  bool number_integer(number_integer_t value) override { return add(value) != nullptr; }
  bool number_unsigned(number_unsigned_t value) override { return add(value) != nullptr; }
  bool number_float(number_float_t value, const string_t& /*text*/) override { return add(value) != nullptr; }
  bool string(string_t& value) override { return add(std::move(value)) != nullptr; }
  bool binary(binary_t& /*value*/) override { return fail("binary data is not JSON"); }
  bool start_object(size_t /*size*/) override { return open(Json::object()); }
  bool start_array(size_t /*size*/) override { return open(Json::array()); }
  bool key(string_t& name) override {
    auto& members = object();
    if (members.size() == limits_.object_keys_max) {
      return fail(fmt::format("an object has more than {} keys", limits_.object_keys_max));
    }
    // Not ordered_map's own insertion, which looks at every key before; keys given twice are found at the end.
    members.emplace_back(std::move(name), nullptr);
    return true;
  }
  bool end_object() override {
    std::vector<std::string_view> names;
    for (const auto& [name, value] : object()) names.emplace_back(name);
    std::sort(names.begin(), names.end());
    const auto twice = std::adjacent_find(names.begin(), names.end());
    if (twice != names.end()) return fail(fmt::format("the key \"{}\" is given twice", shortened(*twice, 60)));
    return end_array();
  }
  bool end_array() override {
    open_.pop_back();
    return true;
  }
  bool parse_error(size_t /*position*/, const std::string& /*token*/, const nlohmann::json::exception& fault) override {
    // "[json.exception.parse_error.101] parse error at line 1, column 2: ..."
    std::string_view what = fault.what();
    what.remove_prefix(std::min(what.size(), what.find("] ") + 2));
    return fail(fault.id == 406 ? fmt::format("a number is too large for a double: {}", shortened(what, 200))
                                : shortened(what, 300));
  }

 private:
  bool fail(std::string message) {
    error = std::move(message);
    return false;
  }
  Json::object_t& object() { return *open_.back()->get_ptr<Json::object_t*>(); }

  /// Puts a value where the next one belongs.
  Json* add(Json value) {
    if (++values_ > limits_.json_values_max) {
      fail(fmt::format("there are more than {} values", limits_.json_values_max));
      return nullptr;
    }
    if (open_.empty()) {
      root_ = std::move(value);
      return &root_;
    }
    Json* place = nullptr;
    if (open_.back()->is_array()) {
      auto& list = *open_.back()->get_ptr<Json::array_t*>();
      list.push_back(std::move(value));
      place = &list.back();
    } else {
      place = &object().back().second;
      *place = std::move(value);
    }
    return place;
  }
  bool open(Json empty) {
    if (open_.size() == static_cast<size_t>(limits_.json_depth_max)) {
      return fail(fmt::format("lists and objects are nested more than {} deep", limits_.json_depth_max));
    }
    Json* place = add(std::move(empty));
    if (place != nullptr) open_.push_back(place);
    return place != nullptr;
  }

  const RequestLimits& limits_;
  Json& root_;
  std::vector<Json*> open_;  // lists and objects around the next value; each is the last in the one before
  size_t values_ = 0;
};

/// The code of "\\uXXXX" at `at`; nothing: it does not stand there.
std::optional<unsigned> escape_at(std::string_view text, size_t at) {
  constexpr size_t kBytes = 6;
  if (text.substr(at, 2) != "\\u" || text.size() < at + kBytes) return std::nullopt;
  unsigned code = 0;
  const char* end = text.data() + at + kBytes;
  const auto [stop, fault] = std::from_chars(text.data() + at + 2, end, code, 16);
  return fault == std::errc() && stop == end ? std::optional(code) : std::nullopt;
}

/// The text with U+FFFD for each half of a surrogate pair that stands alone. JavaScript writes those where it has cut a
/// text within a character, and a conversation that holds one must not end there.
std::string without_half_pairs(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (size_t i = 0; i < text.size();) {
    size_t bytes = text[i] == '\\' ? 2 : 1;
    if (const auto code = escape_at(text, i)) {
      bytes = 6;
      const bool low = *code >= 0xdc00 && *code <= 0xdfff;
      if (low || (*code >= 0xd800 && *code <= 0xdbff)) {
        const auto next = escape_at(text, i + bytes);
        if (low || !next || *next < 0xdc00 || *next > 0xdfff) {
          out += "\\ufffd";
          i += bytes;
          continue;
        }
        bytes = 12;
      }
    }
    out += text.substr(i, bytes);
    i += bytes;
  }
  return out;
}

}  // namespace

std::optional<ApiError> parse_json(std::string_view text, const RequestLimits& limits, Json& out,
                                   const std::string& param) {
  Builder builder(limits, out);
  if (Json::sax_parse(text, &builder)) return std::nullopt;
  if (const std::string mended = without_half_pairs(text); mended != text) {
    Builder again(limits, out);
    if (Json::sax_parse(mended, &again)) return std::nullopt;
  }
  return bad_request(
      param, fmt::format("{} cannot be read as JSON: {}", param.empty() ? "the request's body" : param, builder.error));
}

std::optional<ApiError> parse_body(std::string_view body, const RequestLimits& limits, Json& out) {
  if (body.find_first_not_of(" \t\r\n") == std::string_view::npos) {
    return bad_request({}, "the request has no body, expected a JSON object");
  }
  if (auto error = parse_json(body, limits, out)) return error;
  if (!out.is_object()) return bad_request({}, fmt::format("the body is {}, expected a JSON object", shown(out)));
  return std::nullopt;
}

}  // namespace tessera::server
