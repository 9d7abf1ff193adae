#pragma once

#include <optional>
#include <string>
#include <vector>

#include "server/request/chat_request.h"

namespace tessera::server::anthropic {

/// Reads "system" and "messages" of a request.
///
/// system: a string, or text blocks. Claude Code puts a line "x-anthropic-billing-header: ..." before it that is
/// another one in every request; it is no part of the prompt, and left out, or no prefix would ever be the same.
/// messages: role user, assistant, or system between them; content a string or blocks: text, thinking, tool_use,
/// tool_result (a message of its own) and documents of plain text. Blocks of one message are joined by an empty line.
/// Pictures and other documents are refused in what a user says, unless RequestOptions say that they are left out, and
/// named in place in what a tool answers, where a refusal would end a conversation for ever. Blocks of tools that run
/// at the provider are left out. `notes` says what was left out or changed.
std::optional<ApiError> parse_conversation(const Json& request, const RequestOptions& options,
                                           std::vector<Message>& out, std::vector<std::string>& notes);

}  // namespace tessera::server::anthropic
