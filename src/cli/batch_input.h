#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "cli/generate.h"
#include "tessera/engine.h"

namespace tessera::cli {

/// One line of a file of prompts.
struct BatchItem {
  int64_t index = 0;  // line number, from 0
  std::string_view line;
};

/// A file of prompts: text, a prompt a line, or JSON lines if the first line that is not blank is a JSON object.
/// Blank lines hold no prompt, but count.
struct BatchInput {
  std::string text;
  bool is_json = false;
  int64_t lines = 0;
  std::vector<BatchItem> items;  // views into text
};
BatchInput split_batch_input(std::string text);

/// What a line asks for. JSON keys: one of "prompt" (a string), "messages" (role and content each) and "token_ids" (an
/// array of ids, taken as they are); the sampling parameters of sampling.h; "enable_thinking", also inside
/// "chat_template_kwargs". Any other key but "id" is an error with a suggestion.
struct BatchRequest {
  std::vector<ChatMessage> messages;  // empty if token_ids are given
  std::vector<int32_t> token_ids;
  nlohmann::ordered_json id;  // handed through; null if there is none
  PromptOptions prompt;
  SamplingParams sampling;
};

/// Quiet and bounded: nullopt if `text` is no JSON, or nested too deeply.
std::optional<nlohmann::ordered_json> parse_json(std::string_view text);

/// Messages in OpenAI's shape: "role", and "content" as a string or text parts.
Expected<std::vector<ChatMessage>> parse_messages(const nlohmann::ordered_json& list);

/// `defaults` holds what flags say.
Expected<BatchRequest> parse_batch_item(const BatchItem& item, bool is_json, const BatchRequest& defaults);

}  // namespace tessera::cli
