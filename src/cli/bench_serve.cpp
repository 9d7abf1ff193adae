#include "cli/bench_serve.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <ctime>
#include <memory>

#include "cli/bench_serve_tables.h"
#include "cli/console.h"
#include "cli/descriptor_limit.h"
#include "cli/flags.h"
#include "cli/interrupt.h"
#include "cli/write_file.h"
#include "loadgen/compare.h"
#include "loadgen/probe.h"
#include "loadgen/results.h"
#include "loadgen/statistics.h"

namespace tessera::cli {
namespace {

using loadgen::Json;

constexpr int64_t kWarmOutputMax = 32, kWarmRequestsOfRate = 4;

struct BenchServeOptions {
  std::string url, model, api_key, more = "{}", goodput;
  std::string json_file, csv_file, html_file;
  std::vector<std::string> compared;
  std::vector<int64_t> users = {1, 8, 64}, outputs = {256}, contexts = {0};
  std::vector<double> rates;
  std::vector<std::string> thinking = {"off"}, kinds = {"chat", "code", "agent", "document"};
  int64_t requests = 0, warmup = -1, rounds = 1, in_flight_max = 1024, prefix_groups = 1;
  double duration = 0, timeout = 600, prefix_reuse = 0;
  uint64_t seed = 0;
  bool ignore_eos = false, insecure = false, plain_usage = false, quiet = false;
};

loadgen::Thinking thinking_of(const std::string& word) {
  if (word == "on") return loadgen::Thinking::on;
  return word == "off" ? loadgen::Thinking::off : loadgen::Thinking::server;
}

std::vector<loadgen::Case> cases_of(const BenchServeOptions& options) {
  std::vector<loadgen::Case> cases;
  const auto add = [&](int64_t users, double rate) {
    for (const std::string& thinking : options.thinking) {
      for (const int64_t context : options.contexts) {
        for (const int64_t output : options.outputs) {
          cases.push_back(
              {.users = users, .rate = rate, .output = output, .context = context, .thinking = thinking_of(thinking)});
        }
      }
    }
  };
  for (const double rate : options.rates) add(0, rate);
  if (options.rates.empty()) {
    for (const int64_t users : options.users) add(users, 0);
  }
  return cases;
}

loadgen::LoadOptions load_of(const BenchServeOptions& options) {
  loadgen::LoadOptions load;
  load.prompts.seed = options.seed;
  load.prompts.kinds.clear();
  for (const std::string& kind : options.kinds) {
    const auto& names = loadgen::kPromptKindNames;
    load.prompts.kinds.push_back(
        static_cast<loadgen::PromptKind>(std::find(names.begin(), names.end(), kind) - names.begin()));
  }
  load.prompts.shared = options.prefix_reuse;
  load.prompts.groups = options.prefix_groups;
  load.requests = options.requests;
  load.duration_seconds = options.duration;
  load.in_flight_max = options.in_flight_max;
  load.ignore_eos = options.ignore_eos;
  load.continuous_usage = !options.plain_usage;
  load.more = Json::parse(options.more);
  return load;
}

/// The grid, run case by case.
class ServeBench {
 public:
  ServeBench(const BenchServeOptions& options, loadgen::HttpOptions http)
      : options_(options), http_(std::move(http)), load_(load_of(options)), show_(!options.quiet) {}

  Status run(const std::atomic<bool>& stop) {
    stop_ = &stop;
    TESSERA_ASSIGN_OR_RETURN(client_, loadgen::Client::make(http_));
    TESSERA_ASSIGN_OR_RETURN(facts_, loadgen::probe(http_, options_.model, stop));
    load_.model = facts_.model;
    cases_ = cases_of(options_);
    TESSERA_RETURN_IF_ERROR(check_lengths());
    const int64_t longest = *std::max_element(options_.contexts.begin(), options_.contexts.end());
    if (longest > 0) {
      TESSERA_RETURN_IF_ERROR(calibrate(*client_, prompts_, longest, cases_.front().thinking, load_, stop));
    }
    runs_.resize(cases_.size());
    counted_.resize(cases_.size());
    for (int64_t round = 0; round < options_.rounds && !stop; ++round) {
      for (size_t at = 0; at < cases_.size() && !stop; ++at) {
        if (const Status status = run_case(at, round); !status.ok() && !stop) {
          if (at == 0 && round == 0) return status;
          return report(status.with_context(cases_[at].name()));  // what was measured before is not lost
        }
      }
    }
    return report({});
  }

 private:
  Status check_lengths() const {
    for (const loadgen::Case& of : cases_) {
      if (facts_.max_model_len > 0 && of.context + of.output > facts_.max_model_len) {
        return error(StatusCode::invalid_argument,
                     "{} tokens of a prompt and {} of an answer do not fit into the {} of {}; make --context or "
                     "--output smaller",
                     of.context, of.output, facts_.max_model_len, facts_.model);
      }
    }
    return {};
  }

