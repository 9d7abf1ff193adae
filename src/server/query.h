#pragma once

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>

#include "server/request/api_error.h"

// The parameters of a request's target, "a=1&b=2", by those who know them: what nobody reads is ignored, as clients
// send of their own ("?beta=true"). Of what is read, values that are not what they should be, and a second one, are
// errors that name the parameter. Each function leaves `out` as it is where the parameter is not given.
namespace tessera::server {

/// The value, decoded.
std::optional<ApiError> read_query_text(std::string_view query, const char* key, std::string& out);
/// A whole number from `least` to `most`.
std::optional<ApiError> read_query_whole(std::string_view query, const char* key, int64_t least, int64_t most,
                                         int64_t& out);
/// "true" or "false", "1" or "0".
std::optional<ApiError> read_query_flag(std::string_view query, const char* key, bool& out);
/// One of `words`.
std::optional<ApiError> read_query_word(std::string_view query, const char* key,
                                        std::initializer_list<std::string_view> words, std::string& out);

}  // namespace tessera::server
