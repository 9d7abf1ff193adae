#include "cli/batch_input.h"

#include "cli/sampling.h"
#include "cli/suggest.h"

namespace tessera::cli {
namespace {

using Json = nlohmann::ordered_json;

constexpr size_t kDepthMax = 32;

Status expect(const char* key, const char* what) {
  return error(StatusCode::invalid_argument, "\"{}\" must be {}", key, what);
}

/// A string, or the text parts of a list of parts.
Expected<std::string> parse_content(const Json& content) {
  if (content.is_string()) return content.get<std::string>();
  std::string text;
  if (!content.is_array()) return expect("content", "a string, or a list of text parts");
  for (const Json& part : content) {
    const bool is_text =
        part.is_object() && part.value("type", Json()) == "text" && part.contains("text") && part["text"].is_string();
    if (!is_text) return expect("content", "a string, or a list of parts {\"type\": \"text\", \"text\": ...}");
    text += part["text"].get<std::string>();
  }
  return text;
}

Status check_keys(const Json& object) {
  for (const auto& [key, value] : object.items()) {
    std::vector<std::string> known = {"prompt", "messages",        "token_ids",
                                      "id",     "enable_thinking", "chat_template_kwargs"};
    known.insert(known.end(), sampling_keys().begin(), sampling_keys().end());
    if (std::find(known.begin(), known.end(), key) != known.end()) continue;
    const std::string nearest = nearest_name(key, known);
    return error(StatusCode::invalid_argument, "unknown key \"{}\"{}", key.substr(0, 100),
                 nearest.empty() ? "" : fmt::format("; did you mean \"{}\"?", nearest));
  }
  return {};
}

Status parse_prompt(const Json& object, BatchRequest& request) {
  const auto given = object.contains("prompt") + object.contains("messages") + object.contains("token_ids");
  if (given != 1) {
    return Status(StatusCode::invalid_argument, "expected exactly one of \"prompt\", \"messages\" and \"token_ids\"");
  }
  if (object.contains("messages")) {
    TESSERA_ASSIGN_OR_RETURN(request.messages, parse_messages(object["messages"]));
    request.prompt.raw = false;
  } else if (object.contains("prompt")) {
    if (!object["prompt"].is_string()) return expect("prompt", "a string");
    request.messages = {{.role = "user", .content = object["prompt"].get<std::string>()}};
  } else {
    if (!object["token_ids"].is_array()) return expect("token_ids", "an array of token ids");
    for (const Json& id : object["token_ids"]) {
      if (!id.is_number_unsigned() || id.get<uint64_t>() > 0x7fffffff) {
        return expect("token_ids", "an array of whole numbers from 0 to 2147483647");
      }
      request.token_ids.push_back(id.get<int32_t>());
    }
  }
  return {};
}

Status parse_thinking(const Json& object, bool& enable_thinking) {
  const auto value = object.find("enable_thinking");
  if (value == object.end() || value->is_null()) return {};
  if (!value->is_boolean()) return expect("enable_thinking", "true or false");
  enable_thinking = value->get<bool>();
  return {};
}

}  // namespace

std::optional<Json> parse_json(std::string_view text) {
  bool too_deep = false;
  const auto watch = [&](int depth, Json::parse_event_t, Json&) {
    too_deep |= static_cast<size_t>(depth) > kDepthMax;
    return !too_deep;
  };
  Json value = Json::parse(text, watch, /*allow_exceptions=*/false);
  if (value.is_discarded() || too_deep) return std::nullopt;
  return value;
}

Expected<std::vector<ChatMessage>> parse_messages(const Json& list) {
  if (!list.is_array() || list.empty()) return expect("messages", "a list of messages, not empty");
  std::vector<ChatMessage> messages;
  for (const Json& message : list) {
    const bool has_role = message.is_object() && message.contains("role") && message["role"].is_string();
    if (!has_role || !message.contains("content")) return expect("messages", "objects with \"role\" and \"content\"");
    TESSERA_ASSIGN_OR_RETURN(std::string content, parse_content(message["content"]));
    messages.push_back({.role = message["role"].get<std::string>(), .content = std::move(content)});
  }
  return messages;
}

BatchInput split_batch_input(std::string text) {
  BatchInput input;
  input.text = std::move(text);
  std::string_view rest = input.text;
  for (; !rest.empty(); ++input.lines) {
    std::string_view line = rest.substr(0, rest.find('\n'));
    rest.remove_prefix(std::min(rest.size(), line.size() + 1));
    if (line.ends_with('\r')) line.remove_suffix(1);
    if (line.find_first_not_of(" \t") == std::string_view::npos) continue;
    if (input.items.empty()) {
      const auto json = parse_json(line);
      input.is_json = json && json->is_object();
    }
    input.items.push_back({.index = input.lines, .line = line});
  }
  return input;
}

Expected<BatchRequest> parse_batch_item(const BatchItem& item, bool is_json, const BatchRequest& defaults) {
  BatchRequest request = defaults;
  if (!is_json) {
    request.messages = {{.role = "user", .content = std::string(item.line)}};
    return request;
  }
  const auto object = parse_json(item.line);
  if (!object || !object->is_object()) return Status(StatusCode::invalid_argument, "this line is not a JSON object");
  TESSERA_RETURN_IF_ERROR(check_keys(*object));
  TESSERA_RETURN_IF_ERROR(parse_prompt(*object, request));
  TESSERA_RETURN_IF_ERROR(apply_sampling(*object, request.sampling));
  TESSERA_RETURN_IF_ERROR(parse_thinking(*object, request.prompt.enable_thinking));
  if (object->contains("chat_template_kwargs")) {
    const Json& kwargs = (*object)["chat_template_kwargs"];
    if (!kwargs.is_object() || kwargs.size() != kwargs.count("enable_thinking")) {
      return expect("chat_template_kwargs", "an object with no key but \"enable_thinking\"");
    }
    TESSERA_RETURN_IF_ERROR(parse_thinking(kwargs, request.prompt.enable_thinking));
  }
  if (object->contains("id")) request.id = (*object)["id"];
  return request;
}

}  // namespace tessera::cli
