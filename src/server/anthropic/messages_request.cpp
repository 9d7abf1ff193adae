#include "server/anthropic/messages_request.h"

#include <algorithm>
#include <limits>
#include <string>
#include <string_view>

#include "server/anthropic/content_blocks.h"
#include "server/anthropic/tool_fields.h"
#include "server/request/json_fields.h"
#include "server/request/sampling_fields.h"

namespace tessera::server::anthropic {
namespace {

constexpr int64_t kAnyBudget = std::numeric_limits<int64_t>::max();
constexpr int64_t kLowEffortTokens = 2048;

std::optional<ApiError> parse_sampling(const Json& body, SamplingParams& out) {
  static constexpr std::string_view kOther[] = {"n", "stop", "logprobs", "prompt_logprobs"};
  out.n = 1;
  out.logprobs.reset();
  out.prompt_logprobs.reset();
  if (auto error = apply_sampling(body, out, kOther)) return error;
  const Json* stop = find(body, "stop_sequences");
  return stop == nullptr ? std::nullopt : read_stop_strings(*stop, "stop_sequences", out.stop);
}

std::optional<ApiError> parse_thinking(const Json& body, ChatRequest& out) {
  Json& variables = out.template_variables;
  const Json* config = find(body, "output_config");
  std::string effort;
  if (config != nullptr) {
    if (!config->is_object()) return wrong("output_config", *config, "an object");
    if (auto error = read_text(*config, "effort", effort, "output_config")) return error;
  }
  const Json* thinking = find(body, "thinking");
  if (thinking == nullptr) {
    if (!variables.contains("enable_thinking")) variables["enable_thinking"] = false;
    return std::nullopt;
  }
  if (!thinking->is_object()) return wrong("thinking", *thinking, R"({"type": "enabled", "budget_tokens": N})");
  const Json* type = find(*thinking, "type");
  if (type == nullptr) return missing("thinking.type", "enabled, disabled or adaptive");
  const bool adaptive = *type == "adaptive" || *type == "auto";
  if (!adaptive && *type != "enabled" && *type != "disabled") {
    return wrong("thinking.type", *type, "enabled, disabled or adaptive");
  }
  if (!adaptive) variables["enable_thinking"] = *type == "enabled";
  if (auto error = read_whole(*thinking, "budget_tokens", 0, kAnyBudget, out.thinking_budget, "thinking")) return error;
  if (!out.thinking_budget && effort == "low") out.thinking_budget = kLowEffortTokens;
  std::string display;
  if (auto error = read_text(*thinking, "display", display, "thinking")) return error;
  out.include_reasoning = display != "omitted";
  return std::nullopt;
}

/// {"type": "json_schema", "schema": {...}}, as output_config.format, or as output_format, its name before.
std::optional<ApiError> parse_format(const Json& body, std::optional<AnswerFormat>& out) {
  const auto read = [&](const Json* format, const std::string& path) -> std::optional<ApiError> {
    if (format == nullptr || *format == Json::object()) return std::nullopt;
    const Json* type = format->is_object() ? find(*format, "type") : nullptr;
    if (type == nullptr) return wrong(path, *format, R"({"type": "json_schema", "schema": {...}})");
    if (*type != "json_schema") return wrong(at(path, "type"), *type, "json_schema");
    const Json* schema = find(*format, "schema");
    if (schema == nullptr) return missing(at(path, "schema"), "a JSON schema");
    if (!schema->is_object()) return wrong(at(path, "schema"), *schema, "a JSON schema");
    if (out) return bad_request(path, path + " and " + out->param + " are both given, expected one of them");
    out = AnswerFormat{.source = {.kind = GrammarSource::Kind::json_schema, .text = schema->dump()},
                       .param = at(path, "schema")};
    return std::nullopt;
  };
  const Json* config = find(body, "output_config");
  if (config != nullptr) {
    if (auto error = read(find(*config, "format"), "output_config.format")) return error;
  }
  return read(find(body, "output_format"), "output_format");
}

// Read by one of the parsers, or without effect on what is answered.
bool is_known(std::string_view key) {
  static constexpr std::string_view kKnown[] = {
      "model",          "messages",           "system",        "max_tokens", "stream",       "stop_sequences",
      "thinking",       "output_config",      "output_format", "tools",      "tool_choice",  "cache_control",
      "metadata",       "context_management", "mcp_servers",   "container",  "service_tier", "betas",
      "anthropic_beta", "anthropic_version",  "inference_geo", "speed"};
  return std::ranges::find(kKnown, key) != std::end(kKnown) || is_sampling_field(key);
}

/// What would change the answer, is not here, and would stop clients that send it unasked were it refused.
void note_unsupported(const Json& body, std::vector<std::string>& notes) {
  const auto note = [&](const std::string& path) { add_note(path + " is not supported and was left out", notes); };
  const auto is_given = [](const Json* value) {
    return value != nullptr && !(value->is_structured() && value->empty());
  };
  if (is_given(find(body, "mcp_servers"))) note("mcp_servers");
  if (is_given(find(body, "container"))) note("container");
}

/// A conversation that the server would remember. Clients that are told so by this code send all of it each time, as
/// the tool runner of Anthropic's package does.
std::optional<ApiError> refuse_thread(const Json& body) {
  if (find(body, "thread") == nullptr) return std::nullopt;
  ApiError error =
      bad_request("thread", "thread: conversations are not kept here; leave it out and send all messages each time");
  error.code = "thread_unsupported_request";
  return error;
}

}  // namespace

std::optional<ApiError> parse_messages_request(const Json& body, const RequestOptions& options, ChatRequest& out) {
  out = {};
  out.sampling = options.sampling;
  out.template_variables = options.template_kwargs;
  out.returns_reasoning = true;
  if (auto error = refuse_thread(body)) return error;
  if (auto error = read_text(body, "model", out.model)) return error;
  if (auto error = read_flag(body, "stream", out.stream.stream)) return error;
  if (auto error = parse_sampling(body, out.sampling)) return error;
  if (auto error = parse_thinking(body, out)) return error;
  if (auto error = parse_format(body, out.format)) return error;
  if (auto error = parse_tools(body, options.limits, out.tools, out.parallel_tool_calls, out.notes)) return error;
  if (auto error = parse_conversation(body, options, out.messages, out.notes)) return error;
  note_unsupported(body, out.notes);
  note_unknown(body, is_known, out.notes);
  const Message& last = out.messages.back();
  if (last.role != Role::assistant || !last.calls.empty()) return std::nullopt;
  out.continues_message = !last.text.empty() || !last.reasoning.empty();
  if (!out.continues_message) out.messages.pop_back();
  if (out.messages.empty()) return wrong("messages", body["messages"], "a message that is not empty");
  return std::nullopt;
}

}  // namespace tessera::server::anthropic
