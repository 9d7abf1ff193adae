#include "loadgen/load.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <atomic>
#include <set>

#include "loadgen/schedule.h"
#include "loadgen/scripted_answers.h"
#include "loadgen/statistics.h"

// Whole cases against a server that does as it is told.
namespace tessera::loadgen {
namespace {

using ::testing::ElementsAre;
using ::testing::Ge;
using ::testing::Le;

struct Loaded {
  CaseRun run;
  std::vector<Progress> told;
};

/// `on_progress`: called on each; `stop`: what the watch looks at.
Loaded load(const ScriptedServer& server, const Case& of, const LoadOptions& options, int64_t round = 0,
            const std::function<void(const Progress&)>& on_progress = {}, const std::atomic<bool>* stop = nullptr) {
  static const PromptSet prompts = PromptSet::built_in();
  static const std::atomic<bool> never = false;
  auto client = Client::make({.server = *ServerAddress::parse(server.url()), .api_key = {}});
  EXPECT_TRUE(client.ok());
  Loaded loaded;
  const Watch watch{stop == nullptr ? &never : stop, [&](const Progress& progress) {
                      loaded.told.push_back(progress);
                      if (on_progress) on_progress(progress);
                    }};
  auto run = run_case(**client, prompts, of, options, round, watch);
  EXPECT_TRUE(run.ok()) << run.status().message();
  loaded.run = *std::move(run);
  return loaded;
}

/// Requests that a server is answering.
class InFlight {
 public:
  InFlight() {
    const int now = ++now_;
    for (int most = most_; most < now && !most_.compare_exchange_weak(most, now);) continue;
  }
  ~InFlight() { --now_; }
  static int take_most() { return most_.exchange(0); }

