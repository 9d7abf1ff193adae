#pragma once

#include <optional>
#include <vector>

#include "server/prepare.h"
#include "server/request/chat_choice.h"
#include "server/request/chat_request.h"

// What a conversation's next turn will begin with: all so far, and the answer as clients send it back. The engine reads
// it while it is idle, so that the next turn is read from there on.
namespace tessera::server {

/// A conversation that is being answered, or was.
struct NextTurn {
  ChatRequest chat = {};  // of it only what the prompt is made of, and the salt
  Message answer = {};    // once it is there
};

/// Of a request for a conversation, whose messages are `messages`; null where the engine reads nothing while it is
/// idle, or the next turn is no continuation of one prompt and one answer.
std::shared_ptr<NextTurn> next_turn_of(const ModelService& service, const ChatRequest& chat,
                                       std::vector<Message> messages);

/// Adds the answer as the client will send it back. False where it will hardly do: a client has left it, or its length
/// has cut off a thought or a call. A text that is cut off is gone on from.
bool add_answer(const ChatMessageText& said, const RequestLimits& limits, NextTurn& turn);

/// Renders it and gives it to the engine, up to where the next message's text begins. On a text thread. What the
/// template says of the conversation as it then is counts, thinking left out or kept; one that refuses it, or that is
/// too long, is dropped.
void prefill_next_turn(const ModelService& service, NextTurn turn);

}  // namespace tessera::server
