#include "server/responses/client_tools.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "base/check.h"
#include "server/request/json_fields.h"
#include "server/request/past_arguments.h"

namespace tessera::server::responses {
namespace {

constexpr std::array<ClientTool, 3> kTools = {{
    {.kind = CallKind::local_shell,
     .type = "local_shell",
     .description = "Runs a command on the user's computer.",
     .parameters = R"({"type": "object", "properties": {
       "command": {"type": "array", "items": {"type": "string"}, "minItems": 1,
                   "description": "The program and its arguments."},
       "working_directory": {"type": "string"},
       "timeout_ms": {"type": "integer"},
       "env": {"type": "object", "additionalProperties": {"type": "string"}}}, "required": ["command"]})",
     .call_type = "local_shell_call",
     .output_type = "local_shell_call_output",
     .id_prefix = "lsh_",
     .member = "action"},
    {.kind = CallKind::shell,
     .type = "shell",
     .description = "Runs commands in a shell on the user's computer.",
     .parameters = R"({"type": "object", "properties": {
       "commands": {"type": "array", "items": {"type": "string"}, "minItems": 1,
                    "description": "Command lines, each run by itself."},
       "timeout_ms": {"type": "integer", "minimum": 1},
       "max_output_length": {"type": "integer", "minimum": 1, "description": "Characters of output that are wanted."}},
       "required": ["commands"]})",
     .call_type = "shell_call",
     .output_type = "shell_call_output",
     .id_prefix = "sh_",
     .member = "action"},
    {.kind = CallKind::apply_patch,
     .type = "apply_patch",
     .description = "Creates, changes or deletes one file. The diff of create_file is the file's lines, each with + "
                    "before it. The diff of update_file is hunks: a line @@, or @@ and a line of the file that comes "
                    "before the change, then lines with a space before them that stay, with - that go, with + that "
                    "come. delete_file has no diff.",
     .parameters = R"({"type": "object", "properties": {
       "type": {"type": "string", "enum": ["create_file", "update_file", "delete_file"]},
       "path": {"type": "string"},
       "diff": {"type": "string"}}, "required": ["type", "path"]})",
     .call_type = "apply_patch_call",
     .output_type = "apply_patch_call_output",
     .id_prefix = "apc_",
     .member = "operation"},
}};

template <typename Is>
const ClientTool* find_tool(Is is) {
  const auto* found = std::find_if(kTools.begin(), kTools.end(), is);
  return found == kTools.end() ? nullptr : found;
}

/// The texts of an array at `key`, or the one that stands there alone.
std::vector<std::string> texts_at(const Json& object, const char* key) {
  std::vector<std::string> texts;
  const Json* given = find(object, key);
  if (given == nullptr) return texts;
  const auto text = [](const Json& one) { return one.is_string() ? one.get<std::string>() : one.dump(); };
  if (!given->is_array()) return {text(*given)};
  for (const Json& one : *given) texts.push_back(text(one));
  return texts;
}

Json count_at(const Json& object, const char* key) {
  const Json* given = find(object, key);
  return given != nullptr && given->is_number_unsigned() ? *given : Json();
}

std::string text_at(const Json& object, const char* key) {
  const Json* given = find(object, key);
  return given != nullptr && given->is_string() ? given->get<std::string>() : std::string();
}

Json local_action(const Json& given) {
  const Json* words = find(given, "command");
  std::vector<std::string> command = texts_at(given, "command");
  if (words != nullptr && words->is_string()) command = {"sh", "-c", command.front()};
  Json action = {{"type", "exec"}, {"command", std::move(command)}, {"env", Json::object()}};
  if (const Json* env = find(given, "env"); env != nullptr && env->is_object()) {
    for (const auto& [key, value] : env->items()) action["env"][key] = value.is_string() ? value : Json(value.dump());
  }
  action["timeout_ms"] = count_at(given, "timeout_ms");
  const Json* directory = find(given, "working_directory");
  action["working_directory"] = directory != nullptr && directory->is_string() ? *directory : Json();
  action["user"] = nullptr;
  return action;
}

std::vector<std::string> commands_of(const Json& given) {
  return texts_at(given, find(given, "commands") != nullptr ? "commands" : "command");
}

/// What is no operation changes nothing: an update without a diff.
Json operation_of(const Json& given) {
  const std::string type = text_at(given, "type");
  Json operation = {{"type", "update_file"}, {"path", text_at(given, "path")}};
  if (type == "create_file" || type == "delete_file") operation["type"] = type;
  if (type != "delete_file") operation["diff"] = text_at(given, "diff");
  return operation;
}

