#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "server/request/answer_format.h"
#include "server/request/json_body.h"
#include "server/request/tools.h"
#include "tessera/engine.h"

// A request for an answer to a conversation, whichever API it came by: each API has a reader that makes one, and a
// writer of what request/chat_choice.h makes of the engine's events.
namespace tessera::server {

/// What the operator sets for all requests.
struct RequestOptions {
  RequestLimits limits = {};
  SamplingParams sampling = {};           // where a request is silent; see Engine::default_sampling
  Json template_kwargs = Json::object();  // --default-chat-template-kwargs
  /// chat_template_kwargs that requests may set besides enable_thinking, thinking, preserve_thinking, add_vision_id.
  std::vector<std::string> template_kwargs_allowed = {};
  bool stops_everywhere = false;  // stop strings match in thinking and calls too
  bool drops_media = false;       // pictures, sound and files are left out with a note, not refused
};

struct StreamFields {
  bool stream = false;
  bool include_usage = false;     // a last chunk with usage and no choices
  bool continuous_usage = false;  // usage in every chunk
};

enum class Role { system, user, assistant, tool };

/// A call of a past message.
struct ToolCall {
  std::string id = {}, name = {};
  Json arguments = Json::object();
};

/// One message of a conversation. What a tool answered is a message of its own.
struct Message {
  Role role = Role::user;
  std::string text = {};
  std::string name = {};             // of who speaks; of a tool's answer: the function's
  std::string tool_call_id = {};     // of a tool's answer
  std::string reasoning = {};        // of the assistant
  std::vector<ToolCall> calls = {};  // of the assistant, behind its text
};

/// A request for an answer to a conversation, checked.
struct ChatRequest {
  std::string model = {};  // empty: not given, the served one is meant
  std::vector<Message> messages = {};
  const char* conversation_field = "messages";  // the request's name for them, for errors
  /// The last message is the assistant's, and the answer goes on where it breaks off.
  bool continues_message = false;
  bool add_generation_prompt = true;
  std::string echo = {};                     // stands before what is generated, in every choice
  Json template_variables = Json::object();  // enable_thinking and others
  ToolFields tools = {};
  bool parallel_tool_calls = true;
  std::optional<int64_t> thinking_budget = {};  // tokens
  bool include_reasoning = true;
  bool returns_reasoning = false;  // clients of this API send it back with the answer that it led to
  SamplingParams sampling = {};    // max_tokens -1: as many as fit
  std::optional<AnswerFormat> format = {};
  StreamFields stream = {};
  bool return_token_ids = false, return_draft_stats = false;
  std::string cache_salt = {};          // Request::cache_salt
  bool legacy_functions = false;        // calls are answered as function_call
  std::vector<std::string> notes = {};  // what was repaired or left out: for the log and a header of the answer
};

/// What stands in a prompt where something of type `type` ("image_url") was left out.
std::string left_out_text(std::string_view type);

/// Adds to ChatRequest::notes, while there are few.
void add_note(std::string note, std::vector<std::string>& notes);

/// Notes the keys of `body` that are not known, in one note.
void note_unknown(const Json& body, const std::function<bool(std::string_view key)>& is_known,
                  std::vector<std::string>& notes);

/// Where a conversation is read to, and what its readers follow.
struct ConversationReader {
  const RequestLimits& limits;
  bool drops_media;
  std::vector<std::string>& notes;

  /// Notes that the part at `path`, of this type, is not in the prompt.
  void note_left_out(const std::string& path, const Json& type) const;
};

/// For Engine::render_chat: messages, tools, add_generation_prompt and the template's variables. Templates take one
/// system message, the first: several at the start become one, and a later one stands, marked, in the turn it came in.
Json template_request(const ChatRequest& request);

/// Drops the oldest messages, about `share` of the conversation's bytes and at least one, but no system messages and
/// nothing from the user's last one on; how many.
size_t drop_oldest(double share, std::vector<Message>& messages);

/// Where the request continues a message: cuts the rendered prompt where that message breaks off.
void cut_at_continuation(const ChatRequest& request, std::string& prompt);

}  // namespace tessera::server
