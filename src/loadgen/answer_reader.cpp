#include "loadgen/answer_reader.h"

#include <fmt/format.h>

#include "base/hash.h"

namespace tessera::loadgen {
namespace {

using simdjson::dom::element;

constexpr size_t kTextBytesMax = 64 << 10;
constexpr size_t kQuotedBytes = 160;

std::string one_line(std::string_view text) {
  std::string out(text.substr(0, kQuotedBytes));
  for (char& c : out) {
    if (static_cast<unsigned char>(c) < ' ') c = ' ';
  }
  return text.size() > kQuotedBytes ? out + "..." : out;
}

std::optional<int64_t> whole(element object, std::string_view path) {
  int64_t value = 0;
  if (object.at_pointer(path).get(value) != simdjson::SUCCESS || value < 0) return std::nullopt;
  return value;
}

void keep(std::optional<int64_t>& to, std::optional<int64_t> value) {
  if (value) to = value;
}

std::string message_of(element chunk) {
  std::string_view text;
  if (chunk.at_pointer("/error/message").get(text) == simdjson::SUCCESS) return one_line(text);
  if (chunk.at_pointer("/error").get(text) == simdjson::SUCCESS) return one_line(text);
  if (chunk.at_pointer("/message").get(text) == simdjson::SUCCESS) return one_line(text);
  if (chunk.at_pointer("/detail").get(text) == simdjson::SUCCESS) return one_line(text);
  return one_line(simdjson::minify(chunk));
}

}  // namespace

std::string error_text(std::string_view body) {
  simdjson::dom::parser parser;
  element parsed;
  if (parser.parse(body.data(), body.size()).get(parsed) == simdjson::SUCCESS && parsed.is_object()) {
    return message_of(parsed);
  }
  return one_line(body);
}

void AnswerReader::begin(Record& record) {
  record_ = &record;
  sse_ = SseReader();
  text_.clear();
  text_bytes_ = thinking_bytes_ = 0;
  done_ = false;
}

bool AnswerReader::fail(ErrorKind kind, std::string message) {
  record_->error = kind;
  record_->message = std::move(message);
  return false;
}

bool AnswerReader::feed(std::string_view bytes, double now) {
  new_text_ = new_answer_ = false;
  const bool going = sse_.feed(bytes, [&](std::string_view data) { return read_chunk(data); });
  // Chunks that came together were delivered together: between them there is no time to be measured.
  if (new_text_) record_->deliveries.push_back({now, record_->usage.completion.value_or(-1)});
  if (new_answer_ && record_->first_answer < 0) record_->first_answer = now;
  if (!going && record_->ok()) {
    return fail(ErrorKind::bad_stream, fmt::format("an event of more than {} bytes", SseReader::kEventBytesMax));
  }
  return going;
}

bool AnswerReader::read_chunk(std::string_view data) {
  if (data == "[DONE]") {
    done_ = true;
    return true;
  }
  element chunk;
  if (parser_.parse(data.data(), data.size()).get(chunk) != simdjson::SUCCESS || !chunk.is_object()) {
    return fail(ErrorKind::bad_stream, fmt::format("a chunk is no JSON object: \"{}\"", one_line(data)));
  }
  element error;
  if (chunk["error"].get(error) == simdjson::SUCCESS && !error.is_null()) {
    return fail(ErrorKind::stream_error, message_of(chunk));
  }
  read_counts(chunk);
  element choice;
  if (chunk.at_pointer("/choices/0").get(choice) != simdjson::SUCCESS) return true;
  element delta;
  if (choice["delta"].get(delta) == simdjson::SUCCESS && delta.is_object()) read_delta(delta);
  std::string_view reason;
  if (choice["finish_reason"].get(reason) == simdjson::SUCCESS) record_->finish_reason = reason;
  return true;
}

void AnswerReader::read_delta(element delta) {
  const auto take = [&](element from, std::string_view path, bool thinking) {
    std::string_view text;
    if (from.at_pointer(path).get(text) != simdjson::SUCCESS || text.empty()) return false;
    new_text_ = true;
    new_answer_ |= !thinking;
    text_bytes_ += text.size();
    if (thinking) thinking_bytes_ += text.size();
    if (text_.size() < kTextBytesMax) text_ += text;
    return true;
  };
  if (!take(delta, "/reasoning_content", true)) take(delta, "/reasoning", true);  // some send both: one text, two names
  take(delta, "/content", false);
  take(delta, "/refusal", false);
  simdjson::dom::array calls;
  if (delta["tool_calls"].get(calls) != simdjson::SUCCESS) return;
  for (const element call : calls) {
    take(call, "/function/name", false);
    take(call, "/function/arguments", false);
  }
}

void AnswerReader::read_counts(element chunk) {
  Usage& usage = record_->usage;
  element counts;
  if (chunk["usage"].get(counts) == simdjson::SUCCESS && counts.is_object()) {
    keep(usage.prompt, whole(counts, "/prompt_tokens"));
    keep(usage.completion, whole(counts, "/completion_tokens"));
    keep(usage.cached, whole(counts, "/prompt_tokens_details/cached_tokens"));
    keep(usage.reasoning, whole(counts, "/completion_tokens_details/reasoning_tokens"));
  }
  if (chunk["timings"].get(counts) == simdjson::SUCCESS && counts.is_object()) {  // of llama.cpp
    keep(usage.drafted, whole(counts, "/draft_n"));
    keep(usage.accepted, whole(counts, "/draft_n_accepted"));
    if (!usage.cached) usage.cached = whole(counts, "/cache_n");
  }
}

void AnswerReader::finish() {
  Record& record = *record_;
  record.thinking_share =
      text_bytes_ == 0 ? 0 : static_cast<double>(thinking_bytes_) / static_cast<double>(text_bytes_);
  record.repetition = repetition_of(text_);
  record.answer_hash = text_.empty() ? 0 : fnv1a(text_);
  if (!record.ok()) return;
  if (!done_ && record.finish_reason.empty()) {
    fail(ErrorKind::stream_cut, fmt::format("the answer ended after {} pieces of text, without a finish_reason{}",
                                            record.deliveries.size(), sse_.inside_event() ? ", inside a chunk" : ""));
  }
}

}  // namespace tessera::loadgen
