#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "server/request/json_body.h"
#include "server/request/json_text.h"

// Reading fields of a request. Where a field is missing or null, `out` keeps what it is; errors name the field's path.
namespace tessera::server {

/// `object`[`key`]; null if it is not there or JSON null, or if `object` is none.
const Json* find(const Json& object, std::string_view key);

/// Paths: "messages[2]", "messages[2].content".
std::string at(const std::string& path, size_t index);
std::string at(const std::string& path, std::string_view key);

/// "PATH is FOUND, expected EXPECTED"
ApiError wrong(const std::string& path, const Json& found, std::string_view expected);
ApiError missing(const std::string& path, std::string_view expected);
/// An error if `count` is above `limit`: "PATH has COUNT THINGS, expected at most LIMIT".
std::optional<ApiError> too_many(const std::string& path, size_t count, size_t limit, const char* things);

/// "a number from 0 to 1"; a `high` of 1e38 is no bound, and a tiny positive `low` reads "above 0".
std::string number_range(double low, double high);
/// "a whole number from 1 to 16"; the largest 32 and 64-bit numbers are no bounds.
std::string whole_range(int64_t low, int64_t high);
/// `value` if it is a whole number in [low, high], perhaps written as 5.0.
std::optional<int64_t> whole_number(const Json& value, int64_t low, int64_t high);

std::optional<ApiError> read_flag(const Json& object, const char* key, bool& out, const std::string& path = {});
std::optional<ApiError> read_text(const Json& object, const char* key, std::string& out, const std::string& path = {});
std::optional<ApiError> read_whole(const Json& object, const char* key, int64_t low, int64_t high,
                                   std::optional<int64_t>& out, const std::string& path = {});
/// An array of at most `limit` token ids.
std::optional<ApiError> read_ids(const Json& value, const std::string& path, size_t limit, std::vector<int32_t>& out);

}  // namespace tessera::server
