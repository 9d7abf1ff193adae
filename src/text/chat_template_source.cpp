#include <nlohmann/json.hpp>

#include "base/read_file.h"
#include "base/status.h"
#include "text/bundled.h"
#include "text/chat_template.h"
#include "text/json_depth.h"

namespace tessera::text {

namespace {

using nlohmann::ordered_json;
namespace fs = std::filesystem;

constexpr uint64_t kConfigBytesMax = uint64_t{64} << 20;

Expected<TemplateSource> read_template(const fs::path& file) {
  TESSERA_ASSIGN_OR_RETURN(std::string text, read_regular_file(file, ChatTemplate::kSourceBytesMax));
  return TemplateSource{std::move(text), {}, file.string()};
}

/// [{"name": "default", "template": "..."}, ...]
Status read_named(const ordered_json& list, const std::string& origin, TemplateSource& source) {
  bool found = false;
  for (const ordered_json& entry : list) {
    if (!entry.is_object() || !entry.contains("name") || !entry["name"].is_string() || !entry.contains("template") ||
        !entry["template"].is_string())
      return error(StatusCode::corrupt_data, "{}: chat_template has an entry without name and template", origin);
    if (entry["name"] == "default") {
      source.text = entry["template"];
      found = true;
    } else if (entry["name"] == "tool_use") {
      source.tool_use = entry["template"];
    }
  }
  if (found) return {};
  return error(StatusCode::corrupt_data, "{}: chat_template is a list without a template named \"default\"", origin);
}

/// The template in tokenizer_config.json; an empty origin if there is none.
Expected<TemplateSource> read_config(const fs::path& file) {
  TESSERA_ASSIGN_OR_RETURN(const std::string text, read_regular_file(file, kConfigBytesMax));
  const ordered_json config = ordered_json::parse(text, nullptr, false);
  if (!config.is_object()) return error(StatusCode::corrupt_data, "{} is not a JSON object", file.string());
  TemplateSource source;
  const auto entry = config.find("chat_template");
  if (entry == config.end() || entry->is_null()) return source;
  source.origin = file.string();
  if (entry->is_string()) {
    source.text = *entry;
    return source;
  }
  if (!entry->is_array())
    return error(StatusCode::corrupt_data, "{}: chat_template is neither a string nor a list", file.string());
  TESSERA_RETURN_IF_ERROR(read_named(*entry, file.string(), source));
  return source;
}

}  // namespace

Expected<TemplateSource> find_chat_template(const fs::path& model_dir, const fs::path& override_file) {
  if (!override_file.empty()) return read_template(override_file);
  std::error_code ignored;
  if (const auto file = model_dir / "chat_template.jinja"; fs::exists(file, ignored)) return read_template(file);
  if (const auto file = model_dir / "tokenizer_config.json"; fs::exists(file, ignored)) {
    TESSERA_ASSIGN_OR_RETURN(TemplateSource source, read_config(file));
    if (!source.origin.empty()) return source;
  }
  return TemplateSource{std::string(bundled_chat_template()), {}, "the bundled chat template"};
}

Status parse_tool_arguments(ordered_json& messages) {
  if (!messages.is_array()) return error(StatusCode::invalid_argument, "messages is not a list");
  for (size_t i = 0; i < messages.size(); ++i) {
    if (!messages[i].is_object() || !messages[i].contains("tool_calls")) continue;
    ordered_json& calls = messages[i]["tool_calls"];
    if (calls.is_null()) continue;
    if (!calls.is_array()) return error(StatusCode::invalid_argument, "messages[{}].tool_calls is not a list", i);
    for (size_t j = 0; j < calls.size(); ++j) {
      if (!calls[j].is_object())
        return error(StatusCode::invalid_argument, "messages[{}].tool_calls[{}] is not an object", i, j);
      ordered_json& call = calls[j].contains("function") ? calls[j]["function"] : calls[j];
      if (!call.is_object() || !call.contains("arguments") || !call["arguments"].is_string()) continue;
      const std::string text = call["arguments"];
      ordered_json arguments = text.empty() ? ordered_json::object() : ordered_json::parse(text, nullptr, false);
      if (!arguments.is_object() || json_depth_exceeds(arguments, ChatTemplate::kRequestDepthMax))
        return error(StatusCode::invalid_argument,
                     "messages[{}].tool_calls[{}]: the arguments are not the text of a JSON object nested at most {} "
                     "deep",
                     i, j, ChatTemplate::kRequestDepthMax);
      call["arguments"] = std::move(arguments);
    }
  }
  return {};
}

}  // namespace tessera::text
