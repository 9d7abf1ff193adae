#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace tessera::text {

/// What turns of a conversation begin with, as a tokenizer has it.
struct TurnMarks {
  int32_t turn = -1;          // dialect::kTurnOpen; -1: there is no such token
  std::vector<int32_t> user;  // dialect::kUserTurnOpen
  int32_t tool_answer = -1;   // dialect::kToolAnswerOpen, with which a user's turn begins that is a tool's
};

/// Tokens of a prompt behind which later prompts are likely to go elsewhere: the first turn (instructions and tools,
/// which conversations share), the user's last turn (templates leave out thinking behind it once another follows), and
/// all turns before the one that the model is to write.
std::vector<int64_t> likely_ends(std::span<const int32_t> prompt, const TurnMarks& marks);

}  // namespace tessera::text
