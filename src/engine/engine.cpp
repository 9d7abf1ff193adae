#include "tessera/engine.h"

#include <algorithm>
#include <filesystem>
#include <memory>
#include <mutex>
#include <nlohmann/json.hpp>
#include <optional>
#include <thread>

#include <spdlog/spdlog.h>

#include "base/log.h"
#include "base/status.h"
#include "base/thread_pool.h"
#include "engine/device_choice.h"
#include "engine/disk_tier.h"
#include "engine/engine_maker.h"
#include "engine/fit.h"
#include "engine/generation_config.h"
#include "engine/gpu_watch.h"
#include "engine/host_memory.h"
#include "engine/kv_identity.h"
#include "engine/model_fit.h"
#include "engine/open_model.h"
#include "engine/precision.h"
#include "engine/request_check.h"
#include "engine/step_loop.h"
#include "format/checkpoint.h"
#include "guide/grammar.h"
#include "kernels/context.h"
#include "kernels/live_gpu.h"
#include "model/cpu_runner.h"
#include "model/cuda_runner.h"
#include "model/model.h"
#include "model/runner.h"
#include "text/chat_seams.h"
#include "text/chat_template.h"
#include "text/tokenizer.h"
#include "text/utf8.h"

namespace tessera {
namespace {

struct Settings {
  std::vector<engine::Device> devices;  // that may be tried, in this order
  engine::Precision precision;
  bool dummy_weights = false;
  model::PlanOptions plan;
  int threads = 1;
};

Status parse_loading(const EngineOptions& options, Settings& settings) {
  if (options.load_format != "auto" && options.load_format != "dummy") {
    return error(StatusCode::invalid_argument, "load_format is '{}'; it must be auto or dummy", options.load_format);
  }
  if (!options.requantize_projections.empty() && options.requantize_projections != "fp8") {
    return error(StatusCode::invalid_argument, "requantize_projections is '{}'; it must be fp8, or empty",
                 options.requantize_projections);
  }
  if (options.draft_head != "auto" && options.draft_head != "full" && options.draft_head != "fp8" &&
      options.draft_head != "nvfp4") {
    return error(StatusCode::invalid_argument, "draft_head is '{}'; it must be auto, full, fp8 or nvfp4",
                 options.draft_head);
  }
  settings.dummy_weights = options.load_format == "dummy";
  settings.plan.requantize_projections = !options.requantize_projections.empty();
  if (!settings.dummy_weights) return {};
  std::erase(settings.devices, engine::Device());  // the CPU
  if (!settings.devices.empty()) return {};
  return error(StatusCode::unsupported,
               "load_format dummy makes weights up on a GPU, and this is the CPU; write a checkpoint with `tessera "
               "synth` and load that");
}

Expected<Settings> parse_settings(const EngineOptions& options) {
  Settings settings;
  TESSERA_ASSIGN_OR_RETURN(settings.precision, engine::parse_precision(options.compute, options.kv_cache_dtype));
  TESSERA_ASSIGN_OR_RETURN(settings.devices, engine::choose_devices(options.device, settings.precision.needs_cpu()));
  TESSERA_RETURN_IF_ERROR(parse_loading(options, settings));
  if (!(options.gpu_memory_utilization > 0 && options.gpu_memory_utilization <= 1)) {
    return error(StatusCode::invalid_argument, "gpu_memory_utilization is {}; it must be above 0 and at most 1",
                 options.gpu_memory_utilization);
  }
  if (options.threads < 0 || options.threads > engine::kThreadsLimit) {
    return error(StatusCode::invalid_argument, "threads is {}; it must be between 1 and {}, or 0 for all cores",
                 options.threads, engine::kThreadsLimit);
  }
  if (options.prefill_step_ms < -1) {
    return error(StatusCode::invalid_argument, "prefill_step_ms is {}; it must be 0 or more, or -1",
                 options.prefill_step_ms);
  }
  settings.threads = options.threads > 0 ? options.threads : default_thread_count();
  return settings;
}

/// A model and what is read beside its weights.
struct OpenedEngine {
  engine::OpenedModel model;
  DType kv_dtype = DType::bf16;
  std::optional<text::Tokenizer> tokenizer;
  text::TemplateSource template_source;
  SamplingParams sampling;
  std::vector<int32_t> eos_token_ids;

