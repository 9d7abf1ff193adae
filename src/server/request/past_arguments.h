#pragma once

#include <string>
#include <string_view>

#include "server/request/json_body.h"

namespace tessera::server {

/// The arguments of a past call, which clients send back as the text that they were given: templates read the object.
///
/// Models write what is no JSON, and answers are cut: one such message must not end a conversation. A Python literal is
/// taken as what it says, and JSON that breaks off is closed, without a member that has no value yet. Anything else is
/// shown as it is: {"arguments": text}. `note` then says what was found; else it is left alone.
Json read_past_arguments(std::string_view text, const RequestLimits& limits, std::string& note);

}  // namespace tessera::server
