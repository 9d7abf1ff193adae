#pragma once

#include <optional>

#include "base/status.h"
#include "server/request/answer_format.h"
#include "server/request/tools.h"

namespace tessera::server {

/// What the answer follows, if anything: `format`, and calls of tools whose arguments are what their parameters allow.
///  - tool_choice required or named: one call or, with `parallel`, several, and nothing else;
///  - automatic, with a tool that is "strict" or whose input follows something, or with a format: text or what the
///    format allows, and calls.
///
/// Calls are in the form that text::ToolCallParser reads. Texts in them hold no "<parameter=", "</function>",
/// "</tool_call>", or line that begins with "</parameter>"; those with a pattern, minLength or maxLength no "<".
/// Arguments come in the order of "properties".
///
/// Tools that are not strict have free arguments where the model is free to call none, with `lenient`, and where their
/// parameters cannot be followed. unsupported: those of a strict tool cannot be; the message begins with their path.
Expected<std::optional<AnswerFormat>> answer_grammar(const ToolFields& tools, bool parallel,
                                                     const std::optional<AnswerFormat>& format, bool lenient = false);

/// Some tool that may be called is not strict, so that `lenient` makes a difference.
bool any_not_strict(const ToolFields& tools);

}  // namespace tessera::server
