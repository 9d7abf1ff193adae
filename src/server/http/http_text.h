#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "server/http/http_request.h"

// The text of HTTP/1.1, as far as we write it ourselves.
namespace tessera::server {

std::string_view reason_phrase(int status);

enum class BodyFraming { length, chunked, until_close, none };

/// Status line and headers. `length` is that of the body with BodyFraming::length.
void append_reply_head(const HttpReply& reply, BodyFraming framing, size_t length, bool keep_alive, std::string& out);

/// "Fri, 20 Nov 2026 14:17:48 GMT"
std::string http_date(std::time_t time);

/// Appends the text that "%41b" stands for; false for a bad escape or a control character.
bool percent_decode(std::string_view text, std::string& out);

/// Splits a request's target into path (percent-decoded) and query. Takes "/path?query" and "http://host/path?query";
/// false for what is neither, or has a bad escape or a control character.
bool split_target(std::string_view target, std::string& path, std::string& query);

/// Whether `a` and `b` are the same but for ASCII case.
bool same_text(std::string_view a, std::string_view b);

}  // namespace tessera::server
