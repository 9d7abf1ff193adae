#include "server/metrics.h"

#include <dirent.h>
#include <prometheus/counter.h>
#include <prometheus/histogram.h>
#include <prometheus/registry.h>
#include <prometheus/text_serializer.h>
#include <sys/resource.h>

#include <chrono>
#include <limits>
#include <map>
#include <optional>
#include <tuple>

#include "base/resident_bytes.h"

namespace tessera::server {
namespace {

using prometheus::MetricFamily;
using prometheus::MetricType;
using Buckets = prometheus::Histogram::BucketBoundaries;

// The bounds that vLLM's dashboards are drawn for (vllm/v1/metrics/loggers.py).
const Buckets kFirstToken = {0.001, 0.005, 0.01, 0.02, 0.04, 0.06, 0.08, 0.1,  0.25,  0.5,   0.75,
                             1.0,   2.5,   5.0,  7.5,  10.0, 20.0, 40.0, 80.0, 160.0, 640.0, 2560.0};
const Buckets kNextToken = {0.01, 0.025, 0.05, 0.075, 0.1, 0.15, 0.2,  0.3,  0.4, 0.5,
                            0.75, 1.0,   2.5,  5.0,   7.5, 10.0, 20.0, 40.0, 80.0};
const Buckets kRequest = {0.3,  0.5,  0.8,  1.0,  1.5,   2.0,   2.5,   5.0,   10.0,   15.0,  20.0,
                          30.0, 40.0, 50.0, 60.0, 120.0, 240.0, 480.0, 960.0, 1920.0, 7680.0};
const Buckets kChoices = {1, 2, 5, 10, 20};
const Buckets kTokens = {1,    2,    5,    10,    20,    50,    100,    200,    500,
                         1000, 2000, 5000, 10000, 20000, 50000, 100000, 200000, 500000};

MetricFamily family(const std::string& name, const std::string& help, MetricType type, double value,
                    const std::string& model_name) {
  MetricFamily made;
  made.name = name;
  made.help = help;
  made.type = type;
  prometheus::ClientMetric metric;
  if (!model_name.empty()) metric.label = {{"model_name", model_name}};
  if (type == MetricType::Counter) metric.counter.value = value;
  if (type == MetricType::Gauge) metric.gauge.value = value;
  made.metric.push_back(std::move(metric));
  return made;
}

double open_descriptors() {
  DIR* directory = ::opendir("/proc/self/fd");
  if (directory == nullptr) return 0;
  int entries = 0;
  while (::readdir(directory) != nullptr) ++entries;
  ::closedir(directory);
  return entries - 3;  // ".", ".." and the one that lists
}

double cpu_seconds() {
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  const auto seconds = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + 1e-6 * static_cast<double>(time.tv_usec);
  };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

/// vllm's name for tokens of a step, which is a histogram whatever it ends in.
MetricFamily step_tokens(const StepTokens& steps, const std::string& model_name) {
  MetricFamily made = family("vllm:iteration_tokens_total", "Tokens, of prompts and answers, that a step computes",
                             MetricType::Histogram, 0, model_name);
  prometheus::ClientMetric::Histogram& histogram = made.metric.front().histogram;
  histogram.sample_sum = static_cast<double>(steps.tokens);
  for (size_t i = 0; i < steps.steps.size(); ++i) {
    histogram.sample_count += steps.steps[i];
    const bool last = i == StepTokens::kBounds.size();
    const double bound = last ? std::numeric_limits<double>::infinity() : StepTokens::kBounds[i];
    histogram.bucket.push_back({.cumulative_count = histogram.sample_count, .upper_bound = bound});
  }
  return made;
}

/// What vLLM counts of speculation.
void add_drafts(const DraftStats& drafts, const std::string& model_name, std::vector<MetricFamily>& all) {
  const auto counter = [&](const char* name, const char* help, uint64_t value) {
    all.push_back(family(name, help, MetricType::Counter, static_cast<double>(value), model_name));
  };
  counter("vllm:spec_decode_num_drafts_total", "Steps of one sequence with drafts", drafts.steps);
  counter("vllm:spec_decode_num_draft_tokens_total", "Drafts that were tried", drafts.proposed);
  counter("vllm:spec_decode_num_accepted_tokens_total", "Drafts that the model drew too", drafts.accepted);
  MetricFamily by_position = family("vllm:spec_decode_num_accepted_tokens_per_pos_total",
                                    "The same by position behind the last token", MetricType::Counter, 0, model_name);
  by_position.metric.clear();
  for (size_t i = 0; i < drafts.accepted_at.size(); ++i) {
    prometheus::ClientMetric metric;
    metric.label = {{"model_name", model_name}, {"position", std::to_string(i)}};
    metric.counter.value = static_cast<double>(drafts.accepted_at[i]);
    by_position.metric.push_back(std::move(metric));
  }
  all.push_back(std::move(by_position));
}

/// The prefix cache's tier in the host's memory; nothing without one.
void add_tier(const EngineStats& stats, const std::string& model_name, std::vector<MetricFamily>& all) {
  const TierStats& tier = stats.tier;
  if (tier.bytes_total == 0) return;
  const auto add = [&](const char* name, const char* help, MetricType type, double value) {
    all.push_back(family(name, help, type, value, model_name));
  };
  add("vllm:external_prefix_cache_queries_total", "Tokens of prompts that the device's cache had not",
      MetricType::Counter, static_cast<double>(stats.prefix_queries - (stats.prefix_hits - tier.hits)));
  add("vllm:external_prefix_cache_hits_total", "Of those, the ones that the tier in the host's memory had",
      MetricType::Counter, static_cast<double>(tier.hits));
  add("vllm:kv_offload_cpu_cache_usage_perc", "The tier in the host's memory in use; 1 is all of it", MetricType::Gauge,
      static_cast<double>(tier.bytes_used) / static_cast<double>(tier.bytes_total));
  MetricFamily moved = family("vllm:kv_offload_total_bytes_total", "Moved to the host's memory, and back",
                              MetricType::Counter, 0, model_name);
  moved.metric.clear();
  for (const auto& [direction, bytes] :
       {std::pair("GPU_to_CPU", tier.bytes_saved), {"CPU_to_GPU", tier.bytes_loaded}}) {
    prometheus::ClientMetric metric;
    metric.label = {{"model_name", model_name}, {"transfer_type", direction}};
    metric.counter.value = static_cast<double>(bytes);
    moved.metric.push_back(std::move(metric));
  }
  all.push_back(std::move(moved));
}

/// The directory behind that tier; nothing without one.
void add_disk(const EngineStats& stats, const std::string& model_name, std::vector<MetricFamily>& all) {
  const DiskStats& disk = stats.disk;
  if (disk.bytes_total == 0) return;
  const auto add = [&](const char* name, const char* help, MetricType type, uint64_t value) {
    all.push_back(family(name, help, type, static_cast<double>(value), model_name));
  };
  add("tessera:kv_offload_disk_bytes", "Files in the prefix cache's directory", MetricType::Gauge, disk.bytes_used);
  add("tessera:kv_offload_disk_entries", "Entries there that this model can go on from", MetricType::Gauge,
      disk.entries);
  add("tessera:kv_offload_disk_hits_total", "Tokens of prompts that were read from there", MetricType::Counter,
      disk.hits);
  add("tessera:kv_offload_disk_writes_total", "Entries written there", MetricType::Counter, disk.writes);
  add("tessera:kv_offload_disk_failures_total", "Reads and writes there that failed", MetricType::Counter,
      disk.failures);
}

/// The speed-of-light meter; nothing on the CPU, and what the driver does not say is left out.
void add_gpu(const Metrics::Now& now, const std::string& model_name, std::vector<MetricFamily>& all) {
  if (!now.engine.gpu) return;
  const GpuStats& gpu = *now.engine.gpu;
  const auto gauge = [&](const char* name, const char* help, const std::optional<double>& value, bool of_model) {
    if (value) all.push_back(family(name, help, MetricType::Gauge, *value, of_model ? model_name : ""));
  };
  const auto counter = [&](const char* name, const char* help, double value) {
    all.push_back(family(name, help, MetricType::Counter, value, model_name));
  };
  counter("tessera:decode_steps_total", "Steps that read no prompt", static_cast<double>(now.engine.decode.steps));
  counter("tessera:decode_read_bytes_total", "The least that these steps read of the GPU's memory",
          now.engine.decode.bytes);
  counter("tessera:decode_seconds_total", "Time of these steps", now.engine.decode.seconds);
  gauge("tessera:step_read_fraction",
        "Share of the GPU's read rate that decode steps reached in about the last second; absent if there were none",
        now.read_fraction, true);
  gauge("tessera:gpu_read_bytes_per_second", "Rate at which the GPU reads its memory, measured at start",
        gpu.read_bytes_per_second > 0 ? std::optional(gpu.read_bytes_per_second) : std::nullopt, false);
  gauge("tessera:gpu_sm_clock_hertz", "Clock of the GPU's multiprocessors", gpu.sm_clock_hertz, false);
  gauge("tessera:gpu_memory_clock_hertz", "Clock of the GPU's memory", gpu.memory_clock_hertz, false);
  gauge("tessera:gpu_power_watts", "Power that the GPU takes, mean of about the last second", gpu.power_watts, false);
}

}  // namespace

struct Metrics::State {
  prometheus::Histogram& histogram(const char* name, const char* help, const Buckets& buckets) {
    return prometheus::BuildHistogram().Name(name).Help(help).Register(registry).Add({{"model_name", model}}, buckets);
  }

