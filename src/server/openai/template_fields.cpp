#include "server/openai/template_fields.h"

#include <algorithm>
#include <array>
#include <limits>
#include <string_view>
#include <utility>

#include "server/openai/chat_messages.h"
#include "server/openai/tool_fields.h"
#include "server/request/json_fields.h"

namespace tessera::server::openai {
namespace {

constexpr std::array<std::string_view, 4> kSwitches = {"enable_thinking", "thinking", "preserve_thinking",
                                                       "add_vision_id"};
// What the request itself puts there: not even an operator's list makes them arguments.
constexpr std::array<std::string_view, 5> kReserved = {"messages", "tools", "add_generation_prompt", "chat_template",
                                                       "documents"};
constexpr std::array<std::string_view, 7> kEfforts = {"none", "minimal", "low", "medium", "high", "xhigh", "max"};
constexpr int64_t kLowEffortTokens = 2048;
constexpr int64_t kAnyBudget = std::numeric_limits<int64_t>::max();

bool is_one_of(std::string_view name, const auto& names) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

std::optional<ApiError> check_effort(const Json& effort, const std::string& path) {
  if (effort.is_string() && is_one_of(effort.get_ref<const std::string&>(), kEfforts)) return std::nullopt;
  return wrong(path, effort, "none, minimal, low, medium, high, xhigh or max");
}

/// Adds chat_template_kwargs to `variables`.
std::optional<ApiError> parse_kwargs(const Json& body, const RequestOptions& options, Json& variables) {
  const Json* kwargs = find(body, "chat_template_kwargs");
  if (kwargs == nullptr) return std::nullopt;
  const std::string path = "chat_template_kwargs";
  if (!kwargs->is_object()) return wrong(path, *kwargs, "an object");
  const size_t bytes = kwargs->dump().size();
  if (auto error = too_many(path, bytes, options.limits.template_kwargs_bytes_max, "bytes")) return error;
  for (const auto& [name, value] : kwargs->items()) {
    const std::string inside = at(path, shortened(name, 60));
    if (is_one_of(name, kSwitches)) {
      if (!value.is_boolean() && !value.is_null()) return wrong(inside, value, "true or false");
    } else if (name == "reasoning_effort") {
      if (auto error = value.is_null() ? std::nullopt : check_effort(value, inside)) return error;
    } else if (is_one_of(name, kReserved) || !is_one_of(name, options.template_kwargs_allowed)) {
      return bad_request(inside, inside +
                                     " is not allowed; arguments of the chat template are enable_thinking, "
                                     "thinking, preserve_thinking, add_vision_id, reasoning_effort and those that "
                                     "the server's operator names");
    }
    if (!value.is_null()) variables[name] = value;
  }
  return std::nullopt;
}

/// What the many names for reasoning say.
struct Thinking {
  std::optional<bool> on;
  std::optional<int64_t> budget;
  std::string effort;
};

/// thinking: {"type": "enabled", "budget_tokens": 1000}
std::optional<ApiError> parse_thinking_object(const Json& body, Thinking& out) {
  const Json* thinking = find(body, "thinking");
  if (thinking == nullptr) return std::nullopt;
  if (!thinking->is_object()) return wrong("thinking", *thinking, R"({"type": "enabled" or "disabled"})");
  if (const Json* type = find(*thinking, "type")) {
    const bool off = *type == "disabled";
    if (!off && *type != "enabled" && *type != "adaptive" && *type != "auto") {
      return wrong("thinking.type", *type, "\"enabled\" or \"disabled\"");
    }
    if (!out.on && (off || *type == "enabled")) out.on = !off;
  }
  std::optional<int64_t> budget;
  if (auto error = read_whole(*thinking, "budget_tokens", -1, kAnyBudget, budget, "thinking")) return error;
  if (!out.budget) out.budget = budget;
  return std::nullopt;
}

/// reasoning: {"enabled": true, "effort": "low", "max_tokens": 1000, "exclude": false}
std::optional<ApiError> parse_reasoning_object(const Json& body, Thinking& out, bool& include_reasoning) {
  const Json* reasoning = find(body, "reasoning");
  if (reasoning == nullptr) return std::nullopt;
  if (!reasoning->is_object()) return wrong("reasoning", *reasoning, "an object with effort or max_tokens");
  bool enabled = true;
  if (auto error = read_flag(*reasoning, "enabled", enabled, "reasoning")) return error;
  if (!out.on && find(*reasoning, "enabled") != nullptr) out.on = enabled;
  bool exclude = false;
  if (auto error = read_flag(*reasoning, "exclude", exclude, "reasoning")) return error;
  if (exclude) include_reasoning = false;
  if (const Json* effort = find(*reasoning, "effort")) {
    if (auto error = check_effort(*effort, "reasoning.effort")) return error;
    if (out.effort.empty()) out.effort = effort->get<std::string>();
  }
  std::optional<int64_t> budget;
  if (auto error = read_whole(*reasoning, "max_tokens", -1, kAnyBudget, budget, "reasoning")) return error;
  if (!out.budget) out.budget = budget;
  return std::nullopt;
}

std::optional<ApiError> parse_thinking(const Json& body, Thinking& out, bool& include_reasoning) {
  bool enable = true;
  if (auto error = read_flag(body, "enable_thinking", enable)) return error;
  if (find(body, "enable_thinking") != nullptr) out.on = enable;
  for (const char* key : {"thinking_token_budget", "thinking_budget", "max_thinking_tokens"}) {
    std::optional<int64_t> budget;
    if (auto error = read_whole(body, key, -1, kAnyBudget, budget)) return error;
    if (!out.budget) out.budget = budget;
  }
  if (const Json* effort = find(body, "reasoning_effort")) {
    if (auto error = check_effort(*effort, "reasoning_effort")) return error;
    out.effort = effort->get<std::string>();
  }
  if (auto error = parse_thinking_object(body, out)) return error;
  return parse_reasoning_object(body, out, include_reasoning);
}

/// Who continues a message asks for no new one; clients that do so leave add_generation_prompt at its default, or say
/// that it is false.
std::optional<ApiError> parse_continuation(const Json& body, ChatRequest& out) {
  if (auto error = read_flag(body, "add_generation_prompt", out.add_generation_prompt)) return error;
  if (auto error = read_flag(body, "continue_final_message", out.continues_message)) return error;
  if (!out.continues_message) return std::nullopt;
  const Message& last = out.messages.back();
  if (last.role != Role::assistant || !last.calls.empty()) {
    return wrong("continue_final_message", Json(true), "the last message to be the assistant's, without calls");
  }
  if (find(body, "add_generation_prompt") != nullptr && out.add_generation_prompt) {
    return wrong("continue_final_message", Json(true), "\"add_generation_prompt\" to be false beside it");
  }
  return std::nullopt;
}

/// The last message stands before the new one if the assistant wrote both.
std::optional<ApiError> parse_echo(const Json& body, ChatRequest& out) {
  bool echo = false;
  if (auto error = read_flag(body, "echo", echo)) return error;
  if (echo && out.messages.back().role == Role::assistant) out.echo = out.messages.back().text;
  return std::nullopt;
}

}  // namespace

std::optional<ApiError> parse_thinking_fields(const Json& body, const RequestOptions& options, ChatRequest& out) {
  Json variables = options.template_kwargs;
  Json given = Json::object();
  if (auto error = parse_kwargs(body, options, given)) return error;
  Thinking thinking;
  if (auto error = read_flag(body, "include_reasoning", out.include_reasoning)) return error;
  if (auto error = parse_thinking(body, thinking, out.include_reasoning)) return error;
  if (const Json* effort = find(given, "reasoning_effort"); effort != nullptr && thinking.effort.empty()) {
    thinking.effort = effort->get<std::string>();
  }
  if (!thinking.effort.empty()) {
    given["reasoning_effort"] = thinking.effort;
    if (!thinking.on) thinking.on = thinking.effort != "none" && thinking.effort != "minimal";
    if (!thinking.budget && thinking.effort == "low") thinking.budget = kLowEffortTokens;
  }
  if (thinking.on && !given.contains("enable_thinking")) given["enable_thinking"] = *thinking.on;
  if (thinking.budget && *thinking.budget >= 0) out.thinking_budget = thinking.budget;
  for (auto& [name, value] : given.items()) variables[name] = value;
  out.template_variables = std::move(variables);
  return std::nullopt;
}

std::optional<ApiError> parse_template_fields(const Json& body, const RequestOptions& options, ChatRequest& out) {
  if (auto error = parse_thinking_fields(body, options, out)) return error;
  if (auto error = parse_tools(body, options.limits, out.tools)) return error;
  out.legacy_functions = find(body, "tools") == nullptr && find(body, "functions") != nullptr;
  if (out.legacy_functions) out.parallel_tool_calls = false;  // an answer has room for one
  if (auto error = parse_messages(body, options, out.messages, out.notes)) return error;
  if (auto error = parse_continuation(body, out)) return error;
  return parse_echo(body, out);
}

}  // namespace tessera::server::openai
