#pragma once

#include <sys/types.h>

#include <filesystem>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "tessera/status.h"

namespace tessera::text {

struct TemplateSource {
  std::string text;      // Jinja
  std::string tool_use;  // used instead where a request has tools; empty: there is none
  std::string origin;    // the file it came from, for messages
};

/// Finds the chat template of a model: `override_file` if not empty, else chat_template.jinja in `model_dir`, else
/// `chat_template` in its tokenizer_config.json (a string, or a list of named templates of which "default" and
/// "tool_use" count), else the one that is part of this program. not_found if override_file cannot be read;
/// corrupt_data if a file is not what its name says.
Expected<TemplateSource> find_chat_template(const std::filesystem::path& model_dir,
                                            const std::filesystem::path& override_file = {});

/// Chat clients send the arguments of past tool calls as a string that holds JSON; templates expect the object. Parses
/// them in place in every message. invalid_argument, naming the message, where such a string holds no JSON object.
Status parse_tool_arguments(nlohmann::ordered_json& messages);

/// Renders a chat template with Jinja2, as Hugging Face `transformers` does: immutable sandbox, trim_blocks,
/// lstrip_blocks, loop controls, its tojson, raise_exception, strftime_now, {% generation %}.
///
/// Jinja runs in a worker process without files, environment or inherited descriptors, with limits on time, memory,
/// input and output; a worker that exceeds them or dies is replaced at the next call. Thread-safe: callers take turns,
/// those with requests above kSmallRequestBytesMax at a worker of their own, which is started when the first comes.
class ChatTemplate {
 public:
  struct Options {
    double render_seconds_max = 5;
    double start_seconds_max = 30;                // of Python itself; about 0.06 when its files are in memory
    size_t memory_bytes_max = size_t{1} << 30;    // address space of the worker
    size_t request_bytes_max = size_t{32} << 20;  // as JSON
    size_t output_bytes_max = size_t{64} << 20;
    /// Tried in turn until one has Jinja2; empty: /usr/bin/python3, then every python3 in PATH.
    std::vector<std::string> interpreters;
  };
  static constexpr size_t kSourceBytesMax = size_t{4} << 20;
  static constexpr size_t kSmallRequestBytesMax = size_t{256} << 10;
  static constexpr int kRequestDepthMax = 128;

  /// Starts the worker and compiles the template, so that its errors appear here. invalid_argument: the template is
  /// wrong (Jinja's message); resource_exhausted: it exceeds a limit; unavailable: there is no Python with Jinja2.
  static Expected<ChatTemplate> create(TemplateSource source, Options options);
  static Expected<ChatTemplate> create(TemplateSource source) { return create(std::move(source), Options()); }

  ~ChatTemplate();
  ChatTemplate(ChatTemplate&&) noexcept;
  ChatTemplate& operator=(ChatTemplate&&) noexcept;

  /// `request` is an object: messages, and whatever else the template reads: tools, add_generation_prompt,
  /// enable_thinking, bos_token... Keys keep their order. Errors as for create; invalid_argument also for what the
  /// template refuses by raise_exception.
  [[nodiscard]] Expected<std::string> render(const nlohmann::ordered_json& request) const;

  [[nodiscard]] const TemplateSource& source() const;

  /// The worker of small requests, or -1 while there is none.
  [[nodiscard]] pid_t worker_pid() const;

 private:
  struct State;
  explicit ChatTemplate(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace tessera::text