  Status run_case(size_t at, int64_t round) {
    const loadgen::Case& of = cases_[at];
    loadgen::LoadOptions load = load_;
    TESSERA_ASSIGN_OR_RETURN(load.spread_seconds, warm_up(of, round));
    if (*stop_) return {};
    const loadgen::ServerCounters before = loadgen::read_counters(http_, *stop_);
    TESSERA_ASSIGN_OR_RETURN(loadgen::CaseRun run,
                             loadgen::run_case(*client_, prompts_, of, load, round, watch(at, round)));
    clear_line();
    const loadgen::ServerCounters counted = loadgen::read_counters(http_, *stop_).since(before);
    counted_[at] = round == 0 ? counted : counted.plus(counted_[at]);
    runs_[at].push_back(std::move(run));
    return {};
  }

  /// Mean time of a request of it, in seconds; 0 where there is none.
  Expected<double> warm_up(const loadgen::Case& of, int64_t round) {
    loadgen::LoadOptions few = load_;
    few.requests = options_.warmup >= 0 ? options_.warmup : of.open() ? kWarmRequestsOfRate : of.users;
    few.duration_seconds = 0;
    if (few.requests == 0) return 0;
    loadgen::Case shorter = of;
    shorter.output = std::min(of.output, kWarmOutputMax);
    const loadgen::Watch watch{stop_, [&](const loadgen::Progress& progress) {
                                 line(fmt::format("warming up: {} of {}", progress.done, progress.total));
                               }};
    // A round of its own, so that no prompt of it comes again.
    TESSERA_ASSIGN_OR_RETURN(const loadgen::CaseRun run,
                             loadgen::run_case(*client_, prompts_, shorter, few, -1 - round, watch));
    clear_line();
    if (run.interrupted || run.records.empty()) return 0;
    std::vector<double> times;
    for (const loadgen::Record& record : run.records) {
      if (record.ok()) times.push_back(record.e2e());
    }
    if (!times.empty()) return loadgen::percentiles_of(times).mean;
    const loadgen::Record& first = run.records.front();
    return error(StatusCode::unavailable, "no request of the warm-up was answered ({}): {}", name_of(first.error),
                 first.message);
  }

  loadgen::Watch watch(size_t at, int64_t round) {
    return {stop_, [this, at, round](const loadgen::Progress& p) {
              std::string text = fmt::format("case {} of {}: {}", at + 1, cases_.size(), cases_[at].name());
              if (options_.rounds > 1) text += fmt::format(", round {} of {}", round + 1, options_.rounds);
              const std::string of = options_.duration > 0 ? "" : fmt::format(" of {}", p.total);
              line(fmt::format("{}: {}{} done, {} under way, {} failed, {:.0f} tok/s", text, p.done, of, p.running,
                               p.failed, static_cast<double>(p.output_tokens) / std::max(p.seconds, 0.1)));
            }};
  }

  /// On a terminal the line is written over and over; elsewhere it would only fill a log.
  void line(const std::string& text) {
    if (!show_ || !has_style(Stream::err)) return;
    write_err("\r\x1b[K" + text.substr(0, static_cast<size_t>(std::max(terminal_columns(Stream::err) - 1, 20))));
    drawn_ = true;
  }
  void clear_line() {
    if (drawn_) write_err("\r\x1b[K");
    drawn_ = false;
  }

  [[nodiscard]] Json about() const {
    char date[32];
    const std::time_t now = std::time(nullptr);
    std::tm utc{};
    std::strftime(date, sizeof date, "%FT%TZ", ::gmtime_r(&now, &utc));
    const loadgen::PromptPlan& plan = load_.prompts;
    return {{"version", TESSERA_VERSION},
            {"date", date},
            {"server", options_.url},
            {"software", facts_.software},
            {"model", facts_.model},
            {"prompts",
             {{"seed", plan.seed},
              {"kinds", options_.kinds},
              {"bytes_per_token", plan.bytes_per_token},
              {"prefix_reuse", plan.shared},
              {"prefix_groups", plan.groups}}},
            {"sampling", {{"fields", load_.more}, {"ignore_eos", load_.ignore_eos}}},
            {"goodput_goals", options_.goodput},
            {"duration_s", options_.duration},
            {"timeout_s", options_.timeout}};
  }

