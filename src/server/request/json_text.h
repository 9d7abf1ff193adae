#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "server/request/json_body.h"

namespace tessera::server {

/// Appends the inside of a JSON string. Ill-formed UTF-8 becomes U+FFFD: the result is always valid JSON.
void append_escaped(std::string_view text, std::string& out);
/// The same in quotes.
void append_string(std::string_view text, std::string& out);
/// [1,2,3]
void append_ids(const std::vector<int32_t>& ids, std::string& out);

/// A JSON value for a message: its text, cut after 60 bytes.
std::string shown(const Json& value);
/// At most `bytes` of `text`, cut between code points, "..." behind if anything was cut.
std::string shortened(std::string_view text, size_t bytes);
/// Of an id or a name that a client chose, in messages.
inline constexpr size_t kIdBytesShown = 100;

}  // namespace tessera::server