  explicit State(const std::string& model_name)
      : model(model_name),
        first_token(
            histogram("vllm:time_to_first_token_seconds", "From a request's arrival to its first token", kFirstToken)),
        next_token(histogram("vllm:inter_token_latency_seconds", "Between two tokens of a choice", kNextToken)),
        request(histogram("vllm:e2e_request_latency_seconds", "From a request's arrival to its end", kRequest)),
        queued(histogram("vllm:request_queue_time_seconds", "From a request's arrival to its first step", kRequest)),
        prefill(
            histogram("vllm:request_prefill_time_seconds", "From a request's first step to its first token", kRequest)),
        decode(histogram("vllm:request_decode_time_seconds", "From a request's first token to its last", kRequest)),
        inference(histogram("vllm:request_inference_time_seconds", "From a request's first step to its last token",
                            kRequest)),
        per_token(histogram("vllm:request_time_per_output_token_seconds",
                            "Mean time between two tokens of a request with one choice", kNextToken)),
        params_n(histogram("vllm:request_params_n", "Choices that requests ask for", kChoices)),
        params_max_tokens(histogram("vllm:request_params_max_tokens", "max_tokens, where requests say it", kTokens)),
        prompt(histogram("vllm:request_prompt_tokens", "Tokens of a prompt", kTokens)),
        generation(histogram("vllm:request_generation_tokens", "Tokens of an answer, all choices", kTokens)),
        success(prometheus::BuildCounter()
                    .Name("vllm:request_success_total")
                    .Help("Requests that ended, by reason")
                    .Register(registry)),
        http(prometheus::BuildCounter().Name("http_requests_total").Help("Answers, by route").Register(registry)),
        start(std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count()) {
    for (const char* reason : {"stop", "length", "abort", "error"}) ended(reason);  // dashboards want a 0
  }