  [[nodiscard]] const model::ModelConfig& config() const { return model.config; }
};

Status check_drafts(int wanted) {
  if (wanted >= -1 && wanted <= kernels::kDraftsMax) return {};
  return error(StatusCode::invalid_argument, "speculative_tokens is {}; it must be between 0 and {}, or -1", wanted,
               kernels::kDraftsMax);
}

std::optional<format::WeightFormat> draft_head(const std::string& name, const engine::Device& device) {
  if (name == "nvfp4") return format::WeightFormat::nvfp4;
  if (name == "fp8" || (name == "auto" && device)) return format::WeightFormat::fp8_e4m3;
  return std::nullopt;
}

/// In `plan`, too: what is loaded besides. With drafts_max drafts of a sequence at most.
Expected<FitReport> plan_memory(const OpenedEngine& opened, const EngineOptions& options, const engine::Device& device,
                                const kernels::Backend& backend, int drafts_max, model::PlanOptions& plan) {
  engine::FitInput input;
  input.gpu = device;
  input.drafts_max = drafts_max;
  plan.with_mtp = input.drafts_max > 0;
  plan.draft_head = draft_head(options.draft_head, device);
  TESSERA_ASSIGN_OR_RETURN(const model::WeightPlan weights, opened.model.plan_weights(plan));
  if (plan.with_mtp && !weights.has_mtp()) {
    return error(StatusCode::invalid_argument,
                 "this checkpoint has no MTP head to make {} drafts with; leave speculative_tokens out", drafts_max);
  }
  TESSERA_ASSIGN_OR_RETURN(input.available_bytes, engine::available_bytes(device, options.gpu_memory_utilization));
  input.weight_bytes = weights.placed_bytes(backend);
  input.staging_bytes = weights.staging_bytes(backend);
  input.kv_dtype = opened.kv_dtype;
  input.cache_bytes = backend.cache_bytes(
      model::cache_shape(opened.config(), opened.kv_dtype, plan.with_mtp, plan.rank, input.drafts_max));
  input.max_model_len = options.max_model_len;
  input.max_num_seqs = options.max_num_seqs;
  input.max_num_batched_tokens = options.max_num_batched_tokens;
  input.memory_bytes = options.memory_bytes;
  input.prefix_caching = options.prefix_caching;
  input.kv_offload_bytes = options.kv_offload_bytes;
  if (device && input.kv_offload_bytes > 0) input.host_available_bytes = engine::available_memory_bytes();
  TESSERA_ASSIGN_OR_RETURN(FitReport fit, engine::plan_fit(opened.config(), input));
  fit.requantized_matrices = weights.requantized().matrices;
  fit.requantized_stored_bytes = weights.requantized().stored_bytes;
  return fit;
}

/// The same with as many drafts as there may be. Where nobody has asked for them a model that fits without is one that
/// fits, and the CPU has none: a row more costs it as much as the row before.
Expected<FitReport> plan_memory(const OpenedEngine& opened, const EngineOptions& options, const engine::Device& device,
                                const kernels::Backend& backend, model::PlanOptions& plan) {
  constexpr int kOwnChoice = 5;
  TESSERA_RETURN_IF_ERROR(check_drafts(options.speculative_tokens));
  if (options.speculative_tokens >= 0) {
    return plan_memory(opened, options, device, backend, options.speculative_tokens, plan);
  }
  if (device && opened.config().mtp_layers > 0) {
    auto fit = plan_memory(opened, options, device, backend, kOwnChoice, plan);
    if (fit.ok()) return fit;
    spdlog::info("nothing is drafted: {}", fit.status().message());
  }
  return plan_memory(opened, options, device, backend, 0, plan);
}

Status read_text_side(OpenedEngine& opened, const std::string& chat_template) {
  const auto& directory = opened.model.checkpoint.directory();
  TESSERA_ASSIGN_OR_RETURN(opened.template_source, text::find_chat_template(directory, chat_template));
  std::error_code ignored;
  if (std::filesystem::exists(std::filesystem::symlink_status(directory / "tokenizer.json", ignored))) {
    TESSERA_ASSIGN_OR_RETURN(opened.tokenizer, text::Tokenizer::load(directory / "tokenizer.json"));
  }
  opened.eos_token_ids = opened.config().eos_token_ids;
  TESSERA_ASSIGN_OR_RETURN(const std::optional<std::string> json,
                           opened.model.checkpoint.read_text("generation_config.json"));
  if (!json) return {};
  TESSERA_ASSIGN_OR_RETURN(const auto generation,
                           engine::parse_generation_config(*json, (directory / "generation_config.json").string(),
                                                           opened.config().vocab_size));
  opened.sampling = generation.sampling;
  opened.eos_token_ids.insert(opened.eos_token_ids.end(), generation.eos_token_ids.begin(),
                              generation.eos_token_ids.end());
  return {};
}

Expected<OpenedEngine> open_model(const EngineOptions& options, const Settings& settings) {
  OpenedEngine opened;
  TESSERA_ASSIGN_OR_RETURN(opened.model, engine::open_model(options.model, settings.dummy_weights));
  opened.kv_dtype = settings.precision.kv_dtype_of(opened.model);
  TESSERA_RETURN_IF_ERROR(read_text_side(opened, options.chat_template));
  return opened;
}

/// Control tokens have no bytes there, so that no grammar lets one pass for its text.
guide::Vocabulary guide_vocabulary(const text::Tokenizer& tokenizer, int64_t size, std::vector<int32_t> stop_ids) {
  std::sort(stop_ids.begin(), stop_ids.end());
  stop_ids.erase(std::unique(stop_ids.begin(), stop_ids.end()), stop_ids.end());
  guide::Vocabulary vocabulary{.tokens = std::vector<std::string>(static_cast<size_t>(size)),
                               .stop_ids = std::move(stop_ids)};
  for (int32_t id = 0; id < static_cast<int32_t>(size); ++id) {
    if (!tokenizer.is_special(id)) vocabulary.tokens[static_cast<size_t>(id)] = tokenizer.token_bytes(id);
  }
  return vocabulary;
}

}  // namespace

/// Members are in order of construction: what is below borrows from what is above.
struct Engine::Impl {
  explicit Impl(const Settings& settings) : pool(settings.threads) {}
  ~Impl() { close(); }

