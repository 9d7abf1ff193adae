#include <fmt/format.h>

#include <algorithm>

#include "loadgen/case_summary.h"

// What inflates or spoils figures, each found in the records and said in a sentence. The limits are where a figure is
// off by more than runs of one thing differ anyway.
namespace tessera::loadgen {
namespace {

constexpr double kCachedShare = 0.02;  // beyond the words of a template
constexpr double kRepetition = 0.3;    // prose repeats some of its four-word sequences, up to a tenth
constexpr double kShortOfAsked = 0.9;
constexpr double kTinyTokens = 32;
constexpr double kContextOff = 0.1;
constexpr double kClientCores = 0.7;
constexpr double kTurnOfGap = 0.2;  // of the median time between pieces
constexpr double kLateSeconds = 0.01;
constexpr double kServerCountOff = 0.03;
constexpr int64_t kRequestsOfP99 = 100;

class Finder {
 public:
  Finder(const Summary& summary, const LoadOptions& options, const std::vector<CaseRun>& runs)
      : s_(summary), options_(options), runs_(runs) {}

  std::vector<Warning> find() {
    find_failures();
    if (s_.good == 0) return std::move(found_);
    find_counting();
    find_lengths();
    find_thinking();
    find_contents();
    find_client();
    if (s_.of.open()) find_saturation();
    return std::move(found_);
  }

 private:
  template <typename... Args>
  void say(const char* code, fmt::format_string<Args...> text, Args&&... args) {
    found_.push_back({code, fmt::format(text, std::forward<Args>(args)...)});
  }

  template <typename Condition>
  [[nodiscard]] double share(Condition condition) const {
    double count = 0;
    for (const CaseRun& run : runs_) {
      for (const Record& record : run.records) count += record.ok() && condition(record) ? 1 : 0;
    }
    return count / static_cast<double>(s_.good);
  }

  void find_failures() {
    if (s_.interrupted) say("interrupted", "interrupted: the figures are of the requests that had ended by then");
    if (s_.gave_up) say("gave_up", "given up: no request had succeeded and {} had failed", s_.asked - s_.good);
    const int64_t failed = s_.asked - s_.good;
    if (failed > 0 && !s_.interrupted) {
      say("failures", "{} of {} requests failed; they are in no figure, and what failed early made room for the others",
          failed, s_.asked);
    }
  }

  void find_counting() {
    if (s_.without_usage == s_.good) {
      say("no_usage", "the server sends no usage: tokens are not known, and pieces of text are not counted as tokens");
    } else if (s_.without_usage > 0) {
      say("some_usage", "{} of {} answers came without usage: their tokens are in no sum", s_.without_usage, s_.good);
    }
    if (s_.tokens_per_delivery > 1.5) {
      say("pieces",
          "a piece of text brought {:.1f} tokens on average (speculation, or a server or network that "
          "collects them): ITL is the time between pieces, TPOT that of a token",
          s_.tokens_per_delivery);
    }
    const double ours = s_.output.mean * static_cast<double>(s_.output.count);
    if (s_.server.output_tokens && s_.asked == s_.good && ours > 0) {
      const double off = *s_.server.output_tokens / ours - 1;
      if (std::abs(off) > kServerCountOff) {
        say("server_count",
            "the server counted {:.0f} tokens of answers in its metrics, its usage says {:.0f}: others "
            "used it meanwhile, or one of the two is wrong",
            *s_.server.output_tokens, ours);
      }
    }
    if (s_.good < kRequestsOfP99) {
      say("few_requests", "{} requests: p99 is all but the slowest of them, p95 rests on {}; --requests asks for more",
          s_.good, std::max<int64_t>(1, s_.good / 20));
    }
  }

  void find_lengths() {
    if (s_.output.count == 0) return;
    const auto asked = static_cast<double>(s_.of.output);
    const double early = share([&](const Record& record) {
      return record.usage.completion && static_cast<double>(*record.usage.completion) < kShortOfAsked * asked;
    });
    const double longer =
        share([&](const Record& record) { return record.usage.completion && *record.usage.completion > s_.of.output; });
    if (early > 0.1) {
      say("ended_early",
          "{:.0f} % of the answers ended before {:.0f} tokens (median {:.0f}): the load is lighter than "
          "the case says; --ignore-eos makes all answers as long as asked, at the price of text that means nothing",
          100 * early, asked, s_.output.p50);
    }
    if (longer > 0)
      say("too_long", "{:.0f} % of the answers are longer than the max_tokens they asked for", 100 * longer);
    if (s_.output.p50 < kTinyTokens) {
      say("tiny_outputs",
          "the median answer has {:.0f} tokens: fixed costs weigh more than in answers that people read, "
          "and times between tokens rest on few of them",
          s_.output.p50);
    }
    const auto wanted = static_cast<double>(s_.of.context);
    if (wanted > 0 && s_.input.count > 0 && std::abs(s_.input.p50 / wanted - 1) > kContextOff) {
      say("context_off", "the median prompt has {:.0f} tokens where {:.0f} were asked for", s_.input.p50, wanted);
    }
    if (options_.ignore_eos) {
      say("ignore_eos", "answers went on behind their natural end (--ignore-eos): what comes there is easily drafted");
    }
  }

