#include <gmock/gmock.h>

#include <functional>

#include "loadgen/case_summary.h"
#include "loadgen/made_runs.h"

// Where each warning begins: what is just short of it is not said.
namespace tessera::loadgen {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

/// A case of which nothing is to be said.
Summary sound() {
  Summary s;
  s.of = {.users = 2, .output = 100};
  s.rounds = 1;
  s.asked = s.good = 200;
  s.output = {.count = 200, .mean = 100, .p50 = 100};
  s.input = {.count = 200, .mean = 1000, .p50 = 1000};
  s.itl = {.count = 1000, .p50 = 0.02};
  s.tokens_per_delivery = 1;
  s.cached_share = s.thinking_share = 0;
  return s;
}

std::vector<std::string> codes(const Summary& summary, const LoadOptions& options = {},
                               const std::vector<CaseRun>& runs = {}) {
  std::vector<std::string> found;
  for (const Warning& warning : warnings_of(summary, options, runs)) found.push_back(warning.code);
  return found;
}

std::vector<std::string> codes_of(const std::function<void(Summary&)>& change) {
  Summary s = sound();
  change(s);
  return codes(s);
}

TEST(Warnings, BeginWhereTheyShould) {
  EXPECT_THAT(codes(sound()), IsEmpty());
  const struct {
    const char* code;
    std::function<void(Summary&)> short_of_it, beyond;
  } kLimits[] = {
      {"few_requests", [](Summary& s) { s.asked = s.good = 100; }, [](Summary& s) { s.asked = s.good = 99; }},
      {"interrupted", [](Summary&) {}, [](Summary& s) { s.interrupted = true; }},
      {"some_usage", [](Summary& s) { s.without_usage = 0; }, [](Summary& s) { s.without_usage = 1; }},
      {"pieces", [](Summary& s) { s.tokens_per_delivery = 1.5; }, [](Summary& s) { s.tokens_per_delivery = 1.51; }},
      {"server_count", [](Summary& s) { s.server.output_tokens = 20'590; },
       [](Summary& s) { s.server.output_tokens = 20'610; }},
      {"server_count", [](Summary& s) { s.server.output_tokens = 19'410; },
       [](Summary& s) { s.server.output_tokens = 19'390; }},
      {"tiny_outputs", [](Summary& s) { s.output.p50 = 32; }, [](Summary& s) { s.output.p50 = 31.5; }},
      {"context_off", [](Summary& s) { s.of.context = 1000, s.input.p50 = 1099; },
       [](Summary& s) { s.of.context = 1000, s.input.p50 = 1101; }},
      {"context_off", [](Summary& s) { s.of.context = 1000, s.input.p50 = 901; },
       [](Summary& s) { s.of.context = 1000, s.input.p50 = 899; }},
      {"thinking_unasked", [](Summary& s) { s.thinking_share = 0.01; }, [](Summary& s) { s.thinking_share = 0.9; }},
      {"no_thinking", [](Summary& s) { s.of.thinking = Thinking::on, s.thinking_share = 0.01; },
       [](Summary& s) { s.of.thinking = Thinking::on, s.thinking_share = 0.009; }},
      {"mostly_thinking", [](Summary& s) { s.of.thinking = Thinking::on, s.thinking_share = 0.5; },
       [](Summary& s) { s.of.thinking = Thinking::on, s.thinking_share = 0.51; }},
      {"mostly_thinking", [](Summary& s) { s.of.thinking = Thinking::server; },
       [](Summary& s) { s.of.thinking = Thinking::server, s.thinking_share = 0.51; }},
      {"cached_prompts", [](Summary& s) { s.cached_share = 0.02; }, [](Summary& s) { s.cached_share = 0.021; }},
      {"cache_unknown", [](Summary& s) { s.cached_share.reset(), s.input = {}; },
       [](Summary& s) { s.cached_share.reset(); }},
      {"repetition", [](Summary& s) { s.repetition = 0.3; }, [](Summary& s) { s.repetition = 0.31; }},
      {"equal_answers", [](Summary& s) { s.equal_answers = 20; }, [](Summary& s) { s.equal_answers = 21; }},
      {"client_bound", [](Summary& s) { s.client_cores = 0.7; }, [](Summary& s) { s.client_cores = 0.71; }},
      {"client_slow", [](Summary& s) { s.turn_p99 = 0.0039; }, [](Summary& s) { s.turn_p99 = 0.0041; }},
      {"client_late", [](Summary& s) { s.late_p99 = 0.01; }, [](Summary& s) { s.late_p99 = 0.011; }},
      {"held_back", [](Summary& s) { s.held_back = 1; },  // of an open loop alone
       [](Summary& s) { s.of = {.rate = 1, .output = 100}, s.held_back = 1; }},
  };
  for (const auto& [code, short_of_it, beyond] : kLimits) {
    EXPECT_THAT(codes_of(short_of_it), IsEmpty()) << code;
    EXPECT_THAT(codes_of(beyond), ElementsAre(code));
  }
  // Without pieces there are no gaps that the client could be slow beside.
  EXPECT_THAT(codes_of([](Summary& s) { s.itl = {}, s.turn_p99 = 1; }), IsEmpty());
  // Where prompts share beginnings on purpose, a cache that has them is none to warn of.
  LoadOptions shared;
  shared.prompts.shared = 0.5;
  Summary cached = sound();
  cached.cached_share = 0.5;
  EXPECT_THAT(codes(cached, shared), IsEmpty());
  // The server has counted what failed, too.
  EXPECT_THAT(codes_of([](Summary& s) { s.server.output_tokens = 30'000, s.asked = 201; }), ElementsAre("failures"));
  EXPECT_THAT(codes_of([](Summary& s) { s.good = 0, s.cached_share = 0.5; }), ElementsAre("failures"))
      << "of nothing, nothing more";
  EXPECT_THAT(codes_of([](Summary& s) { s.good = 0, s.gave_up = true; }), ElementsAre("gave_up", "failures"));
  EXPECT_THAT(codes_of([](Summary& s) { s.asked = 201, s.interrupted = true; }), ElementsAre("interrupted"))
      << "what was interrupted has not failed";
}

TEST(Warnings, AServerFallsBehindByEachOfItsSigns) {
  const auto of = [](double begin, double end, double slower) {
    return codes_of([&](Summary& s) {
      s.of = {.rate = 1, .output = 100};
      s.in_flight_begin = begin;
      s.in_flight_end = end;
      s.slower = slower;
    });
  };
  EXPECT_THAT(of(10, 13.5, 1.31), ElementsAre("saturated"));
  EXPECT_THAT(of(10, 13.5, 1.3), IsEmpty()) << "no slower than before";
  EXPECT_THAT(of(5, 8, 1.31), IsEmpty()) << "three more are none too many";
  EXPECT_THAT(of(20, 26, 1.31), IsEmpty()) << "nor are three in ten";
}

/// Shares of the good answers; what failed is none.
TEST(Warnings, AreOfSharesOfTheGoodAnswers) {
  const auto of = [](const std::vector<int64_t>& lengths, int64_t empty = 0) {
    CaseRun run;
    for (const int64_t length : lengths) run.records.push_back(answered(0, 0, 0.5, 0.02, length));
    for (int64_t i = 0; i < empty; ++i) run.records[static_cast<size_t>(i)].deliveries.clear();
    Record failure = answered(0, 0, 0.5, 0.02, 5);
    failure.error = ErrorKind::timeout;
    failure.deliveries.clear();
    run.records.push_back(failure);
    Summary s = sound();
    s.good = s.asked = static_cast<int64_t>(lengths.size());
    std::vector<std::string> found = codes(s, {}, {run});
    std::erase(found, "few_requests");
    return found;
  };
  EXPECT_THAT(of({100, 100, 100, 100, 100, 90, 90, 90, 90, 89}), IsEmpty()) << "one in ten may end early";
  EXPECT_THAT(of({100, 100, 100, 100, 100, 90, 90, 90, 89, 89}), ElementsAre("ended_early"));
  EXPECT_THAT(of({100, 100, 100, 100, 100, 100, 100, 100, 100, 101}), ElementsAre("too_long"));
  EXPECT_THAT(of({100, 100, 100, 100, 100, 100, 100, 100, 100, 100}, 1), ElementsAre("empty_answers"));
}

}  // namespace
}  // namespace tessera::loadgen
