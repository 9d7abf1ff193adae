#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "server/request/chat_request.h"

// A conversation in short. What a client gets of it is an item of type compaction, whose encrypted_content is this text
// with a mark before it: it is the client's own.
namespace tessera::server::responses {

/// Messages of the user's that one stands for word for word.
inline constexpr size_t kSaidMax = 64;

/// What stands for all that was said before it.
struct Compaction {
  std::string summary = {};
  // Of one that stands for the user's messages too:
  bool whole = false;
  std::vector<std::string> said = {};  // by the user, newest last, word for word, at most kSaidMax
  std::string asked = {};  // the user's last message, where nothing has answered it; said behind the summary
};

/// For encrypted_content.
std::string sealed(const Compaction& compaction);
/// False: this server has not written it.
bool unseal(std::string_view text, Compaction& out);

/// Leaves of the conversation before it the system messages, unless it is whole the user's messages too, and what it
/// says.
void put_in_place(const Compaction& compaction, std::vector<Message>& messages);

/// Whether the assistant or a tool has said anything: without that there is nothing to sum up.
bool can_be_summed_up(const std::vector<Message>& messages);

/// An answer in two passes: the first sums up, the second answers. Written by the thread that the request is on.
struct SummingUp {
  Compaction compaction = {};
  bool answers = false;  // there is a second pass; what follows is of its prompt
  int64_t prompt_tokens = 0;
  bool opens_thinking = false;
};

}  // namespace tessera::server::responses