  void find_thinking() {
    const double thought = s_.thinking_share.value_or(0);
    if (s_.of.thinking == Thinking::off && thought > 0.01) {
      say("thinking_unasked", "thinking was switched off, and {:.0f} % of the answers is thinking all the same",
          100 * thought);
    }
    if (s_.of.thinking == Thinking::on && thought < 0.01) {
      say("no_thinking", "thinking was switched on, and there is none (or the server does not tell it apart)");
    }
    if (s_.of.thinking != Thinking::off && thought > 0.5) {
      say("mostly_thinking",
          "{:.0f} % of the output is thinking: users wait for the answer behind it (first answer p50 "
          "{:.2f} s), and figures with thinking off cannot be compared with these",
          100 * thought, s_.first_answer.p50);
    }
  }

  void find_contents() {
    if (s_.cached_share.value_or(0) > kCachedShare && options_.prompts.shared == 0) {
      say("cached_prompts",
          "{:.0f} % of the prompt tokens came from the server's cache, though no two prompts of this "
          "run begin alike: it has seen them before. TTFT and input rate are better than they are; take another --seed",
          100 * *s_.cached_share);
    } else if (!s_.cached_share && s_.input.count > 0) {
      say("cache_unknown",
          "the server does not say how many prompt tokens it had cached; a second run with the same "
          "--seed may be faster than it is");
    }
    if (s_.repetition > kRepetition) {
      say("repetition",
          "answers repeat themselves ({:.0f} % of their four-word sequences were said before): such text "
          "is drafted easily, and speculation looks better than on answers that say something",
          100 * s_.repetition);
    }
    const double equal = static_cast<double>(s_.equal_answers) / static_cast<double>(s_.good);
    if (equal > 0.1) {
      say("equal_answers",
          "{:.0f} % of the answers are word for word that of another prompt: the model may not be "
          "reading them, or the server answers out of a store",
          100 * equal);
    }
    const double empty = share([](const Record& record) { return record.deliveries.empty(); });
    if (empty > 0)
      say("empty_answers", "{:.0f} % of the answers have no text; they are in no latency but E2E", 100 * empty);
  }

  void find_client() {
    if (s_.client_cores > kClientCores) {
      say("client_bound",
          "this client used {:.0f} % of a core, all that its one thread has: it may be slower than the "
          "server; run it on another machine, or several of them",
          100 * s_.client_cores);
    }
    if (s_.itl.p50 > 0 && s_.turn_p99 > kTurnOfGap * s_.itl.p50) {
      say("client_slow",
          "this client was busy for {:.1f} ms at a time (p99), {:.0f} % of the median time between "
          "pieces: latencies are partly its own",
          1e3 * s_.turn_p99, 100 * s_.turn_p99 / s_.itl.p50);
    }
    if (s_.late_p99 > kLateSeconds) {
      say("client_late",
          "requests began up to {:.0f} ms after they were due (p99): the client's machine is busy; the "
          "wait is counted",
          1e3 * s_.late_p99);
    }
  }

  void find_saturation() {
    if (s_.held_back > 0) {
      say("held_back", "{} requests waited here for a place among {} (--max-in-flight); the wait is counted",
          s_.held_back, options_.in_flight_max);
    }
    // Both: at the beginning of a load that the server can bear, requests pile up until the first ones end.
    if (s_.in_flight_end > 1.3 * s_.in_flight_begin && s_.in_flight_end > s_.in_flight_begin + 3 && s_.slower > 1.3) {
      say("saturated",
          "the server fell behind: requests came at {:.2f} a second and were finished at {:.2f}, those "
          "under way grew from {:.0f} to {:.0f}; latencies of this case say only how long it ran",
          s_.offered, s_.finished, s_.in_flight_begin, s_.in_flight_end);
    }
  }

  const Summary& s_;
  const LoadOptions& options_;
  const std::vector<CaseRun>& runs_;
  std::vector<Warning> found_;
};

}  // namespace

std::vector<Warning> warnings_of(const Summary& summary, const LoadOptions& options, const std::vector<CaseRun>& runs) {
  return Finder(summary, options, runs).find();
}

}  // namespace tessera::loadgen
