#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "server/responses/item_json.h"
#include "server/responses/tool_fields.h"

// Tools of OpenAI's own types that the client runs: local_shell, shell, apply_patch. The model sees a function of the
// type's name; the client sees items of the type's own.
namespace tessera::server::responses {

struct ClientTool {
  CallKind kind;
  const char* type;         // of the tool, and the function's name
  const char* description;  // for the model
  const char* parameters;   // a JSON schema, for the model
  const char* call_type;    // of the item of a call
  const char* output_type;  // of the item of its answer
  const char* id_prefix;    // of the call's item
  const char* member;       // of the call's item, which has what the model wrote
};

/// Null: no tool has this type.
const ClientTool* client_tool(std::string_view type);
/// The tool whose calls or whose answers are items of this type.
const ClientTool* client_tool_of_item(std::string_view item_type);
/// kind: one of them.
const ClientTool& client_tool(CallKind kind);

/// Whether the tool runs at the provider, as a shell in a container does.
bool runs_at_provider(const Json& tool);

/// For the model, with the skills that the tool's environment has.
std::string description_of(const ClientTool& tool, const Json& given);

/// What the model wrote as arguments of the function as the action or operation of a call's item. Of a call that was
/// cut nothing is left that could be run.
Json client_action(const OutputItem& item);

/// The commands of a shell_call.
std::vector<std::string> shell_commands(const OutputItem& item);

/// The arguments of a past call, from its item.
std::optional<ApiError> read_client_call(const ClientTool& tool, const Json& item, const std::string& path,
                                         Json& arguments);

/// What shell_call_output has in its array "output", as text.
std::optional<ApiError> read_shell_output(const Json& output, const std::string& path, size_t chunks_max,
                                          std::string& text);

}  // namespace tessera::server::responses
