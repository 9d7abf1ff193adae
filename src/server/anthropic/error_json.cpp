#include "server/anthropic/error_json.h"

#include "server/request/json_text.h"

namespace tessera::server::anthropic {
namespace {

const char* type_of(int http_status) {
  switch (http_status) {
    case 401: return "authentication_error";
    case 403: return "permission_error";
    case 404: return "not_found_error";
    case 413: return "request_too_large";
    case 429: return "rate_limit_error";
    case 503: return "overloaded_error";
    default: return http_status >= 500 ? "api_error" : "invalid_request_error";
  }
}

}  // namespace

std::string error_json(const ApiError& error) {
  std::string out = R"({"type":"error","error":{"type":")";
  out += type_of(error.http_status);
  out += R"(","message":)";
  append_string(error.message, out);
  if (!error.code.empty()) {
    out += R"(,"details":{"error_code":)";
    append_string(error.code, out);
    out += '}';
  }
  return out + "}}";
}

}  // namespace tessera::server::anthropic
