#pragma once

#include "server/http_request.h"
#include "server/request/api_error.h"

namespace tessera::server {

/// An error as an HTTP answer, with Retry-After or WWW-Authenticate where the status has one.
HttpReply error_reply(const ApiError& error);

}  // namespace tessera::server
