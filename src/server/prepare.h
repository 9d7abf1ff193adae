#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "server/answer.h"
#include "server/request/api_error.h"
#include "tessera/engine.h"

// From a request's body to the engine. On text threads.
namespace tessera::server {

struct NextTurn;

/// What all requests share; it does not change once the model is loaded.
struct ModelService {
  std::unique_ptr<Engine> engine;
  RequestOptions options = {};
  std::vector<std::string> names = {};  // that requests may ask for; at least one
  std::string no_chat = {};             // why conversations cannot be answered: see find_no_chat; empty: they can
  std::unique_ptr<responses::ResponseStore> responses = {};
};

/// Why the model cannot read conversations (no tokenizer, a template that does not render); empty if it can. Takes the
/// time that starting the template's renderer takes.
std::string find_no_chat(const Engine& engine);

using MaybeError = std::optional<ApiError>;

/// A request that the engine has taken, or takes with `rest`.
struct Prepared {
  std::unique_ptr<Answer> answer;
  std::vector<RequestStream> streams = {};  // one for each prompt
  bool stream = false;                      // the client wants events
  bool fails_in_stream = false;             // and reads an error there, with the answer that is there
  /// Where its events go if it does not end with its client's connection; null: it does. Its answer streams then.
  std::shared_ptr<responses::EventLog> background = {};
  bool client_reads = false;  // these events, as they come
  int64_t prompt_tokens = 0;
  int n = 1;                            // choices of each prompt
  int64_t max_tokens = -1;              // of each choice; -1: as many as fit
  std::vector<std::string> notes = {};  // for the log and a header of the answer
  std::shared_ptr<NextTurn> next_turn =
      {};  // to be prefilled once this one is answered (next_turn.h); null: nothing is
  /// Work that takes its time and is left for a thread of its own: compiling what the answer follows. Null: none.
  std::function<MaybeError(Prepared& out)> rest = {};
  /// A second pass, once all streams have ended: makes others in their place, which Answer::go_on makes room for. It
  /// takes its time too. Null: none.
  std::function<MaybeError(Prepared& second)> next = {};
};

/// `id`: of this request, for the answer. `body` is given up on the way, as soon as it is read.
MaybeError prepare_chat(const ModelService& service, const std::string& id, std::string body, Prepared& out);
MaybeError prepare_messages(const ModelService& service, const std::string& id, std::string body, Prepared& out);
MaybeError prepare_responses(const ModelService& service, const std::string& id, std::string body, Prepared& out);
MaybeError prepare_compaction(const ModelService& service, const std::string& id, std::string body, Prepared& out);
MaybeError prepare_completion(const ModelService& service, const std::string& id, std::string body, Prepared& out);

/// Endpoints whose answer needs no engine; `out` is its body.
MaybeError answer_count_tokens(const ModelService& service, std::string body, std::string& out);
MaybeError answer_input_tokens(const ModelService& service, std::string body, std::string& out);
MaybeError answer_tokenize(const ModelService& service, std::string body, std::string& out);
MaybeError answer_detokenize(const ModelService& service, std::string body, std::string& out);

}  // namespace tessera::server
