#include "loadgen/probe.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>

#include "loadgen/answer_reader.h"

namespace tessera::loadgen {
namespace {

constexpr double kProbeSeconds = 20;
constexpr int64_t kCalibrationTokens = 2000;

Status refused(const HttpOptions& options, const std::string& url, const HttpAnswer& answer) {
  const std::string told = fmt::format("{}: HTTP {}: {}", url, answer.status, error_text(answer.body));
  if (answer.status == 401 || answer.status == 403) {
    return error(StatusCode::invalid_argument, "{}; {}", told,
                 options.api_key.empty() ? "give the server's key with --api-key or OPENAI_API_KEY"
                                         : "the key of --api-key or OPENAI_API_KEY is not one of the server's");
  }
  return error(StatusCode::unavailable, "{}", told);
}

/// a + sign * b, of what both know.
ServerCounters combined(const ServerCounters& a, const ServerCounters& b, double sign) {
  const auto add = [sign](const std::optional<double>& x, const std::optional<double>& y) {
    return x && y ? std::optional(*x + sign * *y) : std::nullopt;
  };
  return {add(a.prompt_tokens, b.prompt_tokens), add(a.output_tokens, b.output_tokens), add(a.drafts, b.drafts),
          add(a.drafted, b.drafted), add(a.accepted, b.accepted)};
}

}  // namespace

Expected<ServerFacts> probe(const HttpOptions& options, const std::string& wanted, const std::atomic<bool>& stop) {
  const std::string url = options.server.api + "/models";
  Expected<HttpAnswer> got = http_get(options, url, kProbeSeconds, stop);
  if (!got.ok()) {
    if (got.status().code() != StatusCode::unavailable) return got.status();
    return error(got.status().code(), "{}; is the server running, and is this its address?", got.status().message());
  }
  const HttpAnswer& answer = *got;
  ServerFacts facts{.model = wanted, .software = answer.server, .max_model_len = 0};
  if (answer.status == 404 || answer.status == 405) {  // a server without a list of models
    if (!wanted.empty()) return facts;
    return error(StatusCode::invalid_argument,
                 "{} is not there (HTTP {}): say with --model which one is asked for, or "
                 "correct the address",
                 url, answer.status);
  }
  if (answer.status != 200) return refused(options, url, answer);
  const Json parsed = Json::parse(answer.body, nullptr, /*allow_exceptions=*/false);
  const auto list = parsed.is_object() ? parsed.find("data") : parsed.end();
  if (!parsed.is_object() || list == parsed.end() || !list->is_array() || list->empty()) {
    return error(StatusCode::corrupt_data, "{} answered \"{}\", expected a list of models: it is no OpenAI server", url,
                 error_text(answer.body));
  }
  std::vector<std::string> names;
  for (const Json& model : *list) {
    if (!model.is_object() || !model.contains("id") || !model["id"].is_string()) continue;
    names.push_back(model["id"]);
    if (names.back() != wanted && !(wanted.empty() && names.size() == 1)) continue;
    facts.model = names.back();
    if (const auto length = model.find("max_model_len"); length != model.end() && length->is_number_integer()) {
      facts.max_model_len = *length;
    }
  }
  if (!wanted.empty() && std::find(names.begin(), names.end(), wanted) == names.end()) {
    return error(StatusCode::not_found, "the server has no model \"{}\"; it has {}", wanted, fmt::join(names, ", "));
  }
  if (facts.model.empty()) return error(StatusCode::corrupt_data, "{} names no model; say which with --model", url);
  return facts;
}

ServerCounters ServerCounters::since(const ServerCounters& before) const { return combined(*this, before, -1); }

ServerCounters ServerCounters::plus(const ServerCounters& other) const { return combined(*this, other, 1); }

ServerCounters parse_counters(std::string_view metrics) {
  ServerCounters counters;
  const std::pair<std::string_view, std::optional<double>*> kNames[] = {
      {"vllm:prompt_tokens_total", &counters.prompt_tokens},
      {"vllm:generation_tokens_total", &counters.output_tokens},
      {"vllm:spec_decode_num_drafts_total", &counters.drafts},
      {"vllm:spec_decode_num_draft_tokens_total", &counters.drafted},
      {"vllm:spec_decode_num_accepted_tokens_total", &counters.accepted}};
  while (!metrics.empty()) {
    const size_t end = std::min(metrics.find('\n'), metrics.size());
    const std::string_view line = metrics.substr(0, end);
    metrics.remove_prefix(std::min(end + 1, metrics.size()));
    const std::string_view name = line.substr(0, line.find_first_of("{ "));
    const size_t labels_end = line.rfind('}');
    const size_t value_at =
        line.find_first_not_of(' ', labels_end == std::string_view::npos ? name.size() : labels_end + 1);
    double value = 0;
    if (value_at == std::string_view::npos ||
        std::from_chars(line.data() + value_at, line.data() + line.size(), value).ec != std::errc()) {
      continue;
    }
    for (const auto& [known, sum] : kNames) {
      if (name == known) *sum = sum->value_or(0) + value;  // a line for each model or engine
    }
  }
  return counters;
}

ServerCounters read_counters(const HttpOptions& options, const std::atomic<bool>& stop) {
  const Expected<HttpAnswer> answer = http_get(options, options.server.root + "/metrics", kProbeSeconds, stop);
  return answer.ok() && answer->status == 200 ? parse_counters(answer->body) : ServerCounters();
}

Status calibrate(Client& client, const PromptSet& prompts, int64_t context_tokens, Thinking thinking, LoadOptions& load,
                 const std::atomic<bool>& stop) {
  const Case of{.users = 1, .output = 1, .context = std::min(context_tokens, kCalibrationTokens), .thinking = thinking};
  for (const PromptKind kind : load.prompts.kinds) {
    const auto at = static_cast<size_t>(kind);
    PromptPlan plan = load.prompts;
    plan.kinds = {kind};
    plan.shared = 0;
    plan.context_tokens = of.context;
    plan.bytes_per_token[at] = 4;
    const Prompt prompt = prompts.make(plan, static_cast<int64_t>(at));
    Record record;
    TESSERA_RETURN_IF_ERROR(client.start(record, request_body(of, load, prompt, 0).dump()));
    while (client.wait(client.now() + 0.1).empty()) {
      if (!stop.load()) continue;
      (void)client.abandon();
      return error(StatusCode::cancelled, "interrupted");
    }
    if (!record.ok()) {
      return error(StatusCode::unavailable, "a prompt of kind {} was not answered ({}): {}", kPromptKindNames[at],
                   name_of(record.error), record.message);
    }
    if (!record.usage.prompt || *record.usage.prompt == 0) {
      return error(StatusCode::unsupported,
                   "the server sends no usage, so that prompts cannot be made as long as --context asks; leave it out");
    }
    load.prompts.bytes_per_token[at] = static_cast<double>(prompt.bytes) / static_cast<double>(*record.usage.prompt);
  }
  return {};
}

}  // namespace tessera::loadgen
