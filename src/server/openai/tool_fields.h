#pragma once

#include <optional>

#include "server/request/tools.h"

namespace tessera::server::openai {

/// Reads "tools" and "tool_choice" of a request, or their older forms "functions" and "function_call".
///
/// tool_choice: "none", "auto", "required" (also "any"), {"type": "function", "function": {"name"}} (also with the name
/// beside the type), {"type": "allowed_tools", "allowed_tools": {"mode", "tools"}}, or an object whose type is one of
/// the words.
std::optional<ApiError> parse_tools(const Json& request, const RequestLimits& limits, ToolFields& out);

}  // namespace tessera::server::openai