 private:
  static inline std::atomic<int> now_ = 0, most_ = 0;
};

LoadOptions options_of(int64_t requests) {
  LoadOptions options;
  options.model = "m";
  options.requests = requests;
  options.prompts.seed = 7;
  return options;
}

double last_start(const CaseRun& run) {
  double last = 0;
  for (const Record& record : run.records) last = std::max(last, record.start);
  return last;
}

TEST(Load, UsersAskAgainOnceTheyAreAnswered) {
  Gate both, looked_at;
  std::mutex mutex;
  std::multiset<std::string> bodies;
  const ScriptedServer server([&](const Request& request, const Connection& to) {
    const InFlight counted;
    size_t number = 0;
    {
      const std::lock_guard lock(mutex);
      bodies.insert(request.body);
      number = bodies.size();
    }
    to.begin_stream();
    to.event(chunk("a", 1));
    if (number <= 2) both.meet(2);
    if (number == 3) looked_at.pass();
    to.event(chunk("b", 4));
    to.event(kFinish);
  });
  (void)InFlight::take_most();
  const Case two{.users = 2, .output = 4, .context = 300};
  const LoadOptions options = options_of(6);
  const auto [run, told] = load(server, two, options, /*round=*/3, [&](const Progress& progress) {
    if (progress.done >= 2) looked_at.open();
  });
  EXPECT_EQ(InFlight::take_most(), 2);
  EXPECT_FALSE(run.interrupted || run.gave_up);
  ASSERT_EQ(run.records.size(), 6U);
  // Which prompts, and in which order, is said by the case, its seed and its round alone.
  const PromptSet prompts = PromptSet::built_in();
  PromptPlan plan = options.prompts;
  plan.seed = seed_of(two, options.prompts.seed, 3);
  plan.context_tokens = 300;
  std::multiset<std::string> wanted;
  double end = 0;
  for (int64_t i = 0; i < 6; ++i) {
    const Record& record = run.records[static_cast<size_t>(i)];
    const Prompt prompt = prompts.make(plan, i);
    wanted.insert(request_body(two, options, prompt, plan.seed + static_cast<uint64_t>(i)).dump());
    EXPECT_EQ(record.index, i);
    EXPECT_EQ(record.round, 3);
    EXPECT_EQ(record.kind, prompt.kind);
    EXPECT_EQ(record.prompt_bytes, prompt.bytes);
    EXPECT_TRUE(record.ok()) << record.message;
    EXPECT_GE(record.due, 0);
    EXPECT_EQ(record.start, record.due);
    EXPECT_GE(record.first_answer, record.start);
    EXPECT_EQ(record.first_answer, record.deliveries.front().at);
    EXPECT_GE(record.end, record.deliveries.back().at);
    end = std::max(end, record.end);
  }
  EXPECT_TRUE(bodies == wanted);
  EXPECT_EQ(run.seconds, end);
  EXPECT_LT(run.records[0].start, run.records[1].end);
  // Everybody is busy once the first two are being answered, and until the last one begins.
  EXPECT_EQ(run.steady_begin, std::max(run.records[0].deliveries.front().at, run.records[1].deliveries.front().at));
  EXPECT_EQ(run.steady_end, last_start(run));
  EXPECT_EQ(run.spread, 0);
  EXPECT_EQ(run.held_back, 0);
  EXPECT_GT(run.client.turn_max, 0);
  EXPECT_LT(run.client.turn_max, run.seconds + 1);
  ASSERT_FALSE(told.empty());
  for (size_t i = 0; i < told.size(); ++i) {
    EXPECT_EQ(told[i].total, 6);
    EXPECT_EQ(told[i].failed, 0);
    EXPECT_EQ(told[i].output_tokens, 4 * told[i].done);
    EXPECT_THAT(told[i].running, ::testing::AllOf(Ge(0), Le(2)));
    EXPECT_GE(told[i].seconds, (i == 0 ? 0 : told[i - 1].seconds) + 0.1) << "it is told now and then, not always";
  }
  // The third is not answered until it was told that others were, and is under way then.
  EXPECT_THAT(told, ::testing::Contains(::testing::Field(&Progress::running, Ge(1))));
}

/// With a spread the second comes later, though the first is not answered; a user alone is busy from the first answer.
TEST(Load, UsersMayComeOneAfterTheOther) {
  Gate both;
  const ScriptedServer server([&](const Request&, const Connection& to) {
    both.meet(2);
    answer_well(to, 2);
  });
  LoadOptions options = options_of(2);
  options.spread_seconds = 0.4;
  const CaseRun run = load(server, {.users = 2, .output = 2}, options).run;
  ASSERT_EQ(run.records.size(), 2U);
  EXPECT_EQ(run.spread, 0.4);
  EXPECT_GE(run.records[1].start, 0.2);
  EXPECT_EQ(run.steady_begin, 0) << "no time in which all were busy";
  EXPECT_EQ(run.steady_end, 0);
}

TEST(Load, ATimeWithoutAnswersIsNotSteady) {
  std::atomic<int> number = 0;
  const ScriptedServer server([&](const Request&, const Connection& to) {
    if (number++ == 0) return void(to.answer(500, "oops"));
    answer_well(to, 2);
  });
  const CaseRun run = load(server, {.users = 1, .output = 2}, options_of(3)).run;
  EXPECT_EQ(run.steady_begin, 0);
  EXPECT_EQ(run.steady_end, 0);
  EXPECT_LT(run.records[0].first_answer, 0) << "there was none";
  EXPECT_FALSE(run.gave_up);
}

TEST(Load, GivesUpWhereNothingSucceeds) {
  std::atomic<int> number = 0;
  std::atomic<bool> well = false;
  const ScriptedServer server([&](const Request&, const Connection& to) {
    if (number++ == 0 && well) return answer_well(to, 2);
    to.answer(503, "loading");
  });
  const CaseRun failed = load(server, {.users = 1, .output = 2}, options_of(1000)).run;
  EXPECT_TRUE(failed.gave_up);
  EXPECT_EQ(failed.records.size(), 21U) << "twenty, and one for each user";
  // One that succeeds is enough to go on.
  number = 0;
  well = true;
  const CaseRun mixed = load(server, {.users = 1, .output = 2}, options_of(40)).run;
  EXPECT_FALSE(mixed.gave_up);
  EXPECT_EQ(mixed.records.size(), 40U);
  EXPECT_EQ(std::ranges::count_if(mixed.records, [](const Record& record) { return record.ok(); }), 1);
}

TEST(Load, AnInterruptKeepsWhatThereIs) {
  Gate over;
  std::atomic<bool> stop = false;
  std::atomic<int> number = 0;
  const ScriptedServer server([&](const Request&, const Connection& to) {
    if (number++ < 3) return answer_well(to, 2);
    to.begin_stream();
    to.event(chunk("a", 1));
    stop = true;
    over.pass();
  });
  const CaseRun run = load(server, {.users = 1, .output = 2}, options_of(10), 0, {}, &stop).run;
  over.open();
  EXPECT_TRUE(run.interrupted);
  ASSERT_EQ(run.records.size(), 4U) << "the one that was being prepared is none";
  for (size_t i = 0; i < 3; ++i) EXPECT_TRUE(run.records[i].ok());
  EXPECT_EQ(name_of(run.records[3].error), "interrupted");
  EXPECT_GE(run.records[3].end, run.records[3].start);
}

TEST(Load, NoneBeginsOnceTheTimeIsOver) {
  const ScriptedServer server([](const Request&, const Connection& to) { answer_well(to, 2); });
  LoadOptions options = options_of(0);
  options.duration_seconds = 1e-9;
  EXPECT_TRUE(load(server, {.users = 1, .output = 2}, options).run.records.empty());
  options.duration_seconds = 0.3;
  const CaseRun run = load(server, {.users = 1, .output = 2}, options).run;
  EXPECT_FALSE(run.records.empty());
  for (const Record& record : run.records) EXPECT_TRUE(record.ok()) << record.message;
  EXPECT_FALSE(run.interrupted);
}

TEST(Load, RequestsOfARateAreDueWhateverBecomesOfOthers) {
  constexpr int kRequests = 12;
  Gate all;
  const ScriptedServer server([&](const Request&, const Connection& to) {
    const InFlight counted;
    all.meet(kRequests);
    answer_well(to, 2);
  });
  (void)InFlight::take_most();
  const Case of{.rate = 100, .output = 2};
  LoadOptions options = options_of(kRequests);
  options.spread_seconds = 5;  // which is of users
  const CaseRun run = load(server, of, options, 1).run;
  EXPECT_EQ(InFlight::take_most(), kRequests);
  ASSERT_EQ(run.records.size(), static_cast<size_t>(kRequests));
  const std::vector<double> due = arrivals(100, kRequests, seed_of(of, options.prompts.seed, 1));
  std::vector<double> late;
  for (size_t i = 0; i < due.size(); ++i) {
    const Record& record = run.records[i];
    EXPECT_NEAR(record.due, due[i], 1e-9);
    EXPECT_GE(record.start, record.due);
    late.push_back(record.start - record.due);
  }
  EXPECT_NEAR(run.late_p99, percentile(late, 99), 1e-9);
  EXPECT_EQ(run.held_back, 0);
  EXPECT_EQ(run.spread, 0);
  EXPECT_EQ(run.steady_begin, 0);
  EXPECT_EQ(run.steady_end, last_start(run));
}

/// What waits for a place is counted as held back, and not as late: its wait is the server's.
TEST(Load, AFullHouseHoldsRequestsBack) {
  Gate told;
  const ScriptedServer server([&](const Request&, const Connection& to) {
    const InFlight counted;
    told.pass();
    answer_well(to, 2);
  });
  (void)InFlight::take_most();
  LoadOptions options = options_of(5);
  options.in_flight_max = 1;
  const auto open = [&](const Progress&) { told.open(); };  // by when all are due
  const CaseRun run = load(server, {.rate = 1e6, .output = 2}, options, 0, open).run;
  EXPECT_EQ(InFlight::take_most(), 1);
  ASSERT_EQ(run.records.size(), 5U);
  EXPECT_EQ(run.held_back, 4);
  EXPECT_NEAR(run.late_p99, run.records[0].start - run.records[0].due, 1e-9);
  EXPECT_GT(run.records[1].start - run.records[1].due, 0.09) << "the wait is counted";
  options.in_flight_max = 3;
  EXPECT_EQ(load(server, {.rate = 1e6, .output = 2}, options, 0, open).run.records.size(), 5U);
  EXPECT_LE(InFlight::take_most(), 3);
}

/// The first is answered once the second is due: that one waits. Most of the others find the place free.
TEST(Load, HoldsBackOnlyWhileTheHouseIsFull) {
  Gate told;
  const ScriptedServer server([&](const Request&, const Connection& to) {
    told.pass();
    answer_well(to, 2);
  });
  const Case of{.rate = 10, .output = 2};
  LoadOptions options = options_of(6);
  options.in_flight_max = 1;
  const double second = arrivals(of.rate, 2, seed_of(of, options.prompts.seed, 0))[1];
  const CaseRun run = load(server, of, options, 0, [&](const Progress& progress) {
                        if (progress.seconds > second) told.open();
                      }).run;
  ASSERT_EQ(run.records.size(), 6U);
  int64_t met_another = 0;
  for (size_t i = 1; i < run.records.size(); ++i) met_another += run.records[i - 1].end > run.records[i].due ? 1 : 0;
  EXPECT_GE(run.held_back, 1);
  EXPECT_LE(run.held_back, met_another);
}

TEST(Load, EachCaseHasACostOfItsOwn) {
  const ScriptedServer server([](const Request&, const Connection& to) { answer_well(to, 20); });
  const auto client = Client::make({.server = *ServerAddress::parse(server.url()), .api_key = {}});
  ASSERT_TRUE(client.ok());
  const PromptSet prompts = PromptSet::built_in();
  const std::atomic<bool> never = false;
  const Watch watch{&never, [](const Progress&) {}};
  const auto cost = [&](int64_t requests) {
    const double begin = (*client)->now();
    const auto run = run_case(**client, prompts, {.users = 1, .output = 20}, options_of(requests), 0, watch);
    EXPECT_TRUE(run.ok());
    // Times are those since the case began, whatever came before.
    EXPECT_LE(run->seconds, (*client)->now() - begin);
    for (const Record& record : run->records) EXPECT_LE(record.end, run->seconds);
    return run->client.cpu_seconds;
  };
  (void)(*client)->wait((*client)->now() + 0.5);
  const double many = cost(100);
  EXPECT_LT(cost(1), many);
}

TEST(Case, HasAName) {
  EXPECT_EQ((Case{.users = 8, .output = 128, .context = 2048}.name()), "8 users, 128 out, 2048 in, thinking off");
  EXPECT_EQ((Case{.users = 1, .output = 4, .thinking = Thinking::on}.name()), "1 user, 4 out, thinking on");
  EXPECT_EQ((Case{.rate = 2.5, .output = 4, .thinking = Thinking::server}.name()),
            "2.5 requests/s, 4 out, thinking default");
}

/// Whatever makes a case another one makes its draws others.
TEST(Case, SeedsAreOfItsNumbers) {
  const Case of{.users = 8, .output = 128, .context = 2048};
  const std::vector<Case> others = {{.users = 9, .output = 128, .context = 2048},
                                    {.rate = 8, .output = 128, .context = 2048},
                                    {.users = 8, .output = 129, .context = 2048},
                                    {.users = 8, .output = 128, .context = 2049},
                                    {.users = 8, .output = 128, .context = 2048, .thinking = Thinking::on}};
  std::set<uint64_t> seeds = {seed_of(of, 1, 0), seed_of(of, 2, 0), seed_of(of, 1, 1)};
  for (const Case& other : others) seeds.insert(seed_of(other, 1, 0));
  EXPECT_EQ(seeds.size(), 3 + others.size());
  EXPECT_EQ(seed_of(of, 1, 0), seed_of({.users = 8, .output = 128, .context = 2048}, 1, 0));
}

}  // namespace
}  // namespace tessera::loadgen
