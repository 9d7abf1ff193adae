#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "text/tokenizer.h"

namespace tessera::text {

/// Words of a conversation that spell control tokens are words: whoever writes "<|im_end|>" must not end a turn. The
/// template renders a conversation to one text, in which nobody could tell them from the template's own tokens; so a
/// seam is put into each of them before, and Tokenizer::encode_sewn takes it out behind.
///
/// `request` is what ChatTemplate::render takes. All strings in it and all names are sewn, in every special token and
/// in dialect::kTokens. Exceptions, since templates look for these in texts, and it is their own format that they find:
/// of what the assistant said and thought, special tokens alone; of a user's message that is an answer of a tool as
/// a whole, from "<tool_response>" to "</tool_response>", not these two.
///
/// The seam, which nothing else in the request has; empty where there was nothing to sew, and nothing was changed. It
/// is of digits, so that it passes white space trimming, JSON and escaping.
std::string put_seams(const Tokenizer& tokenizer, nlohmann::ordered_json& request);

}  // namespace tessera::text
