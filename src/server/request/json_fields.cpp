#include "server/request/json_fields.h"

#include <fmt/format.h>

#include <cmath>
#include <limits>

namespace tessera::server {
namespace {

constexpr int64_t kMaxCount = std::numeric_limits<int64_t>::max();
constexpr int64_t kMaxInt = std::numeric_limits<int32_t>::max();

}  // namespace

const Json* find(const Json& object, std::string_view key) {
  const auto found = object.find(key);
  return found == object.end() || found->is_null() ? nullptr : &*found;
}

std::string at(const std::string& path, size_t index) { return fmt::format("{}[{}]", path, index); }

std::string at(const std::string& path, std::string_view key) {
  return path.empty() ? std::string(key) : fmt::format("{}.{}", path, key);
}

ApiError wrong(const std::string& path, const Json& found, std::string_view expected) {
  return bad_request(path, fmt::format("{} is {}, expected {}", path, shown(found), expected));
}

ApiError missing(const std::string& path, std::string_view expected) {
  return bad_request(path, fmt::format("{} is missing, expected {}", path, expected));
}

std::optional<ApiError> too_many(const std::string& path, size_t count, size_t limit, const char* things) {
  if (count <= limit) return std::nullopt;
  return bad_request(path, fmt::format("{} has {} {}, expected at most {}", path, count, things, limit));
}

std::string number_range(double low, double high) {
  const bool positive = low > 0 && low < 1e-30;
  if (high > 1e30) return positive ? "a number above 0" : fmt::format("a number of at least {}", low);
  return positive ? fmt::format("a number above 0, at most {}", high)
                  : fmt::format("a number from {} to {}", low, high);
}

std::string whole_range(int64_t low, int64_t high) {
  return high == kMaxCount || high == kMaxInt ? fmt::format("a whole number of at least {}", low)
                                              : fmt::format("a whole number from {} to {}", low, high);
}

std::optional<int64_t> whole_number(const Json& value, int64_t low, int64_t high) {
  if (value.is_number_float()) {  // some clients write 5 as 5.0
    const auto real = value.get<double>();
    constexpr double kExact = 0x1p53;
    if (real != std::floor(real) || std::abs(real) > kExact) return std::nullopt;
    return whole_number(Json(static_cast<int64_t>(real)), low, high);
  }
  if (!value.is_number_integer()) return std::nullopt;
  // Numbers above 2^63 - 1 are unsigned in this library, and get<int64_t> would wrap them.
  if (value.is_number_unsigned() && value.get<uint64_t>() > static_cast<uint64_t>(kMaxCount)) return std::nullopt;
  const auto number = value.get<int64_t>();
  if (number < low || number > high) return std::nullopt;
  return number;
}

std::optional<ApiError> read_flag(const Json& object, const char* key, bool& out, const std::string& path) {
  const Json* value = find(object, key);
  if (value == nullptr) return std::nullopt;
  if (!value->is_boolean()) return wrong(at(path, key), *value, "true or false");
  out = value->get<bool>();
  return std::nullopt;
}

std::optional<ApiError> read_text(const Json& object, const char* key, std::string& out, const std::string& path) {
  const Json* value = find(object, key);
  if (value == nullptr) return std::nullopt;
  if (!value->is_string()) return wrong(at(path, key), *value, "a string");
  out = value->get<std::string>();
  return std::nullopt;
}

std::optional<ApiError> read_whole(const Json& object, const char* key, int64_t low, int64_t high,
                                   std::optional<int64_t>& out, const std::string& path) {
  const Json* value = find(object, key);
  if (value == nullptr) return std::nullopt;
  const auto number = whole_number(*value, low, high);
  if (!number) return wrong(at(path, key), *value, whole_range(low, high));
  out = number;
  return std::nullopt;
}

std::optional<ApiError> read_ids(const Json& value, const std::string& path, size_t limit, std::vector<int32_t>& out) {
  if (!value.is_array()) return wrong(path, value, "an array of token ids");
  if (auto error = too_many(path, value.size(), limit, "token ids")) return error;
  std::vector<int32_t> ids;
  ids.reserve(value.size());
  for (size_t i = 0; i < value.size(); ++i) {
    const auto id = whole_number(value[i], 0, kMaxInt);
    if (!id) return wrong(at(path, i), value[i], "a token id, from 0 to 2147483647");
    ids.push_back(static_cast<int32_t>(*id));
  }
  out = std::move(ids);
  return std::nullopt;
}

}  // namespace tessera::server
