#pragma once

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "server/request/chat_request.h"

namespace tessera::server::responses {

enum class CallKind { function, custom, local_shell, shell, apply_patch, tool_search };

/// A tool by its client's name for it.
struct ToolIdentity {
  CallKind kind = CallKind::function;
  std::string name = {};
  std::string name_space = {};  // empty: none
};

/// The tools of a request. The model sees functions alone, each with a name of its own.
class ToolNames {
 public:
  /// Chooses the function's name: "name", or "namespace__name".
  std::string add(ToolIdentity tool);
  [[nodiscard]] bool has(const std::string& name, const std::string& name_space) const;
  /// The tool behind a function's name; one that is not offered is a function of that name.
  [[nodiscard]] ToolIdentity tool(const std::string& function) const;
  /// The name of the function, where the tool is one of the request's; empty: it is not. Without a namespace it may be
  /// the one tool of that name in any.
  [[nodiscard]] std::string function(const std::string& name, const std::string& name_space) const;

 private:
  std::map<std::string, ToolIdentity> by_function_;
};

/// What a past call of a tool is called in the prompt, whether or not the request still offers it.
std::string past_function(const ToolNames& names, const std::string& name, const std::string& name_space);

/// The name of the function that stands for tool_search.
inline constexpr const char* kToolSearch = "tool_search";

/// Reads "tools" and "tool_choice" of a request, and the tools of input items of type additional_tools and
/// tool_search_output.
///
/// Types: function; custom (free text, or text that follows a regex or a Lark grammar); namespace, whose functions are
/// flattened; local_shell, shell and apply_patch, which the client runs; tool_search, where the client does the search.
/// One that the provider would do is not needed: tools are offered at once, whether or not they may be loaded later.
/// Tools that run at the provider (web_search, a shell in a container...) are left out, and `notes` says so.
/// tool_choice: "none", "auto", "required", {"type": "function" or "custom", "name"}, {"type": "shell"},
/// {"type": "allowed_tools", "mode", "tools"}.
/// `earlier`: the items of requests before, where any of them bring tools.
std::optional<ApiError> parse_tools(const Json& request, const std::vector<Json>& earlier, const RequestLimits& limits,
                                    ToolFields& out, ToolNames& names, std::vector<std::string>& notes);

}  // namespace tessera::server::responses