  void close() {
    if (loop) loop->close();
    if (thread.joinable()) thread.join();
  }
  void start(engine::StepLoopParts parts) {
    loop.emplace(std::move(parts));
    thread = std::thread([this] { loop->run(); });
  }

  Status open(const OpenedEngine& opened, Settings settings, const EngineOptions& options,
              const engine::Device& device);
  Status open_disk(const OpenedEngine& opened, const EngineOptions& options, const engine::Device& device);
  Status load_runner(const OpenedEngine& opened, const Settings& settings, const EngineOptions& options,
                     const engine::Device& device);

  /// The renderer is started when it is first needed: token ids and plain completions need none.
  Expected<RenderedChat> render(nlohmann::ordered_json request) {
    {
      const std::lock_guard lock(template_mutex);
      if (!chat_template) {
        TESSERA_ASSIGN_OR_RETURN(chat_template, text::ChatTemplate::create(template_source));
      }
    }
    RenderedChat chat;
    if (tokenizer && !parse_special_tokens) chat.seam = text::put_seams(*tokenizer, request);
    TESSERA_ASSIGN_OR_RETURN(chat.text, chat_template->render(request));
    return chat;
  }

  ThreadPool pool;  // used by create() while it loads, then by the engine thread alone
  kernels::Workspace workspace;
  std::unique_ptr<kernels::Backend> backend;
  std::unique_ptr<engine::GpuWatch> gpu_watch;  // on a GPU, as the next
  std::optional<engine::StepBytes> step_bytes;
  FitReport fit;
  std::optional<text::Tokenizer> tokenizer;
  bool parse_special_tokens = false;
  text::TemplateSource template_source;
  std::mutex template_mutex;
  std::optional<text::ChatTemplate> chat_template;
  SamplingParams sampling;
  bool idle_prefill = false;
  engine::RequestLimits limits;
  std::unique_ptr<model::Model> model;
  std::unique_ptr<kernels::Cache> cache;
  std::unique_ptr<kernels::HostPages> host_pages;  // null: the prefix cache has no tier
  std::unique_ptr<engine::DiskTier> disk;          // behind them; null: there is none
  std::unique_ptr<model::StepRunner> runner;
  std::optional<guide::Compiler> grammars;  // none: no tokenizer, or no token that ends an answer
  std::optional<engine::StepLoop> loop;
  std::thread thread;
};

/// All that depends on the device.
Status Engine::Impl::open(const OpenedEngine& opened, Settings settings, const EngineOptions& options,
                          const engine::Device& device) {
  TESSERA_ASSIGN_OR_RETURN(
      backend,
      engine::open_backend(
          device, opened.config(),
          {.compute = settings.precision.compute, .pool = &pool, .workspace = &workspace, .pdl = options.pdl}));
  TESSERA_ASSIGN_OR_RETURN(fit, plan_memory(opened, options, device, *backend, settings.plan));
  if (options.on_fit) options.on_fit(fit);
  if (!device) return load_runner(opened, settings, options, device);
  // Before the weights are there: the read rate wants a quiet GPU and some free memory.
  TESSERA_ASSIGN_OR_RETURN(auto watch, engine::GpuWatch::open(*device));
  TESSERA_RETURN_IF_ERROR(load_runner(opened, settings, options, device));
  step_bytes = {.weights = model->traffic(), .cache = backend->cache_bytes(cache->shape())};
  gpu_watch = std::move(watch);
  return {};
}

Status Engine::Impl::open_disk(const OpenedEngine& opened, const EngineOptions& options, const engine::Device& device) {
  if (options.kv_offload_dir.empty()) return {};
  if (host_pages == nullptr) {
    return error(StatusCode::invalid_argument,
                 "kv_offload_dir is set, and no memory of the host that it could stand behind; give the prefix cache "
                 "some: kv_offload_bytes, --kv-offload-gib");
  }
  std::string device_name = "cpu";
  if (device) {
    TESSERA_ASSIGN_OR_RETURN(const plan::DeviceFacts gpu, kernels::live_gpu(*device));
    device_name = gpu.name;
  }
  const std::string settings = fmt::format("{}\n{} {} {} {} {}{}", device_name, options.compute, fit.kv_cache_dtype,
                                           options.requantize_projections, options.load_format, fit.drafts_max > 0,
                                           options.prefix_cache_keeps_answers ? " answers as decoded" : "");
  TESSERA_ASSIGN_OR_RETURN(const auto identity, engine::kv_identity(opened.model.checkpoint.directory(), settings));
  TESSERA_ASSIGN_OR_RETURN(auto directory, engine::KvDirectory::open(options.kv_offload_dir,
                                                                     {.identity = identity,
                                                                      .page_bytes = host_pages->page_bytes(),
                                                                      .state_pages = fit.state_pages},
                                                                     options.kv_offload_dir_bytes));
  disk = std::make_unique<engine::DiskTier>(std::move(directory), *host_pages);
  return {};
}

/// Weights, caches and what runs steps over them. The one place that knows a runner's device: what is above it knows
/// StepRunner.
Status Engine::Impl::load_runner(const OpenedEngine& opened, const Settings& settings, const EngineOptions& options,
                                 const engine::Device& device) {
  TESSERA_ASSIGN_OR_RETURN(
      model, opened.model.load(*backend, {.plan = settings.plan, .progress = options.on_load_progress, .pool = &pool}));
  TESSERA_ASSIGN_OR_RETURN(cache, model->make_cache(opened.kv_dtype, fit.kv_blocks, fit.state_slots(),
                                                    /*with_mtp=*/fit.drafts_max > 0, fit.drafts_max));
  if (fit.host_pages > 0) {
    TESSERA_ASSIGN_OR_RETURN(host_pages, backend->make_host_pages(cache->shape(), fit.host_pages));
  }
  TESSERA_RETURN_IF_ERROR(open_disk(opened, options, device));
  const int64_t vocab_size = opened.config().vocab_size;
  const int64_t known_ids =
      opened.tokenizer ? std::min<int64_t>(vocab_size, opened.tokenizer->vocab_size()) : vocab_size;
  const int32_t rows_max = fit.max_num_batched_tokens;
  const int decode_rows = engine::decode_rows_max(fit.max_num_seqs, fit.drafts_max);
  const auto samples_max = static_cast<int32_t>(engine::logit_rows_max(decode_rows));
  if (!device) {
    TESSERA_ASSIGN_OR_RETURN(runner, model::make_cpu_runner({.model = model.get(),
                                                             .cache = cache.get(),
                                                             .pages = host_pages.get(),
                                                             .pool = &pool,
                                                             .known_ids = known_ids,
                                                             .rows_max = rows_max,
                                                             .samples_max = samples_max,
                                                             .drafts_max = fit.drafts_max}));
    return {};
  }
  const auto list_words_max = static_cast<int64_t>(2 * engine::kMaxLogitBias + engine::kMaxStopTokenIds +
                                                   opened.eos_token_ids.size() + 2 * engine::kMaxBadWords);
  TESSERA_ASSIGN_OR_RETURN(
      runner,
      model::make_cuda_runner({.model = model.get(),
                               .cache = cache.get(),
                               .pages = host_pages.get(),
                               .gpu = *device,
                               .known_ids = known_ids,
                               .rows_max = rows_max,
                               .sequences_max = fit.max_num_seqs,
                               .sequence_blocks_max = static_cast<int32_t>(kernels::blocks_for(fit.max_model_len)),
                               .samples_max = samples_max,
                               .drafts_max = fit.drafts_max,
                               .list_words_max = list_words_max,
                               .graphs = options.cuda_graphs,
                               .pdl = options.pdl}));
  return {};
}

Expected<engine::ModelFit> engine::fit_model(const EngineOptions& options) {
  TESSERA_ASSIGN_OR_RETURN(const Settings settings, parse_settings(options));
  TESSERA_ASSIGN_OR_RETURN(const OpenedEngine opened, ::tessera::open_model(options, settings));
  return on_first_that_can(settings.devices, [&](const Device& device) -> Expected<ModelFit> {
    ThreadPool pool(1);
    kernels::Workspace workspace;
    TESSERA_ASSIGN_OR_RETURN(const auto backend,
                             open_backend(device, opened.config(), {.pool = &pool, .workspace = &workspace}));
    model::PlanOptions plan = settings.plan;
    TESSERA_ASSIGN_OR_RETURN(FitReport report, plan_memory(opened, options, device, *backend, plan));
    TESSERA_ASSIGN_OR_RETURN(const model::WeightPlan weights, opened.model.plan_weights(plan));
    const auto shape =
        model::cache_shape(opened.config(), opened.kv_dtype, plan.with_mtp, plan.rank, report.drafts_max);
    return ModelFit{.report = std::move(report),
                    .step_bytes = {.weights = weights.traffic(), .cache = backend->cache_bytes(shape)}};
  });
}

Expected<Engine> Engine::create(EngineOptions options) {
  TESSERA_ASSIGN_OR_RETURN(const Settings settings, parse_settings(options));
  TESSERA_ASSIGN_OR_RETURN(OpenedEngine opened, open_model(options, settings));
  TESSERA_ASSIGN_OR_RETURN(auto impl, engine::on_first_that_can(settings.devices, [&](const engine::Device& device) {
                             auto on_device = std::make_unique<Impl>(settings);
                             const Status status = on_device->open(opened, settings, options, device);
                             return status.ok() ? Expected(std::move(on_device))
                                                : Expected<decltype(on_device)>(status);
                           }));
  impl->tokenizer = std::move(opened.tokenizer);
  impl->template_source = std::move(opened.template_source);
  impl->parse_special_tokens = options.parse_special_tokens;
  impl->sampling = std::move(opened.sampling);
  impl->idle_prefill = options.prefix_caching && options.idle_prefill;
  impl->limits = {.vocab_size = opened.config().vocab_size,
                  .max_model_len = impl->fit.max_model_len,
                  .has_tokenizer = impl->tokenizer.has_value()};
  if (impl->tokenizer && !opened.eos_token_ids.empty()) {
    impl->grammars.emplace([tokenizer = &*impl->tokenizer, size = opened.config().vocab_size,
                            stop_ids = opened.eos_token_ids] { return guide_vocabulary(*tokenizer, size, stop_ids); });
  }
  impl->start({.runner = impl->runner.get(),
               .tokenizer = impl->tokenizer ? &*impl->tokenizer : nullptr,
               .pool = &impl->pool,
               .vocab_size = opened.config().vocab_size,
               .kv_blocks = impl->fit.kv_blocks,
               .max_num_seqs = impl->fit.max_num_seqs,
               .kept_states = impl->fit.kept_states,
               .prefix_caching = options.prefix_caching,
               .keeps_answers = options.prefix_cache_keeps_answers,
               .has_states = opened.config().count(model::LayerType::linear_attention) > 0,
               .host_pages = impl->fit.host_pages,
               .state_pages = impl->fit.state_pages,
               .page_bytes = impl->fit.kv_block_bytes,
               .disk = impl->disk.get(),
               .max_model_len = impl->fit.max_model_len,
               .max_num_batched_tokens = impl->fit.max_num_batched_tokens,
               .max_decode_rows = engine::decode_rows_max(impl->fit.max_num_seqs, impl->fit.drafts_max),
               .drafts_max = impl->fit.drafts_max,
               .drafts_always = options.speculative_always,
               .chunk_time = engine::ChunkPolicy::fixed_bound(options.prefill_step_ms),
               .eos_token_ids = std::move(opened.eos_token_ids),
               .step_bytes = impl->step_bytes});
  return Engine(std::move(impl));
}

Engine engine::EngineMaker::make(std::unique_ptr<model::StepRunner> runner, StepLoopParts parts) {
  auto impl = std::make_unique<Engine::Impl>(Settings());
  impl->runner = std::move(runner);
  impl->fit.kv_blocks = parts.kv_blocks;
  impl->fit.max_num_seqs = parts.max_num_seqs;
  impl->fit.max_model_len = parts.max_model_len;
  impl->fit.max_num_batched_tokens = parts.max_num_batched_tokens;
  impl->limits = {.vocab_size = parts.vocab_size, .max_model_len = parts.max_model_len, .has_tokenizer = false};
  parts.runner = impl->runner.get();
  impl->start(std::move(parts));
  return Engine(std::move(impl));
}

Engine::Engine(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Engine::Engine(Engine&&) noexcept = default;
Engine& Engine::operator=(Engine&&) noexcept = default;
Engine::~Engine() = default;

void DraftStats::count(size_t proposed_now, size_t accepted_now) {
  if (proposed_now > 0) ++steps;
  proposed += proposed_now;
  accepted += accepted_now;
  for (size_t i = 0; i < accepted_now; ++i) ++accepted_at[i];
}

DraftStats& DraftStats::operator+=(const DraftStats& other) {
  steps += other.steps;
  proposed += other.proposed;
  accepted += other.accepted;
  for (size_t i = 0; i < accepted_at.size(); ++i) accepted_at[i] += other.accepted_at[i];
  return *this;
}

void StepTokens::count(size_t step) {
  const auto* bound = std::ranges::lower_bound(kBounds, static_cast<int>(step));
  ++steps[static_cast<size_t>(bound - kBounds.begin())];
  tokens += step;
}

Expected<RequestStream> Engine::submit(Request request) {
  engine::truncate_prompt(request.sampling, max_model_len(), request.prompt);
  TESSERA_RETURN_IF_ERROR(engine::check_request(request, impl_->limits));
  TESSERA_ASSIGN_OR_RETURN(auto channel, impl_->loop->submit(std::move(request)));
  return RequestStream(std::move(channel));
}

Status Engine::check(const SamplingParams& params) const { return engine::check_sampling(params, impl_->limits); }

Status Engine::prefill_when_idle(IdlePrefill prefill) {
  TESSERA_RETURN_IF_ERROR(engine::check_prompt(prefill.tokens, /*room=*/0, impl_->limits));
  if (prefills_when_idle()) impl_->loop->prefill_when_idle(std::move(prefill));
  return {};
}

bool Engine::prefills_when_idle() const { return impl_->idle_prefill; }

Expected<std::vector<int32_t>> Engine::tokenize(const std::string& text, size_t tokens_max) const {
  return tokenize(RenderedChat{.text = text}, tokens_max);
}

Expected<std::vector<int32_t>> Engine::tokenize(const RenderedChat& chat, size_t tokens_max) const {
  if (!impl_->tokenizer) {
    return Status(StatusCode::not_found, "the model directory has no tokenizer.json; give token ids instead of text");
  }
  return impl_->tokenizer->encode_sewn(chat.text, chat.seam, tokens_max);
}

size_t Engine::tokens_min(const RenderedChat& chat) const {
  if (!impl_->tokenizer) return 0;
  size_t bytes = chat.text.size();
  for (size_t at = 0; !chat.seam.empty() && (at = chat.text.find(chat.seam, at)) != std::string::npos;) {
    bytes -= chat.seam.size();
    at += chat.seam.size();
  }
  return impl_->tokenizer->tokens_min(bytes);
}

Expected<CompiledGrammar> Engine::compile(const GrammarSource& source) const {
  if (impl_->grammars) return impl_->grammars->compile(source);
  return Status(StatusCode::unsupported,
                "answers cannot follow a grammar: this model has no tokenizer.json, or no token that ends an answer");
}

CompiledGrammar Engine::compiled(const GrammarSource& source) const {
  return impl_->grammars ? impl_->grammars->find(source) : nullptr;
}

std::string Engine::detokenize(const std::vector<int32_t>& tokens, bool skip_special_tokens) const {
  return impl_->tokenizer ? impl_->tokenizer->decode(tokens, skip_special_tokens) : std::string();
}

std::string Engine::token_bytes(int32_t token) const {
  return impl_->tokenizer ? std::string(impl_->tokenizer->token_bytes(token)) : std::string();
}

std::optional<int32_t> Engine::token_id(const std::string& text) const {
  return impl_->tokenizer ? impl_->tokenizer->id_of(text) : std::nullopt;
}

Expected<RenderedChat> Engine::render_chat(const std::string& request_json) const {
  auto request = nlohmann::ordered_json::parse(request_json, nullptr, /*allow_exceptions=*/false);
  if (!request.is_object()) {
    return Status(StatusCode::invalid_argument, "a chat request is a JSON object with \"messages\"");
  }
  return impl_->render(std::move(request));
}

Expected<RenderedChat> Engine::render_chat(const std::vector<ChatMessage>& messages, bool enable_thinking) const {
  nlohmann::ordered_json request{{"messages", nlohmann::ordered_json::array()},
                                 {"add_generation_prompt", true},
                                 {"enable_thinking", enable_thinking}};
  for (const ChatMessage& message : messages) {
    for (const std::string* text : {&message.role, &message.content}) {
      const size_t at = text::find_invalid_utf8(*text);
      if (at == std::string::npos) continue;
      return error(StatusCode::invalid_argument, "a message is not valid UTF-8: byte 0x{:02X} at offset {}",
                   static_cast<unsigned char>((*text)[at]), at);
    }
    request["messages"].push_back({{"role", message.role}, {"content", message.content}});
  }
  return impl_->render(std::move(request));
}

Expected<std::vector<int32_t>> Engine::chat_prompt(const std::vector<ChatMessage>& messages, bool enable_thinking) {
  TESSERA_ASSIGN_OR_RETURN(const RenderedChat chat, render_chat(messages, enable_thinking));
  return tokenize(chat);
}

const SamplingParams& Engine::default_sampling() const { return impl_->sampling; }
int64_t Engine::max_model_len() const { return impl_->fit.max_model_len; }
const FitReport& Engine::fit() const { return impl_->fit; }
Status Engine::status() const { return impl_->loop->status(); }
void Engine::on_failure(std::function<void()> callback) { impl_->loop->on_failure(std::move(callback)); }
Status Engine::close() {
  impl_->close();
  return impl_->loop->failure();
}

EngineStats Engine::stats() const {
  EngineStats stats = impl_->loop->stats();
  if (impl_->gpu_watch) stats.gpu = impl_->gpu_watch->stats();
  return stats;
}

}  // namespace tessera
