#include "text/chat_template.h"

#include <chrono>
#include <cstdlib>
#include <mutex>
#include <nlohmann/json.hpp>
#include <optional>
#include <string_view>
#include <utility>

#include "base/status.h"
#include "text/bundled.h"
#include "text/json_depth.h"
#include "text/utf8.h"
#include "text/worker_process.h"

namespace tessera::text {

namespace {

using nlohmann::ordered_json;
using std::chrono::steady_clock;

// Room for an error message where the output limit is small.
constexpr size_t kMessageBytesMax = 65536;

WorkerProcess::Deadline after(double seconds) {
  return steady_clock::now() +
         std::chrono::duration_cast<steady_clock::duration>(std::chrono::duration<double>(seconds));
}

std::vector<std::string> default_interpreters() {
  std::vector<std::string> found{"/usr/bin/python3"};
  const char* path = std::getenv("PATH");
  std::string_view rest = path != nullptr ? path : "";
  while (!rest.empty()) {
    const std::string_view folder = rest.substr(0, rest.find(':'));
    rest.remove_prefix(std::min(rest.size(), folder.size() + 1));
    if (folder.starts_with('/') && folder != "/usr/bin") found.push_back(std::string(folder) + "/python3");
  }
  return found;
}

/// Starts one interpreter and waits until it is ready.
Expected<WorkerProcess> start_interpreter(const std::string& interpreter, double seconds) {
  // -I: no environment variables, no user or current directory in the path; -B: write nothing.
  TESSERA_ASSIGN_OR_RETURN(WorkerProcess worker, WorkerProcess::start({interpreter, "-I", "-B", "-c",
                                                                       std::string(template_worker_source())}));
  TESSERA_ASSIGN_OR_RETURN(const auto hello, worker.receive(kMessageBytesMax, after(seconds)));
  if (hello.kind != 'T') return Status(StatusCode::unavailable, hello.payload);
  return worker;
}

}  // namespace

struct ChatTemplate::State {
  /// A worker, and those who take turns at it.
  struct Desk {
    std::mutex mutex;  // guards `worker`
    std::optional<WorkerProcess> worker = {};
  };
  Status start(std::optional<WorkerProcess>& worker);
  Expected<std::string> call(std::optional<WorkerProcess>& worker, char kind, std::string_view payload) const;

  TemplateSource source;
  Options options;
  std::mutex starting;  // guards options.interpreters
  Desk small, large;    // of requests up to kSmallRequestBytesMax, and above
};

/// Sends a frame and waits for the answer; on any failure the worker is given up.
Expected<std::string> ChatTemplate::State::call(std::optional<WorkerProcess>& worker, char kind,
                                                std::string_view payload) const {
  const auto deadline = after(options.render_seconds_max);
  Status sent = worker->send(kind, payload, deadline);
  Expected<WorkerProcess::Frame> answer =
      sent.ok() ? worker->receive(std::max(options.output_bytes_max, kMessageBytesMax), deadline)
                : Expected<WorkerProcess::Frame>(std::move(sent));
  if (!answer.ok()) {
    worker.reset();
    return answer.status().with_context(
        fmt::format("rendering {} (for at most {} s)", source.origin, options.render_seconds_max));
  }
  if (answer->kind == 'T') return std::move(answer->payload);
  const auto code = answer->kind == 'L' ? StatusCode::resource_exhausted : StatusCode::invalid_argument;
  if (answer->kind == 'L') worker.reset();
  return error(code, "{}: {}", source.origin, answer->payload);
}

Status ChatTemplate::State::start(std::optional<WorkerProcess>& worker) {
  const std::lock_guard lock(starting);
  std::string tried;
  const auto interpreters = options.interpreters.empty() ? default_interpreters() : options.interpreters;
  for (const std::string& interpreter : interpreters) {
    auto started = start_interpreter(interpreter, options.start_seconds_max);
    if (!started.ok()) {
      tried += fmt::format("{}{} ({})", tried.empty() ? "" : ", ", interpreter, started.status().message());
      continue;
    }
    worker = std::move(*started);
    options.interpreters = {interpreter};
    ordered_json settings = {{"memory_bytes", options.memory_bytes_max},
                             {"output_bytes", options.output_bytes_max},
                             {"seconds", options.render_seconds_max},
                             {"templates", {source.text}}};
    if (!source.tool_use.empty()) settings["templates"].push_back(source.tool_use);
    const auto compiled = call(worker, 'C', settings.dump());
    if (!compiled.ok()) worker.reset();
    return compiled.status();
  }
  return error(StatusCode::unavailable,
               "chat templates need Python 3 with Jinja2 (Debian, Ubuntu: apt install python3-jinja2); tried {}",
               tried);
}

ChatTemplate::ChatTemplate(std::unique_ptr<State> state) : state_(std::move(state)) {}
ChatTemplate::~ChatTemplate() = default;
ChatTemplate::ChatTemplate(ChatTemplate&&) noexcept = default;
ChatTemplate& ChatTemplate::operator=(ChatTemplate&&) noexcept = default;

Expected<ChatTemplate> ChatTemplate::create(TemplateSource source, Options options) {
  for (const std::string* text : {&source.text, &source.tool_use}) {
    if (text->size() > kSourceBytesMax || find_invalid_utf8(*text) != std::string::npos)
      return error(StatusCode::invalid_argument, "{}: not UTF-8 text of at most {} bytes", source.origin,
                   kSourceBytesMax);
  }
  auto state = std::make_unique<State>();
  state->source = std::move(source);
  state->options = std::move(options);
  TESSERA_RETURN_IF_ERROR(state->start(state->small.worker));
  return ChatTemplate(std::move(state));
}

Expected<std::string> ChatTemplate::render(const ordered_json& request) const {
  if (!request.is_object() || json_depth_exceeds(request, kRequestDepthMax))
    return error(StatusCode::invalid_argument, "a request is a JSON object nested at most {} deep", kRequestDepthMax);
  const auto tools = request.find("tools");
  const bool tool_use = !state_->source.tool_use.empty() && tools != request.end() && !tools->empty();
  std::string payload = tool_use ? R"({"template":1,"context":)" : R"({"template":0,"context":)";
  try {
    payload += request.dump();
  } catch (const nlohmann::json::exception& problem) {  // a string that is not UTF-8
    return error(StatusCode::invalid_argument, "the request cannot be written as JSON: {}", problem.what());
  }
  payload += '}';
  if (payload.size() > state_->options.request_bytes_max)
    return error(StatusCode::resource_exhausted, "the request has {} bytes, at most {} can be rendered", payload.size(),
                 state_->options.request_bytes_max);

  State::Desk& desk = payload.size() <= kSmallRequestBytesMax ? state_->small : state_->large;
  const std::lock_guard lock(desk.mutex);
  if (!desk.worker || !desk.worker->idle()) {
    desk.worker.reset();
    TESSERA_RETURN_IF_ERROR(state_->start(desk.worker));
  }
  return state_->call(desk.worker, 'R', payload);
}

const TemplateSource& ChatTemplate::source() const { return state_->source; }

pid_t ChatTemplate::worker_pid() const {
  const std::lock_guard lock(state_->small.mutex);
  return state_->small.worker ? state_->small.worker->pid() : -1;
}

}  // namespace tessera::text