  /// Prints and writes what there is; `status`, if it went well.
  Status report(Status status) {
    const loadgen::Goals goals = options_.goodput.empty() ? loadgen::Goals() : *loadgen::Goals::parse(options_.goodput);
    std::vector<loadgen::CaseResult> results;
    std::vector<loadgen::Summary> summaries;
    bool any = false;
    for (size_t at = 0; at < cases_.size(); ++at) {
      if (runs_[at].empty()) continue;
      summaries.push_back(summarize(cases_[at], load_, goals, runs_[at], counted_[at]));
      any |= summaries.back().good > 0;
      results.push_back({summaries.back(), std::move(runs_[at])});
    }
    cli::print("tessera {} bench serve: {}, model {}{}; seed {}, prompts {}\n\n", TESSERA_VERSION, options_.url,
               facts_.model, facts_.software.empty() ? "" : fmt::format(" ({})", without_controls(facts_.software)),
               options_.seed, fmt::join(options_.kinds, ", "));
    print_summaries(summaries);
    TESSERA_RETURN_IF_ERROR(write_files(results_json(about(), results)));
    if (*stop_) return error(StatusCode::cancelled, "interrupted; the results are of what had ended by then");
    if (status.ok() && !any) return error(StatusCode::unavailable, "no request succeeded; the failures are above");
    return status;
  }

  [[nodiscard]] Status write_files(const Json& json) const {
    const auto error_handler = Json::error_handler_t::replace;
    if (!options_.json_file.empty()) {
      TESSERA_RETURN_IF_ERROR(write_file(options_.json_file, json.dump(1, ' ', false, error_handler) + "\n"));
    }
    if (!options_.csv_file.empty()) TESSERA_RETURN_IF_ERROR(write_file(options_.csv_file, loadgen::results_csv(json)));
    if (!options_.html_file.empty())
      TESSERA_RETURN_IF_ERROR(write_file(options_.html_file, loadgen::results_page(json)));
    return {};
  }

