#pragma once

#include <string>
#include <vector>

#include "base/status.h"
#include "tessera/engine.h"

namespace tessera::cli {

/// A conversation as a file, {"messages": [...]} in the shape of OpenAI's chat requests.

/// Replaces a file only if it is a conversation.
Status save_conversation(const std::string& file, const std::vector<ChatMessage>& messages);

/// Also reads the list alone. Roles are system or developer, first, then user and assistant.
Expected<std::vector<ChatMessage>> load_conversation(const std::string& file);

}  // namespace tessera::cli