  prometheus::Counter& ended(const std::string& reason) {
    return success.Add({{"model_name", model}, {"finished_reason", reason}});
  }

  std::string model;
  prometheus::Registry registry;
  prometheus::Histogram &first_token, &next_token, &request, &queued, &prefill, &decode, &inference, &per_token;
  prometheus::Histogram &params_n, &params_max_tokens, &prompt, &generation;
  prometheus::Family<prometheus::Counter>& success;
  prometheus::Family<prometheus::Counter>& http;
  double start;  // seconds since 1970
};

Metrics::Metrics(const std::string& model_name) : state_(std::make_unique<State>(model_name)) {}
Metrics::~Metrics() = default;

void Metrics::first_token(double seconds) { state_->first_token.Observe(seconds); }
void Metrics::next_token(double seconds) { state_->next_token.Observe(seconds); }

void Metrics::request_begun(int n, int64_t max_tokens) {
  state_->params_n.Observe(n);
  if (max_tokens >= 0) state_->params_max_tokens.Observe(static_cast<double>(max_tokens));
}

void Metrics::request_ended(std::string_view finished_reason, const RequestTimes& times, int64_t prompt_tokens,
                            int64_t completion_tokens) {
  state_->ended(std::string(finished_reason)).Increment();
  state_->request.Observe(times.all);
  if (times.queued >= 0) state_->queued.Observe(times.queued);
  if (times.prefill >= 0) state_->prefill.Observe(times.prefill);
  if (times.token >= 0) state_->per_token.Observe(times.token);
  if (times.decode >= 0) {
    state_->decode.Observe(times.decode);
    state_->inference.Observe(times.prefill + times.decode);
  }
  state_->prompt.Observe(static_cast<double>(prompt_tokens));
  state_->generation.Observe(static_cast<double>(completion_tokens));
}

void Metrics::http_answered(const std::string& route, const std::string& method, int status) {
  state_->http.Add({{"handler", route}, {"method", method}, {"status", std::to_string(status)}}).Increment();
}

std::string Metrics::text(const Now& now) const {
  const EngineStats& e = now.engine;
  const auto share = [](int used, int total) { return total > 0 ? static_cast<double>(used) / total : 0.0; };
  std::vector<MetricFamily> all;
  const auto gauge = [&](const char* name, const char* help, double value, bool of_model = true) {
    all.push_back(family(name, help, MetricType::Gauge, value, of_model ? state_->model : ""));
  };
  const auto counter = [&](const char* name, const char* help, double value, bool of_model = true) {
    all.push_back(family(name, help, MetricType::Counter, value, of_model ? state_->model : ""));
  };
  gauge("vllm:num_requests_running", "Sequences that the engine works on", e.running);
  gauge("vllm:num_requests_waiting", "Sequences that wait for the engine, and requests being prepared",
        e.waiting + now.preparing);
  gauge("vllm:kv_cache_usage_perc", "KV cache in use; 1 is all of it", share(e.kv_blocks_used, e.kv_blocks_total));
  counter("vllm:prompt_tokens_total", "Prompt tokens processed", static_cast<double>(e.prompt_tokens));
  counter("vllm:generation_tokens_total", "Tokens generated", static_cast<double>(e.generated_tokens));
  counter("vllm:prefix_cache_queries_total", "Tokens of prompts that the prefix cache was asked for",
          static_cast<double>(e.prefix_queries));
  counter("vllm:prefix_cache_hits_total", "Of those, the ones that it had on the device",
          static_cast<double>(e.prefix_hits - e.tier.hits));
  counter("tessera:idle_prefill_tokens_total", "Tokens computed for the prefix cache while no request wanted a step",
          static_cast<double>(e.idle_prefill_tokens));
  add_tier(e, state_->model, all);
  add_disk(e, state_->model, all);
  gauge("tessera:prefix_blocks", "KV blocks that the prefix cache has and no sequence uses", e.kept_blocks);
  gauge("tessera:prefix_states", "Sequence states that the prefix cache has", e.kept_states);
  add_drafts(e.drafts, state_->model, all);
  counter("vllm:num_preemptions_total", "Sequences set aside for want of memory", static_cast<double>(e.preemptions));
  gauge("tessera:kv_blocks_used", "KV blocks in use", e.kv_blocks_used);
  gauge("tessera:kv_blocks_total", "KV blocks", e.kv_blocks_total);
  gauge("tessera:state_slots_used", "Sequence states in use", e.state_slots_used);
  gauge("tessera:state_slots_total", "Sequence states", e.state_slots_total);
  counter("tessera:engine_steps_total", "Steps of the engine", static_cast<double>(e.steps));
  all.push_back(step_tokens(e.step_tokens, state_->model));
  add_gpu(now, state_->model, all);
  gauge("tessera:ready", "Whether the model is loaded and requests are taken", now.ready ? 1 : 0);
  gauge("tessera:http_connections", "Open connections", now.connections, false);
  gauge("tessera:http_requests_in_flight", "Requests being prepared or answered", now.requests_in_flight, false);
  gauge("process_resident_memory_bytes", "Resident memory", static_cast<double>(resident_bytes()), false);
  gauge("process_open_fds", "Open file descriptors", open_descriptors(), false);
  counter("process_cpu_seconds_total", "CPU time, user and system", cpu_seconds(), false);
  gauge("process_start_time_seconds", "Start of the process, seconds since 1970", state_->start, false);
  for (MetricFamily& measured : state_->registry.Collect()) all.push_back(std::move(measured));
  return prometheus::TextSerializer().Serialize(all);
}

}  // namespace tessera::server