  const BenchServeOptions& options_;
  loadgen::HttpOptions http_;
  loadgen::LoadOptions load_;
  bool show_, drawn_ = false;
  const std::atomic<bool>* stop_ = nullptr;
  loadgen::PromptSet prompts_ = loadgen::PromptSet::built_in();
  std::unique_ptr<loadgen::Client> client_;
  loadgen::ServerFacts facts_;
  std::vector<loadgen::Case> cases_;
  std::vector<std::vector<loadgen::CaseRun>> runs_;
  std::vector<loadgen::ServerCounters> counted_;
};

Status bench_serve(const BenchServeOptions& options) {
  if (!options.compared.empty()) {
    TESSERA_ASSIGN_OR_RETURN(const Json a, loadgen::read_results(options.compared[0]));
    TESSERA_ASSIGN_OR_RETURN(const Json b, loadgen::read_results(options.compared[1]));
    TESSERA_ASSIGN_OR_RETURN(const loadgen::Comparison comparison, loadgen::compare(a, b));
    print_comparison(options.compared[0], options.compared[1], comparison);
    return {};
  }
  TESSERA_ASSIGN_OR_RETURN(loadgen::ServerAddress server, loadgen::ServerAddress::parse(options.url));
  loadgen::HttpOptions http{.server = std::move(server),
                            .api_key = options.api_key,
                            .trust_any_certificate = options.insecure,
                            .timeout_seconds = options.timeout};
  if (const char* key = std::getenv("OPENAI_API_KEY"); http.api_key.empty() && key != nullptr) http.api_key = key;
  raise_descriptor_limit();
  std::atomic<bool> stop = false;
  const OnInterrupt on_interrupt([&] { stop = true; });
  return ServeBench(options, std::move(http)).run(stop);
}

void add_grid_flags(CLI::App& command, BenchServeOptions& o) {
  const char* group = "Load";
  const auto list = [&](const char* name, auto& to, const char* says, CLI::Validator check,
                        const char* type = "N,N,...") {
    return command.add_option(name, to, says)->type_name(type)->delimiter(',')->check(check)->group(group);
  };
  CLI::Option* users =
      list("--users", o.users, "Users, each asking again once answered (default 1,8,64)", whole(1, 10000));
  list("--rate", o.rates, "Requests a second in place of users, coming at random (Poisson)", number(1e-3, 1e5))
      ->excludes(users);
  list("--output", o.outputs, "max_tokens of the answers (default 256)", whole(1, 1000000));
  list("--context", o.contexts, "Tokens of the prompts; 0 (default): as long as they are by themselves",
       whole(0, 10000000));
  list("--thinking", o.thinking, "off (default), on, or default: the server's way", one_of({"off", "on", "default"}),
       "WORD,...");
  list("--prompts", o.kinds, "Kinds of prompts (default: all of chat,code,agent,document)",
       one_of({"chat", "code", "agent", "document"}), "WORD,...");
  const auto value = [&](const char* name, auto& to, const char* says, const char* type, CLI::Validator check) {
    return command.add_option(name, to, says)->type_name(type)->check(check)->group(group);
  };
  value("--requests", o.requests, "Requests of a case (default: 4 a user, 30 s of a rate, at least 16)", "N",
        whole(1, 10000000));
  value("--duration", o.duration,
        "Seconds after which no request of a case begins; without --requests nothing else ends it", "S",
        number(0.1, 1e6));
  value("--rounds", o.rounds, "Runs of the whole grid, one after the other (default 1)", "N", whole(1, 1000));
  value("--warmup", o.warmup, "Requests before each case that are not counted (default: one a user)", "N",
        whole(0, 100000));
  value("--max-in-flight", o.in_flight_max, "Requests at once under --rate (default 1024)", "N", whole(1, 100000));
  value("--seed", o.seed, "Of prompts, arrivals and sampling (default 0)", "N", whole_u64());
  value("--prefix-reuse", o.prefix_reuse, "Share of each prompt that others have too, at its beginning (default 0)",
        "X", number(0, 0.99));
  value("--prefix-groups", o.prefix_groups, "How many such beginnings there are (default 1)", "N", whole(1, 1000000));
}

void add_request_flags(CLI::App& command, BenchServeOptions& o) {
  const char* group = "Requests";
  command.add_option("--model", o.model, "Model to ask for (default: the first that the server lists)")
      ->type_name("NAME")
      ->check(not_empty())
      ->group(group);
  command.add_option("--api-key", o.api_key, "Key of the server; also in the environment as OPENAI_API_KEY")
      ->type_name("KEY")
      ->check(not_empty())
      ->group(group);
  command.add_option("--extra-body", o.more, "Fields of every request, as JSON: '{\"temperature\": 0}'")
      ->type_name("JSON")
      ->group(group);
  command.add_option("--timeout", o.timeout, "Seconds that a request may take (default 600)")
      ->type_name("S")
      ->check(number(0.1, 1e6))
      ->group(group);
  command.add_flag("--ignore-eos", o.ignore_eos, "Answers go on to --output tokens (a field of vllm's)")->group(group);
  command.add_flag("--plain-usage", o.plain_usage, "Ask for usage at the end only, where a server refuses more")
      ->group(group);
  command.add_flag("--insecure", o.insecure, "Trust any TLS certificate")->group(group);
}

void add_result_flags(CLI::App& command, BenchServeOptions& o) {
  const char* group = "Results";
  command.add_option("--goodput", o.goodput, "Goals of a good request in ms: ttft:500,itl:50 (also tpot, e2e)")
      ->type_name("GOALS")
      ->group(group);
  const auto file = [&](const char* name, std::string& to, const char* says) {
    command.add_option(name, to, says)->type_name("FILE")->check(not_empty())->group(group);
  };
  file("--json", o.json_file, "Writes everything, each request too, to this file");
  file("--csv", o.csv_file, "Writes a line for each case");
  file("--html", o.html_file, "Writes a page with plots");
  command.add_flag("-q,--quiet", o.quiet, "No progress")->group(group);
}

}  // namespace

void add_bench_serve(CLI::App& bench, Action& action) {
  auto options = std::make_shared<BenchServeOptions>();
  CLI::App* command = bench.add_subcommand("serve", "Put load on any OpenAI-compatible server and measure it");
  command->add_option("URL", options->url, "http://HOST:PORT, https://HOST/v1 or unix:PATH");
  CLI::Option* compared = command->add_option("--compare", options->compared, "Compare two files of --json instead")
                              ->type_name("A.json B.json")
                              ->expected(2)
                              ->check(readable_file())
                              ->group("Results");
  add_grid_flags(*command, *options);
  add_request_flags(*command, *options);
  add_result_flags(*command, *options);
  command->callback([options, compared, &action] {
    const bool compare = compared->count() > 0;
    if (compare == !options->url.empty()) {
      throw CLI::ValidationError("URL", compare ? "there is nothing to be asked with --compare: leave it out"
                                                : "expected the address of a server, or --compare A.json B.json");
    }
    (void)parse_object("--extra-body", options->more);
    if (!options->goodput.empty()) {
      if (const auto goals = loadgen::Goals::parse(options->goodput); !goals.ok()) {
        throw CLI::ValidationError("--goodput", goals.status().message());
      }
    }
    const bool natural = std::find(options->contexts.begin(), options->contexts.end(), 0) != options->contexts.end();
    if (options->prefix_reuse > 0 && natural) {
      throw CLI::ValidationError("--prefix-reuse", "it is a share of --context, which says nothing (or 0)");
    }
    action = [options] { return bench_serve(*options); };
  });
}

}  // namespace tessera::cli
