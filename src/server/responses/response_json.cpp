#include "server/responses/response_json.h"

#include <fmt/format.h>

#include <algorithm>
#include <ctime>

#include "server/request/chat_choice.h"
#include "server/request/json_fields.h"
#include "server/responses/compaction.h"

namespace tessera::server::responses {
namespace {

const char* name_of(ResponseStatus status) {
  switch (status) {
    case ResponseStatus::in_progress: return "in_progress";
    case ResponseStatus::completed: return "completed";
    case ResponseStatus::incomplete: return "incomplete";
    case ResponseStatus::failed: return "failed";
    case ResponseStatus::cancelled: break;
  }
  return "cancelled";
}

void append_usage(const Usage& usage, std::string& out) {
  fmt::format_to(std::back_inserter(out),
                 R"({{"input_tokens":{},"input_tokens_details":{{"cached_tokens":{},"cache_write_tokens":0}},)"
                 R"("output_tokens":{},"output_tokens_details":{{"reasoning_tokens":{}}},"total_tokens":{}}})",
                 usage.prompt_tokens, usage.cached_tokens, usage.completion_tokens, usage.reasoning_tokens,
                 usage.prompt_tokens + usage.completion_tokens);
}

}  // namespace

std::string response_head(const ResponseHead& head, const std::string& echo, const ResponseState& state) {
  std::string out = R"({"id":)";
  append_string(head.id, out);
  out += fmt::format(R"(,"object":"response","created_at":{},"status":"{}","completed_at":)", head.created,
                     name_of(state.status));
  out += state.status == ResponseStatus::completed ? std::to_string(std::time(nullptr)) : "null";
  out += R"(,"error":)";
  if (state.error) {
    // What clients look at: the codes that the API knows, and that of a prompt which is too long.
    out += R"({"code":)";
    append_string(state.error->code == "context_length_exceeded" ? state.error->code : "server_error", out);
    out += R"(,"message":)";
    append_string(state.error->message, out);
    out += '}';
  } else {
    out += "null";
  }
  out += R"(,"incomplete_details":)";
  out += state.status == ResponseStatus::incomplete ? R"({"reason":"max_output_tokens"})" : "null";
  out += R"(,"model":)";
  append_string(head.model, out);
  out += echo;
  out += R"(,"usage":)";
  if (state.usage) {
    append_usage(*state.usage, out);
  } else {
    out += "null";
  }
  return out + R"(,"output":)";
}

std::string echo_members(const ResponsesRequest& request) {
  std::string members = request.echo.dump(-1, ' ', false, Json::error_handler_t::replace);
  members.front() = ',';
  members.pop_back();
  return members;
}

std::string compaction_json(const ResponseHead& head, const std::vector<std::string>& user_texts,
                            const std::string& summary, const Usage& usage) {
  Json output = Json::array();
  for (size_t i = 0; i < user_texts.size(); ++i) {
    output.push_back({{"type", "message"},
                      {"id", tool_call_id("msg_", head.id, 2, static_cast<int>(i))},
                      {"status", "completed"},
                      {"role", "user"},
                      {"content", {{{"type", "input_text"}, {"text", user_texts[i]}}}}});
  }
  if (!summary.empty()) {
    output.push_back({{"type", "compaction"},
                      {"id", tool_call_id("cmp_", head.id, 2, static_cast<int>(user_texts.size()))},
                      {"encrypted_content", sealed({.summary = summary})}});
  }
  std::string out = R"({"id":)";
  append_string(head.id, out);
  out += fmt::format(R"(,"object":"response.compaction","created_at":{},"model":)", head.created);
  append_string(head.model, out);
  out += R"(,"output":)" + output.dump(-1, ' ', false, Json::error_handler_t::replace) + R"(,"usage":)";
  append_usage(usage, out);
  return out + "}";
}

std::string input_items_json(const std::vector<SharedResponse>& conversation, const ItemPage& page) {
  std::vector<Json> items;
  for (size_t i = 0; i < conversation.size(); ++i) {
    for (Json& item : Json::parse(conversation[i]->input)) items.push_back(std::move(item));
    if (i + 1 == conversation.size()) break;  // its output is its answer
    for (Json& item : Json::parse(conversation[i]->output)) items.push_back(std::move(item));
  }
  if (!page.ascending) std::ranges::reverse(items);
  auto begin = items.begin();
  if (!page.after.empty()) {
    begin = std::ranges::find_if(items, [&](const Json& item) { return item["id"] == page.after; });
    if (begin != items.end()) ++begin;
  }
  const auto end = begin + std::min<int64_t>(page.limit, items.end() - begin);
  Json list = {{"object", "list"}, {"data", Json::array()}, {"has_more", end != items.end()}};
  list["first_id"] = begin == end ? Json() : (*begin)["id"];
  list["last_id"] = begin == end ? Json() : (*(end - 1))["id"];
  for (auto item = begin; item != end; ++item) list["data"].push_back(std::move(*item));
  return list.dump(-1, ' ', false, Json::error_handler_t::replace);
}

std::string deleted_json(const std::string& id) {
  return Json{{"id", id}, {"object", "response"}, {"deleted", true}}.dump(-1, ' ', false,
                                                                          Json::error_handler_t::replace);
}

std::string input_tokens_json(int64_t tokens) {
  return fmt::format(R"({{"object":"response.input_tokens","input_tokens":{}}})", tokens);
}

}  // namespace tessera::server::responses
