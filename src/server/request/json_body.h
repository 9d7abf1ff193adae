#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string_view>

#include "server/request/api_error.h"
#include "server/request/request_limits.h"

namespace tessera::server {

using Json = nlohmann::ordered_json;

/// Reads JSON that a client sent. Refused, with the place and the reason: what is not JSON (NaN, trailing text,
/// ill-formed UTF-8), numbers beyond a double (1e400), too deep or too many values, a key given twice.
/// Linear in the size of the text; nlohmann's own reader is quadratic in the keys of one ordered object.
/// `param` names the text in errors, for JSON inside a field; empty: the body.
std::optional<ApiError> parse_json(std::string_view text, const RequestLimits& limits, Json& out,
                                   const std::string& param = {});

/// The same for a request's body, which must be an object.
std::optional<ApiError> parse_body(std::string_view body, const RequestLimits& limits, Json& out);

}  // namespace tessera::server
