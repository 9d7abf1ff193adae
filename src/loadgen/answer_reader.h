#pragma once

#include <simdjson.h>

#include <string>
#include <string_view>

#include "loadgen/record.h"
#include "loadgen/sse_reader.h"

namespace tessera::loadgen {

/// The stream of one chat completion, read into a Record as it comes.
class AnswerReader {
 public:
  void begin(Record& record);
  /// Bytes that came at `now`, seconds since the load began. False: they are no such stream, or it tells an error; the
  /// record says which, and there is no use in reading on.
  bool feed(std::string_view bytes, double now);
  /// The server has ended its answer: what is left to be said about it.
  void finish();

 private:
  bool read_chunk(std::string_view data);
  void read_delta(simdjson::dom::element delta);
  void read_counts(simdjson::dom::element chunk);
  bool fail(ErrorKind kind, std::string message);

  Record* record_ = nullptr;
  SseReader sse_;
  simdjson::dom::parser parser_;
  std::string text_;  // of the answer, as much as is looked at
  size_t text_bytes_ = 0, thinking_bytes_ = 0;
  bool new_text_ = false, new_answer_ = false, done_ = false;
};

/// "model 'x' does not exist" out of the body of an error; else its beginning, on one line.
std::string error_text(std::string_view body);

}  // namespace tessera::loadgen
