#pragma once

#include "cli/answer.h"
#include "cli/generate.h"

namespace tessera::cli {

struct ChatOptions {
  PromptOptions prompt;
  SamplingParams sampling;
  AnswerStyle style;
  bool verbose = false;  // speed after each answer
};

/// A conversation in the terminal until /exit or Ctrl-D. An error of one answer does not end it.
Status chat(Engine& engine, ChatOptions options);

}  // namespace tessera::cli
