#include "server/request/custom_tool.h"

#include <fmt/format.h>

#include <utility>

#include "guide/source.h"
#include "server/request/json_fields.h"

namespace tessera::server {
namespace {

/// How the arguments begin, as text::ToolCallParser writes them.
const std::string kBeginning = std::string("{\"") + kCustomInput + "\": \"";

/// The bytes of the escape at the beginning of `text`; 0: it is not whole yet. Two halves of a code point are one.
size_t escape_bytes(std::string_view text) {
  if (text.size() < 2) return 0;
  if (text[1] != 'u') return 2;
  const bool pair = text.size() > 3 && (text[2] == 'd' || text[2] == 'D') &&
                    std::string_view("89abAB").find(text[3]) != std::string_view::npos;
  const size_t bytes = pair ? 12 : 6;
  return text.size() < bytes ? 0 : bytes;
}

}  // namespace

std::optional<ApiError> read_custom_format(const Json& tool, const std::string& path,
                                           std::optional<AnswerFormat>& format) {
  const Json* given = find(tool, "format");
  if (given == nullptr) return std::nullopt;
  std::string inside = at(path, "format");
  const Json* type = given->is_object() ? find(*given, "type") : nullptr;
  if (type == nullptr) return wrong(inside, *given, R"(an object such as {"type": "text"})");
  if (*type == "text") return std::nullopt;
  if (*type != "grammar") return wrong(at(inside, "type"), *type, R"("text" or "grammar")");
  if (const Json* grammar = find(*given, "grammar"); grammar != nullptr && grammar->is_object()) {
    given = grammar;
    inside = at(inside, "grammar");
  }
  const Json* syntax = find(*given, "syntax");
  if (syntax == nullptr || (*syntax != "lark" && *syntax != "regex")) {
    return wrong(at(inside, "syntax"), syntax == nullptr ? Json() : *syntax, R"("lark" or "regex")");
  }
  std::string definition;
  if (auto error = read_text(*given, "definition", definition, inside)) return error;
  if (definition.empty()) return missing(at(inside, "definition"), "a grammar");
  using Kind = GrammarSource::Kind;
  format =
      AnswerFormat{.source = {.kind = *syntax == "lark" ? Kind::grammar : Kind::regex, .text = std::move(definition)},
                   .param = at(inside, "definition")};
  const Status status = guide::check_source(format->source, {});
  if (!status.ok()) return bad_request(format->param, format->param + " cannot be followed: " + status.message());
  return std::nullopt;
}

Json custom_parameters(const std::optional<AnswerFormat>& format) {
  std::string what = "The whole input of the tool, as it is: free text, not JSON.";
  if (format) {
    const bool lark = format->source.kind == GrammarSource::Kind::grammar;
    what += fmt::format(" It {}:\n{}", lark ? "follows this Lark grammar" : "matches this regular expression",
                        format->source.text);
  }
  return {{"type", "object"},
          {"properties", {{kCustomInput, {{"type", "string"}, {"description", std::move(what)}}}}},
          {"required", {kCustomInput}}};
}

std::string CallInput::feed(std::string_view arguments) {
  arguments_ += arguments;
  if (state_ == State::before) {
    const size_t common = std::min(arguments_.size(), kBeginning.size());
    if (arguments_.compare(0, common, kBeginning, 0, common) != 0) state_ = State::other;
    if (state_ == State::before && common == kBeginning.size()) {
      state_ = State::inside;
      read_ = common;
    }
  }
  std::string text;
  while (state_ == State::inside && read_ < arguments_.size()) {
    const std::string_view rest = std::string_view(arguments_).substr(read_);
    if (rest[0] == '"') {
      state_ = State::after;
    } else if (rest[0] != '\\') {
      const size_t plain = std::min(rest.find_first_of("\"\\"), rest.size());
      text += rest.substr(0, plain);
      read_ += plain;
    } else if (const size_t bytes = escape_bytes(rest); bytes > 0) {
      const auto read = nlohmann::json::parse('"' + std::string(rest.substr(0, bytes)) + '"', nullptr, false);
      if (read.is_string()) text += read.get_ref<const std::string&>();
      read_ += bytes;
    } else {
      break;
    }
  }
  text_ += text;
  return text;
}

std::string CallInput::whole() const {
  if (state_ == State::inside || state_ == State::after) return text_;
  const auto all = nlohmann::json::parse(arguments_, nullptr, false);
  if (!all.is_object()) return arguments_;
  if (all.empty()) return {};
  const auto given = all.contains(kCustomInput) ? all.find(kCustomInput) : all.begin();
  const bool is_it = (all.size() == 1 || all.contains(kCustomInput)) && given->is_string();
  return is_it ? given->get<std::string>() : arguments_;
}

}  // namespace tessera::server
