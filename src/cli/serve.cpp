#include <atomic>
#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

#include "cli/commands.h"
#include "cli/console.h"
#include "cli/descriptor_limit.h"
#include "cli/engine_flags.h"
#include "cli/flags.h"
#include "cli/interrupt.h"
#include "cli/sampling.h"
#include "cli/vllm_flags.h"
#include "server/api_keys.h"
#include "server/server.h"
#include "text/dialect/dialect.h"

namespace tessera::cli {
namespace {

struct ServeOptions {
  std::string model_word;  // the first argument
  EngineFlags engine;
  server::ServerOptions server;
  std::string api_key_file;
  bool no_access_log = false, no_state_line = false;
};

/// What a server chooses besides its engine.
std::vector<Setting> server_settings(const server::Limits& limits, const DescriptorLimit& files) {
  const auto text = [](int64_t count) { return count < 0 ? "unlimited" : std::to_string(count); };
  return {{"open files", text(files.after), fmt::format("the hard limit; it was {}", text(files.before)),
           "ulimit -Hn, LimitNOFILE="},
          {"connections", std::to_string(limits.connections_max), "each takes an open file", "--max-connections"},
          {"requests that wait", std::to_string(limits.queue_max), "more are answered 429", "--max-queue"},
          {"text threads", std::to_string(limits.text_threads), "they parse, render and tokenize", "--text-threads"}};
}

bool is_loopback(const std::string& host) { return host == "localhost" || host == "::1" || host.starts_with("127."); }

void say_where(const ServeOptions& options, const server::Server& server) {
  const auto& given = options.server;
  note("listening on {}{}", server.url(), given.api_keys.empty() ? "" : ", for those who have a key");
  if (given.unix_socket.empty() && !is_loopback(given.host) && given.api_keys.empty()) {
    note("anybody who reaches {} may use it: --api-key and --api-key-file ask for keys", given.host);
  }
}

Status serve(ServeOptions options) {
  options.engine.settings = server_settings(options.server.limits, raise_descriptor_limit());
  TESSERA_RETURN_IF_ERROR(server::add_api_keys(options.api_key_file, options.server.api_keys));
  TESSERA_ASSIGN_OR_RETURN(auto server, server::Server::open(options.server));
  std::atomic<bool> loaded = false;
  const OnInterrupt interrupt([&] {
    if (!loaded) std::_Exit(0);  // there is nothing to end yet
    server->shut_down();
  });
  if (!options.engine.quiet) say_where(options, *server);
  TESSERA_ASSIGN_OR_RETURN(Engine engine, open_engine(options.engine));
  loaded = true;
  const EngineStats stats = engine.stats();
  if (!options.engine.quiet && stats.gpu && stats.gpu->read_bytes_per_second > 0) {
    note("the GPU reads its memory at {:.2f} TB/s, measured now", stats.gpu->read_bytes_per_second * 1e-12);
  }
  TESSERA_RETURN_IF_ERROR(server->serve(std::move(engine)));
  if (!options.engine.quiet) note("ready");
  if (const Status failure = server->wait(); !failure.ok()) end_without_teardown(failure);
  return {};
}

void add_model_flags(CLI::App& command, ServeOptions& options) {
  const char* group = "Model";
  command.add_option("--served-model-name", options.server.served_names, "Names for requests (default: MODEL)")
      ->type_name("NAME")
      ->expected(1, CLI::detail::expected_max_vector_size)
      ->group(group);
  add_chat_template_flag(command, options.engine, group);
  command
      .add_option_function<std::string>(
          "--default-chat-template-kwargs",
          [&options](const std::string& text) {
            options.server.template_kwargs = parse_object("--default-chat-template-kwargs", text);
          },
          "Template variables where a request is silent: '{\"enable_thinking\": false}'")
      ->type_name("JSON")
      ->group(group);
  command
      .add_option("--allowed-chat-template-kwargs", options.server.template_kwargs_allowed,
                  "Template variables that requests may set, besides the usual ones")
      ->type_name("NAME")
      ->expected(1, CLI::detail::expected_max_vector_size)
      ->group(group);
  command
      .add_option_function<std::string>(
          "--generation-config",
          [&options](const std::string& from) { options.server.ignores_generation_config = from == "vllm"; },
          "auto (default): the model's generation_config.json says what requests do not; vllm: nothing of it does")
      ->type_name("C")
      ->check(one_of({"auto", "vllm"}))
      ->group(group);
  command
      .add_option_function<std::string>(
          "--override-generation-config",
          [&options](const std::string& text) { options.server.sampling = parse_sampling(text); },
          "Sampling where a request is silent: '{\"temperature\": 0.6}'")
      ->type_name("JSON")
      ->group(group);
  command
      .add_flag("--drop-media", options.server.drops_media,
                "Leave pictures, sound and files out of requests, with a note, in place of an error")
      ->group(group);
  command
      .add_flag("--stop-everywhere", options.server.stops_everywhere,
                "Stop strings end an answer in its thinking and calls too, as in vLLM")
      ->group(group);
  command
      .add_option_function<std::string>(
          "--reasoning-parser", [](const std::string&) {}, "Only qwen3, which is always on")
      ->type_name("P")
      ->check(one_of({std::string(text::dialect::kReasoningParser)}))
      ->group(group);
  command
      .add_option_function<std::string>(
          "--tool-call-parser", [](const std::string&) {}, "Only qwen3_coder, which is always on")
      ->type_name("P")
      ->check(one_of({std::string(text::dialect::kToolCallParser)}))
      ->group(group);
  command
      .add_flag_function(
          "--enable-auto-tool-choice", [](int64_t) {}, "Always on")
      ->group(group);
}

void add_network_flags(CLI::App& command, ServeOptions& options) {
  const char* group = "Network";
  server::ServerOptions& server = options.server;
  command.add_option("--host", server.host, "Address to listen on (default: 127.0.0.1, this machine alone)")
      ->type_name("H")
      ->check(not_empty())
      ->group(group);
  command.add_option("--port", server.port, "Port (default: 8000); 0: any free one")
      ->type_name("N")
      ->check(whole(0, 65535))
      ->group(group);
  command.add_option("--uds", server.unix_socket, "Unix socket to listen on, in place of host and port")
      ->type_name("PATH")
      ->group(group);
  command.add_option("--ssl-certfile", server.ssl_certfile, "Certificate chain, PEM: turns TLS on")
      ->type_name("FILE")
      ->check(readable_file())
      ->group(group);
  command.add_option("--ssl-keyfile", server.ssl_keyfile, "Its private key, PEM (default: in the same file)")
      ->type_name("FILE")
      ->check(readable_file())
      ->group(group);
  command
      .add_option("--api-key", server.api_keys,
                  "Key that clients must show; may be repeated. Also: TESSERA_API_KEY, which other users do not see")
      ->type_name("KEY")
      ->allow_extra_args(false)
      ->check(not_empty())
      ->group(group);
  command.add_option("--api-key-file", options.api_key_file, "File of keys, one a line")
      ->type_name("FILE")
      ->check(readable_file())
      ->group(group);
  command
      .add_option_function<std::string>(
          "--allowed-origins",
          [&server](const std::string& text) {
            server.allowed_origins = parse_words("--allowed-origins", text, "[\"https://HOST\", ...]");
          },
          "Web pages that may use the API from a browser: https://HOST,..., or * for all")
      ->type_name("ORIGINS")
      ->group(group);
  command
      .add_option_function<std::string>(
          "--allowed-hosts",
          [&server](const std::string& text) {
            server.allowed_hosts = parse_words("--allowed-hosts", text, "[\"NAME\", ...]");
          },
          "Names of this server that clients without a key may use, besides localhost and addresses: NAME,..., or * "
          "for "
          "all")
      ->type_name("NAMES")
      ->group(group);
  command
      .add_flag("--disable-access-log,--disable-uvicorn-access-log,--disable-log-requests", options.no_access_log,
                "No line for each request on standard error")
      ->group(group);
  command.add_flag("--disable-log-stats", options.no_state_line, "No line a second of what the engine does")
      ->group(group);
}

void add_limit_flags(CLI::App& command, ServeOptions& options) {
  for (const server::LimitFlag& flag : server::limit_flags()) {
    command
        .add_option_function<int64_t>(
            flag.name, [&options, &flag](int64_t value) { flag.set(options.server.limits, value); },
            fmt::format("{} (default: {})", flag.what, flag.value(options.server.limits)))
        ->type_name("N")
        ->transform(with_suffix())
        ->check(whole(flag.low, flag.high))
        ->group("Limits");
  }
}

void check(ServeOptions& options) {
  std::string& model = options.engine.options.model;
  if (!model.empty() && !options.model_word.empty()) {
    throw CLI::ValidationError("MODEL is given twice; leave --model out");
  }
  if (model.empty()) model = options.model_word;
  if (model.empty()) throw CLI::ValidationError("MODEL is required: a directory, owner/name, or demo, the bundled one");
  server::ServerOptions& server = options.server;
  if (server.served_names.empty()) server.served_names = {model};
  server.model_root = model;
  server.version = TESSERA_VERSION;
  server.access_log = !options.no_access_log && !options.engine.quiet;
  server.state_line = is_terminal(Stream::err) && !options.no_state_line && !options.engine.quiet;
}

}  // namespace

void add_serve(CLI::App& app, Action& action) {
  auto options = std::make_shared<ServeOptions>();
  CLI::App* command = app.add_subcommand("serve", "Serve a model: the OpenAI API, a web page, metrics");
  command->add_option("MODEL", options->model_word,
                      "A directory, owner/name in the Hugging Face cache, or demo (bundled)");
  command->add_option("--model", options->engine.options.model, "The same as MODEL")->type_name("M");
  add_model_flags(*command, *options);
  add_network_flags(*command, *options);
  add_limit_flags(*command, *options);
  add_engine_flags(*command, options->engine);
  command->add_option("--config", "YAML whose lines are flags, \"port: 8000\"; what the command line says wins")
      ->type_name("FILE");
  add_verbose_flag(*command, options->engine, "What was chosen at start, why, and what says otherwise", "Engine");
  add_vllm_flags(*command, options->engine.ignored);
  command->footer(
      "Examples:\n"
      "  tessera serve MODEL                               http://127.0.0.1:8000: a page to chat on, and the API\n"
      "  tessera serve MODEL --host 0.0.0.0 --api-key-file keys --ssl-certfile chain.pem --ssl-keyfile key.pem\n"
      "  curl http://127.0.0.1:8000/v1/chat/completions -H 'Content-Type: application/json' \\\n"
      "    -d '{\"messages\": [{\"role\": \"user\", \"content\": \"Hello\"}]}'");
  command->callback([options, &action] {
    check(*options);
    action = [options] { return serve(*options); };
  });
}

}  // namespace tessera::cli
