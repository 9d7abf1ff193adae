#pragma once

#include <optional>
#include <string>
#include <vector>

#include "server/openai/json_body.h"
#include "text/tool_call_parser.h"

namespace tessera::server::openai {

enum class ToolMode { none, automatic, required, named };

struct ToolChoice {
  ToolMode mode = ToolMode::none;
  std::string name = {};  // with named
};

/// The functions that a request offers. With tool_choice "none" they are left out of the prompt, so that the model
/// does not try to call them.
struct ToolFields {
  Json json = Json::array();                   // for the template; empty: no tools
  std::vector<text::ToolSchema> schemas = {};  // for the parser, in the same order
  ToolChoice choice = {};
};

/// Reads "tools" and "tool_choice" of a request.
std::optional<ApiError> parse_tools(const Json& request, const RequestLimits& limits, ToolFields& out);

/// What the parser must know of a parameter with this JSON schema: type (a name or a list of names), enum, const,
/// anyOf, oneOf, allOf, $ref into `root` (the schema of all parameters), nullable. Several types other than null make
/// `json`, whose text stays a string where it is not JSON; nothing known makes a string.
text::ToolParameter parameter_of_schema(const std::string& name, const Json& schema, const Json& root);

}  // namespace tessera::server::openai
