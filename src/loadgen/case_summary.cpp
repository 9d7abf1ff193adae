#include "loadgen/case_summary.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <numeric>
#include <unordered_map>

namespace tessera::loadgen {
namespace {

double sum(const std::vector<double>& values) { return std::accumulate(values.begin(), values.end(), 0.0); }

/// Tokens of an answer that had come at `time`; where the server tells no more than their sum, evenly over its pieces.
double tokens_until(const Record& record, double time) {
  if (time >= record.end) return static_cast<double>(record.usage.completion.value_or(0));
  const auto after = std::upper_bound(record.deliveries.begin(), record.deliveries.end(), time,
                                      [](double t, const Delivery& delivery) { return t < delivery.at; });
  if (after == record.deliveries.begin()) return 0;
  const Delivery& last = *(after - 1);
  if (last.tokens >= 0) return static_cast<double>(last.tokens);
  return static_cast<double>(record.usage.completion.value_or(0)) *
         static_cast<double>(after - record.deliveries.begin()) / static_cast<double>(record.deliveries.size());
}

double in_flight_at(const CaseRun& run, double time) {
  return static_cast<double>(std::count_if(run.records.begin(), run.records.end(), [&](const Record& record) {
    return record.due <= time && time < record.end;
  }));
}

double mean_in_flight(const CaseRun& run, double begin, double end) {
  constexpr int kLooks = 50;
  double looks = 0;
  for (int i = 0; i < kLooks; ++i) looks += in_flight_at(run, begin + (end - begin) * (i + 0.5) / kLooks);
  return looks / kLooks;
}

/// The figures that are made of single requests.
struct Collected {
  std::vector<double> ttft, first_answer, itl, tpot, e2e, input, output, cached_of, drafted, accepted, reasoning;
  double deliveries = 0, delivered = 0, kept = 0, kept_input = 0, kept_output = 0, repetition = 0, thinking = 0;
  double cached_input = 0;  // tokens of prompts of which the cached part is known
  std::unordered_map<uint64_t, int64_t> answers;

