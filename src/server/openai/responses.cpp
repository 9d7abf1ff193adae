#include "server/openai/responses.h"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <ctime>
#include <string_view>

#include "server/request/json_text.h"

namespace tessera::server::openai {
namespace {

void append_number(int64_t number, std::string& out) {
  const fmt::format_int text(number);
  out.append(text.data(), text.size());
}

/// {"id": ..., "system_fingerprint": ..., "choices": [
std::string opening(const ResponseHead& head, std::string_view object) {
  std::string out = R"({"id":)";
  append_string(head.id, out);
  out += R"(,"object":")";
  out += object;
  out += R"(","created":)";
  append_number(head.created, out);
  out += R"(,"model":)";
  append_string(head.model, out);
  out += R"(,"system_fingerprint":)";
  if (head.fingerprint.empty()) {
    out += "null";
  } else {
    append_string(head.fingerprint, out);
  }
  return out + R"(,"choices":[)";
}

void append_usage(const Usage& usage, std::string& out) {
  fmt::format_to(std::back_inserter(out),
                 R"({{"prompt_tokens":{},"completion_tokens":{},"total_tokens":{},)"
                 R"("prompt_tokens_details":{{"cached_tokens":{})",
                 usage.prompt_tokens, usage.completion_tokens, usage.prompt_tokens + usage.completion_tokens,
                 usage.cached_tokens);
  if (usage.tier_tokens > 0) {  // as SGLang says it
    fmt::format_to(std::back_inserter(out), R"(,"cached_tokens_details":{{"device":{},"host":{}}})",
                   usage.cached_tokens - usage.tier_tokens, usage.tier_tokens);
  }
  fmt::format_to(std::back_inserter(out), R"(}},"completion_tokens_details":{{"reasoning_tokens":{})",
                 usage.reasoning_tokens);
  if (usage.drafts) {  // the first two as OpenAI says it of predicted outputs
    fmt::format_to(std::back_inserter(out),
                   R"(,"accepted_prediction_tokens":{},"rejected_prediction_tokens":{},"draft_steps":{},)"
                   R"("accepted_at":[{}])",
                   usage.drafts->accepted, usage.drafts->proposed - usage.drafts->accepted, usage.drafts->steps,
                   fmt::join(usage.drafts->accepted_at, ","));
  }
  out += "}}";
}

/// Under both names that clients read: vLLM's and OpenAI-compatible gateways' differ.
void append_reasoning(std::string_view reasoning, std::string& out) {
  out += R"("reasoning_content":)";
  const size_t start = out.size();
  append_string(reasoning, out);
  const size_t length = out.size() - start;
  out += R"(,"reasoning":)";
  out.append(out, start, length);
}

void append_calls(const std::vector<ToolCallDelta>& calls, bool with_index, std::string& out) {
  out += R"("tool_calls":[)";
  for (size_t i = 0; i < calls.size(); ++i) {
    const ToolCallDelta& call = calls[i];
    out += i == 0 ? "{" : ",{";
    if (with_index) {
      out += R"("index":)";
      append_number(call.index, out);
      out += ',';
    }
    if (!call.id.empty()) {
      out += R"("id":)";
      append_string(call.id, out);
      out += call.custom ? R"(,"type":"custom","custom":{"name":)" : R"(,"type":"function","function":{"name":)";
      append_string(call.name, out);
      out += ',';
    } else {
      out += call.custom ? R"("custom":{)" : R"("function":{)";
    }
    out += call.custom ? R"("input":)" : R"("arguments":)";
    append_string(call.arguments, out);
    out += "}}";
  }
  out += ']';
}

/// "function_call" of the one call there is.
void append_legacy_call(const ToolCallDelta& call, std::string& out) {
  out += R"("function_call":{)";
  if (!call.id.empty()) {
    out += R"("name":)";
    append_string(call.name, out);
    out += ',';
  }
  out += R"("arguments":)";
  append_string(call.arguments, out);
  out += '}';
}

void append_chat_logprobs(std::string_view elements, bool wanted, std::string& out) {
  if (!wanted) {
    out += R"(,"logprobs":null)";
    return;
  }
  out += R"(,"logprobs":{"content":[)";
  out += elements;
  out += R"(],"refusal":null})";
}

void append_legacy_logprobs(const LegacyLogprobs& logprobs, std::string& out) {
  if (logprobs.empty()) {
    out += R"(,"logprobs":null)";
    return;
  }
  out += R"(,"logprobs":{"tokens":[)";
  out += logprobs.tokens;
  out += R"(],"token_logprobs":[)";
  out += logprobs.token_logprobs;
  out += R"(],"top_logprobs":[)";
  out += logprobs.top_logprobs;
  out += R"(],"text_offset":[)";
  out += logprobs.text_offset;
  out += "]}";
}

