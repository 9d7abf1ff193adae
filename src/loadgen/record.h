#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "loadgen/prompts.h"

// What is known of one request.
namespace tessera::loadgen {

enum class ErrorKind {
  none,
  connect,       // nobody listens, no such name
  tls,           // a certificate that is not trusted, and the like
  timeout,       // --timeout
  unauthorized,  // 401, 403
  not_found,     // 404: a model or a path that is not there
  rate_limited,  // 429
  bad_request,   // other 4xx
  server_error,  // 5xx
  stream_cut,    // the connection ended before the answer did
  stream_error,  // an error told inside of the stream
  bad_stream,    // 200, and what came is no stream of JSON chunks
  interrupted,   // by the user of the client; no fault of the server's
};
constexpr std::array<std::string_view, 13> kErrorNames = {
    "none",        "connect",      "tls",        "timeout",      "unauthorized", "not_found",  "rate_limited",
    "bad_request", "server_error", "stream_cut", "stream_error", "bad_stream",   "interrupted"};

inline std::string_view name_of(ErrorKind kind) { return kErrorNames[static_cast<size_t>(kind)]; }

/// As the server counts. Nothing where it does not say.
struct Usage {
  std::optional<int64_t> prompt, completion, cached, reasoning;
  std::optional<int64_t> drafted, accepted;  // tokens proposed by a draft, and taken
};

/// Text that came in one piece from the network.
struct Delivery {
  double at = 0;        // seconds since the load began, as all times here
  int64_t tokens = -1;  // of the answer so far, as the server counts; -1: it does not say with each chunk
};

struct Record {
  int64_t index = 0;
  int64_t round = 0;
  PromptKind kind = PromptKind::chat;
  size_t prompt_bytes = 0;
  double due = 0;            // when it should have begun
  double start = 0;          // when it was given to the network
  double first_answer = -1;  // first text that is not thinking; -1: none
  double end = 0;
  std::vector<Delivery> deliveries;
  Usage usage;
  std::string finish_reason;
  ErrorKind error = ErrorKind::none;
  std::string message;        // of the error
  double thinking_share = 0;  // of the bytes of the answer
  double repetition = 0;      // share of its word sequences that it has said before
  uint64_t answer_hash = 0;

  [[nodiscard]] bool ok() const { return error == ErrorKind::none; }
  /// To the first text, thinking included, from when it was due; nothing if none came. What a client is late with is a
  /// part of it: users wait for that too.
  [[nodiscard]] std::optional<double> ttft() const;
  [[nodiscard]] double e2e() const { return end - due; }
  /// Mean time of a token behind the first piece; nothing if there is no such time.
  [[nodiscard]] std::optional<double> tpot() const;
};

/// Share of the sequences of four words in `text` that stand in it before; 0 for short texts. Text that repeats itself
/// is easily drafted, so speculation looks better on it than on answers that say something.
double repetition_of(std::string_view text);

}  // namespace tessera::loadgen