  void add(const Record& record, const Goals& goals) {
    const auto push = [](std::vector<double>& to, const auto& value) {
      if (value) to.push_back(static_cast<double>(*value));
    };
    push(ttft, record.ttft());
    push(tpot, record.tpot());
    if (record.first_answer >= 0) first_answer.push_back(record.first_answer - record.due);
    const std::vector<double> gaps = gaps_of(record);
    itl.insert(itl.end(), gaps.begin(), gaps.end());
    e2e.push_back(record.e2e());
    push(input, record.usage.prompt);
    push(output, record.usage.completion);
    push(cached_of, record.usage.cached);
    if (record.usage.cached) cached_input += static_cast<double>(record.usage.prompt.value_or(0));
    push(drafted, record.usage.drafted);
    push(accepted, record.usage.accepted);
    push(reasoning, record.usage.reasoning);
    if (record.usage.completion) {
      deliveries += static_cast<double>(record.deliveries.size());
      delivered += static_cast<double>(*record.usage.completion);
      thinking += record.thinking_share * static_cast<double>(*record.usage.completion);
    }
    repetition += record.repetition;
    if (record.answer_hash != 0) ++answers[record.answer_hash];
    if (!goals.met(record)) return;
    kept += 1;
    kept_input += static_cast<double>(record.usage.prompt.value_or(0));
    kept_output += static_cast<double>(record.usage.completion.value_or(0));
  }
};

void set_shares(Summary& s, const Collected& of) {
  if (!of.cached_of.empty() && of.cached_input > 0) s.cached_share = sum(of.cached_of) / of.cached_input;
  // Servers that do not count thinking still tell it apart from the answer: its share of the text stands in.
  if (!of.reasoning.empty() && sum(of.reasoning) > 0) {
    s.thinking_share = sum(of.reasoning) / sum(of.output);
  } else if (of.delivered > 0) {
    s.thinking_share = of.thinking / of.delivered;
  }
  if (!of.drafted.empty() && sum(of.drafted) > 0) {
    s.drafts_accepted = sum(of.accepted) / sum(of.drafted);
  } else if (s.server.drafted.value_or(0) > 0 && s.server.accepted) {
    s.drafts_accepted = *s.server.accepted / *s.server.drafted;
    if (s.server.drafts.value_or(0) > 0) s.tokens_per_draft = 1 + *s.server.accepted / *s.server.drafts;
  }
  if (s.good > 0) s.repetition = of.repetition / static_cast<double>(s.good);
  if (of.deliveries > 0) s.tokens_per_delivery = of.delivered / of.deliveries;
  for (const auto& [hash, count] : of.answers) s.equal_answers += count - 1;
}

void add_client(Summary& s, const CaseRun& run) {
  s.client_cores += run.client.cpu_seconds;
  s.turn_p99 = std::max(s.turn_p99, run.client.turn_p99);
  s.turn_max = std::max(s.turn_max, run.client.turn_max);
  s.late_p99 = std::max(s.late_p99, run.late_p99);
  s.held_back += run.held_back;
  s.interrupted |= run.interrupted;
  s.gave_up |= run.gave_up;
  s.seconds += run.seconds;
  s.spread += run.spread / static_cast<double>(s.rounds);
}

void set_open_loop(Summary& s, const std::vector<CaseRun>& runs) {
  double came = 0, done = 0, seconds = 0;
  std::vector<double> early, late;  // seconds of E2E a token
  for (const CaseRun& run : runs) {
    const double end = run.steady_end;
    if (end <= 0) continue;
    s.in_flight_begin += mean_in_flight(run, end / 4, end / 2) / static_cast<double>(runs.size());
    s.in_flight_end += mean_in_flight(run, end * 3 / 4, end) / static_cast<double>(runs.size());
    came += static_cast<double>(run.records.size());
    seconds += end;
    done += static_cast<double>(std::count_if(run.records.begin(), run.records.end(),
                                              [&](const Record& record) { return record.ok() && record.end <= end; }));
    for (const Record& record : run.records) {
      if (!record.ok()) continue;
      const double slow = record.e2e() / static_cast<double>(std::max<int64_t>(1, record.usage.completion.value_or(1)));
      if (record.due >= end * 3 / 4) late.push_back(slow);
      if (record.due >= end / 4 && record.due < end / 2) early.push_back(slow);
    }
  }
  if (!early.empty() && !late.empty()) s.slower = percentile(late, 50) / percentile(early, 50);
  if (seconds > 0) s.offered = came / seconds;
  if (seconds > 0) s.finished = done / seconds;
}

}  // namespace

std::vector<double> gaps_of(const Record& record) {
  std::vector<double> gaps;
  for (size_t i = 1; i < record.deliveries.size(); ++i) {
    gaps.push_back(record.deliveries[i].at - record.deliveries[i - 1].at);
  }
  return gaps;
}

Expected<Goals> Goals::parse(const std::string& text) {
  Goals goals;
  const std::pair<std::string_view, std::optional<double>*> kNames[] = {
      {"ttft", &goals.ttft}, {"itl", &goals.itl}, {"tpot", &goals.tpot}, {"e2e", &goals.e2e}};
  for (size_t at = 0; at <= text.size();) {
    const size_t end = std::min(text.find(',', at), text.size());
    const std::string_view part = std::string_view(text).substr(at, end - at);
    const size_t colon = std::min(part.find(':'), part.size());
    const auto* found = std::find_if(std::begin(kNames), std::end(kNames),
                                     [&](const auto& name) { return name.first == part.substr(0, colon); });
    double ms = 0;
    const char* last = part.data() + part.size();
    const auto read = std::from_chars(part.data() + std::min(colon + 1, part.size()), last, ms);
    if (found == std::end(kNames) || read.ec != std::errc() || read.ptr != last || !(ms > 0)) {
      return error(StatusCode::invalid_argument,
                   "found \"{}\", expected NAME:MILLISECONDS,... with ttft, itl, tpot or e2e, such as ttft:500,itl:50",
                   part);
    }
    *found->second = ms * 1e-3;
    at = end + 1;
  }
  return goals;
}

bool Goals::met(const Record& record) const {
  if (!record.ok() || record.deliveries.empty()) return false;
  if (ttft && *record.ttft() > *ttft) return false;
  if (itl && percentile(gaps_of(record), 95) > *itl) return false;
  if (tpot && record.tpot().value_or(0) > *tpot) return false;
  return !e2e || record.e2e() <= *e2e;
}

Summary summarize(const Case& of, const LoadOptions& options, const Goals& goals, const std::vector<CaseRun>& runs,
                  const ServerCounters& counted) {
  Summary s;
  s.of = of;
  s.rounds = static_cast<int64_t>(runs.size());
  s.server = counted;
  Collected collected;
  double steady_tokens = 0, steady_seconds = 0;
  for (const CaseRun& run : runs) {
    add_client(s, run);
    steady_seconds += run.steady_end - run.steady_begin;
    for (const Record& record : run.records) {
      ++s.asked;
      steady_tokens += tokens_until(record, run.steady_end) - tokens_until(record, run.steady_begin);
      if (!record.ok()) {
        Failures& failures = s.failures[record.error];
        if (failures.count++ == 0) failures.first = record.message;
        continue;
      }
      ++s.good;
      if (!record.usage.completion) ++s.without_usage;
      collected.add(record, goals);
    }
  }
  s.ttft = percentiles_of(collected.ttft);
  s.first_answer = percentiles_of(collected.first_answer);
  s.itl = percentiles_of(collected.itl);
  s.tpot = percentiles_of(collected.tpot);
  s.e2e = percentiles_of(collected.e2e);
  s.input = percentiles_of(collected.input);
  s.output = percentiles_of(collected.output);
  if (s.seconds > 0) {
    s.client_cores /= s.seconds;
    s.rate = {static_cast<double>(s.good) / s.seconds, sum(collected.input) / s.seconds,
              sum(collected.output) / s.seconds};
  }
  if (s.tpot.p50 > 0) s.stream_output = 1 / s.tpot.p50;
  if (steady_seconds > 0 && s.output.count > 0) s.steady_output = steady_tokens / steady_seconds;
  set_shares(s, collected);
  if (goals.any() && s.asked > 0 && s.seconds > 0) {
    s.good_share = collected.kept / static_cast<double>(s.asked);
    s.goodput = {collected.kept / s.seconds, collected.kept_input / s.seconds, collected.kept_output / s.seconds};
  }
  if (of.open()) set_open_loop(s, runs);
  s.warnings = warnings_of(s, options, runs);
  return s;
}

}  // namespace tessera::loadgen