const char* name_of(ChatFinish finish, bool legacy_calls) {
  switch (finish) {
    case ChatFinish::none: return nullptr;
    case ChatFinish::stop:
    case ChatFinish::stop_string: return "stop";
    case ChatFinish::length: return "length";
    case ChatFinish::tool_calls: break;
  }
  return legacy_calls ? "function_call" : "tool_calls";
}

void append_finish(const char* reason, std::string& out) {
  out += R"(,"finish_reason":)";
  if (reason == nullptr) {
    out += "null";
  } else {
    append_string(reason, out);
  }
}

void append_token_ids(const char* key, const std::vector<int32_t>& ids, std::string& out) {
  out += key;
  append_ids(ids, out);
}

void append_completion_choice(int index, const CompletionDelta& choice, std::string& out) {
  out += R"({"index":)";
  append_number(index, out);
  out += R"(,"text":)";
  append_string(choice.text, out);
  append_legacy_logprobs(choice.logprobs, out);
  append_finish(choice.finish_reason, out);
  if (!choice.tokens.empty()) append_token_ids(R"(,"token_ids":)", choice.tokens, out);
}

void append_message(const ChatMessageText& message, bool legacy_calls, std::string& out) {
  out += R"("message":{"role":"assistant","content":)";
  if (message.content.empty() && !message.tool_calls.empty()) {
    out += "null";
  } else {
    append_string(message.content, out);
  }
  out += ',';
  if (message.reasoning.empty()) {
    out += R"("reasoning_content":null,"reasoning":null)";
  } else {
    append_reasoning(message.reasoning, out);
  }
  out += R"(,"refusal":null)";
  if (!message.tool_calls.empty()) {
    out += ',';
    if (legacy_calls) {
      append_legacy_call(message.tool_calls.front(), out);
    } else {
      append_calls(message.tool_calls, /*with_index=*/false, out);
    }
  }
  out += '}';
}

/// What Codex tells a model that it has no words of its own for. It asks every server for such words.
constexpr std::string_view kCodexInstructions =
    "You are a coding agent. You work in the user's terminal, with the tools that you are given. Read the files that "
    "matter before you change them, and keep to the style of the code around. Change what the task needs, and nothing "
    "else; do not commit or revert work that is not yours. Go on until the task is done: run what shows whether your "
    "change works, where that is possible, and mend what fails. Edit files with apply_patch where it is offered. "
    "Prefer rg to grep. Say briefly what you are about to do before you call tools, and at the end what you did, "
    "naming the files. If you cannot do something, say so and why.";

/// One model as Codex reads it, besides what clients of OpenAI's API do: it takes its context's length from here.
void append_codex_model(const ModelCard& card, int priority, std::string& out) {
  out += R"({"slug":)";
  append_string(card.id, out);
  out += R"(,"display_name":)";
  append_string(card.id, out);
  out += R"(,"description":"Served by Tessera.","base_instructions":)";
  append_string(kCodexInstructions, out);
  fmt::format_to(
      std::back_inserter(out),
      R"(,"context_window":{0},"max_context_window":{0},"priority":{1},"effective_context_window_percent":95,)"
      R"("default_reasoning_level":"medium","supported_reasoning_levels":[)"
      R"({{"effort":"none","description":"Answers at once"}},{{"effort":"low","description":"Thinks briefly"}},)"
      R"({{"effort":"medium","description":"Thinks as long as it likes"}}],)"
      R"("shell_type":"shell_command","visibility":"list","supported_in_api":true,"availability_nux":null,)"
      R"("upgrade":null,"model_messages":null,"supports_reasoning_summaries":true,)"
      R"("supports_reasoning_summary_parameter":true,"default_reasoning_summary":"auto","support_verbosity":false,)"
      R"("default_verbosity":null,"apply_patch_tool_type":"freeform","web_search_tool_type":"text",)"
      R"("truncation_policy":{{"mode":"bytes","limit":10000}},"supports_parallel_tool_calls":true,)"
      R"("supports_image_detail_original":false,"supports_search_tool":false,"experimental_supported_tools":[],)"
      R"("input_modalities":["text"]}})",
      card.max_model_len, priority);
}

}  // namespace

ChunkWriter::ChunkWriter(Kind kind, const ResponseHead& head, bool usage_null, bool legacy_calls)
    : prefix_(opening(head, kind == Kind::chat ? "chat.completion.chunk" : "text_completion")),
      usage_null_(usage_null),
      legacy_calls_(legacy_calls) {}

void ChunkWriter::finish(std::string& out, const Usage* usage) const {
  out += "}]";
  if (usage != nullptr) {
    out += R"(,"usage":)";
    append_usage(*usage, out);
  } else if (usage_null_) {
    out += R"(,"usage":null)";
  }
  out += '}';
}

