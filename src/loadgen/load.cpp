#include "loadgen/load.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/hash.h"
#include "loadgen/schedule.h"
#include "loadgen/statistics.h"

namespace tessera::loadgen {
namespace {

constexpr int64_t kRequestsMin = 16, kRequestsPerUser = 4;
constexpr int64_t kSpareArrivals = 100, kRequestsOfDuration = 10'000'000;
constexpr double kRateSeconds = 30;
constexpr double kTickSeconds = 0.1;
constexpr int64_t kFailuresMax = 20;  // besides one a user, when nothing has succeeded

class Run {
 public:
  Run(Client& client, const PromptSet& prompts, const Case& of, const LoadOptions& options, int64_t round,
      const Watch& watch)
      : client_(client), prompts_(prompts), case_(of), options_(options), round_(round), watch_(watch) {
    seed_ = seed_of(of, options.prompts.seed, round);
    plan_ = options.prompts;
    plan_.seed = seed_;
    plan_.context_tokens = of.context;
    progress_.total = requests_of(of, options);
    due_ = of.open() ? arrivals(of.rate, progress_.total, seed_) : user_starts(of.users, options.spread_seconds);
    if (!of.open()) run_.spread = options.spread_seconds;
  }

  Expected<CaseRun> go() {
    prepare();
    client_.begin_cost();
    begin_ = client_.now();
    while (!run_.interrupted && !run_.gave_up && (may_start() || client_.running() > 0)) {
      TESSERA_RETURN_IF_ERROR(start_due());
      for (Record* record : client_.wait(wake())) take(*record);
      tell();
      run_.interrupted = watch_.stop->load();
      run_.gave_up = progress_.failed == progress_.done && progress_.failed >= kFailuresMax + case_.users;
    }
    run_.client = client_.cost();
    for (Record* record : client_.abandon()) take(*record);
    if (!prepared_.empty()) run_.records.pop_back();  // prepared, and not asked any more
    finish();
    return std::move(run_);
  }

 private:
  [[nodiscard]] double now() const { return client_.now() - begin_; }

  [[nodiscard]] bool may_start() const {
    if (started_ >= progress_.total) return false;
    return options_.duration_seconds <= 0 || now() < options_.duration_seconds;
  }

  /// The next request, so that making it is not a part of its time.
  void prepare() {
    if (!prepared_.empty() || started_ >= progress_.total) return;
    const Prompt prompt = prompts_.make(plan_, started_);
    Record& record = run_.records.emplace_back();
    record.index = started_;
    record.round = round_;
    record.kind = prompt.kind;
    record.prompt_bytes = prompt.bytes;
    prepared_ = request_body(case_, options_, prompt, seed_ + static_cast<uint64_t>(started_)).dump();
  }

  Status start_due() {
    while (may_start()) {
      const bool full = client_.running() >= (case_.open() ? options_.in_flight_max : users_here());
      if (case_.open() && now() < due_[static_cast<size_t>(started_)]) break;
      if (full) {
        held_ = case_.open();
        break;
      }
      Record& record = run_.records.back();
      TESSERA_RETURN_IF_ERROR(client_.start(record, std::move(prepared_)));
      prepared_.clear();
      if (case_.open()) record.due = begin_ + due_[static_cast<size_t>(started_)];
      if (held_) {
        ++run_.held_back;
      } else {
        late_.push_back(record.start - record.due);
      }
      held_ = false;
      ++started_;
      if (first_ones_ == 0 && client_.running() == case_.users) first_ones_ = started_;
      prepare();
    }
    return {};
  }

  /// Of a closed loop: those who have come.
  [[nodiscard]] int64_t users_here() const { return std::upper_bound(due_.begin(), due_.end(), now()) - due_.begin(); }

  [[nodiscard]] double wake() const {
    double at = client_.now() + kTickSeconds;
    const int64_t next = case_.open() ? started_ : users_here();
    if (!held_ && may_start() && next < static_cast<int64_t>(due_.size()))
      at = std::min(at, begin_ + due_[static_cast<size_t>(next)]);
    return at;
  }

  void take(Record& record) {
    ++progress_.done;
    if (!record.ok()) ++progress_.failed;
    progress_.output_tokens += record.usage.completion.value_or(0);
  }

  void tell() {
    if (now() - told_ < kTickSeconds) return;
    told_ = now();
    progress_.running = client_.running();
    progress_.seconds = told_;
    watch_.on_progress(progress_);
  }

