#include "cli/conversation_file.h"

#include <cstring>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "base/read_file.h"
#include "base/write_all.h"
#include "cli/batch_input.h"

namespace tessera::cli {
namespace {

using Json = nlohmann::ordered_json;

constexpr size_t kConversationBytesMax = size_t{64} << 20;

Expected<std::vector<ChatMessage>> parse(const std::string& text) {
  const auto json = parse_json(text);
  const bool is_object = json && json->is_object() && json->contains("messages");
  if (!json || (!is_object && !json->is_array())) {
    return Status(StatusCode::invalid_argument, "expected JSON, {\"messages\": [...]}");
  }
  TESSERA_ASSIGN_OR_RETURN(std::vector<ChatMessage> messages, parse_messages(is_object ? (*json)["messages"] : *json));
  for (size_t i = 0; i < messages.size(); ++i) {
    const std::string& role = messages[i].role;
    const bool is_first_system = i == 0 && (role == "system" || role == "developer");
    if (is_first_system || role == "user" || role == "assistant") continue;
    return error(StatusCode::invalid_argument, "messages[{}].role: found \"{}\", expected \"user\" or \"assistant\"{}",
                 i, role.substr(0, 40), i == 0 ? ", or \"system\"" : "");
  }
  return messages;
}

}  // namespace

Expected<std::vector<ChatMessage>> load_conversation(const std::string& file) {
  TESSERA_ASSIGN_OR_RETURN(const std::string text, read_regular_file(file, kConversationBytesMax));
  auto messages = parse(text);
  if (!messages) return messages.status().with_context(file);
  return messages;
}

Status save_conversation(const std::string& file, const std::vector<ChatMessage>& messages) {
  std::error_code ignored;
  if (std::filesystem::exists(std::filesystem::symlink_status(file, ignored)) && !load_conversation(file).ok()) {
    return error(StatusCode::invalid_argument, "{} is there and is no conversation; choose another name", file);
  }
  Json list = Json::array();
  for (const ChatMessage& message : messages) list.push_back({{"role", message.role}, {"content", message.content}});
  const std::string text =
      Json{{"messages", std::move(list)}}.dump(2, ' ', /*ensure_ascii=*/false, Json::error_handler_t::replace) + "\n";
  if (const int reason = replace_file(file, text); reason != 0) {
    return error(StatusCode::unavailable, "cannot write {}: {}", file, std::strerror(reason));
  }
  return {};
}

}  // namespace tessera::cli
