#include "text/stream_detokenizer.h"

#include <utility>

#include "text/utf8.h"

namespace tessera::text {

std::string StreamDetokenizer::feed(int32_t id) {
  if (skip_special_ && tokenizer_.is_special(id)) return {};
  std::string bytes = std::exchange(unfinished_, {});
  bytes += tokenizer_.token_bytes(id);
  size_t end = 0;
  while (end < bytes.size()) {
    const Utf8Step step = utf8_step(bytes, end);
    if (step.kind == Utf8Kind::unfinished) break;
    end += step.length;
  }
  unfinished_ = bytes.substr(end);
  bytes.resize(end);
  std::string text;
  append_lossy_utf8(bytes, text);
  return text;
}

std::string StreamDetokenizer::flush() {
  std::string text;
  append_lossy_utf8(std::exchange(unfinished_, {}), text);
  return text;
}

}  // namespace tessera::text
