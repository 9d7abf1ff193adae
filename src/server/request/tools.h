#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "server/request/answer_format.h"
#include "server/request/json_body.h"
#include "text/dialect/tool_call_parser.h"

namespace tessera::server {

enum class ToolMode { none, automatic, required, named };

struct ToolChoice {
  ToolMode mode = ToolMode::none;
  std::string name = {};  // with named
};

/// Where a tool stands in the request, and what the request promises its calls.
struct ToolOrigin {
  std::string parameters = {};  // path of their schema, for errors
  bool strict = false;          // arguments are what that schema allows
  bool custom = false;          // the client knows the tool's one parameter as its input
  /// What the text of the tool's one parameter follows, where that can be followed.
  std::optional<AnswerFormat> input = {};
};

/// The functions that a request offers. Where none may be called they are left out of the prompt too, so that the model
/// does not try to.
struct ToolFields {
  /// For the template, each {"type": "function", "function": {...}}; empty: no tools.
  Json json = Json::array();
  /// Of each of them.
  std::vector<ToolOrigin> origins = {};
  /// Those that may be called, in the same order: all of them, but where the choice allows a few.
  std::vector<text::ToolSchema> schemas = {};
  ToolChoice choice = {};

  /// The names of those whose input is text.
  [[nodiscard]] std::vector<std::string> custom_names() const;
  /// The request's field that has them.
  [[nodiscard]] std::string param() const {
    return origins.empty() ? "tools" : origins[0].parameters.substr(0, origins[0].parameters.find('['));
  }
};

/// The name of a function, at object["name"].
std::optional<ApiError> read_tool_name(const Json& object, const std::string& path, std::string& out);

/// A JSON schema of an object: the parameters by name.
std::optional<ApiError> read_parameters(const Json& schema, const std::string& path, const RequestLimits& limits,
                                        std::vector<text::ToolParameter>& out);

/// "none", "auto", "required" or "any"; nothing for what is none of them.
std::optional<ToolMode> tool_mode(const Json& word);

/// A choice among a few, {"mode": "auto", "tools": [...]}, read_tool() for each of its tools. `path`: of the choice,
/// then of its tools.
std::optional<ApiError> read_allowed_tools(
    const Json& allowed, std::string& path, const RequestLimits& limits, ToolMode& mode,
    const std::function<std::optional<ApiError>(const Json& tool, const std::string& path)>& read_tool);

/// Sets the choice, and drops what it excludes. `names`: the only tools that may be called; empty: all. `path`: of the
/// choice in the request, `found` what stood there.
std::optional<ApiError> choose_tools(ToolMode mode, const std::vector<std::string>& names, const std::string& path,
                                     const Json& found, ToolFields& out);

/// What the parser must know of a parameter with this JSON schema: type (a name or a list of names), enum, const,
/// anyOf, oneOf, allOf, $ref into `root` (the schema of all parameters), nullable. Several types other than null make
/// `json`, whose text stays a string where it is not JSON; nothing known makes a string.
text::ToolParameter parameter_of_schema(const std::string& name, const Json& schema, const Json& root);

}  // namespace tessera::server