  /// Times become those since the case began.
  void finish() {
    std::vector<double> firsts;
    double last_start = 0;
    for (Record& record : run_.records) {
      for (double* at : {&record.due, &record.start, &record.end}) *at -= begin_;
      if (record.first_answer >= 0) record.first_answer -= begin_;
      for (Delivery& delivery : record.deliveries) delivery.at -= begin_;
      run_.seconds = std::max(run_.seconds, record.end);
      last_start = std::max(last_start, record.start);
      if (record.index < first_ones_ && !record.deliveries.empty()) firsts.push_back(record.deliveries.front().at);
    }
    // Everybody is busy from when the last of the first requests is being answered to when the last one begins.
    if (!case_.open() && first_ones_ > 0 && static_cast<int64_t>(firsts.size()) == first_ones_) {
      run_.steady_begin = *std::max_element(firsts.begin(), firsts.end());
      run_.steady_end = last_start;
    } else if (case_.open()) {
      run_.steady_end = last_start;
    }
    if (run_.steady_end <= run_.steady_begin) run_.steady_begin = run_.steady_end = 0;
    run_.late_p99 = percentile(late_, 99);
  }

  Client& client_;
  const PromptSet& prompts_;
  const Case& case_;
  const LoadOptions& options_;
  int64_t round_;
  const Watch& watch_;
  uint64_t seed_ = 0;
  PromptPlan plan_;
  std::vector<double> due_;  // of the requests of an open loop, of the users of a closed one
  std::vector<double> late_;
  std::string prepared_;
  bool held_ = false;
  double begin_ = 0, told_ = 0;
  int64_t started_ = 0;
  int64_t first_ones_ = 0;  // of a closed loop: requests begun when all users were waiting for the first time
  Progress progress_;
  CaseRun run_;
};

}  // namespace

std::string_view name_of(Thinking thinking) {
  switch (thinking) {
    case Thinking::off: return "off";
    case Thinking::on: return "on";
    case Thinking::server: break;
  }
  return "default";
}

std::string Case::name() const {
  return fmt::format(
      "{}, {} out, {}thinking {}",
      open() ? fmt::format("{:g} requests/s", rate) : fmt::format("{} user{}", users, users == 1 ? "" : "s"), output,
      context > 0 ? fmt::format("{} in, ", context) : "", name_of(thinking));
}

int64_t requests_of(const Case& of, const LoadOptions& options) {
  if (options.requests > 0) return options.requests;
  const double seconds = options.duration_seconds;
  if (seconds > 0) {  // the clock ends it; of a rate, more arrivals than chance will put into that time
    return of.open() ? static_cast<int64_t>(of.rate * seconds * 1.5) + kSpareArrivals : kRequestsOfDuration;
  }
  const double wanted =
      of.open() ? std::ceil(of.rate * kRateSeconds) : static_cast<double>(of.users * kRequestsPerUser);
  return std::max(kRequestsMin, static_cast<int64_t>(wanted));
}

Json request_body(const Case& of, const LoadOptions& options, const Prompt& prompt, uint64_t seed) {
  Json body = {{"model", options.model}, {"messages", prompt.messages}};
  if (!prompt.tools.is_null()) body["tools"] = prompt.tools;
  body["max_tokens"] = of.output;
  body["stream"] = true;
  body["stream_options"] = {{"include_usage", true}};
  if (options.continuous_usage) body["stream_options"]["continuous_usage_stats"] = true;
  body["seed"] = seed & 0x7fffffff;  // some take 32 bits only
  if (of.thinking != Thinking::server) {
    body["chat_template_kwargs"] = {{"enable_thinking", of.thinking == Thinking::on}};
  }
  if (options.ignore_eos) body["ignore_eos"] = true;
  body.update(options.more);
  return body;
}

uint64_t seed_of(const Case& of, uint64_t seed, int64_t round) {
  return fnv1a(fmt::format("{} {:g} {} {} {} {} {}", of.users, of.rate, of.output, of.context, name_of(of.thinking),
                           seed, round));
}

Expected<CaseRun> run_case(Client& client, const PromptSet& prompts, const Case& of, const LoadOptions& options,
                           int64_t round, const Watch& watch) {
  return Run(client, prompts, of, options, round, watch).go();
}

}  // namespace tessera::loadgen
