#pragma once

#include <optional>

#include "server/request/answer_format.h"
#include "server/request/json_body.h"

namespace tessera::server::openai {

/// Reads, where `out` stays empty if none is there:
///  - OpenAI's response_format: json_object, json_schema (strict or not: it is followed either way), structural_tag;
///  - vLLM's structured_outputs: json, json_object, regex, choice, grammar or structural_tag, disable_any_whitespace;
///  - its older guided_json, guided_regex, guided_choice and guided_grammar;
///  - json_schema, regex, grammar and ebnf of llama.cpp and SGLang.
/// One at most.
std::optional<ApiError> parse_answer_format(const Json& body, std::optional<AnswerFormat>& out);

}  // namespace tessera::server::openai
