#include "cli/bench_serve_tables.h"

#include <algorithm>
#include <map>

#include "cli/console.h"
#include "cli/table.h"

namespace tessera::cli {
namespace {

using loadgen::Percentiles;
using loadgen::Summary;

std::string number(const std::optional<double>& value, int digits = 1) {
  return value ? fmt::format("{:.{}f}", *value, digits) : "-";
}

std::string share(const std::optional<double>& value) { return value ? fmt::format("{:.0f} %", 100 * *value) : "-"; }

std::string tokens(const Percentiles& of) { return of.count > 0 ? fmt::format("{:.0f}", of.p50) : "-"; }

/// Milliseconds, three digits of them at least.
std::string ms(double seconds) {
  const double value = seconds * 1e3;
  return fmt::format("{:.{}f}", value, value < 10 ? 2 : value < 1000 ? 1 : 0);
}

void print_throughput(const std::vector<Summary>& summaries) {
  std::vector<std::vector<std::string>> rows = {{"case", "ok", "seconds", "req/s", "in tok/s", "out tok/s", "steady",
                                                 "a stream", "in p50", "out p50", "cached", "thinking", "drafts taken",
                                                 "goodput"}};
  for (const Summary& s : summaries) {
    const bool counted = s.output.count > 0;
    rows.push_back({s.of.name(), fmt::format("{}/{}", s.good, s.asked), number(s.seconds), number(s.rate.requests, 2),
                    counted ? number(s.rate.input, 0) : "-", counted ? number(s.rate.output) : "-",
                    number(s.steady_output), number(s.stream_output), tokens(s.input), tokens(s.output),
                    share(s.cached_share), share(s.thinking_share), share(s.drafts_accepted),
                    s.good_share ? fmt::format("{} {:.2f}/s", share(s.good_share), s.goodput.requests) : "-"});
  }
  print("{}\n", format_table("<>>>>>>>>>>>>>", rows));
}

void print_latencies(const std::vector<Summary>& summaries) {
  std::vector<std::vector<std::string>> rows = {{"case", "ms", "mean", "p50", "p90", "p95", "p99", "max"}};
  for (const Summary& s : summaries) {
    const std::pair<const char*, const Percentiles*> kTimes[] = {
        {"TTFT", &s.ttft}, {"first answer", &s.first_answer}, {"ITL", &s.itl}, {"TPOT", &s.tpot}, {"E2E", &s.e2e}};
    for (const auto& [name, of] : kTimes) {
      const bool same = of == &s.first_answer && s.thinking_share.value_or(0) == 0;  // as TTFT
      if (of->count == 0 || same) continue;
      rows.push_back({of == &s.ttft ? s.of.name() : "", name, ms(of->mean), ms(of->p50), ms(of->p90), ms(of->p95),
                      ms(of->p99), ms(of->max)});
    }
  }
  if (rows.size() > 1) print("{}\n", format_table("<<>>>>>>", rows));
}

/// Each text once, behind the cases that it holds for.
void print_notes(const std::vector<Summary>& summaries) {
  std::vector<std::pair<std::string, std::vector<std::string>>> notes;
  const auto add = [&](const std::string& text, const Summary& s) {
    auto found = std::find_if(notes.begin(), notes.end(), [&](const auto& note) { return note.first == text; });
    if (found == notes.end()) found = notes.insert(notes.end(), {text, {}});
    found->second.push_back(s.of.name());
  };
  for (const Summary& s : summaries) {
    for (const auto& [kind, failures] : s.failures) {
      add(fmt::format("{} failed ({}), first: {}", failures.count, name_of(kind), without_controls(failures.first)), s);
    }
    for (const loadgen::Warning& warning : s.warnings) add(without_controls(warning.text), s);
  }
  if (notes.empty()) return;
  print("Before these figures are told to anyone:\n");
  for (const auto& [text, names] : notes) {
    std::string where = names.size() == summaries.size() && names.size() > 1 ? "all cases" : names.front();
    if (where == names.front()) {
      for (size_t i = 1; i < names.size(); ++i) where += "; " + names[i];
    }
    print("- {}: {}\n", where, text);
  }
}

}  // namespace

void print_summaries(const std::vector<Summary>& summaries) {
  print_throughput(summaries);
  print_latencies(summaries);
  print_notes(summaries);
}

void print_comparison(const std::string& file_a, const std::string& file_b, const loadgen::Comparison& comparison) {
  print("A: {}\nB: {}\n", file_a, file_b);
  print(
      "B/A of each figure, with the middle 95 % of 2,000 bootstrap draws of the requests. Requests of one run wait "
      "for\n"
      "one another, and a run has one day and one machine: what differs between runs is seen with --rounds 3 or more\n"
      "alone, which are then drawn first.\n\n");
  std::vector<std::vector<std::string>> rows = {
      {"case", "figure", "A", "B", "B/A", "95 % interval", "verdict", "requests", "drawn"}};
  for (const loadgen::Change& change : comparison.changes) {
    rows.push_back({change.case_name, change.figure, fmt::format("{:.2f}", change.a), fmt::format("{:.2f}", change.b),
                    fmt::format("{:.3f}", change.ratio),
                    fmt::format("{:.3f} to {:.3f}", change.interval.low, change.interval.high),
                    !change.differs()  ? "no difference seen"
                    : change.ratio > 1 ? "B is higher"
                                       : "B is lower",
                    fmt::format("{}, {}", change.requests_a, change.requests_b),
                    fmt::format("{}{}", change.paired ? "in pairs of one prompt" : "apart",
                                change.by_rounds ? ", rounds first" : "")});
  }
  if (comparison.changes.empty()) {
    print("There is nothing to compare.\n");
  } else {
    print("{}\n", format_table("<<>>>><<<", rows));
  }
  for (const std::string& note : comparison.notes) print("- {}\n", without_controls(note));
}

}  // namespace tessera::cli
