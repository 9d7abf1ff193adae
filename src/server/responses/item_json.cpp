#include "server/responses/item_json.h"

#include <fmt/format.h>

#include <utility>

#include "server/request/json_fields.h"
#include "server/request/past_arguments.h"
#include "server/responses/client_tools.h"
#include "server/responses/input_items.h"

namespace tessera::server::responses {
namespace {

void append_member(std::string_view key, std::string_view text, std::string& out) {
  out += ",\"";
  out += key;
  out += "\":";
  append_string(text, out);
}

const char* type_of(const OutputItem& item) {
  if (item.kind == OutputItem::Kind::reasoning) return "reasoning";
  if (item.kind == OutputItem::Kind::message) return "message";
  if (item.kind == OutputItem::Kind::compaction) return "compaction";
  switch (item.tool.kind) {
    case CallKind::function: return "function_call";
    case CallKind::custom: return "custom_tool_call";
    case CallKind::tool_search: return "tool_search_call";
    default: return client_tool(item.tool.kind).call_type;
  }
}

void append_reasoning(const OutputItem& item, bool begun, std::string& out) {
  out += R"(,"summary":[)";
  if (item.shows_summary && !begun) {
    out += R"({"type":"summary_text")";
    append_member("text", item.text, out);
    out += '}';
  }
  out += R"(],"content":[)";
  if (!begun) append_part(item, item.text, out);
  out += ']';
  if (!item.shows_sealed) return;
  if (begun) {
    out += R"(,"encrypted_content":null)";
  } else {
    append_member("encrypted_content", kReasoningMark + item.text, out);
  }
}

/// {"action": ...}, or {"operation": ...}
void append_client_call(const OutputItem& item, std::string& out) {
  out += fmt::format(",\"{}\":", client_tool(item.tool.kind).member);
  out += client_action(item).dump(-1, ' ', false, Json::error_handler_t::replace);
  if (item.tool.kind == CallKind::shell) out += R"(,"environment":{"type":"local"})";
}

void append_call(const OutputItem& item, std::string& out) {
  append_member("call_id", item.call_id, out);
  if (item.tool.kind == CallKind::tool_search) {
    std::string note;
    const Json arguments = read_past_arguments(item.text, {}, note);
    out += R"(,"execution":"client","arguments":)" + arguments.dump(-1, ' ', false, Json::error_handler_t::replace);
    return;
  }
  if (item.tool.kind != CallKind::function && item.tool.kind != CallKind::custom) return append_client_call(item, out);
  append_member("name", item.tool.name, out);
  if (!item.tool.name_space.empty()) append_member("namespace", item.tool.name_space, out);
  append_member(item.tool.kind == CallKind::custom ? "input" : "arguments", item.text, out);
}

}  // namespace

const char* name_of(ItemStatus status) {
  switch (status) {
    case ItemStatus::in_progress: return "in_progress";
    case ItemStatus::completed: return "completed";
    case ItemStatus::incomplete: break;
  }
  return "incomplete";
}

void append_part(const OutputItem& item, std::string_view text, std::string& out) {
  const bool message = item.kind == OutputItem::Kind::message;
  out += message ? R"({"type":"output_text","annotations":[])" : R"({"type":"reasoning_text")";
  append_member("text", text, out);
  if (message) {
    out += R"(,"logprobs":[)";
    if (!text.empty()) out += item.logprobs;
    out += ']';
  }
  out += '}';
}

void append_item(const OutputItem& item, bool begun, std::string& out) {
  out += R"({"type":")";
  out += type_of(item);
  out += '"';
  append_member("id", item.id, out);
  // The API knows no incomplete patch.
  const bool open = item.status == ItemStatus::incomplete && item.tool.kind == CallKind::apply_patch;
  append_member("status", name_of(open ? ItemStatus::in_progress : item.status), out);
  switch (item.kind) {
    case OutputItem::Kind::reasoning: append_reasoning(item, begun, out); break;
    case OutputItem::Kind::message:
      out += R"(,"role":"assistant","content":[)";
      if (!begun) append_part(item, item.text, out);
      out += ']';
      break;
    case OutputItem::Kind::call: append_call(item, out); break;
    case OutputItem::Kind::compaction: append_member("encrypted_content", begun ? "" : item.text, out);
  }
  out += '}';
}

}  // namespace tessera::server::responses
