#pragma once

#include <string_view>

#include "server/http/http_request.h"
#include "server/request/api_error.h"

namespace tessera::server {

/// An error as an HTTP answer to a request of `path`, in the words of the API that is there, with Retry-After or
/// WWW-Authenticate where the status has one.
HttpReply error_reply(const ApiError& error, std::string_view path);

}  // namespace tessera::server
