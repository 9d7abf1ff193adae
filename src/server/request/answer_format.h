#pragma once

#include <string>

#include "tessera/grammar.h"

namespace tessera::server {

/// What the answer of a request is to follow, and where the request says so.
struct AnswerFormat {
  GrammarSource source = {};
  std::string param = {};  // the field's path, for errors
};

}  // namespace tessera::server
