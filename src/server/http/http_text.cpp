#include "server/http/http_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <ctime>

#include "base/ascii.h"

namespace tessera::server {
namespace {

int hex_digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (lower(c) >= 'a' && lower(c) <= 'f') return lower(c) - 'a' + 10;
  return -1;
}

}  // namespace

std::string_view reason_phrase(int status) {
  switch (status) {
    case 200: return "OK";
    case 204: return "No Content";
    case 304: return "Not Modified";
    case 400: return "Bad Request";
    case 401: return "Unauthorized";
    case 403: return "Forbidden";
    case 404: return "Not Found";
    case 405: return "Method Not Allowed";
    case 408: return "Request Timeout";
    case 413: return "Content Too Large";
    case 415: return "Unsupported Media Type";
    case 417: return "Expectation Failed";
    case 429: return "Too Many Requests";
    case 431: return "Request Header Fields Too Large";
    case 500: return "Internal Server Error";
    case 501: return "Not Implemented";
    case 503: return "Service Unavailable";
    case 505: return "HTTP Version Not Supported";
    default: return "Unknown";
  }
}

void append_reply_head(const HttpReply& reply, BodyFraming framing, size_t length, bool keep_alive, std::string& out) {
  const auto to = std::back_inserter(out);
  fmt::format_to(to, "HTTP/1.1 {} {}\r\ndate: {}\r\n", reply.status, reason_phrase(reply.status),
                 http_date(std::time(nullptr)));
  if (!reply.content_type.empty()) fmt::format_to(to, "content-type: {}\r\n", reply.content_type);
  if (framing == BodyFraming::length) fmt::format_to(to, "content-length: {}\r\n", length);
  if (framing == BodyFraming::chunked) out += "transfer-encoding: chunked\r\n";
  for (const auto& [name, value] : reply.headers) fmt::format_to(to, "{}: {}\r\n", name, value);
  out += keep_alive ? "connection: keep-alive\r\n\r\n" : "connection: close\r\n\r\n";
}

std::string http_date(std::time_t time) {
  constexpr std::array kDays = {"Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"};
  constexpr std::array kMonths = {"Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
  std::tm t{};
  gmtime_r(&time, &t);
  return fmt::format("{}, {:02} {} {} {:02}:{:02}:{:02} GMT", kDays[static_cast<size_t>(t.tm_wday)], t.tm_mday,
                     kMonths[static_cast<size_t>(t.tm_mon)], t.tm_year + 1900, t.tm_hour, t.tm_min, t.tm_sec);
}

bool percent_decode(std::string_view text, std::string& out) {
  for (size_t i = 0; i < text.size(); ++i) {
    char c = text[i];
    if (c == '%') {
      if (text.size() - i < 3 || hex_digit(text[i + 1]) < 0 || hex_digit(text[i + 2]) < 0) return false;
      c = static_cast<char>(hex_digit(text[i + 1]) * 16 + hex_digit(text[i + 2]));
      i += 2;
    }
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) return false;
    out += c;
  }
  return true;
}

bool split_target(std::string_view target, std::string& path, std::string& query) {
  for (const std::string_view scheme : {"http://", "https://"}) {
    if (!same_text(target.substr(0, scheme.size()), scheme)) continue;
    const size_t slash = target.find('/', scheme.size());
    target = slash == std::string_view::npos ? "/" : target.substr(slash);
    break;
  }
  if (target == "*") {  // OPTIONS of the whole server
    path = target;
    return true;
  }
  if (!target.starts_with('/')) return false;
  const size_t question = std::min(target.find('?'), target.size());
  if (question < target.size()) query = target.substr(question + 1);
  path.reserve(question);
  return percent_decode(target.substr(0, question), path);
}

bool same_text(std::string_view a, std::string_view b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](char x, char y) { return lower(x) == lower(y); });
}

}  // namespace tessera::server
