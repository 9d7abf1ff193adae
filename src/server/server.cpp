#include "server/server.h"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <chrono>
#include <ctime>
#include <future>
#include <utility>

#include "engine/meter.h"
#include "server/access_log.h"
#include "server/error_reply.h"
#include "server/generation.h"
#include "server/http/http_server.h"
#include "server/openai/responses.h"
#include "server/prepare.h"
#include "server/request/sampling_fields.h"
#include "server/response_routes.h"
#include "server/router.h"
#include "server/small_routes.h"
#include "server/system_notify.h"

namespace tessera::server {

using SharedExchange = std::shared_ptr<Exchange>;
using std::chrono::steady_clock;

namespace {

/// What the server is asked to listen on is a name of its own too.
std::vector<std::string> known_hosts(const ServerOptions& options) {
  std::vector<std::string> hosts = options.allowed_hosts;
  hosts.push_back(options.host);
  return hosts;
}

}  // namespace

/// In order of construction: what is below borrows from what is above.
struct Server::State {
  explicit State(ServerOptions given)
      : options(std::move(given)),
        metrics(options.served_names.front()),
        log(options.access_log),
        text(static_cast<int>(options.limits.text_threads), /*favours_small=*/true),
        router({.api_keys = options.api_keys,
                .guard = {.allowed_hosts = known_hosts(options),
                          .allowed_origins = options.allowed_origins,
                          .any_host = !options.unix_socket.empty()},
                .unavailable = [this] { return unavailable(); }},
               routes()) {}

  std::vector<Route> routes();
  HttpCallbacks callbacks();
  [[nodiscard]] std::optional<std::string> unavailable() const;
  void answer_health(const SharedExchange& exchange) const;
  void answer_metrics(const SharedExchange& exchange) const;
  void answer_models(const SharedExchange& exchange) const;
  void answer_model(const SharedExchange& exchange) const;
  [[nodiscard]] std::vector<openai::ModelCard> cards() const;
  void begin_drain();
  void tick();
  void each_second();

