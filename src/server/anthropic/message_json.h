#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "server/request/chat_choice.h"
#include "server/request/usage.h"

// Writers of answers of /v1/messages.
namespace tessera::server::anthropic {

/// The answer in one piece. A call that was cut is left out: its input would have to be an object, and would read as if
/// it were whole.
std::string message_json(const ResponseHead& head, const ChatMessageText& message, const Usage& usage);

/// {"input_tokens": N}
std::string count_json(int64_t tokens);

/// The answer as server-sent events: message_start, ping, then for each block content_block_start, its deltas and
/// content_block_stop, then message_delta and message_stop. The input of a call that was cut breaks off.
class MessageEvents {
 public:
  explicit MessageEvents(const ResponseHead& head) : head_(head) {}

  /// Before anything is generated; the usage is of what is known then.
  void begin(const Usage& usage, std::string& out) const;
  void feed(const ChatDelta& delta, std::string& out);
  /// The stop reason is that of the last delta. `usage`: of the whole answer.
  void end(const Usage& usage, std::string& out);

  static void ping(std::string& out);

 private:
  enum class Block { none, thinking, text, call };

  void open(Block block, std::string_view content, std::string& out);
  void close(std::string& out);
  void delta(std::string_view type, std::string_view key, std::string_view text, std::string& out) const;

  ResponseHead head_;
  Block block_ = Block::none;
  int64_t index_ = -1;         // of the block that is open, or was last
  std::string thinking_ = {};  // of the block that is open
  ChatFinish finish_ = ChatFinish::none;
  std::string stop_string_ = {};
};

}  // namespace tessera::server::anthropic