/// What the model wrote, closed where it breaks off; nothing of a call that was cut.
Json written(const OutputItem& item) {
  std::string note;
  return item.status == ItemStatus::incomplete ? Json::object() : read_past_arguments(item.text, {}, note);
}

void append_line(std::string_view line, std::string& text) {
  if (!text.empty() && text.back() != '\n') text += '\n';
  text += line;
}

/// "stdout", "stderr" and "outcome" of one of the commands.
std::optional<ApiError> read_chunk(const Json& chunk, const std::string& path, std::string& text) {
  if (!chunk.is_object()) return wrong(path, chunk, R"({"stdout": "...", "stderr": "...", "outcome": {...}})");
  std::string out;
  std::string err;
  if (auto error = read_text(chunk, "stdout", out, path)) return error;
  if (auto error = read_text(chunk, "stderr", err, path)) return error;
  if (!out.empty()) append_line(out, text);
  if (!err.empty()) append_line("[stderr]\n" + err, text);
  const Json* outcome = find(chunk, "outcome");
  if (outcome == nullptr) return std::nullopt;
  const Json* type = find(*outcome, "type");
  if (type != nullptr && *type == "timeout") append_line("[the time was up]", text);
  const Json* code = find(*outcome, "exit_code");
  if (code != nullptr && code->is_number_integer()) append_line(fmt::format("[exit code {}]", code->dump()), text);
  return std::nullopt;
}

}  // namespace

const ClientTool* client_tool(std::string_view type) {
  return find_tool([&](const ClientTool& tool) { return tool.type == type; });
}

const ClientTool* client_tool_of_item(std::string_view item_type) {
  return find_tool(
      [&](const ClientTool& tool) { return tool.call_type == item_type || tool.output_type == item_type; });
}

const ClientTool& client_tool(CallKind kind) {
  const ClientTool* tool = find_tool([&](const ClientTool& one) { return one.kind == kind; });
  TESSERA_CHECK(tool != nullptr);
  return *tool;
}

bool runs_at_provider(const Json& tool) {
  const Json* environment = find(tool, "environment");
  const Json* type = environment != nullptr ? find(*environment, "type") : nullptr;
  return type != nullptr && *type != "local";
}

std::string description_of(const ClientTool& tool, const Json& given) {
  std::string text = tool.description;
  const Json* environment = find(given, "environment");
  const Json* skills = environment != nullptr ? find(*environment, "skills") : nullptr;
  if (skills == nullptr) return text;
  for (const Json& skill : *skills) {
    if (!skill.is_object()) continue;
    text += fmt::format("\nSkill {}, in {}: {}", text_at(skill, "name"), text_at(skill, "path"),
                        text_at(skill, "description"));
  }
  return text;
}

Json client_action(const OutputItem& item) {
  const Json given = written(item);
  if (item.tool.kind == CallKind::apply_patch) return operation_of(given);
  if (item.tool.kind == CallKind::local_shell) return local_action(given);
  return {{"commands", commands_of(given)},
          {"timeout_ms", count_at(given, "timeout_ms")},
          {"max_output_length", count_at(given, "max_output_length")}};
}

std::vector<std::string> shell_commands(const OutputItem& item) { return commands_of(written(item)); }

std::optional<ApiError> read_client_call(const ClientTool& tool, const Json& item, const std::string& path,
                                         Json& arguments) {
  const Json* given = find(item, tool.member);
  if (given == nullptr || !given->is_object()) {
    return missing(at(path, tool.member), "an object, what the call is to do");
  }
  for (const auto& [key, value] : given->items()) {
    const bool says_nothing = value.is_null() || value == Json::object();
    const bool known = tool.kind == CallKind::local_shell && key == "type";  // always exec
    if (!says_nothing && !known) arguments[key] = value;
  }
  return std::nullopt;
}

std::optional<ApiError> read_shell_output(const Json& output, const std::string& path, size_t chunks_max,
                                          std::string& text) {
  if (auto error = too_many(path, output.size(), chunks_max, "parts")) return error;
  for (size_t i = 0; i < output.size(); ++i) {
    if (auto error = read_chunk(output[i], at(path, i), text)) return error;
  }
  return std::nullopt;
}

}  // namespace tessera::server::responses
