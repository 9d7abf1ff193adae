#include <gmock/gmock.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <functional>
#include <future>
#include <sstream>
#include <thread>

#include "server/access_log.h"
#include "server/api_keys.h"
#include "server/limits.h"
#include "server/metrics.h"
#include "server/system_notify.h"
#include "server/text_pool.h"

namespace tessera::server {
namespace {

using ::testing::HasSubstr;

TEST(ApiKeys, HaveAndShow) {
  EXPECT_FALSE(ApiKeys({}).asked_for());
  const ApiKeys keys({"one", "two"});
  EXPECT_TRUE(keys.has("one"));
  EXPECT_TRUE(keys.has("two"));
  EXPECT_FALSE(keys.has(""));
  EXPECT_FALSE(keys.has("on"));
  EXPECT_EQ(bearer_key("BEARER  x "), "x");
  EXPECT_EQ(bearer_key("Basic x"), "");
}

TEST(ApiKeys, File) {
  const std::string name = ::testing::TempDir() + "tessera_keys_" + std::to_string(::getpid());
  std::ofstream(name) << "# who may\none\r\n\n  two  \n \t# who may no more\nthree#3";
  const auto keys = read_api_keys(name);
  ASSERT_TRUE(keys.ok());
  EXPECT_THAT(*keys, ::testing::ElementsAre("one", "two", "three#3"));
  for (const char* none : {"", "\r\n", "# one", "  # one\n\t#two\n"}) {
    std::ofstream(name) << none;
    EXPECT_THAT(read_api_keys(name).status().message(), HasSubstr(name + " holds no API key")) << none;
  }
  std::remove(name.c_str());
  EXPECT_THAT(read_api_keys(name).status().message(), HasSubstr(name));
}

/// Whoever has one of them may ask, wherever it was given.
TEST(ApiKeys, OfAllPlacesCount) {
  const std::string name = ::testing::TempDir() + "tessera_all_keys_" + std::to_string(::getpid());
  std::ofstream(name) << "of-file\nof-file-too\n";
  const auto all = [](const std::string& file) {
    std::vector<std::string> keys = {"given"};
    EXPECT_TRUE(add_api_keys(file, keys).ok());
    return keys;
  };
  EXPECT_THAT(all(""), ::testing::ElementsAre("given"));
  EXPECT_THAT(all(name), ::testing::ElementsAre("given", "of-file", "of-file-too"));
  ::setenv("VLLM_API_KEY", "of-vllm", 1);
  ::setenv("TESSERA_API_KEY", "", 1);
  EXPECT_THAT(all(""), ::testing::ElementsAre("given", "of-vllm"));
  ::setenv("TESSERA_API_KEY", "of-tessera", 1);
  EXPECT_THAT(all(name), ::testing::UnorderedElementsAre("given", "of-tessera", "of-vllm", "of-file", "of-file-too"));
  ::unsetenv("TESSERA_API_KEY");
  ::unsetenv("VLLM_API_KEY");
  std::remove(name.c_str());
  std::vector<std::string> keys;
  EXPECT_FALSE(add_api_keys(name, keys).ok());
}

TEST(Limits, FlagsSetWhatTheySay) {
  std::set<std::string> names;
  for (const LimitFlag& flag : limit_flags()) {
    EXPECT_TRUE(names.insert(flag.name).second) << flag.name;
    Limits limits;
    EXPECT_GE(flag.value(limits), flag.low) << flag.name;
    EXPECT_LE(flag.value(limits), flag.high) << flag.name;
    flag.set(limits, flag.low);
    EXPECT_EQ(flag.value(limits), flag.low) << flag.name;
    for (const LimitFlag& other : limit_flags()) {
      if (other.name == flag.name) continue;
      EXPECT_EQ(other.value(limits), other.value(Limits())) << flag.name << " sets what " << other.name << " sets";
    }
  }
}

TEST(Limits, FlagsAreOfTheLimitsOfTheirNames) {
  using R = RequestLimits;
  const std::pair<std::string_view, decltype(LimitFlag::member)> kMembers[] = {
      {"--max-queue", &Limits::queue_max},
      {"--max-connections", &Limits::connections_max},
      {"--max-header-bytes", &Limits::header_bytes_max},
      {"--max-headers", &Limits::headers_max},
      {"--max-body-bytes", &Limits::body_bytes_max},
      {"--max-all-body-bytes", &Limits::all_body_bytes_max},
      {"--max-unsent-bytes", &Limits::unsent_bytes_max},
      {"--handshake-timeout", &Limits::handshake_seconds_max},
      {"--header-timeout", &Limits::header_seconds_max},
      {"--body-timeout", &Limits::body_seconds_max},
      {"--keep-alive-timeout", &Limits::idle_seconds_max},
      {"--write-timeout", &Limits::write_stall_seconds_max},
      {"--shutdown-timeout", &Limits::shutdown_seconds_max},
      {"--comment-interval", &Limits::comment_seconds},
      {"--max-stored-responses", &Limits::stored_responses_max},
      {"--max-stored-bytes", &Limits::stored_bytes_max},
      {"--text-threads", &Limits::text_threads},
      {"--max-messages", &R::messages_max},
      {"--max-parts", &R::parts_max},
      {"--max-tools", &R::tools_max},
      {"--max-tool-bytes", &R::tool_bytes_max},
      {"--max-tool-calls", &R::tool_calls_max},
      {"--max-schema-depth", &R::schema_depth_max},
      {"--max-json-depth", &R::json_depth_max},
      {"--max-json-values", &R::json_values_max},
      {"--max-object-keys", &R::object_keys_max},
      {"--max-template-kwargs-bytes", &R::template_kwargs_bytes_max},
      {"--max-prompts", &R::prompts_max},
      {"--max-prompt-ids", &R::prompt_tokens_max},
      {"--max-choices", &R::choices_max},
  };
  for (const LimitFlag& flag : limit_flags()) {
    const auto* const named = std::ranges::find(kMembers, flag.name, [](const auto& one) { return one.first; });
    ASSERT_NE(named, std::end(kMembers)) << flag.name;
    EXPECT_TRUE(flag.member == named->second) << flag.name;
  }
}

TEST(TextPool, RunsEverythingUntilItCloses) {
  std::atomic<int> done = 0;
  TextPool pool(3);
  for (int i = 0; i < 1000; ++i) pool.post(TextPool::JobSize::small, [&] { ++done; });
  while (done < 1000) std::this_thread::yield();
  pool.close();
  pool.post(TextPool::JobSize::small, [&] { ++done; });
  EXPECT_EQ(done, 1000);
}

TEST(TextPool, LargeJobsDoNotHoldUpSmallOnes) {
  EXPECT_EQ(TextPool::job_size(1000), TextPool::JobSize::small);
  EXPECT_EQ(TextPool::job_size(31'000'000), TextPool::JobSize::large);
  std::promise<void> go_on;
  const std::shared_future<void> gate = go_on.get_future().share();
  std::atomic<int> large = 0;
  std::promise<int> large_before_small;
  TextPool pool(2, /*favours_small=*/true);
  for (int i = 0; i < 6; ++i) {
    pool.post(TextPool::JobSize::large, [&] {
      gate.wait();
      ++large;
    });
  }
  pool.post(TextPool::JobSize::small, [&] { large_before_small.set_value(large); });
  auto small = large_before_small.get_future();
  EXPECT_EQ(small.wait_for(std::chrono::minutes(1)), std::future_status::ready) << "it waits for large jobs";
  go_on.set_value();
  EXPECT_EQ(small.get(), 0);
  while (large < 6) std::this_thread::yield();
}

TEST(Metrics, TextHasVllmsNames) {
  Metrics metrics("a\"b");
  metrics.first_token(0.05);
  metrics.next_token(0.02);
  metrics.request_begun(2, 100);
  metrics.request_begun(1, -1);
  metrics.request_begun(1, 0);  // a prompt that is only scored
  metrics.request_ended("length", {.all = 1.5, .queued = 0.2, .prefill = 0.25, .decode = 1.25, .token = 0.06}, 10, 20);
  metrics.request_ended("abort", {.all = 0.1, .queued = 0.05}, 10, 0);  // before its first token
  metrics.request_ended("abort", {.all = 0.1}, 7, 0);                   // before its first step
  metrics.http_answered("/v1/models", "GET", 200);
  Metrics::Now now;
  now.engine = {
      .running = 3, .waiting = 2, .kv_blocks_used = 1, .kv_blocks_total = 4, .generated_tokens = 1'234'567'890};
  now.preparing = 1;
  for (const size_t step : {1, 7, 8, 9, 20'000}) now.engine.step_tokens.count(step);
  const std::string text = metrics.text(now);
  for (const char* line : {
           "vllm:num_requests_running{model_name=\"a\\\"b\"} 3\n",
           "vllm:num_requests_waiting{model_name=\"a\\\"b\"} 3\n",
           "vllm:kv_cache_usage_perc{model_name=\"a\\\"b\"} 0.25\n",
           "vllm:generation_tokens_total{model_name=\"a\\\"b\"} 1234567890\n",
           "vllm:time_to_first_token_seconds_bucket{model_name=\"a\\\"b\",le=\"0.06\"} 1\n",
           "vllm:inter_token_latency_seconds_count{model_name=\"a\\\"b\"} 1\n",
           "vllm:request_success_total{finished_reason=\"length\",model_name=\"a\\\"b\"} 1\n",
           "# TYPE vllm:generation_tokens_total counter\n",
           "vllm:request_success_total{finished_reason=\"abort\",model_name=\"a\\\"b\"} 2\n",
           "vllm:e2e_request_latency_seconds_count{model_name=\"a\\\"b\"} 3\n",
           "vllm:request_prompt_tokens_sum{model_name=\"a\\\"b\"} 27\n",
           "vllm:request_generation_tokens_count{model_name=\"a\\\"b\"} 3\n",
           "vllm:request_queue_time_seconds_count{model_name=\"a\\\"b\"} 2\n",
           "vllm:request_prefill_time_seconds_sum{model_name=\"a\\\"b\"} 0.25\n",
           "vllm:request_decode_time_seconds_count{model_name=\"a\\\"b\"} 1\n",
           "vllm:request_inference_time_seconds_sum{model_name=\"a\\\"b\"} 1.5\n",
           "vllm:request_time_per_output_token_seconds_bucket{model_name=\"a\\\"b\",le=\"0.075\"} 1\n",
           "vllm:request_params_n_sum{model_name=\"a\\\"b\"} 4\n",
           "vllm:request_params_max_tokens_count{model_name=\"a\\\"b\"} 2\n",
           "# TYPE vllm:iteration_tokens_total histogram\n",
           "vllm:iteration_tokens_total_bucket{model_name=\"a\\\"b\",le=\"8\"} 3\n",
           "vllm:iteration_tokens_total_bucket{model_name=\"a\\\"b\",le=\"16384\"} 4\n",
           "vllm:iteration_tokens_total_bucket{model_name=\"a\\\"b\",le=\"+Inf\"} 5\n",
           "vllm:iteration_tokens_total_sum{model_name=\"a\\\"b\"} 20025\n",
       }) {
    EXPECT_THAT(text, HasSubstr(line));
  }
}

/// Every count of the engine by its name, each with a value of its own.
TEST(Metrics, EachCountHasItsName) {
  const Metrics metrics("m");
  Metrics::Now now;
  EngineStats& engine = now.engine;
  engine.running = 1;
  engine.waiting = 2;
  engine.kv_blocks_used = 3;
  engine.kv_blocks_total = 12;
  engine.state_slots_used = 5;
  engine.state_slots_total = 6;
  engine.kept_blocks = 7;
  engine.kept_states = 8;
  engine.steps = 9;
  engine.preemptions = 10;
  engine.prompt_tokens = 11;
  engine.generated_tokens = 13;
  engine.prefix_queries = 100;
  engine.prefix_hits = 60;
  engine.idle_prefill_tokens = 14;
  engine.drafts = {.steps = 15, .proposed = 16, .accepted = 17, .accepted_at = {18, 19, 20, 21, 22, 23, 24, 25}};
  now.preparing = 30;
  now.requests_in_flight = 31;
  now.connections = 32;
  const std::string none = metrics.text(now);
  EXPECT_THAT(none, Not(HasSubstr("external_prefix_cache")));
  EXPECT_THAT(none, Not(HasSubstr("kv_offload")));
  EXPECT_THAT(none, HasSubstr("vllm:prefix_cache_hits_total{model_name=\"m\"} 60\n"));
  EXPECT_THAT(none, HasSubstr("tessera:ready{model_name=\"m\"} 0\n"));
  engine.tier = {.bytes_used = 1, .bytes_total = 4, .bytes_saved = 41, .bytes_loaded = 42, .hits = 20};
  EXPECT_THAT(metrics.text(now), Not(HasSubstr("kv_offload_disk")));
  engine.disk = {.entries = 50, .bytes_used = 51, .bytes_total = 52, .hits = 53, .writes = 54, .failures = 55};
  now.ready = true;
  const std::string text = metrics.text(now);
  for (const char* line : {
           "vllm:num_requests_running{model_name=\"m\"} 1\n",
           "vllm:num_requests_waiting{model_name=\"m\"} 32\n",
           "vllm:kv_cache_usage_perc{model_name=\"m\"} 0.25\n",
           "vllm:prompt_tokens_total{model_name=\"m\"} 11\n",
           "vllm:generation_tokens_total{model_name=\"m\"} 13\n",
           "vllm:prefix_cache_queries_total{model_name=\"m\"} 100\n",
           "vllm:prefix_cache_hits_total{model_name=\"m\"} 40\n",
           "tessera:idle_prefill_tokens_total{model_name=\"m\"} 14\n",
           "vllm:external_prefix_cache_queries_total{model_name=\"m\"} 60\n",
           "vllm:external_prefix_cache_hits_total{model_name=\"m\"} 20\n",
           "vllm:kv_offload_cpu_cache_usage_perc{model_name=\"m\"} 0.25\n",
           "vllm:kv_offload_total_bytes_total{model_name=\"m\",transfer_type=\"GPU_to_CPU\"} 41\n",
           "vllm:kv_offload_total_bytes_total{model_name=\"m\",transfer_type=\"CPU_to_GPU\"} 42\n",
           "tessera:kv_offload_disk_entries{model_name=\"m\"} 50\n",
           "tessera:kv_offload_disk_bytes{model_name=\"m\"} 51\n",
           "tessera:kv_offload_disk_hits_total{model_name=\"m\"} 53\n",
           "tessera:kv_offload_disk_writes_total{model_name=\"m\"} 54\n",
           "tessera:kv_offload_disk_failures_total{model_name=\"m\"} 55\n",
           "tessera:prefix_blocks{model_name=\"m\"} 7\n",
           "tessera:prefix_states{model_name=\"m\"} 8\n",
           "vllm:spec_decode_num_drafts_total{model_name=\"m\"} 15\n",
           "vllm:spec_decode_num_draft_tokens_total{model_name=\"m\"} 16\n",
           "vllm:spec_decode_num_accepted_tokens_total{model_name=\"m\"} 17\n",
           "vllm:spec_decode_num_accepted_tokens_per_pos_total{model_name=\"m\",position=\"0\"} 18\n",
           "vllm:spec_decode_num_accepted_tokens_per_pos_total{model_name=\"m\",position=\"7\"} 25\n",
           "vllm:num_preemptions_total{model_name=\"m\"} 10\n",
           "tessera:kv_blocks_used{model_name=\"m\"} 3\n",
           "tessera:kv_blocks_total{model_name=\"m\"} 12\n",
           "tessera:state_slots_used{model_name=\"m\"} 5\n",
           "tessera:state_slots_total{model_name=\"m\"} 6\n",
           "tessera:engine_steps_total{model_name=\"m\"} 9\n",
           "tessera:ready{model_name=\"m\"} 1\n",
           "tessera:http_connections 32\n",
           "tessera:http_requests_in_flight 31\n",
           // Dashboards want reasons that nobody had, too.
           "vllm:request_success_total{finished_reason=\"stop\",model_name=\"m\"} 0\n",
           "vllm:request_success_total{finished_reason=\"error\",model_name=\"m\"} 0\n",
       }) {
    EXPECT_THAT(text, HasSubstr(line));
  }
}

double value_of(const std::string& metrics, const std::string& name) {
  const size_t at = metrics.find("\n" + name + " ");
  return at == std::string::npos ? -1 : std::stod(metrics.substr(at + name.size() + 2));
}

/// In the units of their names.
TEST(Metrics, OfTheProcess) {
  const auto now = [] { return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()); };
  const double before = now().count();
  const Metrics metrics("m");
  const double behind = now().count();
  const std::string text = metrics.text({});
  EXPECT_GE(value_of(text, "process_start_time_seconds"), before - 1);  // as many digits as are written
  EXPECT_LE(value_of(text, "process_start_time_seconds"), behind + 1);
  const std::filesystem::directory_iterator all("/proc/self/fd");
  EXPECT_EQ(value_of(text, "process_open_fds"), std::distance(begin(all), end(all)) - 1)
      << "but for the one that lists";
  size_t pages = 0, resident = 0;
  std::ifstream("/proc/self/statm") >> pages >> resident;
  const double bytes = static_cast<double>(resident) * static_cast<double>(::sysconf(_SC_PAGESIZE));
  EXPECT_NEAR(value_of(text, "process_resident_memory_bytes"), bytes, bytes / 2);
}

/// What the kernel did for the process is its time, too.
TEST(Metrics, ProcessorTimeIsOfUserAndSystem) {
  const auto seconds = [] {
    rusage usage{};
    ::getrusage(RUSAGE_SELF, &usage);
    return static_cast<double>(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
           1e-6 * static_cast<double>(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec);
  };
  for (int i = 0; i < 2000; ++i) std::ifstream("/proc/self/smaps").get();
  const Metrics metrics("m");
  const double before = seconds();
  const double said = value_of(metrics.text({}), "process_cpu_seconds_total");
  EXPECT_GE(said, before - 1e-3);
  EXPECT_LE(said, seconds() + 1e-3);
}

TEST(Metrics, OfAGpuWhereThereIsOne) {
  const Metrics metrics("m");
  Metrics::Now now;
  EXPECT_THAT(metrics.text(now), Not(HasSubstr("tessera:gpu_")));
  EXPECT_THAT(metrics.text(now), Not(HasSubstr("tessera:decode_")));
  now.engine.gpu = GpuStats{.read_bytes_per_second = 4.5e12, .sm_clock_hertz = 1.98e9, .power_watts = 512.5};
  now.engine.decode = {.steps = 3, .bytes = 9e9, .seconds = 0.004};
  EXPECT_THAT(metrics.text(now), Not(HasSubstr("tessera:step_read_fraction")));  // no decode steps of late
  now.read_fraction = 0.5;
  const std::string text = metrics.text(now);
  for (const char* line : {
           "tessera:step_read_fraction{model_name=\"m\"} 0.5\n",
           "tessera:decode_steps_total{model_name=\"m\"} 3\n",
           "tessera:decode_read_bytes_total{model_name=\"m\"} 9000000000\n",
           "tessera:gpu_read_bytes_per_second 4500000000000\n",
           "tessera:gpu_sm_clock_hertz 1980000000\n",
           "tessera:gpu_power_watts 512.5\n",
       }) {
    EXPECT_THAT(text, HasSubstr(line));
  }
  EXPECT_THAT(text, Not(HasSubstr("tessera:gpu_memory_clock_hertz")));  // the driver did not say
}

/// The lines of an access log, without their times.
std::string logged(bool requests, const std::function<void(AccessLog&)>& use) {
  ::testing::internal::CaptureStderr();
  {
    AccessLog log(requests);
    use(log);
  }
  std::istringstream lines(::testing::internal::GetCapturedStderr());
  std::string line, all;
  while (std::getline(lines, line)) all += line.substr(line.find(' ') + 1) + "\n";
  return all;
}

RequestFacts facts_of(int status) {
  RequestFacts facts;
  facts.status = status;
  return facts;
}

/// What it says of one request; durations are cut to whole seconds.
std::string request_line(const std::string& path, const RequestFacts& facts, bool requests = true) {
  std::string text = logged(requests, [&](AccessLog& log) {
    HttpRequest request;
    request.method = "POST";
    request.path = path;
    request.client = "10.0.0.1:5";
    Exchange exchange(std::move(request), nullptr);
    exchange.request.arrived = std::chrono::steady_clock::now() - std::chrono::seconds(500);
    exchange.facts = facts;
    log.request(exchange);
  });
  if (const size_t dot = text.find(".", text.find("duration=")); dot != std::string::npos) text.erase(dot, 4);
  return text;
}

TEST(AccessLog, SaysOfARequestWhatIsKnown) {
  EXPECT_EQ(request_line("/v1/completions", facts_of(400)),
            "request id=- method=POST path=\"/v1/completions\" status=400 duration=500 client=10.0.0.1:5\n");
  RequestFacts facts = facts_of(200);
  facts.id = "abc";
  facts.prompt_tokens = facts.completion_tokens = facts.cached_tokens = 0;
  facts.matched_tokens = 0;
  facts.first_token_seconds = 0;
  EXPECT_EQ(request_line("/x", facts),
            "request id=abc method=POST path=\"/x\" status=200 duration=500 prompt_tokens=0 "
            "cached_tokens=0 completion_tokens=0 ttft=0.000 client=10.0.0.1:5\n");
  facts.prompt_tokens = 300;
  facts.cached_tokens = 128;
  facts.tier_tokens = 64;
  facts.matched_tokens = 192;
  facts.completion_tokens = 11;
  facts.drafts = {.steps = 4, .proposed = 12, .accepted = 7, .accepted_at = {4, 2, 1}};
  facts.first_token_seconds = 0.25;
  facts.finish_reason = "stop";
  facts.client_left = true;
  EXPECT_EQ(request_line("/x", facts),
            "request id=abc method=POST path=\"/x\" status=200 duration=500 prompt_tokens=300 cached_tokens=128 "
            "tier_tokens=64 matched_tokens=192 completion_tokens=11 drafts=12 draft_steps=4 accepted=7 "
            "accepted_at=4,2,1 ttft=0.250 finish=stop client_left=true client=10.0.0.1:5\n");
  facts.matched_tokens = facts.cached_tokens;
  EXPECT_THAT(request_line("/x", facts), ::testing::Not(HasSubstr("matched_tokens")))
      << "all of it could be gone on from";
  facts.drafts.accepted_at = {8, 7, 6, 5, 4, 3, 2, 1};
  EXPECT_THAT(request_line("/x", facts), HasSubstr(" accepted_at=8,7,6,5,4,3,2,1 "));
}

TEST(AccessLog, LeavesOutProbesThatWentWell) {
  for (const char* path : {"/health", "/live", "/metrics"}) {
    EXPECT_EQ(request_line(path, facts_of(200)), "") << path;
    EXPECT_THAT(request_line(path, facts_of(503)), HasSubstr(path));
  }
  EXPECT_THAT(request_line("/healthy", facts_of(200)), HasSubstr("/healthy"));
  EXPECT_EQ(request_line("/x", facts_of(200), false), "");
}

TEST(AccessLog, PathsCannotActOnATerminal) {
  EXPECT_THAT(request_line("/\x1f\x20\x7e\x7f\xc3\"\\\n", facts_of(0)),
              HasSubstr(R"( path="/\x1f ~\x7f\xc3\x22\x5c\x0a" )"));
  const std::string longest = "/" + std::string(199, 'a');
  EXPECT_THAT(request_line(longest, facts_of(0)), HasSubstr(" path=\"" + longest + "\" "));
  EXPECT_THAT(request_line(longest + "b", facts_of(0)), HasSubstr(" path=\"" + longest + "...\" "));
}

/// Once a second: what was done since the last line, and no line where nothing was.
TEST(AccessLog, SaysOfTheEngineWhatIsNew) {
  EngineStats stats;
  EXPECT_EQ(logged(false, [&](AccessLog& log) { log.engine_state(stats, std::nullopt); }), "");
  stats.running = 3;
  stats.waiting = 2;
  stats.kv_blocks_used = 3;
  stats.kv_blocks_total = 8;
  stats.generated_tokens = 100;
  stats.prompt_tokens = 1000;
  stats.drafts = {.steps = 4, .proposed = 12, .accepted = 7, .accepted_at = {4, 2, 1}};
  EngineStats then = stats;
  then.generated_tokens = 130;
  then.drafts = {.steps = 6, .proposed = 15, .accepted = 10, .accepted_at = {6, 3, 1}};
  then.tier.bytes_used = 3;
  then.tier.bytes_total = 4;
  then.gpu = GpuStats{.sm_clock_hertz = 1.98e9, .memory_clock_hertz = 3.2e9, .power_watts = 511.9};
  EXPECT_EQ(logged(false,
                   [&](AccessLog& log) {
                     log.engine_state(stats, std::nullopt);
                     log.engine_state(stats, std::nullopt);
                     log.engine_state(then, 0.451);
                   }),
            "engine running=3 waiting=2 generated_per_second=100 prompt_per_second=1000 kv=37.5% drafts=12 "
            "draft_steps=4 accepted=7 accepted_at=4,2,1\n"
            "engine running=3 waiting=2 generated_per_second=30 prompt_per_second=0 kv=37.5% drafts=3 draft_steps=2 "
            "accepted=3 accepted_at=2,1 tier=75.0% read=45.1% sm_mhz=1980 memory_mhz=3200 watts=512\n");
  // Each of the four numbers by itself is news.
  for (const auto& change : std::vector<std::function<void(EngineStats&)>>{
           [](EngineStats& s) { ++s.running; }, [](EngineStats& s) { ++s.waiting; },
           [](EngineStats& s) { ++s.generated_tokens; }, [](EngineStats& s) { ++s.prompt_tokens; }}) {
    EngineStats changed = stats;
    change(changed);
    const std::string text = logged(false, [&](AccessLog& log) {
      log.engine_state(stats, std::nullopt);
      log.engine_state(changed, std::nullopt);
    });
    EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 2);
  }
}

TEST(SystemNotify, SaysItToTheSocket) {
  const std::string path = ::testing::TempDir() + "tessera_notify_" + std::to_string(::getpid());
  for (const std::string& name : {path, "@" + path}) {
    const int descriptor = ::socket(AF_UNIX, SOCK_DGRAM, 0);
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    std::copy(name.begin(), name.end(), address.sun_path);
    if (name.front() == '@') address.sun_path[0] = '\0';
    ASSERT_EQ(::bind(descriptor, reinterpret_cast<const sockaddr*>(&address),
                     static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + name.size())),
              0);
    ::setenv("NOTIFY_SOCKET", name.c_str(), 1);
    notify_system("READY=1");
    char text[64] = {};
    ASSERT_EQ(::recv(descriptor, text, sizeof text, 0), 7);
    EXPECT_STREQ(text, "READY=1");
    ::close(descriptor);
    std::remove(path.c_str());
    notify_system("READY=1");  // nobody there
  }
  ::unsetenv("NOTIFY_SOCKET");
  notify_system("READY=1");
  EXPECT_EQ(watchdog_interval(), 0);
  ::setenv("WATCHDOG_USEC", "2500000", 1);
  EXPECT_EQ(watchdog_interval(), 1.25) << "half of it: one sign that comes late does no harm";
  ::setenv("WATCHDOG_PID", std::to_string(::getpid()).c_str(), 1);
  EXPECT_EQ(watchdog_interval(), 1.25);
  ::setenv("WATCHDOG_PID", std::to_string(::getpid() + 1).c_str(), 1);
  EXPECT_EQ(watchdog_interval(), 0);
  ::unsetenv("WATCHDOG_USEC");
  ::unsetenv("WATCHDOG_PID");
}

}  // namespace
}  // namespace tessera::server
