#pragma once

#include <string>
#include <vector>

#include "cli/answer.h"
#include "tessera/engine.h"

namespace tessera::cli {

/// A prompt as token ids, and whether it leaves the model inside a thinking block.
struct Prompt {
  std::vector<int32_t> tokens;
  bool opens_thinking = false;
  bool raw = false;  // of no chat
};

/// What turns words into a prompt.
struct PromptOptions {
  std::string system;            // put before conversations that have no system message of their own
  bool enable_thinking = true;   // for templates that know it
  bool raw = false;              // no chat template: the last message as it is
  CompiledGrammar grammar = {};  // that answers follow; null: none
};

/// What the answer to a prompt follows: the grammar, behind thinking where the prompt opens it.
Expected<Guide> make_guide(Engine& engine, const Prompt& prompt, const CompiledGrammar& grammar);

Expected<Prompt> make_prompt(Engine& engine, std::vector<ChatMessage> messages, const PromptOptions& options);

struct Outcome {
  FinishReason reason = FinishReason::none;
  bool interrupted = false;
  int64_t prompt_tokens = 0;
  int64_t tokens = 0;
  double first_token_seconds = 0;
  double seconds = 0;
};

/// Submits one prompt with one choice and shows the answer as it comes. An interrupt stops the answer.
Expected<Outcome> stream_answer(Engine& engine, const Prompt& prompt, const SamplingParams& sampling, AnswerView& view,
                                const CompiledGrammar& grammar = {});

/// "9 tokens of prompt, 24 of answer in 1.20 s (first after 0.15 s, then 21.9 tokens/s)".
std::string speed_text(const Outcome& outcome);

/// "stop", "length", "cancelled", "error".
const char* name(FinishReason reason);

}  // namespace tessera::cli
