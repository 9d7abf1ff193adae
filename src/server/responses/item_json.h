#pragma once

#include <string>
#include <string_view>

#include "server/responses/tool_fields.h"

namespace tessera::server::responses {

enum class ItemStatus { in_progress, completed, incomplete };

/// One item of a response's output.
struct OutputItem {
  enum class Kind { reasoning, message, call, compaction };
  Kind kind = Kind::message;
  std::string id = {};
  ItemStatus status = ItemStatus::in_progress;
  std::string text = {};       // of a call: its arguments, or a custom tool's input; of a compaction: sealed
  std::string logprobs = {};   // of a message's tokens, as JSON with commas between
  std::string call_id = {};    // of a call
  ToolIdentity tool = {};      // of a call
  bool shows_summary = false;  // of reasoning; see ResponsesRequest
  bool shows_sealed = false;
};

const char* name_of(ItemStatus status);

/// Appends the item. `begun`: as it is announced, before it has any text.
void append_item(const OutputItem& item, bool begun, std::string& out);

/// Appends the only content part of a message or of reasoning, with this text.
void append_part(const OutputItem& item, std::string_view text, std::string& out);

}  // namespace tessera::server::responses
