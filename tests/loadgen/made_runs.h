#pragma once

#include <string>

#include "loadgen/load.h"

// Records as a load would leave them, made by hand.
namespace tessera::loadgen {

/// An answer of `tokens` tokens, one a piece: the first `ttft` after `due`, the others `gap` apart.
inline Record answered(int64_t index, double due, double ttft, double gap, int64_t tokens, bool continuous = true) {
  Record record;
  record.index = index;
  record.due = record.start = due;
  for (int64_t i = 0; i < tokens; ++i) {
    record.deliveries.push_back({due + ttft + gap * static_cast<double>(i), continuous ? i + 1 : -1});
  }
  record.first_answer = due + ttft;
  record.end = record.deliveries.back().at;
  record.usage.prompt = 100;
  record.usage.completion = tokens;
  record.usage.cached = 0;
  record.finish_reason = "length";
  record.answer_hash = static_cast<uint64_t>(index) + 1;
  return record;
}

inline Record failed(ErrorKind kind, const std::string& message) {
  Record record;
  record.error = kind;
  record.message = message;
  return record;
}

}  // namespace tessera::loadgen
