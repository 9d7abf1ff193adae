#include "server/access_log.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <spdlog/async.h>
#include <spdlog/async_logger.h>
#include <spdlog/sinks/stdout_sinks.h>

#include <algorithm>
#include <chrono>

namespace tessera::server {
namespace {

constexpr size_t kLinesMax = 8192;  // not yet written
constexpr size_t kPathBytesMax = 200;

/// A path that a client made up, on one line and without what a terminal would act on.
std::string in_quotes(std::string_view path) {
  std::string out = "\"";
  for (const char c : path.substr(0, kPathBytesMax)) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x20 || byte >= 0x7f || c == '"' || c == '\\') {
      out += fmt::format("\\x{:02x}", byte);
    } else {
      out += c;
    }
  }
  return out + (path.size() > kPathBytesMax ? "...\"" : "\"");
}

bool is_probe(const Exchange& exchange) {
  const std::string& path = exchange.request.path;
  return exchange.facts.status == 200 && (path == "/health" || path == "/live" || path == "/metrics");
}

/// " drafts=12 draft_steps=4 accepted=7 accepted_at=4,2,1", if there were any: in 4 steps the first held, in 2 the
/// second.
std::string draft_words(const DraftStats& drafts) {
  if (drafts.steps == 0) return "";
  const auto* const end = std::ranges::find(drafts.accepted_at, 0U);
  return fmt::format(" drafts={} draft_steps={} accepted={} accepted_at={}", drafts.proposed, drafts.steps,
                     drafts.accepted, fmt::join(drafts.accepted_at.begin(), end, ","));
}

DraftStats since(const DraftStats& then, DraftStats now) {
  now.steps -= then.steps;
  now.proposed -= then.proposed;
  now.accepted -= then.accepted;
  for (size_t i = 0; i < now.accepted_at.size(); ++i) now.accepted_at[i] -= then.accepted_at[i];
  return now;
}

/// " tier=45.1%" of the prefix cache's tier in the host's memory, if there is one.
std::string tier_words(const TierStats& tier) {
  if (tier.bytes_total == 0) return "";
  return fmt::format(" tier={:.1f}%",
                     100.0 * static_cast<double>(tier.bytes_used) / static_cast<double>(tier.bytes_total));
}

/// " read=45.1% sm_mhz=1980 memory_mhz=3201 watts=512", as far as known.
std::string gpu_words(const EngineStats& stats, const std::optional<double>& read_fraction) {
  std::string words;
  if (read_fraction) words += fmt::format(" read={:.1f}%", 100 * *read_fraction);
  if (!stats.gpu) return words;
  if (stats.gpu->sm_clock_hertz) words += fmt::format(" sm_mhz={:.0f}", *stats.gpu->sm_clock_hertz * 1e-6);
  if (stats.gpu->memory_clock_hertz) words += fmt::format(" memory_mhz={:.0f}", *stats.gpu->memory_clock_hertz * 1e-6);
  if (stats.gpu->power_watts) words += fmt::format(" watts={:.0f}", *stats.gpu->power_watts);
  return words;
}

}  // namespace

struct AccessLog::State {
  explicit State(bool given)
      : requests(given),
        pool(std::make_shared<spdlog::details::thread_pool>(kLinesMax, 1)),
        logger(std::make_shared<spdlog::async_logger>("access", std::make_shared<spdlog::sinks::stderr_sink_mt>(), pool,
                                                      spdlog::async_overflow_policy::overrun_oldest)) {}

  bool requests;
  std::shared_ptr<spdlog::details::thread_pool> pool;  // writes the last lines as it ends: each holds the logger
  std::shared_ptr<spdlog::async_logger> logger;        // which spdlog wants shared
  EngineStats last;
};

AccessLog::AccessLog(bool requests) : state_(std::make_unique<State>(requests)) {
  state_->logger->set_pattern("%Y-%m-%dT%H:%M:%S.%e%z %v");
}
AccessLog::~AccessLog() = default;

void AccessLog::request(const Exchange& exchange) {
  if (!state_->requests || is_probe(exchange)) return;
  const HttpRequest& request = exchange.request;
  const RequestFacts& facts = exchange.facts;
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - request.arrived).count();
  std::string line =
      fmt::format("request id={} method={} path={} status={} duration={:.3f}", facts.id.empty() ? "-" : facts.id,
                  request.method.empty() ? "-" : request.method, in_quotes(request.path), facts.status, seconds);
  if (facts.prompt_tokens >= 0) line += fmt::format(" prompt_tokens={}", facts.prompt_tokens);
  if (facts.cached_tokens >= 0) line += fmt::format(" cached_tokens={}", facts.cached_tokens);
  if (facts.tier_tokens > 0) line += fmt::format(" tier_tokens={}", facts.tier_tokens);
  if (facts.matched_tokens > facts.cached_tokens) line += fmt::format(" matched_tokens={}", facts.matched_tokens);
  if (facts.completion_tokens >= 0) line += fmt::format(" completion_tokens={}", facts.completion_tokens);
  line += draft_words(facts.drafts);
  if (facts.first_token_seconds >= 0) line += fmt::format(" ttft={:.3f}", facts.first_token_seconds);
  if (!facts.finish_reason.empty()) line += " finish=" + facts.finish_reason;
  if (facts.client_left) line += " client_left=true";
  state_->logger->info(line + " client=" + request.client);
}

void AccessLog::engine_state(const EngineStats& stats, const std::optional<double>& read_fraction) {
  EngineStats& last = state_->last;
  const bool quiet = stats.running == last.running && stats.waiting == last.waiting &&
                     stats.generated_tokens == last.generated_tokens && stats.prompt_tokens == last.prompt_tokens;
  if (!quiet) {
    const double kv = stats.kv_blocks_total > 0 ? 100.0 * stats.kv_blocks_used / stats.kv_blocks_total : 0;
    say(fmt::format("engine running={} waiting={} generated_per_second={} prompt_per_second={} kv={:.1f}%",
                    stats.running, stats.waiting, stats.generated_tokens - last.generated_tokens,
                    stats.prompt_tokens - last.prompt_tokens, kv) +
        draft_words(since(last.drafts, stats.drafts)) + tier_words(stats.tier) + gpu_words(stats, read_fraction));
  }
  last = stats;
}

void AccessLog::say(const std::string& line) { state_->logger->info(line); }

}  // namespace tessera::server
