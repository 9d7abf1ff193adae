#pragma once

#include <string>

#include "server/request/api_error.h"

namespace tessera::server::anthropic {

/// {"type": "error", "error": {"type": ..., "message": ...}}; the type follows from the status.
std::string error_json(const ApiError& error);

}  // namespace tessera::server::anthropic
