#include "server/limits.h"

#include <array>

namespace tessera::server {
namespace {

constexpr int64_t kBytes = int64_t{1} << 32;
constexpr int64_t kDay = 86400;
constexpr int64_t kCount = 1'000'000;

constexpr auto kFlags = std::to_array<LimitFlag>({
    {"--max-queue", "Requests that may wait, besides those that run; beyond: 429", &Limits::queue_max, 0, kCount},
    {"--max-connections", "Connections at once", &Limits::connections_max, 1, kCount},
    {"--max-header-bytes", "Bytes of a request's headers", &Limits::header_bytes_max, 256, 1 << 20},
    {"--max-headers", "Header lines of a request", &Limits::headers_max, 1, 10'000},
    {"--max-body-bytes", "Bytes of a request's body", &Limits::body_bytes_max, 1, kBytes},
    {"--max-all-body-bytes", "Bytes of all bodies being read or prepared", &Limits::all_body_bytes_max, 1, kBytes * 64},
    {"--max-unsent-bytes", "Unsent bytes of an answer before its tokens wait", &Limits::unsent_bytes_max, 1024, kBytes},
    {"--handshake-timeout", "Seconds for TLS to begin", &Limits::handshake_seconds_max, 1, kDay},
    {"--header-timeout", "Seconds for a request's headers to arrive", &Limits::header_seconds_max, 1, kDay},
    {"--body-timeout", "Seconds for a request's body to arrive", &Limits::body_seconds_max, 1, kDay},
    {"--keep-alive-timeout", "Seconds a connection may be idle", &Limits::idle_seconds_max, 1, kDay},
    {"--write-timeout", "Seconds a client may take no byte of its answer", &Limits::write_stall_seconds_max, 1, kDay},
    {"--shutdown-timeout", "Seconds for running requests to end after SIGTERM", &Limits::shutdown_seconds_max, 0, kDay},
    {"--comment-interval", "Seconds of silence before a comment in a stream", &Limits::comment_seconds, 1, kDay},
    {"--max-stored-responses", "Responses that are kept for requests that go on from them",
     &Limits::stored_responses_max, 0, kCount},
    {"--max-stored-bytes", "Bytes of the responses that are kept", &Limits::stored_bytes_max, 0, kBytes * 64},
    {"--text-threads", "Threads that parse, render and tokenize, besides one for short requests", &Limits::text_threads,
     1, 256},
    {"--max-messages", "Messages of a conversation", &RequestLimits::messages_max, 1, kCount},
    {"--max-parts", "Content parts of a message", &RequestLimits::parts_max, 1, kCount},
    {"--max-tools", "Functions a request may offer", &RequestLimits::tools_max, 1, 10'000},
    {"--max-tool-bytes", "Bytes of all tools, as JSON", &RequestLimits::tool_bytes_max, 2, 64 << 20},
    {"--max-tool-calls", "Tool calls of a past message", &RequestLimits::tool_calls_max, 1, 10'000},
    {"--max-schema-depth", "Levels of a tool's parameters", &RequestLimits::schema_depth_max, 1, 100},
    {"--max-json-depth", "Levels of a request's JSON", &RequestLimits::json_depth_max, 4, 100},
    {"--max-json-values", "Values in a request's JSON", &RequestLimits::json_values_max, 16, 100 * kCount},
    {"--max-object-keys", "Keys of one object in a request", &RequestLimits::object_keys_max, 16, 65536},
    {"--max-template-kwargs-bytes", "Bytes of chat_template_kwargs", &RequestLimits::template_kwargs_bytes_max, 2,
     1 << 20},
    {"--max-prompts", "Prompts of a completion request", &RequestLimits::prompts_max, 1, 1024},
    {"--max-prompt-ids", "Token ids of all prompts of a request", &RequestLimits::prompt_tokens_max, 1, 100 * kCount},
    {"--max-choices", "Prompts times n of a request", &RequestLimits::choices_max, 1, 1024},
});

}  // namespace

int64_t LimitFlag::value(const Limits& limits) const {
  struct Get {
    const Limits& from;
    int64_t operator()(int64_t Limits::*m) const { return from.*m; }
    int64_t operator()(int RequestLimits::*m) const { return from.request.*m; }
    int64_t operator()(size_t RequestLimits::*m) const { return static_cast<int64_t>(from.request.*m); }
  };
  return std::visit(Get{limits}, member);
}

void LimitFlag::set(Limits& limits, int64_t value) const {
  struct Set {
    Limits& to;
    int64_t value;
    void operator()(int64_t Limits::*m) const { to.*m = value; }
    void operator()(int RequestLimits::*m) const { to.request.*m = static_cast<int>(value); }
    void operator()(size_t RequestLimits::*m) const { to.request.*m = static_cast<size_t>(value); }
  };
  std::visit(Set{limits, value}, member);
}

std::span<const LimitFlag> limit_flags() { return kFlags; }

}  // namespace tessera::server
