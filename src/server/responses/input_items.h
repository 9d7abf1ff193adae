#pragma once

#include <optional>
#include <string>
#include <vector>

#include "server/request/chat_request.h"
#include "server/responses/response_store.h"
#include "server/responses/tool_fields.h"

namespace tessera::server::responses {

/// Where a conversation is read to, and what its readers follow.
struct ItemReader {
  ConversationReader reader;
  const ToolNames& tools;
  ResponseStore& store;  // where references look
};

/// Reads the input items in `items`, which stand at `path` in the request, behind those that are in `out`.
///
/// message (roles user, assistant, system, developer; content a string or parts input_text, output_text, refusal);
/// function_call, custom_tool_call, local_shell_call, shell_call, apply_patch_call and what they answered; reasoning,
/// whose text is in its content, in encrypted_content if this server wrote that, or in its summary; item_reference to
/// an item of a response that is kept; agent_message; a compaction that this server made, which stands for what is
/// before it; tool_search_call and what it found. The assistant's items that follow each other are one message. Items
/// of other types are left out, and the notes say so. Media are refused in messages, unless they are to be left out,
/// and named in place in what a tool answered.
std::optional<ApiError> parse_items(const Json& items, const std::string& path, const ItemReader& reader,
                                    std::vector<Message>& out);

/// What encrypted_content of a reasoning item is here: the text with a mark before it. It is the client's own.
inline constexpr const char* kReasoningMark = "tessera-reasoning:";

}  // namespace tessera::server::responses
