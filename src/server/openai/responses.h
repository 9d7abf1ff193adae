#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "server/openai/completion_choice.h"
#include "server/request/chat_choice.h"
#include "server/request/usage.h"

// Writers of answers as JSON text. Those of chunks append to a buffer and are called for every token of every stream.
namespace tessera::server::openai {

/// Writes chat.completion.chunk or text_completion chunks. The JSON text alone: "data: " and the empty line are the
/// caller's.
class ChunkWriter {
 public:
  enum class Kind { chat, completion };
  /// `usage_null`: chunks that have none say "usage": null, for a last one will (stream_options.include_usage).
  /// `legacy_calls`: a call is a "function_call", as where requests have "functions".
  ChunkWriter(Kind kind, const ResponseHead& head, bool usage_null, bool legacy_calls = false);

  /// The first chunk of a chat choice: the role. `prompt`: prompt_token_ids, if they were asked for.
  void role(int choice, std::string& out, const std::vector<int32_t>* prompt = nullptr,
            const Usage* usage = nullptr) const;
  /// `usage`: for continuous_usage_stats; null: none.
  void delta(int choice, const ChatDelta& delta, std::string& out, const Usage* usage = nullptr) const;
  void delta(int choice, const CompletionDelta& delta, std::string& out, const Usage* usage = nullptr) const;
  /// The chunk of stream_options.include_usage: no choices.
  void usage(const Usage& usage, std::string& out) const;

 private:
  void finish(std::string& out, const Usage* usage) const;
  std::string prefix_;  // up to the list of choices
  bool usage_null_, legacy_calls_;
};

struct ChatAnswer {
  std::vector<ChatMessageText> choices = {};
  Usage usage = {};
  bool logprobs = false;                                   // they were asked for
  bool legacy_calls = false;                               // as for ChunkWriter
  std::string prompt_logprobs = {};                        // prompt_logprobs_json; empty: not asked for
  const std::vector<int32_t>* prompt_token_ids = nullptr;  // return_token_ids: these, and token_ids in the choices
};
std::string chat_completion_json(const ResponseHead& head, const ChatAnswer& answer);

struct CompletionAnswer {
  struct Choice {
    CompletionDelta all = {};
    std::string prompt_logprobs = {};
    const std::vector<int32_t>* prompt_token_ids = nullptr;
  };
  std::vector<Choice> choices = {};
  Usage usage = {};
};
std::string completion_json(const ResponseHead& head, const CompletionAnswer& answer);

/// GET /v1/models, in one for clients of OpenAI, Anthropic (type, display_name, created_at) and Codex (models)
struct ModelCard {
  std::string id = {};
  int64_t created = 0;
  std::string root = {};  // where the weights are
  int64_t max_model_len = 0;
  bool chat = true;  // it takes conversations; said where it does not
};
std::string model_json(const ModelCard& card);
std::string models_json(const std::vector<ModelCard>& cards);

/// GET /version
std::string version_json(const std::string& version);

}  // namespace tessera::server::openai
