#pragma once

#include <optional>
#include <string>
#include <vector>

#include "server/request/chat_request.h"

namespace tessera::server::anthropic {

/// Reads "tools" and "tool_choice" of a request. Tools that run at the provider, or whose schema only it knows
/// (web_search_20250305, bash_20250124...), are left out, and `notes` says so. `parallel`: not
/// disable_parallel_tool_use.
std::optional<ApiError> parse_tools(const Json& request, const RequestLimits& limits, ToolFields& out, bool& parallel,
                                    std::vector<std::string>& notes);

}  // namespace tessera::server::anthropic
