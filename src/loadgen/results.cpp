#include "loadgen/results.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/page_style.h"
#include "base/read_file.h"
#include "loadgen/embedded.h"

namespace tessera::loadgen {
namespace {

constexpr size_t kResultsBytesMax = size_t{1} << 30;
constexpr double kMs = 1e3;

template <typename T>
Json or_null(const std::optional<T>& value, double factor = 1) {
  if (!value) return nullptr;
  if constexpr (std::is_integral_v<T>) return *value;
  return static_cast<double>(*value) * factor;
}

Json to_json(const Percentiles& of, double factor) {
  if (of.count == 0) return nullptr;
  return {{"count", of.count},      {"mean", of.mean * factor}, {"p50", of.p50 * factor}, {"p90", of.p90 * factor},
          {"p95", of.p95 * factor}, {"p99", of.p99 * factor},   {"min", of.min * factor}, {"max", of.max * factor}};
}

Json to_json(const Rate& of) {
  return {{"requests_per_second", of.requests},
          {"input_tokens_per_second", of.input},
          {"output_tokens_per_second", of.output}};
}

Json to_json(const Case& of) {
  return {{"users", of.open() ? Json() : Json(of.users)},
          {"rate", of.open() ? Json(of.rate) : Json()},
          {"output", of.output},
          {"context", of.context},
          {"thinking", std::string(name_of(of.thinking))}};
}

Json to_json(const Record& record) {
  const std::vector<double> gaps = gaps_of(record);
  Json row = {{"index", record.index},
              {"round", record.round},
              {"kind", std::string(kPromptKindNames[static_cast<size_t>(record.kind)])},
              {"due_s", record.due},
              {"start_s", record.start},
              {"end_s", record.end},
              {"ttft_ms", or_null(record.ttft(), kMs)},
              {"tpot_ms", or_null(record.tpot(), kMs)},
              {"itl_p95_ms", gaps.empty() ? Json() : Json(percentile(gaps, 95) * kMs)},
              {"e2e_ms", record.e2e() * kMs},
              {"pieces", record.deliveries.size()},
              {"input_tokens", or_null(record.usage.prompt)},
              {"output_tokens", or_null(record.usage.completion)},
              {"cached_tokens", or_null(record.usage.cached)},
              {"thinking_share", record.thinking_share},
              {"repetition", record.repetition},
              {"finish_reason", record.finish_reason}};
  if (!record.ok()) {
    row["error"] = std::string(name_of(record.error));
    row["message"] = record.message;
  }
  return row;
}

Json to_json(const Summary& s) {
  Json failures = Json::object(), warnings = Json::array();
  for (const auto& [kind, of] : s.failures) {
    failures[std::string(name_of(kind))] = {{"count", of.count}, {"first", of.first}};
  }
  for (const Warning& warning : s.warnings) warnings.push_back({{"code", warning.code}, {"text", warning.text}});
  Json json = {{"case", to_json(s.of)},
               {"name", s.of.name()},
               {"rounds", s.rounds},
               {"requests", s.asked},
               {"requests_ok", s.good},
               {"failures", failures},
               {"interrupted", s.interrupted},
               {"seconds", s.seconds},
               {"users_spread_s", s.of.open() ? Json() : Json(s.spread)},
               {"ttft_ms", to_json(s.ttft, kMs)},
               {"first_answer_ms", to_json(s.first_answer, kMs)},
               {"itl_ms", to_json(s.itl, kMs)},
               {"tpot_ms", to_json(s.tpot, kMs)},
               {"e2e_ms", to_json(s.e2e, kMs)},
               {"input_tokens", to_json(s.input, 1)},
               {"output_tokens", to_json(s.output, 1)},
               {"requests_without_usage", s.without_usage},
               {"throughput", to_json(s.rate)},
               {"steady_output_tokens_per_second", or_null(s.steady_output)},
               {"stream_output_tokens_per_second", or_null(s.stream_output)}};
  if (s.good_share) {
    json["goodput"] = to_json(s.goodput);
    json["goodput"]["share"] = *s.good_share;
  }
  json["cached_share"] = or_null(s.cached_share);
  json["thinking_share"] = or_null(s.thinking_share);
  json["drafts_accepted_share"] = or_null(s.drafts_accepted);
  json["tokens_per_draft"] = or_null(s.tokens_per_draft);
  json["tokens_per_piece"] = s.tokens_per_delivery;
  json["repetition"] = s.repetition;
  json["equal_answers"] = s.equal_answers;
  json["server_counted"] = {{"input_tokens", or_null(s.server.prompt_tokens)},
                            {"output_tokens", or_null(s.server.output_tokens)}};
  json["client"] = {{"cores", s.client_cores},
                    {"busy_ms_p99", s.turn_p99 * kMs},
                    {"busy_ms_max", s.turn_max * kMs},
                    {"late_ms_p99", s.late_p99 * kMs},
                    {"held_back", s.held_back}};
  if (s.of.open()) {
    json["open_loop"] = {{"offered_per_second", s.offered},
                         {"finished_per_second", s.finished},
                         {"in_flight_second_quarter", s.in_flight_begin},
                         {"in_flight_last_quarter", s.in_flight_end},
                         {"slower", s.slower}};
  }
  json["warnings"] = std::move(warnings);
  return json;
}

/// A field as CSV wants it.
std::string cell(const Json& value) {
  if (value.is_null()) return "";
  if (value.is_number_float()) return fmt::format("{:.6g}", value.get<double>());
  const std::string text = value.is_string() ? value.get<std::string>() : value.dump();
  if (text.find_first_of(",\"\n\r") == std::string::npos) return text;
  std::string quoted = "\"";
  for (const char c : text) quoted += c == '"' ? std::string("\"\"") : std::string(1, c);
  return quoted + '"';
}

void replace(std::string& text, std::string_view mark, std::string_view by) {
  const size_t at = text.find(mark);
  if (at != std::string::npos) text.replace(at, mark.size(), by);
}

}  // namespace

Json results_json(Json about, const std::vector<CaseResult>& cases) {
  Json json = {{"tessera_bench_serve", kResultsVersion}};
  json.update(about);
  json["cases"] = Json::array();
  for (const CaseResult& result : cases) {
    Json made = to_json(result.summary);
    made["records"] = Json::array();
    for (const CaseRun& run : result.runs) {
      for (const Record& record : run.records) made["records"].push_back(to_json(record));
    }
    json["cases"].push_back(std::move(made));
  }
  return json;
}

std::string results_csv(const Json& results) {
  std::vector<std::string> paths = {"/case/users",
                                    "/case/rate",
                                    "/case/output",
                                    "/case/context",
                                    "/case/thinking",
                                    "/rounds",
                                    "/requests",
                                    "/requests_ok",
                                    "/seconds",
                                    "/throughput/requests_per_second",
                                    "/throughput/input_tokens_per_second",
                                    "/throughput/output_tokens_per_second",
                                    "/steady_output_tokens_per_second",
                                    "/stream_output_tokens_per_second"};
  for (const char* times : {"/ttft_ms", "/first_answer_ms", "/itl_ms", "/tpot_ms", "/e2e_ms"}) {
    for (const char* at : {"/mean", "/p50", "/p90", "/p95", "/p99"}) paths.push_back(std::string(times) + at);
  }
  for (const char* path : {"/input_tokens/p50", "/output_tokens/p50", "/goodput/share", "/goodput/requests_per_second",
                           "/goodput/output_tokens_per_second", "/cached_share", "/thinking_share",
                           "/drafts_accepted_share", "/tokens_per_piece", "/repetition", "/client/cores"}) {
    paths.emplace_back(path);
  }
  const auto name = [](std::string path) {
    path.erase(0, path.starts_with("/case/") || path.starts_with("/throughput/") ? path.find('/', 1) + 1 : 1);
    std::replace(path.begin(), path.end(), '/', '_');
    return path;
  };
  std::string csv;
  for (const std::string& path : paths) csv += name(path) + ",";
  csv += "failures,warnings\n";
  for (const Json& made : results["cases"]) {
    for (const std::string& path : paths) {
      const Json::json_pointer pointer(path);
      csv += (made.contains(pointer) ? cell(made[pointer]) : "") + ",";
    }
    std::string failures, codes;
    for (const auto& [kind, of] : made["failures"].items()) {
      failures += fmt::format("{}{}:{}", failures.empty() ? "" : " ", kind, of["count"].dump());
    }
    for (const Json& warning : made["warnings"]) {
      codes += fmt::format("{}{}", codes.empty() ? "" : " ", warning["code"].get<std::string>());
    }
    csv += cell(failures) + "," + cell(codes) + "\n";
  }
  return csv;
}

std::string results_page(const Json& results) {
  std::string data = results.dump(-1, ' ', /*ensure_ascii=*/true, Json::error_handler_t::replace);
  for (size_t at = data.find('<'); at != std::string::npos; at = data.find('<', at)) {
    data.replace(at, 1, "\\u003c");  // "</script>" in a server's message must end nothing
  }
  std::string page(page_html());
  // The data last: what is put in is not looked at for further marks.
  replace(page, "@STYLE@", kPageStyle);
  replace(page, "@SCRIPT@", page_script());
  replace(page, "@LICENSE@", chart_license());
  replace(page, "@CHART@", chart_library());
  replace(page, "@DATA@", data);
  return page;
}

Expected<Json> read_results(const std::string& file) {
  TESSERA_ASSIGN_OR_RETURN(const std::string text, read_regular_file(file, kResultsBytesMax));
  Json json = Json::parse(text, nullptr, /*allow_exceptions=*/false);
  const bool ours = json.is_object() && json.contains("tessera_bench_serve") && json.contains("cases");
  if (!ours) {
    return error(StatusCode::corrupt_data, "{} holds no results, expected a file of tessera bench serve --json", file);
  }
  if (json["tessera_bench_serve"] != kResultsVersion) {
    return error(StatusCode::unsupported, "{} has version {}, expected {}: run the benchmark anew", file,
                 json["tessera_bench_serve"].dump(), kResultsVersion);
  }
  return json;
}

}  // namespace tessera::loadgen