  ServerOptions options;
  Metrics metrics;
  AccessLog log;
  ModelService model;  // written once, before `work` is made
  TextPool text;
  TextPool grammars{1};  // they are compiled one at a time
  Router router;
  std::unique_ptr<HttpServer> http;
  std::optional<ReadyList> ready;
  std::optional<Work> work;  // there is a model
  int64_t created = std::time(nullptr);
  DecodeTraffic decode_before;          // of the second before
  std::optional<double> read_fraction;  // of the last second
  bool draining = false, announced_end = false;
  steady_clock::time_point drain_deadline;
  std::promise<void> drained;
};

std::vector<Route> Server::State::routes() {
  const auto generate = [this](Generation::Prepare prepare) {
    return [this, prepare](const SharedExchange& exchange) { Generation::start(*work, exchange, prepare); };
  };
  const auto transform = [this](Generation::Transform convert) {
    return [this, convert](const SharedExchange& exchange) { Generation::start(*work, exchange, convert); };
  };
  const auto health = [this](const SharedExchange& exchange) { answer_health(exchange); };
  const auto live = [](const SharedExchange& exchange) { exchange->reply({.body = R"({"status":"live"})"}); };
  const auto scrape = [this](const SharedExchange& exchange) { answer_metrics(exchange); };
  const auto list = [this](const SharedExchange& exchange) { answer_models(exchange); };
  const auto one = [this](const SharedExchange& exchange) { answer_model(exchange); };
  const auto version = [this](const SharedExchange& exchange) {
    exchange->reply({.body = openai::version_json(options.version)});
  };
  std::vector<Route> all = {
      {"POST", "/v1/chat/completions", true, true, generate(prepare_chat)},
      {"POST", "/v1/completions", true, true, generate(prepare_completion)},
      {"POST", "/v1/responses", true, true, generate(prepare_responses)},
      {"POST", "/v1/responses/compact", true, true, generate(prepare_compaction)},
      {"POST", "/v1/responses/input_tokens", true, true, transform(answer_input_tokens)},
      {"POST", "/v1/messages", true, true, generate(prepare_messages)},
      {"POST", "/v1/messages/count_tokens", true, true, transform(answer_count_tokens)},
      {"GET", "/v1/models", true, true, list},
      {"GET", "/v1/models/{id}", true, true, one},
      {"POST", "/tokenize", true, true, transform(answer_tokenize)},
      {"POST", "/detokenize", true, true, transform(answer_detokenize)},
      {"GET", "/metrics", true, false, scrape},
      {"GET", "/version", true, false, version},
      {"GET", "/health", false, false, health},
      {"GET", "/live", false, false, live},
  };
  add_response_routes([this]() -> Work& { return *work; }, all);
  add_page_routes(all);
  return all;
}

HttpCallbacks Server::State::callbacks() {
  return {.check = [this](const HttpRequest& request, RequestFacts& facts) { return router.check(request, facts); },
          .handle = [this](const SharedExchange& exchange) { router.handle(exchange); },
          .finished =
              [this](const Exchange& exchange) {
                const RequestFacts& facts = exchange.facts;
                metrics.http_answered(facts.route.empty() ? "none" : facts.route,
                                      facts.route.empty() ? "none" : exchange.request.method, facts.status);
                log.request(exchange);
              },
          .fault =
              [](int status, const std::string& message, const std::string& path) {
                return error_reply({.http_status = status,
                                    .message = message,
                                    .type = status >= 500 ? "server_error" : "invalid_request_error"},
                                   path);
              }};
}

std::optional<std::string> Server::State::unavailable() const {
  if (draining) return "the server is shutting down";
  if (!work) return "the model is being loaded; try again later";
  if (const Status status = model.engine->status(); !status.ok()) return status.message();
  return std::nullopt;
}

void Server::State::answer_health(const SharedExchange& exchange) const {
  const auto why = unavailable();
  if (!why) {
    const bool chat = model.no_chat.empty();
    return exchange->reply({.body = chat ? R"({"status":"ok"})" : R"({"status":"ok","chat":false})"});
  }
  exchange->reply(
      error_reply({.http_status = 503, .message = *why, .type = "server_error", .code = "service_unavailable"},
                  exchange->request.path));
}

void Server::State::answer_metrics(const SharedExchange& exchange) const {
  Metrics::Now now;
  now.connections = http->connections();
  now.ready = !unavailable();
  if (work) {
    now.engine = model.engine->stats();
    now.read_fraction = read_fraction;
    now.preparing = work->preparing;
    now.requests_in_flight = static_cast<int>(work->open.size());
  }
  exchange->reply({.content_type = "text/plain; version=0.0.4; charset=utf-8", .body = metrics.text(now)});
}

std::vector<openai::ModelCard> Server::State::cards() const {
  std::vector<openai::ModelCard> all;
  for (const std::string& name : model.names) {
    all.push_back({.id = name,
                   .created = created,
                   .root = options.model_root,
                   .max_model_len = model.engine->max_model_len(),
                   .chat = model.no_chat.empty()});
  }
  return all;
}

void Server::State::answer_models(const SharedExchange& exchange) const {
  exchange->reply({.body = openai::models_json(cards())});
}

void Server::State::answer_model(const SharedExchange& exchange) const {
  const std::string name = exchange->request.path.substr(std::string_view("/v1/models/").size());
  for (const openai::ModelCard& card : cards()) {
    if (card.id == name) return exchange->reply({.body = openai::model_json(card)});
  }
  exchange->reply(error_reply(model_not_found(name, model.names), exchange->request.path));
}

void Server::State::begin_drain() {
  if (std::exchange(draining, true)) return;
  notify_system("STOPPING=1");
  // Those that are made in the background have no exchange any more.
  const int running = std::max(http->exchanges(), work ? static_cast<int>(work->open.size()) : 0);
  if (running > 0 || options.access_log)
    log.say(fmt::format("shutting down: {} requests run, and have {} s to end", running,
                        options.limits.shutdown_seconds_max));
  drain_deadline = steady_clock::now() + std::chrono::seconds(options.limits.shutdown_seconds_max);
  if (work) work->draining = true;
  http->drain();
}

/// A few times a second.
void Server::State::tick() {
  const auto now = steady_clock::now();
  if (work) {
    const auto open = std::vector(work->open.begin(), work->open.end());  // some may end
    for (const auto& generation : open) {
      if (draining && now >= drain_deadline) generation->cancel();
      generation->tick(now);
    }
  }
  if (!draining || announced_end) return;
  const bool in_background = work && !work->open.empty();  // requests whose clients have their answer
  if ((http->exchanges() == 0 && !in_background && !http->receiving() && !http->sending()) ||
      now >= drain_deadline + std::chrono::seconds(1)) {
    announced_end = true;
    drained.set_value();
  }
}

void Server::State::each_second() {
  if (!work) return;
  const EngineStats stats = model.engine->stats();
  const double rate = stats.gpu ? stats.gpu->read_bytes_per_second : 0;
  read_fraction = engine::read_fraction(decode_before, stats.decode, rate);
  decode_before = stats.decode;
  if (options.state_line) log.engine_state(stats, read_fraction);
}

Server::Server(std::unique_ptr<State> state) : state_(std::move(state)) {}

Expected<std::unique_ptr<Server>> Server::open(ServerOptions options) {
  const Limits limits = options.limits;
  auto state = std::make_unique<State>(std::move(options));
  State* s = state.get();
  HttpOptions http{.host = s->options.host,
                   .port = s->options.port,
                   .unix_socket = s->options.unix_socket,
                   .ssl_certfile = s->options.ssl_certfile,
                   .ssl_keyfile = s->options.ssl_keyfile,
                   .limits = limits};
  TESSERA_ASSIGN_OR_RETURN(s->http, HttpServer::open(std::move(http), s->callbacks()));
  s->ready.emplace(*s->http);
  s->http->every(0.1, [s] { s->tick(); });
  s->http->every(1, [s] { s->each_second(); });
  if (const double seconds = watchdog_interval(); seconds > 0) {
    s->http->every(seconds, [] { notify_system("WATCHDOG=1"); });
  }
  s->http->run();
  return std::unique_ptr<Server>(new Server(std::move(state)));
}

Server::~Server() {
  if (state_->model.engine) state_->model.engine->on_failure({});
  state_->text.close();  // no job is behind what it works with
  state_->grammars.close();
  state_->http.reset();  // every request is over
}

Status Server::serve(Engine engine) {
  State& s = *state_;
  RequestOptions& defaults = s.model.options;
  defaults.limits = s.options.limits.request;
  if (!s.options.ignores_generation_config) defaults.sampling = engine.default_sampling();
  defaults.template_kwargs = s.options.template_kwargs;
  defaults.drops_media = s.options.drops_media;
  defaults.stops_everywhere = s.options.stops_everywhere;
  defaults.template_kwargs_allowed = s.options.template_kwargs_allowed;
  if (const auto wrong = apply_sampling(s.options.sampling, defaults.sampling)) {
    return {StatusCode::invalid_argument, wrong->message};
  }
  s.model.names = s.options.served_names;
  s.model.responses = std::make_unique<responses::ResponseStore>(
      responses::ResponseStore::Limits{.count_max = static_cast<size_t>(s.options.limits.stored_responses_max),
                                       .bytes_max = static_cast<size_t>(s.options.limits.stored_bytes_max)});
  s.model.engine = std::make_unique<Engine>(std::move(engine));
  s.model.no_chat = find_no_chat(*s.model.engine);
  if (!s.model.no_chat.empty()) spdlog::warn("the model takes no conversations: {}", s.model.no_chat);
  std::promise<void> serving;
  s.http->post([&] {
    s.work.emplace(Work{.http = *s.http,
                        .text = s.text,
                        .grammars = s.grammars,
                        .ready = *s.ready,
                        .model = s.model,
                        .metrics = s.metrics,
                        .limits = s.options.limits});
    serving.set_value();
  });
  serving.get_future().wait();
  notify_system("READY=1");
  s.model.engine->on_failure([this] { shut_down(); });
  return {};
}

const std::string& Server::url() const { return state_->http->url(); }
uint16_t Server::port() const { return state_->http->port(); }

void Server::shut_down() {
  state_->http->post([s = state_.get()] { s->begin_drain(); });
}

Status Server::wait() {
  state_->drained.get_future().wait();
  return state_->model.engine ? state_->model.engine->close() : Status();
}

}  // namespace tessera::server