void ChunkWriter::role(int choice, std::string& out, const std::vector<int32_t>* prompt, const Usage* usage) const {
  out += prefix_;
  out += R"({"index":)";
  append_number(choice, out);
  out += R"(,"delta":{"role":"assistant","content":""},"logprobs":null,"finish_reason":null)";
  if (prompt != nullptr) append_token_ids(R"(,"prompt_token_ids":)", *prompt, out);
  finish(out, usage);
}

void ChunkWriter::delta(int choice, const ChatDelta& delta, std::string& out, const Usage* usage) const {
  out += prefix_;
  out += R"({"index":)";
  append_number(choice, out);
  out += R"(,"delta":{)";
  if (!delta.reasoning.empty()) {
    append_reasoning(delta.reasoning, out);
    out += ',';
  }
  // Even where it is empty: some clients join it unseen.
  out += R"("content":)";
  append_string(delta.content, out);
  if (!delta.tool_calls.empty()) {
    out += ',';
    if (legacy_calls_) {
      append_legacy_call(delta.tool_calls.front(), out);
    } else {
      append_calls(delta.tool_calls, /*with_index=*/true, out);
    }
  }
  out += '}';
  append_chat_logprobs(delta.logprobs, !delta.logprobs.empty(), out);
  append_finish(name_of(delta.finish, legacy_calls_), out);
  if (!delta.tokens.empty()) append_token_ids(R"(,"token_ids":)", delta.tokens, out);
  finish(out, usage);
}

void ChunkWriter::delta(int choice, const CompletionDelta& delta, std::string& out, const Usage* usage) const {
  out += prefix_;
  append_completion_choice(choice, delta, out);
  finish(out, usage);
}

void ChunkWriter::usage(const Usage& usage, std::string& out) const {
  out += prefix_;
  out += R"(],"usage":)";
  append_usage(usage, out);
  out += '}';
}

std::string chat_completion_json(const ResponseHead& head, const ChatAnswer& answer) {
  std::string out = opening(head, "chat.completion");
  for (size_t i = 0; i < answer.choices.size(); ++i) {
    const ChatMessageText& choice = answer.choices[i];
    out += i == 0 ? R"({"index":)" : R"(,{"index":)";
    append_number(static_cast<int64_t>(i), out);
    out += ',';
    append_message(choice, answer.legacy_calls, out);
    append_chat_logprobs(choice.logprobs, answer.logprobs, out);
    append_finish(name_of(choice.finish, answer.legacy_calls), out);
    if (answer.prompt_token_ids != nullptr) append_token_ids(R"(,"token_ids":)", choice.tokens, out);
    out += '}';
  }
  out += R"(],"usage":)";
  append_usage(answer.usage, out);
  if (!answer.prompt_logprobs.empty()) out += R"(,"prompt_logprobs":)" + answer.prompt_logprobs;
  if (answer.prompt_token_ids != nullptr) append_token_ids(R"(,"prompt_token_ids":)", *answer.prompt_token_ids, out);
  return out + "}";
}

std::string completion_json(const ResponseHead& head, const CompletionAnswer& answer) {
  std::string out = opening(head, "text_completion");
  for (size_t i = 0; i < answer.choices.size(); ++i) {
    const CompletionAnswer::Choice& choice = answer.choices[i];
    if (i > 0) out += ',';
    append_completion_choice(static_cast<int>(i), choice.all, out);
    if (!choice.prompt_logprobs.empty()) out += R"(,"prompt_logprobs":)" + choice.prompt_logprobs;
    if (choice.prompt_token_ids != nullptr) append_token_ids(R"(,"prompt_token_ids":)", *choice.prompt_token_ids, out);
    out += '}';
  }
  out += R"(],"usage":)";
  append_usage(answer.usage, out);
  return out + "}";
}

std::string model_json(const ModelCard& card) {
  std::string out = R"({"id":)";
  append_string(card.id, out);
  out += fmt::format(R"(,"object":"model","type":"model","created":{},"created_at":"{:%FT%TZ}","display_name":)",
                     card.created, fmt::gmtime(static_cast<std::time_t>(card.created)));
  append_string(card.id, out);
  out += R"(,"owned_by":"tessera","root":)";
  append_string(card.root, out);
  return out + fmt::format(R"(,"parent":null,"max_model_len":{}{}}})", card.max_model_len,
                           card.chat ? "" : R"(,"chat":false)");
}

std::string models_json(const std::vector<ModelCard>& cards) {
  std::string out = R"({"object":"list","data":[)";
  for (size_t i = 0; i < cards.size(); ++i) {
    if (i > 0) out += ',';
    out += model_json(cards[i]);
  }
  out += R"(],"has_more":false,"models":[)";
  for (size_t i = 0; i < cards.size(); ++i) {
    if (i > 0) out += ',';
    append_codex_model(cards[i], static_cast<int>(i), out);
  }
  return out + "]}";
}

std::string version_json(const std::string& version) {
  std::string out = R"({"version":)";
  append_string(version, out);
  return out + "}";
}

}  // namespace tessera::server::openai
