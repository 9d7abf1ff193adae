#pragma once

#include <string>

#include "server/request/api_error.h"

namespace tessera::server::openai {

/// {"error": {"message": ..., "type": ..., "param": ..., "code": ...}}
std::string error_json(const ApiError& error);

}  // namespace tessera::server::openai
