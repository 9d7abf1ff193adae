#include "server/request/past_arguments.h"

#include <optional>
#include <utility>

#include "text/dialect/python_literal.h"

namespace tessera::server {
namespace {

/// JSON text as far as it was read: what is open, and where its last complete member or element ended.
struct Reading {
  std::string closers;  // of what is open, outermost first
  bool in_string = false;
  size_t escape = 0;          // where an unfinished escape in that string begins; 0: none
  size_t last_comma = 0;      // outside of strings; 0: none
  std::string comma_closers;  // as they were there
};

Reading read(std::string_view text) {
  Reading now;
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (now.in_string) {
      if (now.escape > 0) {
        const bool unicode = text[now.escape + 1] == 'u';
        if (!unicode || i == now.escape + 5) now.escape = 0;
      } else if (c == '\\') {
        now.escape = i;
      } else if (c == '"') {
        now.in_string = false;
      }
      continue;
    }
    switch (c) {
      case '"': now.in_string = true; break;
      case '{': now.closers += '}'; break;
      case '[': now.closers += ']'; break;
      case '}':
      case ']':
        if (!now.closers.empty()) now.closers.pop_back();
        break;
      case ',':
        now.last_comma = i;
        now.comma_closers = now.closers;
        break;
      default: break;
    }
  }
  return now;
}

std::string closed(std::string text, const std::string& closers) {
  text.append(closers.rbegin(), closers.rend());
  return text;
}

std::optional<Json> object_of(std::string_view text, const RequestLimits& limits) {
  Json value;
  if (parse_json(text, limits, value) || !value.is_object()) return std::nullopt;
  return value;
}

/// JSON that breaks off, closed where it ends, else behind its last complete member.
std::optional<Json> completed(std::string_view text, const RequestLimits& limits) {
  const Reading end = read(text);
  if (end.closers.empty()) return std::nullopt;
  std::string whole(end.escape > 0 ? text.substr(0, end.escape) : text);
  if (end.in_string) whole += '"';
  if (auto value = object_of(closed(std::move(whole), end.closers), limits)) return value;
  if (end.last_comma > 0)
    return object_of(closed(std::string(text.substr(0, end.last_comma)), end.comma_closers), limits);
  return std::nullopt;
}

}  // namespace

Json read_past_arguments(std::string_view text, const RequestLimits& limits, std::string& note) {
  if (text.find_first_not_of(" \t\r\n") == std::string_view::npos) return Json::object();
  RequestLimits inside = limits;
  inside.json_depth_max /= 2;  // what is around it takes the rest
  Json value;
  if (!parse_json(text, inside, value)) {
    if (value.is_object()) return value;
    if (value.is_null()) return Json::object();
    note = "are JSON, but no object, and are shown as text";
    return {{"arguments", std::string(text)}};
  }
  if (auto literal = text::parse_python_literal(text); literal && literal->is_object()) {
    note = "are a Python literal, taken for JSON";
    return std::move(*literal);
  }
  if (auto object = completed(text, inside)) {
    note = "break off, and were closed";
    return std::move(*object);
  }
  note = "are not JSON, and are shown as text";
  return {{"arguments", std::string(text)}};
}

}  // namespace tessera::server
