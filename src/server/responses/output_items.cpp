#include "server/responses/output_items.h"

#include <fmt/format.h>

#include <utility>

#include "server/request/json_text.h"
#include "server/responses/client_tools.h"

namespace tessera::server::responses {
namespace {

using Kind = OutputItem::Kind;

const char* prefix_of(const OutputItem& item) {
  if (item.kind == Kind::reasoning) return "rs_";
  if (item.kind == Kind::message) return "msg_";
  if (item.kind == Kind::compaction) return "cmp_";
  switch (item.tool.kind) {
    case CallKind::function: return "fc_";
    case CallKind::custom: return "ctc_";
    case CallKind::tool_search: return "tsc_";
    default: return client_tool(item.tool.kind).id_prefix;
  }
}

std::string member(std::string_view key, std::string_view text) {
  std::string out = fmt::format(",\"{}\":", key);
  append_string(text, out);
  return out;
}

}  // namespace

OutputItems::OutputItems(const ResponseHead& head, const ResponsesRequest& request)
    : head_(head),
      echo_(echo_members(request)),
      tools_(request.tools),
      streams_(request.chat.stream.stream),
      shows_summary_(request.shows_summary),
      shows_sealed_(request.shows_sealed_reasoning) {
  stored_.previous_id = request.previous_id;
  stored_.input = request.input;
  set_state({});
}

void OutputItems::set_state(const ResponseState& state) {
  stored_.ended = state.status != ResponseStatus::in_progress;
  stored_.head = response_head(head_, echo_, state);
  stored_.output = "[";
  stored_.output_ids.clear();
  for (const OutputItem& item : items_) {
    if (stored_.output.size() > 1) stored_.output += ',';
    append_item(item, /*begun=*/false, stored_.output);
    stored_.output_ids.push_back(item.id);
  }
  stored_.output += ']';
}

void OutputItems::event(std::string_view type, std::string_view members, std::string& out) {
  if (!streams_) return;
  fmt::format_to(std::back_inserter(out), "event: {0}\ndata: {{\"type\":\"{0}\",\"sequence_number\":{1}{2}}}\n\n", type,
                 sequence_++, members);
}

/// Of the item that is open.
void OutputItems::item_event(std::string_view type, std::string_view members, std::string& out) {
  event(type, fmt::format(R"(,"item_id":"{}","output_index":{}{})", items_.back().id, items_.size() - 1, members), out);
}

void OutputItems::begin(std::string& out) {
  event("response.created", R"(,"response":)" + json(), out);
  event("response.in_progress", R"(,"response":)" + json(), out);
}

void OutputItems::keep_alive(std::string& out) { event("keepalive", "", out); }

void OutputItems::open(OutputItem item, std::string& out) {
  if (open_) close(ItemStatus::completed, out);
  item.id = tool_call_id(prefix_of(item), head_.id, 2, static_cast<int>(items_.size()));
  items_.push_back(std::move(item));
  open_ = true;
  std::string json;
  append_item(items_.back(), /*begun=*/true, json);
  event("response.output_item.added", fmt::format(R"(,"output_index":{},"item":{})", items_.size() - 1, json), out);
}

void OutputItems::open_text(Kind kind, std::string& out) {
  open({.kind = kind, .shows_summary = shows_summary_, .shows_sealed = shows_sealed_}, out);
  std::string part = R"(,"content_index":0,"part":)";
  append_part(items_.back(), "", part);
  item_event("response.content_part.added", part, out);
  if (kind == Kind::reasoning && shows_summary_) {
    item_event("response.reasoning_summary_part.added",
               R"(,"summary_index":0,"part":{"type":"summary_text","text":""})", out);
  }
}

void OutputItems::open_call(const ToolCallDelta& call, std::string& out) {
  open({.kind = Kind::call, .call_id = call.id, .tool = tools_.tool(call.name)}, out);
  input_ = {};  // once the call before has ended with what is left of its own
}

void OutputItems::add_text(std::string_view text, std::string_view logprobs, std::string& out) {
  OutputItem& item = items_.back();
  item.text += text;
  const std::string delta = member("delta", text);
  if (item.kind == Kind::reasoning) {
    item_event("response.reasoning_text.delta", R"(,"content_index":0)" + delta, out);
    if (shows_summary_) item_event("response.reasoning_summary_text.delta", R"(,"summary_index":0)" + delta, out);
    return;
  }
  if (!item.logprobs.empty() && !logprobs.empty()) item.logprobs += ',';
  item.logprobs += logprobs;
  item_event("response.output_text.delta", fmt::format(R"(,"content_index":0{},"logprobs":[{}])", delta, logprobs),
             out);
}

void OutputItems::add_arguments(std::string_view arguments, std::string& out) {
  OutputItem& item = items_.back();
  if (item.tool.kind != CallKind::custom) {
    item.text += arguments;
    if (item.tool.kind == CallKind::function) {
      item_event("response.function_call_arguments.delta", member("delta", arguments), out);
    }
    return;
  }
  const std::string text = input_.feed(arguments);
  if (text.empty()) return;
  item.text += text;
  item_event("response.custom_tool_call_input.delta", member("delta", text), out);
}

/// Of thinking and of messages.
void OutputItems::end_text(const OutputItem& item, std::string& out) {
  const bool message = item.kind == Kind::message;
  std::string done = R"(,"content_index":0)" + member("text", item.text);
  if (message) done += fmt::format(R"(,"logprobs":[{}])", item.logprobs);
  item_event(message ? "response.output_text.done" : "response.reasoning_text.done", done, out);
  std::string part = R"(,"content_index":0,"part":)";
  append_part(item, item.text, part);
  item_event("response.content_part.done", part, out);
  if (!message && shows_summary_) {
    const std::string text = member("text", item.text);
    item_event("response.reasoning_summary_text.done", R"(,"summary_index":0)" + text, out);
    item_event("response.reasoning_summary_part.done",
               fmt::format(R"(,"summary_index":0,"part":{{"type":"summary_text"{}}})", text), out);
  }
}

void OutputItems::end_call(OutputItem& item, std::string& out) {
  if (item.tool.kind == CallKind::custom) {
    const std::string rest = input_.rest();
    if (!rest.empty()) item_event("response.custom_tool_call_input.delta", member("delta", rest), out);
    item.text += rest;
    item_event("response.custom_tool_call_input.done", member("input", item.text), out);
  } else if (item.tool.kind == CallKind::function) {
    item_event("response.function_call_arguments.done", member("name", item.tool.name) + member("arguments", item.text),
               out);
  } else if (item.tool.kind == CallKind::shell) {
    add_commands(out);
  }
}

void OutputItems::close(ItemStatus status, std::string& out) {
  OutputItem& item = items_.back();
  item.status = status;
  open_ = false;
  if (item.kind == Kind::call) {
    end_call(item, out);
  } else if (item.kind != Kind::compaction) {
    end_text(item, out);
  }
  std::string json;
  append_item(item, /*begun=*/false, json);
  event("response.output_item.done", fmt::format(R"(,"output_index":{},"item":{})", items_.size() - 1, json), out);
}

/// Those of a shell's call, which are known when it is whole.
void OutputItems::add_commands(std::string& out) {
  const std::vector<std::string> commands = shell_commands(items_.back());
  for (size_t i = 0; i < commands.size(); ++i) {
    const std::string index = fmt::format(R"(,"command_index":{})", i);
    item_event("response.shell_call_command.added", index + member("command", ""), out);
    item_event("response.shell_call_command.delta", index + member("delta", commands[i]), out);
    item_event("response.shell_call_command.done", index + member("command", commands[i]), out);
  }
}

void OutputItems::feed(const ChatDelta& delta, std::string& out) {
  if (!delta.reasoning.empty()) {
    if (!is_open(Kind::reasoning)) open_text(Kind::reasoning, out);
    add_text(delta.reasoning, {}, out);
  }
  if (!delta.content.empty()) {
    if (!is_open(Kind::message)) open_text(Kind::message, out);
    add_text(delta.content, delta.logprobs, out);
  }
  for (const ToolCallDelta& call : delta.tool_calls) {
    if (!call.id.empty()) open_call(call, out);
    if (!call.arguments.empty()) add_arguments(call.arguments, out);
  }
  if (delta.finish != ChatFinish::none) finish_ = delta.finish;
  call_is_cut_ = call_is_cut_ || delta.call_is_cut;
}

void OutputItems::add_compaction(const Compaction& compaction, std::string& out) {
  open({.kind = Kind::compaction, .text = sealed(compaction)}, out);
  close(ItemStatus::completed, out);
}

void OutputItems::end(ResponseState state, std::string& out) {
  if (state.status == ResponseStatus::completed && finish_ == ChatFinish::length) {
    state.status = ResponseStatus::incomplete;
  }
  const bool whole = state.status == ResponseStatus::completed;
  // A client that looks for the answer's text finds one, if an empty one.
  const bool silent = items_.empty() || items_.back().kind == Kind::reasoning;
  if (whole && silent) open_text(Kind::message, out);
  // A limit may come right behind a call that is whole.
  const bool whole_call = finish_ != ChatFinish::none && is_open(Kind::call) && !call_is_cut_;
  if (open_) close(whole || whole_call ? ItemStatus::completed : ItemStatus::incomplete, out);
  set_state(state);
  const char* type = "response.completed";
  if (state.status == ResponseStatus::incomplete || state.status == ResponseStatus::cancelled) {
    type = "response.incomplete";
  } else if (state.status == ResponseStatus::failed) {
    type = "response.failed";
  }
  event(type, R"(,"response":)" + json(), out);
}

}  // namespace tessera::server::responses
